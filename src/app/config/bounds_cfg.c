/* Keywords of `global` that bound what is held: by the kernel for each socket, and by us. */
#include <limits.h>
#include <string.h>

#include "app/config/bounds_cfg.h"
#include "cfg/ctx.h"
#include "event/poller.h"
#include "net/zerocopy.h"
#include "proxy/model/memory.h"

#define FIELD(name) ((intptr_t)offsetof(struct global_conf, name))

/* As in HAProxy the first line applies. */
static int
parse_sockbuf(struct cfg_ctx *ctx)
{
	int *field = (int *)(void *)((char *)ctx->obj + ctx->kw->arg);
	uint64_t n;

	if (cfg_arg_size(ctx, 0, 0, SOCKBUF_MAX, &n))
		return -1;
	if (*field)
		cfg_warn(ctx, 0,
			"'%s' ignored: it is already set to %d.", cfg_kw_name(ctx), *field);
	else
		*field = (int)n;
	return 0;
}

/* A plain number is in megabytes, as with -m. */
static int
parse_memory(struct cfg_ctx *ctx)
{
	const char *s = cfg_arg(ctx, 0);
	struct global_conf *g = ctx->obj;
	uint64_t bytes;
	int mb;

	if (!s[strspn(s, "+-0123456789")]) {
		if (cfg_arg_int(ctx, 0, 0, GLOBAL_MEMORY_MAX_MB, &mb))
			return -1;
		bytes = (uint64_t)mb << 20;
	} else if (cfg_arg_size(ctx, 0, 0, (uint64_t)GLOBAL_MEMORY_MAX_MB << 20, &bytes)) {
		return -1;
	}
	g->memory = bytes;
	g->memory_where = cfg_arg_where(ctx, 0);
	return 0;
}

static int
parse_threshold(struct cfg_ctx *ctx)
{
	struct global_conf *g = ctx->obj;

	g->zerocopy_where = cfg_arg_where(ctx, 0);
	return cfg_arg_size(ctx, 0, 0, GLOBAL_BUFSIZE_MAX, &g->zerocopy_threshold);
}

static int
parse_pinned(struct cfg_ctx *ctx)
{
	struct global_conf *g = ctx->obj;

	return cfg_arg_size(ctx, 0, 1, GLOBAL_PINNED_MAX, &g->zerocopy_max);
}

static int
parse_fast_path(struct cfg_ctx *ctx)
{
	struct global_conf *g = ctx->obj;
	int on;

	if (cfg_arg_bool(ctx, 0, &on))
		return -1;
	g->ranges_fast_path = on;
	return 0;
}

static int
parse_maxrewrite(struct cfg_ctx *ctx)
{
	struct global_conf *g = ctx->obj;

	return cfg_arg_int(ctx, 0, 0, GLOBAL_BUFSIZE_MAX, &g->maxrewrite);
}

static int
parse_maxhdr(struct cfg_ctx *ctx)
{
	struct global_conf *g = ctx->obj;

	return cfg_arg_int(ctx, 0, 1, GLOBAL_MAXHDR_MAX, &g->http_maxhdr);
}

static int
parse_line_max(struct cfg_ctx *ctx)
{
	struct global_conf *g = ctx->obj;

	return cfg_arg_int(ctx, 0, 1, INT_MAX, &g->http_line_max);
}

static int
parse_fd_ratio(struct cfg_ctx *ctx)
{
	return cfg_arg_percent(ctx, 0, 100,
		(unsigned int *)(void *)((char *)ctx->obj + ctx->kw->arg));
}

/* The smaller of the values in the file and on the command line; it must not be too small. */
static int
finish_memory(struct global_conf *g, unsigned int workers, int mb, struct cfg_diag *d)
{
	uint64_t given = (uint64_t)mb << 20;
	uint64_t least = (uint64_t)g->bufsize * MEMORY_MIN_BUFFERS;
	const struct cfg_where *where = &g->memory_where;

	least *= workers;
	if (given && (!g->memory || given < g->memory)) {
		g->memory = given;
		where = NULL;
	}
	if (!g->memory || g->memory >= least)
		return 0;
	cfg_diag_add(d, CFG_ALERT, where,
		"memory is bounded to %llu bytes, but %u buffers of tune.bufsize for each worker "
		"take %llu.",
		(unsigned long long)g->memory, MEMORY_MIN_BUFFERS, (unsigned long long)least);
	return -1;
}

static int
finish_zerocopy(struct global_conf *g, struct cfg_diag *d)
{
	const struct poller_ops *poller = poller_find(global_poller(g));

	if (!g->zerocopy_threshold)
		return 0;
	if (poller && !poller->has_errors)
		cfg_diag_add(d, CFG_WARNING, &g->zerocopy_where,
			"'tune.zerocopy.threshold' has no effect with poller '%s', which does "
			"not report the kernel's acknowledgements.",
			poller->name);
	if (g->zerocopy_threshold <= (uint64_t)g->bufsize)
		return 0;
	cfg_diag_add(d, CFG_ALERT, &g->zerocopy_where,
		"'tune.zerocopy.threshold' %llu is never reached: at most tune.bufsize, %d, is "
		"sent at a time.",
		(unsigned long long)g->zerocopy_threshold, g->bufsize);
	return -1;
}

