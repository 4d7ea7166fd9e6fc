#include <string.h>

#include "app/config/global.h"
#include "base/mem.h"
#include "cfg/ctx.h"
#include "event/poller.h"
#include "net/listener.h"

#define FIELD(name) ((intptr_t)offsetof(struct global_conf, name))

static int
parse_epoll_mode(struct cfg_ctx *ctx)
{
	static const struct cfg_enum modes[] = {
		{ "unmerged", INTEREST_UNMERGED },
		{ "merged", INTEREST_MERGED },
		{ "edge", INTEREST_EDGE },
		{ NULL, 0 },
	};
	struct global_conf *g = ctx->obj;
	int mode;

	if (cfg_arg_enum(ctx, 0, modes, &mode))
		return -1;
	g->epoll_mode = (enum interest_mode)mode;
	return 0;
}

static int
parse_bool(struct cfg_ctx *ctx)
{
	bool on;

	if (cfg_arg_bool(ctx, 0, &on))
		return -1;
	*(int *)(void *)((char *)ctx->obj + ctx->kw->arg) = on;
	return 0;
}

static int
parse_ledger(struct cfg_ctx *ctx)
{
	static const struct cfg_enum when[] = {
		{ "on", LEDGER_SERVING },
		{ "all", LEDGER_ALL },
		{ "off", LEDGER_SILENT },
		{ NULL, 0 },
	};
	struct global_conf *g = ctx->obj;

	return cfg_arg_enum(ctx, 0, when, &g->ledger_at_exit);
}

static int
parse_multi_queue(struct cfg_ctx *ctx)
{
	static const struct cfg_enum ways[] = {
		{ "on", MULTI_QUEUE_ON },
		{ "fair", MULTI_QUEUE_FAIR },
		{ "off", MULTI_QUEUE_OFF },
		{ NULL, 0 },
	};
	struct global_conf *g = ctx->obj;

	return cfg_arg_enum(ctx, 0, ways, &g->multi_queue);
}

static int
parse_default_shards(struct cfg_ctx *ctx)
{
	static const struct cfg_enum ways[] = {
		{ "by-process", 1 },
		{ "by-thread", BIND_SHARDS_BY_THREAD },
		{ "by-group", BIND_SHARDS_BY_GROUP },
		{ NULL, 0 },
	};
	struct global_conf *g = ctx->obj;

	return cfg_arg_enum(ctx, 0, ways, &g->default_shards);
}

static int
parse_flag(struct cfg_ctx *ctx)
{
	*(int *)(void *)((char *)ctx->obj + ctx->kw->arg) = ctx->form == CFG_FORM_SET;
	return 0;
}

static int
parse_use_poller(struct cfg_ctx *ctx)
{
	struct global_conf *g = ctx->obj;

	if (!poller_find(cfg_arg(ctx, 0)))
		return cfg_error(ctx, 0,
			"'use-poller' : unknown poller '%s' (epoll, ev:epoll, ev:poll or "
			"ev:select expected).",
			cfg_arg(ctx, 0));
	return cfg_arg_dup(ctx, 0, &g->poller);
}

/* Rounded up to a multiple of 16, as HAProxy does. */
static int
parse_bufsize(struct cfg_ctx *ctx)
{
	struct global_conf *g = ctx->obj;
	uint64_t n;

	if (cfg_arg_size(ctx, 0, GLOBAL_BUFSIZE_MIN, GLOBAL_BUFSIZE_MAX, &n))
		return -1;
	g->bufsize = (int)((n + 15) & ~UINT64_C(15));
	return 0;
}

/* -1 takes the limit away. */
static int
parse_maxaccept(struct cfg_ctx *ctx)
{
	struct global_conf *g = ctx->obj;
	int n;

	if (cfg_arg_int(ctx, 0, -1, GLOBAL_MAXACCEPT_MAX, &n))
		return -1;
	if (n == 0)
		return cfg_error(ctx, 0, "'tune.maxaccept' must not be 0.");
	g->maxaccept = n < 0 ? GLOBAL_MAXACCEPT_MAX : n;
	return 0;
}

