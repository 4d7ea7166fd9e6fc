/* Keywords of `global` about long transfers: pipes, bigger buffers, and turns. */
#include <limits.h>

#include "app/config/global.h"
#include "cfg/ctx.h"
#include "net/pipe.h"

static int
parse_maxpipes(struct cfg_ctx *ctx)
{
	struct global_conf *g = ctx->obj;
	int n;

	if (cfg_arg_int(ctx, 0, 0, GLOBAL_MAXCONN_MAX, &n))
		return -1;
	/* As in HAProxy the first line applies. */
	if (g->splice.maxpipes)
		cfg_warn(ctx, 0,
			"'maxpipes' ignored: it is already set to %d.", g->splice.maxpipes);
	else
		g->splice.maxpipes = n;
	return 0;
}

static int
parse_nosplice(struct cfg_ctx *ctx)
{
	struct global_conf *g = ctx->obj;

	g->splice.off = ctx->form == CFG_FORM_SET;
	return 0;
}

/* 0: the system's size. */
static int
parse_pipesize(struct cfg_ctx *ctx)
{
	struct global_conf *g = ctx->obj;
	uint64_t n;

	if (cfg_arg_size(ctx, 0, 0, PIPE_SIZE_MAX, &n))
		return -1;
	if (n > 0 && n < PIPE_SIZE_MIN)
		cfg_note(ctx, 0, "'tune.pipesize' : %d is the least that is worth a pipe: it is "
			"used.", PIPE_SIZE_MIN);
	g->splice.pipesize = n ? MAX((int)n, PIPE_SIZE_MIN) : 0;
	return 0;
}

static int
parse_after(struct cfg_ctx *ctx)
{
	struct global_conf *g = ctx->obj;
	uint64_t n;

	if (cfg_arg_size(ctx, 0, 0, INT_MAX, &n))
		return -1;
	g->splice.after = (int)n;
	return 0;
}

static int
parse_stream_bufsize(struct cfg_ctx *ctx)
{
	struct global_conf *g = ctx->obj;
	uint64_t n;

	if (cfg_arg_size(ctx, 0, 0, GLOBAL_BUFSIZE_MAX, &n))
		return -1;
	g->splice.bulk_bufsize = (int)n;
	return 0;
}

static int
parse_stream_turn(struct cfg_ctx *ctx)
{
	struct global_conf *g = ctx->obj;
	uint64_t n;

	if (cfg_arg_size(ctx, 0, 0, INT_MAX, &n))
		return -1;
	g->splice.bulk_turn = (int)n;
	return 0;
}

#define KW(n, fn, syn, text)                                                                \
	{ .name = n, .sections = CFG_GLOBAL, .min = 1, .max = 1, .parse = fn, .syntax = syn, \
	  .doc = text }
#define SWITCH(n, fn, syn, text)                                                       \
	{ .name = n, .sections = CFG_GLOBAL, .flags = CFG_KW_SWITCH, .min = 1, .max = 1, \
	  .parse = fn, .syntax = syn, .doc = text }

static const struct cfg_kw kws[] = {
	KW("maxpipes", parse_maxpipes, "<number>",
		"Maximum number of pipes for splicing; each uses two descriptors. 0, the default, "
		"allows a quarter of maxconn, or as many as the limit on descriptors permits."),
	{ .name = "nosplice",
		.sections = CFG_GLOBAL,
		.flags = CFG_KW_NO,
		.parse = parse_nosplice,
		.doc = "Disables splicing, whatever the options say." },
	KW("tune.pipesize", parse_pipesize, "<bytes>",
		"Size of a pipe, at least 16384; 0 uses the system's default. The system may grant "
		"an unprivileged process less."),
	KW("tune.splice.after", parse_after, "<bytes>",
		"Number of bytes that one side must send without a pause before the transfer is "
		"spliced or read in larger pieces."),
	KW("tune.bulk.bufsize", parse_stream_bufsize, "<bytes>",
		"Size of one read from a bulk transfer that is not spliced; 0 uses tune.bufsize."),
	SWITCH("tune.bulk.turn", parse_stream_turn, "<bytes>",
		"Number of bytes of all bulk transfers that a worker forwards before it serves "
		"other connections, and eight times as many while it has no others; 0 sets no "
		"limit."),
	{ 0 },
};

const struct cfg_module splice_cfg_module = {
	.name = "splice",
	.kws = kws,
};
