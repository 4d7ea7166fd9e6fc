/* The keywords of global for how work is done: tune.*, pollers, and the like. Main
 * thread, while the configuration is read. */
#include <limits.h>
#include <string.h>

#include "app/config/global.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/sys.h"
#include "cfg/ctx.h"
#include "event/poller.h"
#include "net/listener.h"
#include "net/pipe.h"

#define FIELD(name) ((intptr_t)offsetof(struct global_conf, name))

static const struct cfg_enum epoll_modes[] = {
	{ "unmerged", INTEREST_UNMERGED, "Each direction of a connection adds and removes "
		"itself." },
	{ "merged", INTEREST_MERGED, "One call carries what both directions want." },
	{ "edge", INTEREST_EDGE, "Edge-triggered: a connection is registered once." },
	{ 0 },
};

static int
parse_epoll_mode(struct cfg_ctx *ctx)
{
	struct global_conf *g = ctx->obj;
	int mode;

	if (cfg_arg_enum(ctx, 0, epoll_modes, &mode))
		return -1;
	g->epoll_mode = (enum interest_mode)mode;
	return 0;
}

static int
parse_bool(struct cfg_ctx *ctx)
{
	int on;

	if (cfg_arg_bool(ctx, 0, &on))
		return -1;
	*(int *)(void *)((char *)ctx->obj + ctx->kw->arg) = on;
	return 0;
}

static const struct cfg_enum ledger_times[] = {
	{ "on", LEDGER_SERVING, "Those made while serving." },
	{ "all", LEDGER_ALL, "Those of the start, too." },
	{ "off", LEDGER_SILENT, "None." },
	{ 0 },
};

static int
parse_ledger(struct cfg_ctx *ctx)
{
	struct global_conf *g = ctx->obj;

	return cfg_arg_enum(ctx, 0, ledger_times, &g->ledger_at_exit);
}

static const struct cfg_enum queue_ways[] = {
	{ "on", MULTI_QUEUE_ON, "A less busy one than the worker that accepted it, if there is "
		"one." },
	{ "fair", MULTI_QUEUE_FAIR, "Each worker in turn." },
	{ "off", MULTI_QUEUE_OFF, "The worker that accepted it." },
	{ 0 },
};

static int
parse_multi_queue(struct cfg_ctx *ctx)
{
	struct global_conf *g = ctx->obj;

	return cfg_arg_enum(ctx, 0, queue_ways, &g->multi_queue);
}

static const struct cfg_enum shard_ways[] = {
	{ "by-process", 1, "One socket for all workers." },
	{ "by-thread", BIND_SHARDS_BY_THREAD, "One socket for each worker." },
	{ "by-group", BIND_SHARDS_BY_GROUP, "One socket for each thread group, of which there "
		"is one." },
	{ 0 },
};

static int
parse_default_shards(struct cfg_ctx *ctx)
{
	struct global_conf *g = ctx->obj;

	return cfg_arg_enum(ctx, 0, shard_ways, &g->default_shards);
}

static int
parse_tune_flag(struct cfg_ctx *ctx)
{
	*(int *)(void *)((char *)ctx->obj + ctx->kw->arg) = ctx->form == CFG_FORM_SET;
	return 0;
}

/* The names of poller_all(). */
static const struct cfg_enum poller_words[] = {
	{ "epoll", 0, "epoll(7) of Linux, without a library." },
	{ "ev:epoll", 0, "epoll(7), by libev." },
	{ "ev:poll", 0, "poll(2), by libev." },
	{ "ev:select", 0, "select(2), by libev." },
	{ 0 },
};

static int
parse_use_poller(struct cfg_ctx *ctx)
{
	struct global_conf *g = ctx->obj;

	if (!cfg_enum_find(poller_words, cfg_arg(ctx, 0), strlen(cfg_arg(ctx, 0))))
		return cfg_error(ctx, 0,
			"'use-poller' : unknown poller '%s' (epoll, ev:epoll, ev:poll or "
			"ev:select expected).",
			cfg_arg(ctx, 0));
	return cfg_arg_dup(ctx, 0, &g->poller);
}

/* Rounded up to a multiple of 16, as in HAProxy. */
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

/* -1: no limit; 0: the default. */
static int
parse_maxaccept(struct cfg_ctx *ctx)
{
	struct global_conf *g = ctx->obj;
	int n;

	if (cfg_arg_int(ctx, 0, -1, GLOBAL_MAXACCEPT_MAX, &n))
		return -1;
	g->maxaccept = n < 0 ? GLOBAL_MAXACCEPT_MAX : n ? n : GLOBAL_MAXACCEPT_DEFAULT;
	return 0;
}

static int
parse_maxpollevents(struct cfg_ctx *ctx)
{
	struct global_conf *g = ctx->obj;

	int n;

	if (cfg_arg_int(ctx, 0, 0, GLOBAL_POLLEVENTS_MAX, &n))
		return -1;
	g->maxpollevents = n ? n : GLOBAL_POLLEVENTS_DEFAULT;
	return 0;
}