static int
parse_maxpollevents(struct cfg_ctx *ctx)
{
	struct global_conf *g = ctx->obj;

	return cfg_arg_int(ctx, 0, 1, GLOBAL_POLLEVENTS_MAX, &g->maxpollevents);
}

#define KW(n, fn, syn, text)                                                                \
	{ .name = n, .sections = CFG_GLOBAL, .min = 1, .max = 1, .parse = fn, .syntax = syn, \
	  .doc = text }
#define SWITCH(n, fn, syn, text)                                                       \
	{ .name = n, .sections = CFG_GLOBAL, .flags = CFG_KW_SWITCH, .min = 1, .max = 1, \
	  .parse = fn, .syntax = syn, .doc = text }

static const struct cfg_kw kws[] = {
	SWITCH("tune.epoll.mode", parse_epoll_mode, "{ unmerged | merged | edge }",
		"How registrations follow what is wanted; edge where the poller has edges."),
	{ .name = "tune.lazy-register",
		.sections = CFG_GLOBAL,
		.flags = CFG_KW_SWITCH,
		.min = 1,
		.max = 1,
		.parse = parse_bool,
		.syntax = "{ on | off }",
		.arg = FIELD(lazy),
		.doc = "Registers a descriptor only after a read or write would have blocked; on "
			"by default." },
	SWITCH("tune.ledger.at-exit", parse_ledger, "{ on | all | off }",
		"Print the system calls made while serving (all: and before), by name and per "
		"connection, at the end."),
	KW("tune.listener.multi-queue", parse_multi_queue, "{ on | fair | off }",
		"Which worker gets a new connection: one less busy than who accepted it, each in "
		"turn, or always who accepted it."),
	KW("tune.listener.default-shards", parse_default_shards,
		"{ by-process | by-thread | by-group }",
		"Sockets of bind lines without 'shards': one for all workers, or one for each "
		"unless said otherwise."),
	{ .name = "tune.http.low-water",
		.sections = CFG_GLOBAL,
		.min = 1,
		.max = 1,
		.parse = parse_bool,
		.syntax = "{ on | off }",
		.arg = FIELD(http_low_water),
		.doc = "Wake for a request's head that comes a few bytes at a time only when so "
		       "many have come as could end it (SO_RCVLOWAT); a bad one may be refused as "
		       "late as one that does not end, and where no timeout makes one late each "
		       "byte is looked at. On unless said otherwise." },
	{ .name = "tune.wake-elision",
		.sections = CFG_GLOBAL,
		.flags = CFG_KW_SWITCH,
		.min = 1,
		.max = 1,
		.parse = parse_bool,
		.syntax = "{ on | off }",
		.arg = FIELD(wake_elision),
		.doc = "Wake another worker for what it is sent only when it sleeps; on unless "
		       "said otherwise." },
	KW("use-poller", parse_use_poller, "{ epoll | ev:epoll | ev:poll | ev:select }",
		"How the kernel is asked which descriptors are ready; epoll by default."),
	{ .name = "noepoll",
		.sections = CFG_GLOBAL,
		.flags = CFG_KW_NO,
		.parse = parse_flag,
		.arg = FIELD(no_epoll),
		.doc = "Do without epoll." },
	{ .name = "nopoll",
		.sections = CFG_GLOBAL,
		.flags = CFG_KW_NO,
		.parse = parse_flag,
		.arg = FIELD(no_poll),
		.doc = "Do without poll." },
	KW("tune.bufsize", parse_bufsize, "<bytes>", "Size of a buffer, 16384 by default."),
	KW("tune.maxaccept", parse_maxaccept, "<number>",
		"Connections that one event of a listener may bring, 64 by default."),
	KW("tune.maxpollevents", parse_maxpollevents, "<number>",
		"Events taken from the kernel at once, 200 by default."),
	{ 0 },
};

const struct cfg_module tune_cfg_module = {
	.name = "tune",
	.kws = kws,
};
