/* tune.h2.*: keywords for both sides, and for one, in any order. Main thread, while the
 * configuration is read. */
#include "app/config/h2_cfg.h"

#include "app/config/global.h"
#include "cfg/ctx.h"

#define STREAMS_MAX 0x7fffffff
#define TABLE_MAX 65536

static uint32_t *
member_of(struct h2_config *c, enum h2_tuned what)
{
	switch (what) {
	case H2_TUNED_WINDOW:
		return &c->window;
	case H2_TUNED_STREAMS:
		return &c->max_streams;
	case H2_TUNED_TABLE:
		return &c->header_table;
	case H2_TUNED_RXBUF:
		return &c->rxbuf;
	case H2_TUNED_FRAMES:
		return &c->max_frames;
	case H2_TUNED_RESETS:
		return &c->max_resets;
	case H2_TUNED_GLITCHES:
		return &c->max_glitches;
	case H2_TUNED_TOTAL:
		return &c->max_total;
	case H2_TUNED_MEMBERS:
		break;
	}
	return NULL;
}

void
h2_tune_apply(const struct h2_tune *t, enum h2_side side, struct h2_config *out)
{
	h2_config_default(out);
	out->no_extended = t->no_extended != 0;
	for (enum h2_tuned what = 0; what < H2_TUNED_MEMBERS; what++) {
		uint64_t given = t->given[side][what] ? t->given[side][what]
						      : t->given[H2_BOTH][what];

		if (given)
			*member_of(out, what) = (uint32_t)(given - 1);
	}
	/* 0 sets no limit. */
	if (!out->max_streams)
		out->max_streams = STREAMS_MAX;
}

/* --- the keywords --- */

#define PLACE(side, what) ((intptr_t)(side) * H2_TUNED_MEMBERS + (what))

static int
store_number(struct cfg_ctx *ctx, uint64_t n)
{
	struct global_conf *g = ctx->obj;

	g->h2.given[ctx->kw->arg / H2_TUNED_MEMBERS][ctx->kw->arg % H2_TUNED_MEMBERS] = n + 1;
	return 0;
}

static int
parse_h2_count(struct cfg_ctx *ctx)
{
	int n;

	if (cfg_arg_int(ctx, 0, 0, STREAMS_MAX, &n))
		return -1;
	return store_number(ctx, (uint64_t)n);
}

static int
parse_h2_table(struct cfg_ctx *ctx)
{
	int n;

	if (cfg_arg_int(ctx, 0, 0, TABLE_MAX, &n))
		return -1;
	return store_number(ctx, (uint64_t)n);
}

static int
parse_h2_size(struct cfg_ctx *ctx)
{
	uint64_t n;

	if (cfg_arg_size(ctx, 0, 0, STREAMS_MAX, &n))
		return -1;
	return store_number(ctx, n);
}

static int
parse_h2_workaround(struct cfg_ctx *ctx)
{
	struct global_conf *g = ctx->obj;

	g->h2.no_extended = 1;
	return 0;
}

#define H2(n, fn, side, what, syn, text, ...) \
	{ .name = "tune.h2." n, .sections = CFG_GLOBAL, .min = 1, .max = 1, .parse = fn, \
		.arg = PLACE(side, what), .syntax = syn, .doc = text, __VA_ARGS__ }
#define WINDOW "Bytes of a body that the peer may send in each stream before they are taken"
#define STREAMS "Maximum number of streams that are open at once in a connection"
#define RXBUF "Bytes of bodies that may wait in a connection, beside the initial window of each " \
	      "further stream. A body that is received alone gets as large a window"
#define FRAMES "Frames that are processed of one connection before others get their turn; 0 sets " \
	       "no limit."
#define GLITCHES "Number of unusual events (empty frames, resets without use, frames for streams " \
		 "that are closed) after which a connection is ended; 0 sets no limit."

static const struct cfg_kw kws[] = {
	H2("header-table-size", parse_h2_table, H2_BOTH, H2_TUNED_TABLE, "<bytes>",
		"Size of the table that a peer may compress its headers with, up to 65536.",
		.dflt = "4096"),
	H2("initial-window-size", parse_h2_count, H2_BOTH, H2_TUNED_WINDOW, "<bytes>",
		WINDOW ", on both sides.", .dflt = "65536"),
	H2("fe.initial-window-size", parse_h2_count, H2_FE, H2_TUNED_WINDOW, "<bytes>",
		WINDOW ", of clients.", .dflt = "that of tune.h2.initial-window-size"),
	H2("be.initial-window-size", parse_h2_count, H2_BE, H2_TUNED_WINDOW, "<bytes>",
		WINDOW ", of servers.", .dflt = "that of tune.h2.initial-window-size"),
	H2("max-concurrent-streams", parse_h2_count, H2_BOTH, H2_TUNED_STREAMS, "<number>",
		STREAMS ", on both sides; 0 sets no limit.", .dflt = "100"),
	H2("fe.max-concurrent-streams", parse_h2_count, H2_FE, H2_TUNED_STREAMS, "<number>",
		STREAMS ", by a client; 0 sets no limit.",
		.dflt = "that of tune.h2.max-concurrent-streams"),
	H2("be.max-concurrent-streams", parse_h2_count, H2_BE, H2_TUNED_STREAMS, "<number>",
		STREAMS ", to a server, which may permit fewer; 0 sets no limit.",
		.dflt = "that of tune.h2.max-concurrent-streams"),
	H2("fe.rxbuf", parse_h2_size, H2_FE, H2_TUNED_RXBUF, "<size>", RXBUF ", of a client.",
		.dflt = "1600k"),
	H2("be.rxbuf", parse_h2_size, H2_BE, H2_TUNED_RXBUF, "<size>", RXBUF ", of a server.",
		.dflt = "1600k"),
	H2("fe.max-frames-at-once", parse_h2_count, H2_FE, H2_TUNED_FRAMES, "<number>",
		"Of clients: " FRAMES, .dflt = "64"),
	H2("be.max-frames-at-once", parse_h2_count, H2_BE, H2_TUNED_FRAMES, "<number>",
		"Of servers: " FRAMES, .dflt = "64"),
	H2("fe.max-rst-at-once", parse_h2_count, H2_FE, H2_TUNED_RESETS, "<number>",
		"Streams that a client may reset before others get their turn; 0 sets no limit.",
		.dflt = "4"),
	H2("fe.glitches-threshold", parse_h2_count, H2_FE, H2_TUNED_GLITCHES, "<number>",
		"Of clients: " GLITCHES, .dflt = "0"),
	H2("be.glitches-threshold", parse_h2_count, H2_BE, H2_TUNED_GLITCHES, "<number>",
		"Of servers: " GLITCHES, .dflt = "0"),
	H2("fe.max-total-streams", parse_h2_count, H2_FE, H2_TUNED_TOTAL, "<number>",
		"Requests after which a client is asked to open another connection; 0 sets no "
		"limit.",
		.dflt = "0"),
	{ .name = "h2-workaround-bogus-websocket-clients",
		.dflt = "off",
		.sections = CFG_GLOBAL,
		.parse = parse_h2_workaround,
		.doc = "Does not offer websockets over HTTP/2 (RFC 8441): clients open a "
		       "connection of HTTP/1.1 for them." },
	{ 0 },
};

const struct cfg_module h2_cfg_module = { .name = "h2", .kws = kws };