static const struct cfg_enum keep_words[] = {
	{ "counters", KEEP_COUNTERS,
		"Counters of the statistics and of show info, and histograms, do not "
		"begin at zero again; connections that a previous process still has count, too." },
	{ "server-states", KEEP_STATES,
		"States, weights, limits and addresses of servers that were "
		"changed at run time, results of checks, servers that were added, and limits of "
		"frontends and of the process." },
	{ "maps", KEEP_MAPS,
		"Changes by commands and rules in files of maps and ACLs, unless the file "
		"has changed since." },
	{ "dns", KEEP_DNS,
		"The addresses of names: a start neither waits for a name server nor loses "
		"servers without it." },
	{ "tls-tickets", KEEP_TICKETS,
		"The random keys of tickets: clients resume their TLS sessions." },
	{ "tables", KEEP_TABLES, "The entries of stick tables." },
	{ "caches", KEEP_CACHES, "The objects of caches." },
	{ "none", 0, "Nothing." },
	{ 0 },
};

/* Several words, or none. */
static int
parse_reload_keep(struct cfg_ctx *ctx)
{
	struct global_conf *g = ctx->obj;

	g->reload_keep = 0;
	for (int i = 0; i < ctx->argc; i++) {
		int bit = cfg_arg_word(ctx, i, keep_words);

		if (bit < 0 || (bit == 0 && ctx->argc > 1))
			return cfg_error(ctx, i,
				"'tune.reload.keep' : expects 'counters', 'server-states', "
				"'maps', 'dns', 'tls-tickets', 'tables', 'caches' or 'none', not "
				"'%s'.",
				cfg_arg(ctx, i));
		g->reload_keep |= (unsigned int)bit;
	}
	return 0;
}

static int
parse_renice_runtime(struct cfg_ctx *ctx)
{
	struct renice_conf *c = &((struct global_conf *)ctx->obj)->renice;

	c->has_runtime = 1;
	return cfg_arg_int(ctx, 0, GLOBAL_NICE_MIN, GLOBAL_NICE_MAX, &c->runtime);
}

/* Applied at once, for the lines that follow. */
static int
parse_renice_startup(struct cfg_ctx *ctx)
{
	struct renice_conf *c = &((struct global_conf *)ctx->obj)->renice;
	int nice;
	long was, r;

	if (cfg_arg_int(ctx, 0, GLOBAL_NICE_MIN, GLOBAL_NICE_MAX, &nice))
		return -1;
	if (!ctx->sys)
		return 0;
	was = sys_getpriority(ctx->sys);
	r = was < 0 ? was : sys_setpriority(ctx->sys, nice);
	if (r < 0) {
		cfg_warn(ctx, 0, "'tune.renice.startup' : the priority stays as it is: %s (below "
			"the present value it needs CAP_SYS_NICE).", err_text((int)r));
		return 0;
	}
	if (!c->is_changed)
		c->before = 20 - (int)was;
	c->is_changed = 1;
	return 0;
}

#define KW(n, fn, syn, text, ...)                                                   \
	{                                                                           \
		.name = n, .sections = CFG_GLOBAL, .min = 1, .max = 1, .parse = fn, \
		.syntax = syn, .doc = text, __VA_ARGS__                             \
	}
#define SWITCH(n, fn, syn, text, ...)                                                \
	{                                                                            \
		.name = n, .sections = CFG_GLOBAL, .flags = CFG_KW_SWITCH, .min = 1, \
		.max = 1, .parse = fn, .syntax = syn, .doc = text, __VA_ARGS__       \
	}

/* --- splicing -------------------------------------------------------------------------------- */

/* Keywords of `global` about long transfers: pipes, bigger buffers, and turns. */

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

/* --- the table ------------------------------------------------------------------------------- */