int
bounds_finish(struct global_conf *g, unsigned int workers, int memory_mb, struct cfg_diag *d)
{
	int bad = finish_memory(g, workers, memory_mb, d);

	/* As in the manual: it is adjusted to smaller buffers. */
	g->maxrewrite = MIN(g->maxrewrite, g->bufsize / 2);
	return finish_zerocopy(g, d) || bad ? -1 : 0;
}

#define KW(n, fn, syn, text, ...)                                                   \
	{                                                                           \
		.name = n, .sections = CFG_GLOBAL, .min = 1, .max = 1, .parse = fn, \
		.syntax = syn, .doc = text, __VA_ARGS__                             \
	}
#define KW_SOCKBUF(n, fld, text, ...)                                           \
	{                                                                       \
		.name = n, .sections = CFG_GLOBAL, .min = 1, .max = 1,          \
		.parse = parse_sockbuf, .syntax = "<bytes>", .arg = FIELD(fld), \
		.doc = text, __VA_ARGS__                                        \
	}
#define SWITCH(n, fn, syn, text, ...)                                                \
	{                                                                            \
		.name = n, .sections = CFG_GLOBAL, .flags = CFG_KW_SWITCH, .min = 1, \
		.max = 1, .parse = fn, .syntax = syn, .doc = text, __VA_ARGS__       \
	}

static const struct cfg_kw kws[] = {
	KW("tune.memory", parse_memory, "<size>",
		"Maximum memory for sessions, their buffers and the data in their pipes, in "
		"megabytes or with a unit (k, m, g). Near the limit new clients wait and nothing "
		"is spliced; at the limit existing sessions continue without buffers. 0 sets no "
		"limit.",
		.dflt = "0"),
	KW("tune.zerocopy.threshold", parse_threshold, "<bytes>",
		"Minimum size of a send that is made without a copy (MSG_ZEROCOPY); 0 disables "
		"it. Sends to addresses of this host are copied, since the kernel copies them "
		"in any case.",
		.dflt = "0"),
	KW("tune.zerocopy.max", parse_pinned, "<bytes>",
		"Maximum memory of zero-copy sends that the kernel has not completed; beyond it "
		"data is copied.",
		.dflt = "16m"),
	SWITCH("tune.ranges.fast-path", parse_fast_path, "{ on | off }",
		"Handles completions of zero-copy sends that arrive in order without a set of "
		"ranges.",
		.dflt = "on"),
	KW("tune.http.logurilen", parse_line_max, "<bytes>",
		"How much of a request line logs can show, of at most a buffer. 'log ... len' "
		"bounds a whole line.",
		.dflt = "1023"),
	KW("tune.http.maxhdr", parse_maxhdr, "<number>",
		"Maximum number of header fields of a message.",
		.dflt = "101"),
	KW("tune.maxrewrite", parse_maxrewrite, "<bytes>",
		"Space that stays free in a buffer while a header is received, at most half of "
		"tune.bufsize. It is the least that rules can add; a header that grows by more "
		"is moved, and may become as long as tune.bufsize.",
		.dflt = "1024"),
	{ .name = "tune.pool-high-fd-ratio",
		.dflt = "25",
		.sections = CFG_GLOBAL,
		.min = 1,
		.max = 1,
		.parse = parse_fd_ratio,
		.syntax = "<percent>",
		.arg = FIELD(pool_high_fds),
		.doc = "Percentage of descriptors in use above which an idle connection to a "
			"server is closed when a new one is opened." },
	{ .name = "tune.pool-low-fd-ratio",
		.dflt = "20",
		.sections = CFG_GLOBAL,
		.min = 1,
		.max = 1,
		.parse = parse_fd_ratio,
		.syntax = "<percent>",
		.arg = FIELD(pool_low_fds),
		.doc = "Percentage of descriptors in use above which no connection to a server "
			"is kept idle." },
	KW_SOCKBUF("tune.rcvbuf.client", client_buf.rcv,
		"Fixed receive buffer size of client sockets; 0 leaves it to the kernel.",
		.dflt = "0"),
	KW_SOCKBUF("tune.rcvbuf.server", server_buf.rcv,
		"Fixed receive buffer size of server sockets; 0 leaves it to the kernel.",
		.dflt = "0"),
	KW_SOCKBUF("tune.sndbuf.client", client_buf.snd,
		"Fixed send buffer size of client sockets; 0 leaves it to the kernel.",
		.dflt = "0"),
	KW_SOCKBUF("tune.sndbuf.server", server_buf.snd,
		"Fixed send buffer size of server sockets; 0 leaves it to the kernel.",
		.dflt = "0"),
	KW_SOCKBUF("tune.notsent-lowat.client", client_buf.notsent,
		"Maximum number of unsent bytes in the kernel for a client, besides those in "
		"flight; 0 sets no limit other than the send buffer.",
		.dflt = "0"),
	KW_SOCKBUF("tune.notsent-lowat.server", server_buf.notsent,
		"Maximum number of unsent bytes in the kernel for a server, besides those in "
		"flight; 0 sets no limit other than the send buffer.",
		.dflt = "0"),
	{ 0 },
};

const struct cfg_module bounds_cfg_module = {
	.name = "bounds",
	.kws = kws,
};
