/* Keywords of `global` about compression. Main thread, while the configuration is read. */
#include "app/config/global.h"
#include "cfg/ctx.h"

#define FIELD(name) ((intptr_t)offsetof(struct global_conf, name))

/* The keyword's arg: a field; the bounds stand in its row. */
static int
parse_bounded(struct cfg_ctx *ctx, int min, int max)
{
	return cfg_arg_int(ctx, 0, min, max, (int *)(void *)((char *)ctx->obj + ctx->kw->arg));
}

static int
parse_compression_level(struct cfg_ctx *ctx)
{
	return parse_bounded(ctx, 1, DEFLATE_LEVEL_MAX);
}

static int
parse_window_bits(struct cfg_ctx *ctx)
{
	return parse_bounded(ctx, 8, 15);
}

static int
parse_percentage(struct cfg_ctx *ctx)
{
	return parse_bounded(ctx, 0, 100);
}

static int
parse_kilobytes(struct cfg_ctx *ctx)
{
	return parse_bounded(ctx, 0, INT32_MAX / 1024);
}

#define KW(n, fn, field, otherwise, text)                                            \
	{                                                                            \
		.name = n, .sections = CFG_GLOBAL, .min = 1, .max = 1, .parse = fn,  \
		.syntax = "<number>", .arg = FIELD(field), .dflt = otherwise,        \
		.doc = text                                                          \
	}

static int
parse_megabytes(struct cfg_ctx *ctx)
{
	return parse_bounded(ctx, 0, INT32_MAX);
}

static const struct cfg_kw kws[] = {
	KW("maxcomprate", parse_kilobytes, comp_rate, "0",
		"Maximum number of kilobytes in a second that compression makes, in equal parts "
		"for the workers; a message that begins above it is not compressed. 0: no "
		"limit."),
	KW("maxcompcpuusage", parse_percentage, comp_cpu, "100",
		"A message is not compressed if its worker is busy for more than this part of the "
		"time, in per cent."),
	KW("maxzlibmem", parse_megabytes, comp_memory, "64",
		"Maximum memory in megabytes, in equal parts for the workers, of bodies that have "
		"a compressor of their own: those of br and zstd. A response above it is "
		"compressed by gzip or deflate, if the section has them and the client reads "
		"them. 0: no limit but tune.memory."),
	KW("tune.comp.maxlevel", parse_compression_level, deflate.level, "1",
		"The level of compression, 1 to 9: level 1 is ISA-L's where tacit was built with "
		"it, the others are zlib's, at several times the cost."),
	KW("tune.zlib.memlevel", parse_compression_level, deflate.mem_level, "8",
		"The memory of zlib's compressor, 1 to 9, where it is used."),
	KW("tune.zlib.windowsize", parse_window_bits, deflate.window_bits, "15",
		"The size of zlib's window, 8 to 15 bits, where it is used."),
	{ 0 },
};

const struct cfg_module compression_cfg_module = {
	.name = "global-compression",
	.kws = kws,
};