static const struct cfg_kw kws[] = {
	SWITCH("tune.epoll.mode", parse_epoll_mode, "{ unmerged | merged | edge }",
		"How registrations in the poller follow the interest of connections.",
		.dflt = "edge where the poller supports it",
		.values = epoll_modes),
	{ .name = "tune.lazy-register",
		.dflt = "on",
		.sections = CFG_GLOBAL,
		.flags = CFG_KW_SWITCH,
		.min = 1,
		.max = 1,
		.parse = parse_bool,
		.syntax = "{ on | off }",
		.arg = FIELD(lazy),
		.doc = "Registers a descriptor in the poller only after a read or write would "
			"have blocked." },
	SWITCH("tune.ledger.at-exit", parse_ledger, "{ on | all | off }",
		"Prints the system calls by name and per request at exit.",
		.dflt = "off",
		.values = ledger_times),
	KW("tune.listener.multi-queue", parse_multi_queue, "{ on | fair | off }",
		"Which worker gets a new connection.",
		.dflt = "on",
		.values = queue_ways),
	KW("tune.listener.default-shards", parse_default_shards,
		"{ by-process | by-thread | by-group }",
		"Sockets of bind lines without 'shards'.",
		.dflt = "by-thread",
		.values = shard_ways),
	{ .name = "tune.http.low-water",
		.dflt = "on",
		.sections = CFG_GLOBAL,
		.min = 1,
		.max = 1,
		.parse = parse_bool,
		.syntax = "{ on | off }",
		.arg = FIELD(http_low_water),
		.doc = "Wakes the worker for a request header that arrives slowly only when "
			"enough bytes are there to complete it (SO_RCVLOWAT). An invalid header "
			"may then be rejected as late as an incomplete one. Without a timeout "
			"for the header every byte wakes the worker." },
	{ .name = "tune.wake-elision",
		.dflt = "on",
		.sections = CFG_GLOBAL,
		.flags = CFG_KW_SWITCH,
		.min = 1,
		.max = 1,
		.parse = parse_bool,
		.syntax = "{ on | off }",
		.arg = FIELD(wake_elision),
		.doc = "Wakes another worker only when it sleeps." },
	KW("use-poller", parse_use_poller, "{ epoll | ev:epoll | ev:poll | ev:select }",
		"Polling method.",
		.dflt = "epoll",
		.values = poller_words),
	{ .name = "noepoll",
		.sections = CFG_GLOBAL,
		.flags = CFG_KW_NO,
		.parse = parse_tune_flag,
		.arg = FIELD(no_epoll),
		.doc = "Disables epoll." },
	{ .name = "nopoll",
		.sections = CFG_GLOBAL,
		.flags = CFG_KW_NO,
		.parse = parse_tune_flag,
		.arg = FIELD(no_poll),
		.doc = "Disables poll." },
	KW("tune.bufsize", parse_bufsize, "<bytes>",
		"Size of a buffer. A header must fit into one: a received one besides "
		"tune.maxrewrite, and one that rules have changed as a whole. A rewrite that "
		"would make it longer fails.",
		.dflt = "16384"),
	KW("tune.maxaccept", parse_maxaccept, "<number>",
		"Maximum number of connections accepted for one event of a listener; -1: no "
		"limit. 0 stands for the default.",
		.dflt = "64"),
	KW("tune.maxpollevents", parse_maxpollevents, "<number>",
		"Maximum number of events taken from the kernel at once; 0 stands for the "
		"default.",
		.dflt = "200"),
	KW("tune.renice.runtime", parse_renice_runtime, "<number>",
		"Priority of the process while it serves, as nice(1) counts it: -20, the highest, "
		"to 19. The master keeps its own. A value below the present one needs "
		"CAP_SYS_NICE, or root; without it the priority stays as it is, with a warning.",
		.dflt = "that of the start"),
	KW("tune.renice.startup", parse_renice_startup, "<number>",
		"Priority while the configuration is read, from this line on. It ends with the "
		"configuration: tune.renice.runtime follows, or the priority from before, which "
		"needs CAP_SYS_NICE, or root, if it is higher.",
		.dflt = "that of the start"),
	{ .name = "tune.reload.keep",
		.dflt = "all of them",
		.values = keep_words,
		.sections = CFG_GLOBAL,
		.min = 1,
		.max = 7,
		.parse = parse_reload_keep,
		.syntax = "{ counters | server-states | maps | dns | tls-tickets | tables | caches "
			  "}... | none",
		.doc = "State that outlives a worker process when it is reloaded, or dies and is "
			"replaced. It needs a master (-W)." },
	KW("maxpipes", parse_maxpipes, "<number>",
		"Maximum number of pipes for splicing; each uses two descriptors. 0 allows a "
		"quarter of maxconn, or as many as the limit on descriptors permits.",
		.dflt = "0"),
	{ .name = "nosplice",
		.sections = CFG_GLOBAL,
		.flags = CFG_KW_NO,
		.parse = parse_nosplice,
		.doc = "Disables splicing, whatever the options say." },
	KW("tune.pipesize", parse_pipesize, "<bytes>",
		"Size of a pipe, at least 16384; 0 uses the system's default. The system may grant "
		"an unprivileged process less.",
		.dflt = "0"),
	KW("tune.splice.after", parse_after, "<bytes>",
		"Number of bytes that one side must send without a pause before the transfer is "
		"spliced or read in larger pieces.",
		.dflt = "65536"),
	KW("tune.bulk.bufsize", parse_stream_bufsize, "<bytes>",
		"Size of one read from a bulk transfer that is not spliced; 0 uses tune.bufsize.",
		.dflt = "524288"),
	SWITCH("tune.bulk.turn", parse_stream_turn, "<bytes>",
		"Number of bytes of all bulk transfers that a worker forwards before it serves "
		"other connections, and eight times as many while it has no others; 0 sets no "
		"limit.",
		.dflt = "65536"),
	{ 0 },
};

const struct cfg_module tune_cfg_module = {
	.name = "tune",
	.kws = kws,
};
