#include "sim/scenarios.h"

#include "sim/agent.h"
#include "sim/filters.h"

#define TO .to = { .connect = 5000, .client = 30000, .server = 30000, .queue = 5000 }
#define NEAR .n_servers = 1
#define FAR .n_servers = 1, .server = { { .path = FAKE_FAR, .one_way = 10 * FAKE_MS } }
#define SMART .cfg.options = OPT_SMART_CONNECT

/* One request, one answer, the server closes. */
#define REQUEST(mode_, how, calls)                                                        \
	.cfg = { .mode = INTEREST_##mode_, TO, how },                                     \
	.client = { { STEP_SEND, 100 }, EOF_CLOSE },                                     \
	.origin = { { STEP_WAIT, 100 }, { STEP_SEND, 1000 }, { STEP_CLOSE, 0 } },         \
	.terms = "--", .to_server = 100, .to_client = 1000, .max_calls = calls, .golden = 1

/* The server speaks first. */
#define GREETING(mode_, how)                                                              \
	.cfg = { .mode = INTEREST_##mode_, TO, how },                                     \
	.client = { { STEP_WAIT, 50 }, { STEP_SEND, 100 }, EOF_CLOSE },                  \
	.origin = { { STEP_SEND, 50 }, { STEP_WAIT, 100 }, { STEP_SEND, 200 } },          \
	.terms = "--", .to_server = 100, .to_client = 250, .golden = 1

/* Rules on clients and servers. */
#define RULES(mode_, text, ...)                                                           \
	.cfg = { .mode = INTEREST_##mode_, TO, NEAR, .rules = text, __VA_ARGS__ }
#define WAITS_FOR(bytes, ms)                                                              \
	"tcp-request inspect-delay " ms                                                   \
	"\ntcp-request content accept if { req.len ge " bytes " }\n"
#define HOLDS_FOR(bytes, ms)                                                              \
	"tcp-response inspect-delay " ms                                                  \
	"\ntcp-response content accept if { res.len ge " bytes " }\n"
#define SENDS_TWICE(a, b) { STEP_SEND, a }, { STEP_PAUSE, 20 }, { STEP_SEND, b }
/* A PROXY header, and texts after it. */
#define TCP4 "PROXY TCP4 1.2.3.4 5.6.7.8 1111 2222\r\n"
#define ANNOUNCED(mode_, ...)                                                             \
	.cfg = { .mode = INTEREST_##mode_, TO, NEAR, .announced = 1, .texts = 1, __VA_ARGS__ }
#define HEARS_HELLO                                                                       \
	.origin = { { STEP_AWAIT, (uintptr_t)"hello" }, SAY("there"), { STEP_CLOSE, 0 } }, \
	.terms = "--", .to_server = 5, .to_client = 5
#define HEARS_NOTHING                                                                     \
	.origin = { { STEP_WAIT_EOF, 0 }, { STEP_CLOSE, 0 } }
#define ANSWERS(got) .origin = { { STEP_WAIT, got }, { STEP_SEND, 1000 }, { STEP_CLOSE, 0 } }

/* Three requests on one connection, then the client closes. */
#define ASK { STEP_SEND, 100 }, { STEP_WAIT, 1000 }
#define ANSWER { STEP_WAIT, 100 }, { STEP_SEND, 1000 }
#define KEEPALIVE(mode_, how)                                                             \
	.cfg = { .mode = INTEREST_##mode_, TO, how },                                     \
	.client = { ASK, ASK, ASK, { STEP_CLOSE, 0 } },                                   \
	.origin = { ANSWER, ANSWER, ANSWER, { STEP_WAIT_EOF, 0 } },                       \
	.terms = "--", .to_server = 300, .to_client = 3000, .golden = 1

/* Small buffers, and spliced streams. */
#define PIPES(mode_, opt_, after_, ...)                                                   \
	.cfg = { .mode = INTEREST_##mode_, .bufsize = 4096, .sndbuf = 20000,              \
		 .rcvbuf = 20000, .options = STREAM_##opt_, .splice_after = after_,   \
		 __VA_ARGS__ }
#define STREAM_AUTO OPT_SPLICE_AUTO
#define STREAM_REQUEST OPT_SPLICE_REQUEST
#define STREAM_RESPONSE OPT_SPLICE_RESPONSE
#define STREAM_COPY 0
#define FOUR .maxpipes = 4, TO, NEAR
#define ASKS .client = { { STEP_SEND, 100 }, EOF_CLOSE }
#define ASKS_DEAF(ms)                                                                     \
	.client = { { STEP_SEND, 100 }, { STEP_STALL, 0 }, { STEP_PAUSE, ms },             \
		    { STEP_READ, 0 }, EOF_CLOSE }
#define SENDS(bytes)                                                                      \
	.origin = { { STEP_WAIT, 100 }, { STEP_SEND, bytes }, { STEP_CLOSE, 0 } },        \
	.to_server = 100
#define SENDS_AND_RESETS(bytes)                                                           \
	.origin = { { STEP_WAIT, 100 }, { STEP_SEND, bytes }, { STEP_PAUSE, 50 },         \
		    { STEP_RESET, 0 } },                                                  \
	.to_server = 100, .terms = "SD", .to_client = bytes
#define WHOLE(bytes) SENDS(bytes), .terms = "--", .to_client = bytes

/* Servers that want a PROXY header, which begins what they read. */
static void
want_proxy_v1(struct proxy *px)
{
	list_each(it, &px->servers) {
		list_entry(it, struct server, link)->conf.proxy_header = SERVER_PROXY_V1;
	}
}

static void
want_proxy_v2(struct proxy *px)
{
	list_each(it, &px->servers) {
		list_entry(it, struct server, link)->conf.proxy_header =
			SERVER_PROXY_V2 | SERVER_PROXY_CRC32C;
	}
}

/* The server is its own SOCKS4 proxy. The request has zeros: it is no text. */
static void
want_socks4(struct proxy *px)
{
	list_each(it, &px->servers) {
		struct server *s = list_entry(it, struct server, link);

		(void)addr_cell_get(&s->addr, &s->conf.socks4);
	}
}

#define SOCKS4(mode_, ...)                                                                \
	.cfg = { .mode = INTEREST_##mode_, TO, .texts = 1, .prepare = want_socks4, __VA_ARGS__ }
#define SOCKS4_ASKED { STEP_WAIT, 16 }
#define SOCKS4_YES "?Z------"
#define SOCKS4_NO "?[------"

#define ANNOUNCES(mode_, v, ...)                                                          \
	.cfg = { .mode = INTEREST_##mode_, TO, .texts = 1, .prepare = want_proxy_##v, __VA_ARGS__ }
#define V1_LEN 42 /* "PROXY TCP4 127.0.0.1 127.0.0.1 <5 digits> 1000\r\n" */
#define V2_LEN (16 + 12 + 7)
#define HEARS(bytes, text)                                                                \
	.origin = { { STEP_AWAIT, (uintptr_t)(text) }, SAY("there"), { STEP_CLOSE, 0 } }, \
	.terms = "--", .to_server = bytes, .to_client = 5

const struct scenario scenarios[] = {
#include "sim/http_scenarios.tbl.h"
#include "sim/filter_scenarios.tbl.h"
	{ .name = "near_merged", REQUEST(MERGED, NEAR, 17) },
	{ .name = "near_unmerged", REQUEST(UNMERGED, NEAR, 22) },
	{ .name = "near_edge", REQUEST(EDGE, NEAR, 16) },
	{ .name = "far_merged", REQUEST(MERGED, FAR, 19) },
	{ .name = "far_unmerged", REQUEST(UNMERGED, FAR, 29) },
	{ .name = "far_edge", REQUEST(EDGE, FAR, 19) },
	{ .name = "greeting_near_merged", GREETING(MERGED, NEAR) },
	{ .name = "greeting_near_unmerged", GREETING(UNMERGED, NEAR) },
	{ .name = "greeting_near_edge", GREETING(EDGE, NEAR) },
	{ .name = "greeting_far_merged", GREETING(MERGED, FAR) },
	{ .name = "keepalive_merged", KEEPALIVE(MERGED, NEAR) },
	{ .name = "keepalive_unmerged", KEEPALIVE(UNMERGED, NEAR) },
	{ .name = "keepalive_edge", KEEPALIVE(EDGE, NEAR) },
	/* One extra poll, for the first response only; none for a greeting. */
	{ .name = "smart_keepalive_merged", KEEPALIVE(MERGED, NEAR), SMART },
	{ .name = "smart_keepalive_edge", KEEPALIVE(EDGE, NEAR), SMART },
	{ .name = "smart_greeting_edge", GREETING(EDGE, NEAR), SMART },
	{ .name = "eager_merged",
	  .cfg = { .mode = INTEREST_MERGED, .eager = 1, TO, NEAR },
	  .client = { { STEP_SEND, 100 }, EOF_CLOSE },
	  .origin = { { STEP_WAIT, 100 }, { STEP_SEND, 1000 }, { STEP_CLOSE, 0 } },
	  .terms = "--", .to_server = 100, .to_client = 1000 },
	{ .name = "deferred_accept",
	  .cfg = { .mode = INTEREST_MERGED, .defer = 1, TO, NEAR },
	  .client = { { STEP_PAUSE, 50 }, { STEP_SEND, 100 }, EOF_CLOSE },
	  .origin = { { STEP_WAIT, 100 }, { STEP_SEND, 1000 }, { STEP_CLOSE, 0 } },
	  .terms = "--", .to_server = 100, .to_client = 1000, .max_calls = 16, .golden = 1 },
	{ .name = "client_shuts_first",
	  .cfg = { .mode = INTEREST_MERGED, TO, NEAR },
	  .client = { { STEP_SEND, 100 }, { STEP_SHUT, 0 }, EOF_CLOSE },
	  .origin = { { STEP_WAIT_EOF, 0 }, { STEP_PAUSE, 20 }, { STEP_SEND, 1000 }, { STEP_CLOSE,
	    0 } },
	  .terms = "--", .to_server = 100, .to_client = 1000, .golden = 1 },
	{ .name = "client_shuts_later",
	  .cfg = { .mode = INTEREST_MERGED, TO, FAR },
	  .client = { { STEP_SEND, 100 }, { STEP_WAIT, 10 }, { STEP_SHUT, 0 }, EOF_CLOSE },
	  .origin = { { STEP_WAIT, 100 }, { STEP_SEND, 10 }, { STEP_WAIT_EOF, 0 }, { STEP_SEND,
	    1000 },
		  { STEP_CLOSE, 0 } },
	  .terms = "--", .to_server = 100, .to_client = 1010, .golden = 1 },
	{ .name = "server_shuts_first",
	  .cfg = { .mode = INTEREST_MERGED, TO, NEAR },
	  .client = { EOF_CLOSE },
	  .origin = { { STEP_SEND, 100 }, { STEP_SHUT, 0 }, { STEP_WAIT_EOF, 0 }, { STEP_CLOSE,
	    0 } },
	  .terms = "--", .to_client = 100 },
	{ .name = "server_shuts_client_goes_on",
	  .cfg = { .mode = INTEREST_EDGE, TO, NEAR },
	  .client = { { STEP_WAIT_EOF, 0 }, { STEP_PAUSE, 50 }, { STEP_SEND, 5000 }, { STEP_CLOSE,
	    0 } },
	  .origin = { { STEP_SEND, 100 }, { STEP_SHUT, 0 }, { STEP_WAIT_EOF, 0 }, { STEP_CLOSE,
	    0 } },
	  .terms = "--", .to_server = 5000, .to_client = 100, .golden = 1 },
	{ .name = "client_resets",
	  .cfg = { .mode = INTEREST_MERGED, TO, NEAR },
	  .client = { { STEP_SEND, 100 }, { STEP_WAIT, 100 }, { STEP_RESET, 0 } },
	  .origin = { { STEP_WAIT, 100 }, { STEP_SEND, 100 }, { STEP_WAIT_EOF, 0 } },
	  .terms = "CD", .to_server = 100, .to_client = 100, .golden = 1 },
	{ .name = "server_resets",
	  .cfg = { .mode = INTEREST_MERGED, TO, NEAR },
	  .client = { { STEP_SEND, 100 }, EOF_CLOSE },
	  .origin = { { STEP_WAIT, 100 }, { STEP_SEND, 700 }, { STEP_RESET, 0 } },
	  .terms = "SD", .to_server = 100, .to_client = 700, .golden = 1 },
	{ .name = "server_resets_far_client",
	  .cfg = { .mode = INTEREST_EDGE, .client_delay = 30 * FAKE_MS, TO, NEAR },
	  .client = { { STEP_SEND, 100 }, EOF_CLOSE },
	  .origin = { { STEP_WAIT, 100 }, { STEP_SEND, 40000 }, { STEP_RESET, 0 } },
	  .terms = "SD", .to_server = 100, .to_client = 40000 },
	{ .name = "server_resets_slow_client",
	  .cfg = { .mode = INTEREST_MERGED, .sndbuf = 8192, .rcvbuf = 8192, TO, NEAR },
	  .client = { { STEP_SEND, 100 }, { STEP_STALL, 0 }, { STEP_PAUSE, 300 }, { STEP_READ, 0 },
	    EOF_CLOSE },
	  /* the pause: a speculative read takes one byte more */
	  .origin = { { STEP_WAIT, 100 }, { STEP_PAUSE, 5 }, { STEP_SEND, 20000 },
	    { STEP_RESET, 0 } },
	  /* data that had arrived when the reset came: the rest never left the server */
	  .terms = "SD", .to_server = 100, .to_client = 16384 },
	{ .name = "server_resets_before_a_word",
	  .cfg = { .mode = INTEREST_MERGED, TO, NEAR },
	  .client = { EOF_CLOSE },
	  .origin = { { STEP_RESET, 0 } }, .terms = "SC" },
	{ .name = "client_resets_before_a_word",
	  .cfg = { .mode = INTEREST_MERGED, TO, NEAR },
	  .client = { { STEP_PAUSE, 10 }, { STEP_RESET, 0 } },
	  .origin = { { STEP_WAIT_EOF, 0 } }, .terms = "CD" },
	{ .name = "refused",
	  .cfg = { .mode = INTEREST_MERGED, TO, .n_servers = 1, .server = { { .absent = 1 } } },
	  .client = { { STEP_SEND, 100 }, EOF_CLOSE }, .terms = "SC", .golden = 1 },
	{ .name = "refused_far",
	  .cfg = { .mode = INTEREST_EDGE, TO, .n_servers = 1,
		  .server = { { .path = FAKE_REFUSED, .one_way = FAKE_MS } } },
	  .client = { EOF_CLOSE }, .terms = "SC", .golden = 1 },
	{ .name = "refused_retries",
	  .cfg = { .mode = INTEREST_MERGED, TO, .retries = 2, .n_servers = 1,
	    .server = { { .absent = 1 } } },
	  .client = { { STEP_SEND, 100 }, EOF_CLOSE }, .terms = "SC", .golden = 1 },
	{ .name = "refused_set_retries",
	  .cfg = { .mode = INTEREST_EDGE, TO, .retries = 9, .n_servers = 1,
		  .rules = "tcp-request content set-retries 1", .server = { { .absent = 1 } } },
	  .client = { { STEP_SEND, 100 }, EOF_CLOSE }, .terms = "SC", .golden = 1 },
	{ .name = "refused_redispatch",
	  .cfg = { .mode = INTEREST_MERGED, TO, .retries = 2, .redispatch = -1, .n_servers = 2,
		  .server = { { .absent = 1 }, { .path = FAKE_NEAR } } },
	  .client = { { STEP_SEND, 100 }, EOF_CLOSE },
	  .origin = { { STEP_WAIT, 100 }, { STEP_SEND, 1000 }, { STEP_CLOSE, 0 } },
	  .terms = "--", .to_server = 100, .to_client = 1000, .golden = 1 },
	{ .name = "connect_timeout",
	  .cfg = { .mode = INTEREST_MERGED, .to = { .connect = 1000, .client = 9000,
	    .server = 9000, .queue = 9000 },
		  .retries = 1, .n_servers = 1, .server = { { .path = FAKE_BLACKHOLE } } },
	  .client = { { STEP_SEND, 100 }, EOF_CLOSE }, .terms = "sC", .golden = 1 },
	{ .name = "client_leaves_while_connecting",
	  .cfg = { .mode = INTEREST_MERGED, TO, .n_servers = 1,
	    .server = { { .path = FAKE_BLACKHOLE } } },
	  .client = { { STEP_PAUSE, 20 }, { STEP_CLOSE, 0 } }, .terms = "CC", .golden = 1 },
	{ .name = "client_resets_while_connecting",
	  .cfg = { .mode = INTEREST_EDGE, TO, .n_servers = 1,
	    .server = { { .path = FAKE_BLACKHOLE } } },
	  .client = { { STEP_SEND, 10 }, { STEP_PAUSE, 20 }, { STEP_RESET, 0 } }, .terms = "CC" },
	{ .name = "client_shuts_while_connecting",
	  .cfg = { .mode = INTEREST_MERGED, TO, FAR },
	  .client = { { STEP_SEND, 10 }, { STEP_SHUT, 0 }, EOF_CLOSE },
	  .origin = { { STEP_WAIT_EOF, 0 }, { STEP_SEND, 10 } }, .terms = "--", .to_server = 10,
	  .to_client = 10, .golden = 1 },
	{ .name = "client_resets_after_its_fin",
	  .cfg = { .mode = INTEREST_EDGE, TO, NEAR },
	  .client = { { STEP_SEND, 10 }, { STEP_SHUT, 0 }, { STEP_PAUSE, 100 },
		  { STEP_RESET, 0 } },
	  .origin = { { STEP_WAIT, 10 }, { STEP_SEND, 10 }, { STEP_PAUSE, 300 },
		  { STEP_CLOSE, 0 } },
	  .terms = "CD", .to_server = 10, .to_client = 10, .max_ms = 110, .golden = 1 },
	{ .name = "short_writes",
	  .cfg = { .mode = INTEREST_MERGED, .sndbuf = 5000, .rcvbuf = 4000, .bufsize = 4096, TO,
		  NEAR },
	  .client = { { STEP_SEND, 100 }, { STEP_STALL, 0 }, { STEP_PAUSE, 100 }, EOF_CLOSE },
	  .origin = { { STEP_WAIT, 100 }, { STEP_SEND, 30000 }, { STEP_CLOSE, 0 } },
	  .terms = "--", .to_server = 100, .to_client = 30000, .max_ms = 150, .golden = 1 },
	{ .name = "queue_timeout", .n_clients = 2,
	  .cfg = { .mode = INTEREST_MERGED, .to = { .connect = 9000, .client = 9000,
	    .server = 9000, .queue = 1000 },
		  .n_servers = 1, .server = { { .maxconn = 1 } } },
	  .client = { EOF_CLOSE }, .origin = { { STEP_PAUSE, 3000 }, { STEP_CLOSE, 0 } },
	    .terms = "sQ --" },
	{ .name = "queue_served", .n_clients = 3,
	  .cfg = { .mode = INTEREST_MERGED, TO, .n_servers = 1, .server = { { .maxconn = 1 } } },
	  .client = { { STEP_SEND, 100 }, EOF_CLOSE },
	  .origin = { { STEP_WAIT, 100 }, { STEP_PAUSE, 100 }, { STEP_SEND, 1000 }, { STEP_CLOSE,
	    0 } },
	  .terms = "-- -- --", .to_server = 100, .to_client = 1000 },
	{ .name = "client_leaves_the_queue", .n_clients = 2,
	  .cfg = { .mode = INTEREST_MERGED, TO, .n_servers = 1, .server = { { .maxconn = 1 } } },
	  .client = { { STEP_PAUSE, 200 }, { STEP_CLOSE, 0 } }, .origin = { { STEP_PAUSE, 500 } },
	  .terms = "CQ --" },
	{ .name = "client_timeout",
	  .cfg = { .mode = INTEREST_MERGED, .to = { .connect = 9000, .client = 1000,
	    .server = 9000, .queue = 9000 },
		  NEAR },
	  .client = { EOF_CLOSE }, .origin = { { STEP_WAIT_EOF, 0 } }, .terms = "cD",
	    .golden = 1 },
	{ .name = "server_timeout",
	  .cfg = { .mode = INTEREST_MERGED, .to = { .connect = 9000, .client = 9000,
	    .server = 1000, .queue = 9000 },
		  NEAR },
	  .client = { { STEP_SEND, 100 }, EOF_CLOSE }, .origin = { { STEP_WAIT_EOF, 0 } },
	    .terms = "sD",
	  .to_server = 100, .golden = 1 },
	{ .name = "server_fin_timeout",
	  .cfg = { .mode = INTEREST_MERGED, .to = { .connect = 9000, .client = 9000,
	    .server = 9000, .queue = 9000,
		  .server_fin = 500 }, NEAR },
	  .client = { { STEP_SEND, 100 }, { STEP_SHUT, 0 }, EOF_CLOSE },
	  .origin = { { STEP_WAIT_EOF, 0 }, { STEP_PAUSE, 3000 } }, .terms = "sD",
	    .to_server = 100 },
	/* a side has no timeout while it is not read or has nothing to accept */
	{ .name = "patience_with_a_slow_server",
	  .cfg = { .mode = INTEREST_UNMERGED, .sndbuf = 8192, .rcvbuf = 8192, NEAR,
		  .to = { .connect = 5000, .client = 300, .server = 5000, .queue = 5000 } },
	  .client = { { STEP_SEND, 60000 }, { STEP_SHUT, 0 }, EOF_CLOSE },
	  .origin = { { STEP_STALL, 0 }, { STEP_PAUSE, 1000 }, { STEP_WAIT_EOF, 0 },
		  { STEP_SEND, 10 } },
	  .terms = "--", .to_server = 60000, .to_client = 10 },
	{ .name = "patience_with_a_far_server",
	  .cfg = { .mode = INTEREST_MERGED, .n_servers = 1,
		  .server = { { .path = FAKE_FAR, .one_way = 200 * FAKE_MS } },
		  .to = { .connect = 5000, .client = 450, .server = 5000, .queue = 5000 } },
	  .client = { { STEP_WAIT, 50 }, { STEP_SEND, 100 }, EOF_CLOSE },
	  .origin = { { STEP_SEND, 50 }, { STEP_WAIT, 100 }, { STEP_SEND, 10 } },
	  .terms = "--", .to_server = 100, .to_client = 60 },
	{ .name = "patience_with_a_late_burst",
	  .cfg = { .mode = INTEREST_MERGED, .sndbuf = 2048, .rcvbuf = 2048, .bufsize = 4096, NEAR,
		  .to = { .connect = 5000, .client = 5000, .server = 300, .queue = 5000 } },
	  .client = { { STEP_WAIT_EOF, 0 }, { STEP_PAUSE, 1000 }, { STEP_SEND, 60000 } },
	  .origin = { { STEP_SHUT, 0 }, { STEP_STALL, 0 }, { STEP_PAUSE, 1200 },
		  { STEP_WAIT_EOF, 0 } },
	  .terms = "--", .to_server = 60000 },
	{ .name = "big_both_ways",
	  .cfg = { .mode = INTEREST_MERGED, .sndbuf = 20000, .rcvbuf = 10000, .bufsize = 4096, TO,
	    NEAR },
	  .client = { { STEP_SEND, 200000 }, { STEP_SHUT, 0 }, EOF_CLOSE },
	  .origin = { { STEP_SEND, 150000 }, { STEP_WAIT_EOF, 0 } }, .terms = "--",
	  .to_server = 200000, .to_client = 150000, .no_torture = 1 },
	{ .name = "big_both_ways_edge",
	  .cfg = { .mode = INTEREST_EDGE, .sndbuf = 20000, .rcvbuf = 10000, .bufsize = 4096, TO,
	    FAR },
	  .client = { { STEP_SEND, 200000 }, { STEP_SHUT, 0 }, EOF_CLOSE },
	  .origin = { { STEP_SEND, 150000 }, { STEP_WAIT_EOF, 0 } }, .terms = "--",
	  .to_server = 200000, .to_client = 150000, .no_torture = 1 },
	{ .name = "slow_client",
	  .cfg = { .mode = INTEREST_MERGED, .sndbuf = 8192, .rcvbuf = 8192, .bufsize = 4096, TO,
	    NEAR },
	  .client = { { STEP_SEND, 100 }, { STEP_STALL, 0 }, { STEP_PAUSE, 500 }, { STEP_READ, 0 },
	    EOF_CLOSE },
	  .origin = { { STEP_WAIT, 100 }, { STEP_SEND, 60000 }, { STEP_CLOSE, 0 } },
	  .terms = "--", .to_server = 100, .to_client = 60000, .golden = 1 },
	{ .name = "slow_client_edge",
	  .cfg = { .mode = INTEREST_EDGE, .sndbuf = 8192, .rcvbuf = 8192, .bufsize = 4096, TO,
	    NEAR },
	  .client = { { STEP_SEND, 100 }, { STEP_STALL, 0 }, { STEP_PAUSE, 500 }, { STEP_READ, 0 },
	    EOF_CLOSE },
	  .origin = { { STEP_WAIT, 100 }, { STEP_SEND, 60000 }, { STEP_CLOSE, 0 } },
	  .terms = "--", .to_server = 100, .to_client = 60000 },
	{ .name = "zerocopy_slow_client",
	  .cfg = { .mode = INTEREST_EDGE, .sndbuf = 20000, .rcvbuf = 8192, .bufsize = 4096,
		  .zerocopy = 2048, TO, NEAR },
	  .client = { { STEP_SEND, 100 }, { STEP_STALL, 0 }, { STEP_PAUSE, 500 }, { STEP_READ, 0 },
	    EOF_CLOSE },
	  .origin = { { STEP_WAIT, 100 }, { STEP_SEND, 60000 }, { STEP_CLOSE, 0 } },
	  .terms = "--", .to_server = 100, .to_client = 60000, .golden = 1 },
	{ .name = "zerocopy_far_close",
	  .cfg = { .mode = INTEREST_MERGED, .bufsize = 4096, .zerocopy = 2048, TO, NEAR,
		  .client_delay = 20 * FAKE_MS },
	  .client = { { STEP_SEND, 100 }, EOF_CLOSE },
	  .origin = { { STEP_WAIT, 100 }, { STEP_SEND, 20000 }, { STEP_CLOSE, 0 } },
	  .terms = "--", .to_server = 100, .to_client = 20000, .golden = 1 },
	{ .name = "splice_near_edge", PIPES(EDGE, RESPONSE, 1, FOUR), ASKS, WHOLE(50000),
	  .golden = 1 },
	{ .name = "splice_near_merged", PIPES(MERGED, RESPONSE, 1, FOUR), ASKS, WHOLE(50000),
	  .golden = 1 },
	{ .name = "splice_near_unmerged", PIPES(UNMERGED, RESPONSE, 1, FOUR), ASKS, WHOLE(50000) },
	/* copied until it is known to be long */
	{ .name = "splice_auto", PIPES(EDGE, AUTO, 16384, FOUR), ASKS, WHOLE(60000), .golden = 1 },
	{ .name = "splice_not_for_the_short", PIPES(EDGE, AUTO, 16384, FOUR), ASKS, WHOLE(16000),
	  .golden = 1 },
	{ .name = "splice_slow_client", PIPES(EDGE, RESPONSE, 1, FOUR), ASKS_DEAF(500),
	  WHOLE(60000), .golden = 1 },
	{ .name = "splice_slow_client_merged", PIPES(MERGED, AUTO, 8192, FOUR), ASKS_DEAF(500),
	  WHOLE(60000) },
	/* a pipe is full with a few bytes in it, and a short count does not mean a drained
	 * source */
	{ .name = "splice_tiny_segments", ASKS, WHOLE(40000),
	  PIPES(EDGE, RESPONSE, 1, FOUR, .pipe_slots = 4, .fragment = 100) },
	{ .name = "splice_tiny_segments_slow_client", ASKS_DEAF(100), WHOLE(30000),
	  PIPES(EDGE, RESPONSE, 1, FOUR, .pipe_slots = 4, .fragment = 300) },
	/* useless small pipes are not used */
	{ .name = "splice_small_pipes", ASKS, WHOLE(40000),
	  PIPES(EDGE, RESPONSE, 1, FOUR, .pipe_slots = 2, .fragment = 4096), .golden = 1 },
	{ .name = "splice_out_of_descriptors", ASKS, WHOLE(40000),
	  PIPES(EDGE, RESPONSE, 1, FOUR, .fd_limit = 7), .golden = 1 },
	{ .name = "splice_one_pipe_for_many", .n_clients = 4, ASKS_DEAF(50), SENDS(60000),
	  PIPES(EDGE, RESPONSE, 1, .maxpipes = 1, TO, NEAR), .terms = "-- -- -- --",
	  .to_client = 60000, .no_torture = 1 },
	{ .name = "splice_far", PIPES(EDGE, AUTO, 4096, .maxpipes = 4, TO, FAR), ASKS,
	  WHOLE(60000) },
	{ .name = "splice_server_resets", PIPES(EDGE, RESPONSE, 1, FOUR), ASKS,
	  SENDS_AND_RESETS(50000), .golden = 1 },
	/* data in the pipe is delivered before the reset is forwarded */
	{ .name = "splice_server_resets_slow_client", PIPES(EDGE, RESPONSE, 1, FOUR),
	  ASKS_DEAF(300), SENDS_AND_RESETS(60000), .golden = 1 },
	{ .name = "splice_client_resets", PIPES(EDGE, RESPONSE, 1, FOUR), SENDS(90000),
	  .client = { { STEP_SEND, 100 }, { STEP_STALL, 0 }, { STEP_PAUSE, 100 },
		  { STEP_RESET, 0 } },
	  .terms = "CD" },
	{ .name = "splice_client_half_close", PIPES(EDGE, RESPONSE, 1, FOUR), WHOLE(60000),
	  .client = { { STEP_SEND, 100 }, { STEP_SHUT, 0 }, EOF_CLOSE }, .golden = 1 },
	{ .name = "splice_request", PIPES(EDGE, REQUEST, 1, FOUR),
	  .client = { { STEP_SEND, 60000 }, EOF_CLOSE },
	  .origin = { { STEP_WAIT, 60000 }, { STEP_SEND, 10 }, { STEP_CLOSE, 0 } },
	  .terms = "--", .to_server = 60000, .to_client = 10 },
	{ .name = "splice_server_half_close", PIPES(EDGE, AUTO, 4096, FOUR),
	  .client = { { STEP_WAIT_EOF, 0 }, { STEP_SEND, 60000 }, { STEP_CLOSE, 0 } },
	  .origin = { { STEP_SEND, 30000 }, { STEP_SHUT, 0 }, { STEP_WAIT_EOF, 0 },
		  { STEP_CLOSE, 0 } },
	  .terms = "--", .to_server = 60000, .to_client = 30000 },
	{ .name = "splice_both_ways", PIPES(EDGE, AUTO, 8192, FOUR),
	  .client = { { STEP_SEND, 200000 }, { STEP_SHUT, 0 }, EOF_CLOSE },
	  .origin = { { STEP_SEND, 150000 }, { STEP_WAIT_EOF, 0 } },
	  .terms = "--", .to_server = 200000, .to_client = 150000, .no_torture = 1 },
	{ .name = "splice_client_timeout", SENDS(90000),
	  PIPES(EDGE, RESPONSE, 1, .maxpipes = 4, NEAR,
		.to = { .connect = 5000, .client = 1000, .server = 5000, .queue = 5000 }),
	  .client = { { STEP_SEND, 100 }, { STEP_STALL, 0 }, { STEP_PAUSE, 3000 }, EOF_CLOSE },
	  .terms = "cD", .to_client = 20000 },
	/* bursts with pauses: copied again when they become small */
	{ .name = "splice_comes_and_goes", PIPES(EDGE, AUTO, 4096, FOUR), ASKS,
	  .origin = { { STEP_WAIT, 100 }, { STEP_SEND, 20000 }, { STEP_PAUSE, 10 },
		  { STEP_SEND, 10 }, { STEP_PAUSE, 10 }, { STEP_SEND, 10 }, { STEP_PAUSE, 10 },
		  { STEP_SEND, 10 }, { STEP_PAUSE, 10 }, { STEP_SEND, 20010 }, { STEP_CLOSE, 0 } },
	  .terms = "--", .to_server = 100, .to_client = 40040, .golden = 1 },
	/* bulk transfers take turns, and are read in larger pieces */
	{ .name = "streams_take_turns", .n_clients = 5, ASKS, SENDS(60000),
	  PIPES(EDGE, COPY, 4096, TO, NEAR, .bulk_turn = 4096),
	  .terms = "-- -- -- -- --", .to_client = 60000, .no_torture = 1 },
	{ .name = "spliced_streams_take_turns", .n_clients = 5, ASKS, SENDS(60000),
	  PIPES(MERGED, AUTO, 4096, FOUR, .bulk_turn = 1024),
	  .terms = "-- -- -- -- --", .to_client = 60000, .no_torture = 1 },
	{ .name = "streams_two_turns", .n_clients = 2, ASKS_DEAF(10), SENDS(40000),
	  PIPES(EDGE, AUTO, 4096, FOUR, .bulk_turn = 1024), .terms = "-- --",
	  .to_client = 40000 },
	{ .name = "streams_big_pieces", ASKS, WHOLE(60000), .golden = 1,
	  PIPES(EDGE, COPY, 8192, TO, NEAR, .bulk_bufsize = 16384, .bulk_turn = 16384) },
	{ .name = "streams_big_pieces_slow_client", ASKS_DEAF(100), WHOLE(60000), .golden = 1,
	  PIPES(EDGE, COPY, 8192, TO, NEAR, .bulk_bufsize = 16384, .bulk_turn = 16384) },
	{ .name = "streams_reset", ASKS_DEAF(300), SENDS_AND_RESETS(50000),
	  PIPES(EDGE, COPY, 4096, TO, NEAR, .bulk_bufsize = 16384, .bulk_turn = 2048) },
	{ .name = "out_of_descriptors", .n_clients = 5,
	  .cfg = { .mode = INTEREST_MERGED, .fd_limit = 9, TO, NEAR },
	  .client = { { STEP_SEND, 100 }, EOF_CLOSE },
	  .origin = { { STEP_WAIT, 100 }, { STEP_PAUSE, 250 }, { STEP_SEND, 1000 }, { STEP_CLOSE,
	    0 } },
	  .terms = "-- -- -- -- --", .to_server = 100, .to_client = 1000 },
	{ .name = "frontend_full", .n_clients = 5,
	  .cfg = { .mode = INTEREST_MERGED, .maxconn = 2, TO, NEAR },
	  .client = { { STEP_SEND, 100 }, EOF_CLOSE },
	  .origin = { { STEP_WAIT, 100 }, { STEP_PAUSE, 50 }, { STEP_SEND, 1000 }, { STEP_CLOSE,
	    0 } },
	  .terms = "-- -- -- -- --", .to_server = 100, .to_client = 1000 },
	{ .name = "crowd_merged", .n_clients = 20,
	  .cfg = { .mode = INTEREST_MERGED, TO, NEAR },
	  .client = { { STEP_SEND, 100 }, EOF_CLOSE },
	  .origin = { { STEP_WAIT, 100 }, { STEP_SEND, 1000 }, { STEP_CLOSE, 0 } },
	  .terms = "-- -- -- -- -- -- -- -- -- -- -- -- -- -- -- -- -- -- -- --", .to_server = 100,
	  .to_client = 1000, .max_calls = 280, .no_torture = 1 },
	{ .name = "crowd_edge", .n_clients = 20,
	  .cfg = { .mode = INTEREST_EDGE, TO, NEAR },
	  .client = { { STEP_SEND, 100 }, EOF_CLOSE },
	  .origin = { { STEP_WAIT, 100 }, { STEP_SEND, 1000 }, { STEP_CLOSE, 0 } },
	  .terms = "-- -- -- -- -- -- -- -- -- -- -- -- -- -- -- -- -- -- -- --", .to_server = 100,
	  .to_client = 1000, .max_calls = 260, .no_torture = 1 },
	{ .name = "few_events_a_wait", .n_clients = 12,
	  .cfg = { .mode = INTEREST_EDGE, .max_events = 2, TO, FAR },
	  .client = { { STEP_SEND, 100 }, EOF_CLOSE },
	  .origin = { { STEP_WAIT, 100 }, { STEP_SEND, 1000 }, { STEP_CLOSE, 0 } },
	  .terms = "-- -- -- -- -- -- -- -- -- -- -- --", .to_server = 100, .to_client = 1000,
	  .no_torture = 1 },
	/* rejected before anything is allocated: accept4, close */
	{ .name = "rules_reject_connection", ASKS,
	  RULES(EDGE, "tcp-request connection reject if { src 10.0.0.0/8 }"), .terms = "",
	  .max_calls = 4, .golden = 1 },
	{ .name = "rules_reject_session", ASKS,
	  RULES(MERGED, "tcp-request session reject"), .terms = "", .max_calls = 4 },
	{ .name = "rules_drop_connection", RULES(EDGE, "tcp-request connection silent-drop"),
	  .client = { { STEP_SEND, 100 }, { STEP_PAUSE, 50 }, { STEP_RESET, 0 } }, .terms = "",
	  .golden = 1 },
	/* accepted ones cost nothing more: as near_edge */
	{ .name = "rules_pass", ASKS, SENDS(1000), .terms = "--", .to_client = 1000,
	  RULES(EDGE, "tcp-request connection reject if { src 127.0.0.0/8 }\n"
		      "tcp-request session accept"),
	  .max_calls = 15 },
	/* inspection of the client's data: as much as the rules need */
	{ .name = "inspect_at_once", RULES(EDGE, WAITS_FOR("100", "5s")), ASKS, ANSWERS(100),
	  .terms = "--", .to_server = 100, .to_client = 1000, .max_calls = 15, .golden = 1 },
	{ .name = "inspect_twice_edge", RULES(EDGE, WAITS_FOR("300", "5s")),
	  .client = { SENDS_TWICE(100, 200), EOF_CLOSE }, ANSWERS(300), .terms = "--",
	  .to_server = 300, .to_client = 1000, .golden = 1 },
	{ .name = "inspect_twice_merged", RULES(MERGED, WAITS_FOR("300", "5s")),
	  .client = { SENDS_TWICE(100, 200), EOF_CLOSE }, ANSWERS(300), .terms = "--",
	  .to_server = 300, .to_client = 1000, .golden = 1 },
	{ .name = "inspect_twice_unmerged", RULES(UNMERGED, WAITS_FOR("300", "5s")),
	  .client = { SENDS_TWICE(100, 200), EOF_CLOSE }, ANSWERS(300), .terms = "--",
	  .to_server = 300, .to_client = 1000 },
	{ .name = "inspect_delay_is_over", RULES(EDGE, WAITS_FOR("300", "100ms")), ASKS,
	  ANSWERS(100), .terms = "--", .to_server = 100, .to_client = 1000, .max_ms = 200,
	  .golden = 1 },
	{ .name = "inspect_without_a_delay", RULES(EDGE, WAITS_FOR("300", "0")), ASKS,
	  ANSWERS(100), .terms = "--", .to_server = 100, .to_client = 1000, .max_ms = 50 },
	{ .name = "inspect_server_first", RULES(EDGE, WAITS_FOR("1", "50ms")),
	  .client = { { STEP_WAIT, 50 }, { STEP_SEND, 100 }, EOF_CLOSE },
	  .origin = { { STEP_SEND, 50 }, { STEP_WAIT, 100 }, { STEP_CLOSE, 0 } },
	  .terms = "--", .to_server = 100, .to_client = 50 },
	{ .name = "inspect_reject", RULES(EDGE, "tcp-request content reject if { req.len gt 0 }\n"
		"tcp-request inspect-delay 1s"), ASKS, .terms = "PR", .golden = 1 },
	{ .name = "inspect_drop", RULES(EDGE, WAITS_FOR("300", "1s")
		"tcp-request content silent-drop"),
	  .client = { { STEP_SEND, 100 }, { STEP_PAUSE, 2000 }, { STEP_RESET, 0 } },
	  .terms = "PR", .golden = 1 },
	{ .name = "inspect_client_shuts", RULES(EDGE, WAITS_FOR("300", "5s")),
	  .client = { { STEP_SEND, 100 }, { STEP_PAUSE, 20 }, { STEP_SHUT, 0 }, EOF_CLOSE },
	  ANSWERS(100), .terms = "--", .to_server = 100, .to_client = 1000, .max_ms = 100,
	  .golden = 1 },
	{ .name = "inspect_client_resets", RULES(EDGE, WAITS_FOR("300", "5s")),
	  .client = { { STEP_SEND, 100 }, { STEP_PAUSE, 20 }, { STEP_RESET, 0 } },
	  .terms = "CR", .golden = 1 },
	{ .name = "inspect_client_is_late",
	  .cfg = { .mode = INTEREST_EDGE, NEAR, .rules = WAITS_FOR("300", "5s"),
		  .to = { .connect = 5000, .client = 200, .server = 30000, .queue = 5000 } },
	  ASKS, .terms = "cR", .golden = 1 },
	/* a full buffer is the maximum for rules, and all of it is forwarded in order */
	{ .name = "inspect_full_buffer", RULES(EDGE, WAITS_FOR("100000", "5s"), .bufsize = 1024),
	  .client = { { STEP_SEND, 5000 }, EOF_CLOSE }, ANSWERS(5000), .terms = "--",
	  .to_server = 5000, .to_client = 1000, .max_ms = 100 },
	{ .name = "inspect_then_a_stream", PIPES(EDGE, REQUEST, 1, FOUR,
		.rules = WAITS_FOR("300", "5s")),
	  .client = { SENDS_TWICE(100, 59900), EOF_CLOSE },
	  .origin = { { STEP_WAIT, 60000 }, { STEP_SEND, 10 }, { STEP_CLOSE, 0 } },
	  .terms = "--", .to_server = 60000, .to_client = 10 },
	{ .name = "inspect_without_memory", .n_clients = 12,
	  .terms = "-- -- -- -- -- -- -- -- -- -- -- --",
	  RULES(EDGE, WAITS_FOR("300", "5s"), .memory = 40000, .bufsize = 4096),
	  .client = { SENDS_TWICE(100, 200), EOF_CLOSE }, ANSWERS(300), .to_server = 300,
	  .to_client = 1000, .no_torture = 1 },
	{ .name = "inspect_for_http", RULES(EDGE, "tcp-request inspect-delay 5s\n"
		"tcp-request content accept if HTTP\ntcp-request content reject",
		.texts = 1),
	  .client = { SAY("GET / HTTP/1.1\r\nHo"), { STEP_PAUSE, 20 }, SAY("st: a\r\n\r\n"),
		  EOF_CLOSE },
	  .origin = { { STEP_AWAIT, (uintptr_t)"\r\n\r\n" }, SAY("hello"),
		  { STEP_CLOSE, 0 } },
	  .terms = "--", .to_server = 27, .to_client = 5 },
	{ .name = "inspect_no_http", RULES(EDGE, "tcp-request inspect-delay 5s\n"
		"tcp-request content accept if HTTP\ntcp-request content reject"),
	  .client = { SAY("\026\003\001"), EOF_CLOSE }, .terms = "PR",
	  .max_ms = 50 },
	/* the PROXY header comes first: as near_edge if all data arrives at once */
	{ .name = "header_edge", ANNOUNCED(EDGE),
	  .client = { SAY(TCP4 "hello"), EOF_CLOSE }, HEARS_HELLO, .max_calls = 16,
	  .golden = 1 },
	{ .name = "header_merged", ANNOUNCED(MERGED),
	  .client = { SAY(TCP4 "hello"), EOF_CLOSE }, HEARS_HELLO, .max_calls = 17 },
	{ .name = "header_in_pieces_edge", ANNOUNCED(EDGE),
	  .client = { SAY("PRO"), { STEP_PAUSE, 10 }, SAY("XY UNKNOWN\r"),
		  { STEP_PAUSE, 10 }, SAY("\nhel"), { STEP_PAUSE, 10 }, SAY("lo"),
		  EOF_CLOSE },
	  HEARS_HELLO, .golden = 1 },
	{ .name = "header_in_pieces_unmerged", ANNOUNCED(UNMERGED),
	  .client = { SAY("PROXY TCP4 1.2.3.4 5."), { STEP_PAUSE, 10 },
		  SAY("6.7.8 1111 2222\r\n"), { STEP_PAUSE, 10 }, SAY("hello"),
		  EOF_CLOSE },
	  HEARS_HELLO },
	{ .name = "header_then_rules", ANNOUNCED(EDGE, .rules = WAITS_FOR("5", "5s")
		"tcp-request session reject unless { src 1.2.3.4 }\n"),
	  .client = { SAY(TCP4 "he"), { STEP_PAUSE, 10 }, SAY("llo"), EOF_CLOSE },
	  HEARS_HELLO },
	{ .name = "header_by_a_rule", .cfg = { .mode = INTEREST_EDGE, TO, NEAR, .texts = 1,
		.rules = "tcp-request connection expect-proxy layer4\n" },
	  .client = { SAY(TCP4 "hello"), EOF_CLOSE }, HEARS_HELLO, .max_calls = 16 },
	{ .name = "header_bad", ANNOUNCED(EDGE),
	  .client = { SAY("PROXY TCP4 1.2.3.4 5.6.7.8 1 02\r\nhello"), EOF_CLOSE },
	  HEARS_NOTHING, .terms = "PR", .max_calls = 7, .golden = 1 },
	{ .name = "header_cut", ANNOUNCED(EDGE),
	  .client = { SAY("PROXY TCP4 1.2.3.4"), { STEP_PAUSE, 10 }, { STEP_SHUT, 0 },
		  EOF_CLOSE },
	  HEARS_NOTHING, .terms = "PR", .golden = 1 },
	{ .name = "header_client_resets", ANNOUNCED(EDGE),
	  .client = { SAY("PROXY TCP4 1.2.3.4"), { STEP_PAUSE, 10 }, { STEP_RESET, 0 } },
	  HEARS_NOTHING, .terms = "PR" },
	{ .name = "header_is_late",
	  .cfg = { .mode = INTEREST_EDGE, NEAR, .announced = 1, .texts = 1,
		  .to = { .connect = 5000, .client = 200, .server = 30000, .queue = 5000 } },
	  .client = { EOF_CLOSE }, HEARS_NOTHING, .terms = "PR", .max_ms = 220, .golden = 1 },
	{ .name = "header_without_memory", .n_clients = 12,
	  .terms = "-- -- -- -- -- -- -- -- -- -- -- --",
	  ANNOUNCED(EDGE, .memory = 40000, .bufsize = 4096),
	  .client = { SAY("PROXY "), { STEP_PAUSE, 10 }, SAY("UNKNOWN\r\nhello"),
		  EOF_CLOSE },
	  .origin = { { STEP_AWAIT, (uintptr_t)"hello" }, SAY("there"), { STEP_CLOSE, 0 } },
	  .to_server = 5, .to_client = 5, .no_torture = 1 },
	{ .name = "header_http", ANNOUNCED(EDGE, .http = 1, .persistence = HTTP_SERVER_CLOSE),
	  .client = { SAY(TCP4 GET_CLOSE), EOF_CLOSE },
	  .origin = { { STEP_AWAIT, (uintptr_t)"\r\n\r\n" }, SAY(CLOSED_OK),
		  { STEP_WAIT_EOF, 0 } },
	  .terms = "--", .to_server = LEN(GET_CLOSE), .to_client = LEN(CLOSED_OK),
	  .max_calls = 10, .golden = 1 },
	{ .name = "header_http_apart", ANNOUNCED(EDGE, .http = 1, .persistence = HTTP_SERVER_CLOSE),
	  .client = { SAY(TCP4), { STEP_PAUSE, 10 }, SAY(GET_CLOSE), EOF_CLOSE },
	  .origin = { { STEP_AWAIT, (uintptr_t)"\r\n\r\n" }, SAY(CLOSED_OK),
		  { STEP_WAIT_EOF, 0 } },
	  .terms = "--", .to_server = LEN(GET_CLOSE), .to_client = LEN(CLOSED_OK) },
	/* send-proxy: in one call with the client's first bytes, or alone */
	{ .name = "send_proxy_near", ANNOUNCES(EDGE, v1, NEAR),
	  .client = { SAY("hello"), EOF_CLOSE }, HEARS(V1_LEN + 5, " 1000\r\nhello"),
	  .max_calls = 16, .golden = 1 },
	{ .name = "send_proxy_v2_far", ANNOUNCES(EDGE, v2, FAR),
	  .client = { SAY("hello"), EOF_CLOSE },
	  .origin = { { STEP_WAIT, V2_LEN + 5 }, SAY("there"), { STEP_CLOSE, 0 } },
	  .terms = "--", .to_server = V2_LEN + 5, .to_client = 5, .max_calls = 19, .golden = 1 },
	{ .name = "send_proxy_merged", ANNOUNCES(MERGED, v1, FAR),
	  .client = { SAY("hello"), EOF_CLOSE }, HEARS(V1_LEN + 5, " 1000\r\nhello"),
	  .max_calls = 19 },
	{ .name = "send_proxy_greeting", ANNOUNCES(EDGE, v1, FAR),
	  .client = { { STEP_AWAIT, (uintptr_t)"there" }, SAY("hello"), EOF_CLOSE },
	  .origin = { { STEP_AWAIT, (uintptr_t)"\r\n" }, SAY("there"),
		  { STEP_AWAIT, (uintptr_t)"hello" }, { STEP_CLOSE, 0 } },
	  .terms = "--", .to_server = V1_LEN + 5, .to_client = 5, .golden = 1 },
	{ .name = "send_proxy_silence", ANNOUNCES(EDGE, v1, FAR),
	  .client = { { STEP_PAUSE, 50 }, { STEP_SHUT, 0 }, EOF_CLOSE },
	  .origin = { { STEP_AWAIT, (uintptr_t)"\r\n" }, { STEP_WAIT_EOF, 0 }, SAY("there"),
		  { STEP_CLOSE, 0 } },
	  .terms = "--", .to_server = V1_LEN, .to_client = 5 },
	{ .name = "send_proxy_reset", ANNOUNCES(EDGE, v1, FAR),
	  .client = { EOF_CLOSE }, .origin = { { STEP_RESET, 0 } }, .terms = "SD" },
	/* an idle connection has one, and belongs to its client */
	{ .name = "send_proxy_http", ANNOUNCES(EDGE, v1, NEAR, .http = 1,
		.reuse = HTTP_REUSE_ALWAYS),
	  .client = { SAY(GET "\r\n"), AWAIT("hello"), SAY(GET "\r\n"), AWAIT("hello"), END },
	  .origin = { AWAIT_HEAD, SAY(OK), AWAIT_HEAD, SAY(OK), { STEP_WAIT_EOF, 0 } },
	  .terms = "-- --", .to_server = V1_LEN + 2 * LEN(GET "\r\n"), .to_client = 2 * LEN(OK),
	  .golden = 1 },
	{ .name = "send_proxy_http_again", ANNOUNCES(EDGE, v1, NEAR, .http = 1, .retries = 1,
		.retry_on = 1u << HTTP_RETRY_EMPTY_RESPONSE),
	  .client = { SAY(GET "\r\n"), AWAIT("hello"), SAY(GET "\r\n"), AWAIT("hello"), END },
	  .origin = { { STEP_AWAIT, (uintptr_t)"PROXY " }, AWAIT_HEAD, SAY(OK), AWAIT_HEAD, END },
	  .terms = "-- --", .to_client = 2 * LEN(OK), .to_server = 2 * LEN(GET "\r\n"),
	  .uneven = 1, .golden = 1 },
	/* a SOCKS4 proxy is asked before the first byte */
	{ .name = "socks4_near", SOCKS4(EDGE, NEAR), .client = { SAY("hello"), EOF_CLOSE },
	  .origin = { SOCKS4_ASKED, SAY(SOCKS4_YES), { STEP_WAIT, 5 }, SAY("there"),
		  { STEP_CLOSE, 0 } },
	  .terms = "--", .to_server = 16 + 5, .to_client = 5, .golden = 1 },
	{ .name = "socks4_pieces", SOCKS4(EDGE, FAR), .client = { SAY("hello"), EOF_CLOSE },
	  .origin = { SOCKS4_ASKED, { STEP_DRIP, (uintptr_t)SOCKS4_YES }, { STEP_WAIT, 5 },
		  SAY("there"), { STEP_CLOSE, 0 } },
	  .terms = "--", .to_server = 16 + 5, .to_client = 5, .golden = 1 },
	{ .name = "socks4_greeting", SOCKS4(MERGED, FAR),
	  .client = { AWAIT("there"), SAY("hello"), EOF_CLOSE },
	  .origin = { SOCKS4_ASKED, SAY(SOCKS4_YES "there"), { STEP_WAIT, 5 },
		  { STEP_CLOSE, 0 } },
	  .terms = "--", .to_server = 16 + 5, .to_client = 5, .golden = 1 },
	{ .name = "socks4_denied", SOCKS4(EDGE, FAR, .retries = 1),
	  .client = { SAY("hello"), EOF_CLOSE },
	  .origin = { SOCKS4_ASKED, SAY(SOCKS4_NO), { STEP_WAIT_EOF, 0 } },
	  .terms = "SC", .uneven = 1, .golden = 1 },
	{ .name = "socks4_closed", SOCKS4(UNMERGED, NEAR), .client = { EOF_CLOSE },
	  .origin = { SOCKS4_ASKED, SAY("?Z-"), { STEP_CLOSE, 0 } },
	  .terms = "SC", .to_server = 16 },
	{ .name = "socks4_reset", SOCKS4(EDGE, FAR), .client = { EOF_CLOSE },
	  .origin = { SOCKS4_ASKED, { STEP_RESET, 0 } }, .terms = "SC", .to_server = 16 },
	{ .name = "socks4_silent", SOCKS4(EDGE, NEAR), .client = { EOF_CLOSE },
	  .origin = { SOCKS4_ASKED, SAY("?"), { STEP_WAIT_EOF, 0 } }, .terms = "sC",
	  .to_server = 16, .golden = 1 },
	{ .name = "socks4_client_leaves", SOCKS4(EDGE, NEAR),
	  .client = { { STEP_PAUSE, 20 }, { STEP_CLOSE, 0 } },
	  .origin = { SOCKS4_ASKED, { STEP_WAIT_EOF, 0 } }, .terms = "CC", .to_server = 16 },
	{ .name = "socks4_http", SOCKS4(EDGE, NEAR, .http = 1, .reuse = HTTP_REUSE_ALWAYS),
	  .client = { SAY(GET "\r\n"), AWAIT("hello"), SAY(GET "\r\n"), AWAIT("hello"), END },
	  .origin = { SOCKS4_ASKED, SAY(SOCKS4_YES), { STEP_WAIT, LEN(GET "\r\n") }, SAY(OK),
		  { STEP_WAIT, LEN(GET "\r\n") }, SAY(OK), { STEP_WAIT_EOF, 0 } },
	  .terms = "-- --", .to_server = 16 + 2 * LEN(GET "\r\n"), .to_client = 2 * LEN(OK),
	  .golden = 1 },
	/* inspection of the server's data before it is forwarded */
	{ .name = "hold_response", RULES(EDGE, HOLDS_FOR("300", "5s")), ASKS,
	  .origin = { { STEP_WAIT, 100 }, SENDS_TWICE(100, 900), { STEP_CLOSE, 0 } },
	  .terms = "--", .to_server = 100, .to_client = 1000, .golden = 1 },
	{ .name = "hold_response_at_once", RULES(EDGE, HOLDS_FOR("300", "5s")), ASKS,
	  ANSWERS(100), .terms = "--", .to_server = 100, .to_client = 1000, .max_calls = 15 },
	{ .name = "hold_delay_is_over", RULES(MERGED, HOLDS_FOR("300", "100ms")),
	  .client = { { STEP_SEND, 100 }, { STEP_WAIT, 100 }, { STEP_SEND, 50 }, EOF_CLOSE },
	  .origin = { { STEP_WAIT, 100 }, { STEP_SEND, 100 }, { STEP_WAIT, 50 },
		  { STEP_CLOSE, 0 } },
	  .terms = "--", .to_server = 150, .to_client = 100, .golden = 1 },
	{ .name = "hold_reject", RULES(EDGE, "tcp-response inspect-delay 1s\n"
		"tcp-response content reject if { res.len gt 0 }"),
	  ASKS, SENDS(1000), .terms = "PD", .golden = 1 },
	{ .name = "hold_reject_before_a_byte", RULES(EDGE, "tcp-response content reject"), ASKS,
	  .origin = { { STEP_WAIT_EOF, 0 } }, .terms = "PD", .uneven = 1 },
	{ .name = "hold_drop", RULES(EDGE, "tcp-response content silent-drop if { res.len gt 0 }"),
	  .client = { { STEP_SEND, 100 }, { STEP_PAUSE, 100 }, { STEP_RESET, 0 } }, SENDS(1000),
	  .terms = "PR" },
	{ .name = "hold_server_closes", RULES(EDGE, HOLDS_FOR("3000", "5s")), ASKS, ANSWERS(100),
	  .terms = "--", .to_server = 100, .to_client = 1000, .max_ms = 100 },
	{ .name = "hold_server_resets", RULES(EDGE, HOLDS_FOR("3000", "5s")), ASKS,
	  .origin = { { STEP_WAIT, 100 }, { STEP_SEND, 100 }, { STEP_PAUSE, 50 },
		  { STEP_RESET, 0 } },
	  .terms = "SD", .to_server = 100, .to_client = 100, .golden = 1 },
	{ .name = "hold_client_resets", RULES(EDGE, HOLDS_FOR("3000", "5s")),
	  .origin = { { STEP_WAIT, 100 }, { STEP_SEND, 1000 }, { STEP_WAIT_EOF, 0 } },
	  .to_server = 100,
	  .client = { { STEP_SEND, 100 }, { STEP_PAUSE, 50 }, { STEP_RESET, 0 } }, .terms = "CD" },
	{ .name = "hold_server_is_late",
	  .cfg = { .mode = INTEREST_EDGE, NEAR, .rules = HOLDS_FOR("3000", "5s"),
		  .to = { .connect = 5000, .client = 30000, .server = 200, .queue = 5000 } },
	  ASKS, .origin = { { STEP_WAIT, 100 }, { STEP_SEND, 100 }, { STEP_WAIT_EOF, 0 } },
	  .terms = "sD", .to_server = 100, .to_client = 100, .max_ms = 300 },
	{ .name = "hold_full_buffer", RULES(EDGE, HOLDS_FOR("100000", "5s"), .bufsize = 1024),
	  ASKS, SENDS(5000), .terms = "--", .to_client = 5000, .max_ms = 100 },
	{ .name = "hold_slow_client", RULES(EDGE, HOLDS_FOR("300", "5s"), .sndbuf = 500,
		.rcvbuf = 500),
	  .client = { { STEP_SEND, 100 }, { STEP_STALL, 0 }, { STEP_PAUSE, 100 },
		  { STEP_READ, 0 }, EOF_CLOSE },
	  .origin = { { STEP_WAIT, 100 }, SENDS_TWICE(100, 4900), { STEP_CLOSE, 0 } },
	  .terms = "--", .to_server = 100, .to_client = 5000 },
	{ .name = "hold_then_a_stream", PIPES(EDGE, RESPONSE, 1, FOUR,
		.rules = HOLDS_FOR("300", "5s")), ASKS,
	  .origin = { { STEP_WAIT, 100 }, SENDS_TWICE(100, 59900), { STEP_CLOSE, 0 } },
	  .terms = "--", .to_server = 100, .to_client = 60000 },
	{ .name = "hold_without_memory", .n_clients = 12,
	  .terms = "-- -- -- -- -- -- -- -- -- -- -- --",
	  RULES(EDGE, HOLDS_FOR("300", "5s"), .memory = 40000, .bufsize = 4096), ASKS,
	  .origin = { { STEP_WAIT, 100 }, SENDS_TWICE(100, 900), { STEP_CLOSE, 0 } },
	  .to_server = 100, .to_client = 1000, .no_torture = 1 },
	/* inspection in mode http: no reply */
	{ .name = "http_content_reject",
	  RULES(EDGE, "tcp-request content reject if { path / }\nhttp-request deny", .http = 1),
	  .client = { SAY("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), EOF_CLOSE }, .terms = "PR",
	  .max_ms = 50 },
	{ .name = "http_response_reject",
	  RULES(EDGE, "tcp-response content reject if { status 200 }\nhttp-response deny",
		.http = 1),
	  .client = { SAY("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), EOF_CLOSE },
	  .origin = { { STEP_AWAIT, (uintptr_t)"\r\n\r\n" },
		  SAY("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
		  { STEP_WAIT_EOF, 0 } },
	  .terms = "PD", .uneven = 1, .max_ms = 50 },
};

const unsigned int n_scenarios = ARRAY_LEN(scenarios);

int
scenario_open(struct world *w, const struct scenario *sc)
{
	int r = world_open(w, &sc->cfg);

	w->origin_steps = sc->origin;
	w->allow_del = sc->cfg.mode == INTEREST_UNMERGED;
	return r;
}
