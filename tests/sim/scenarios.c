#include "sim/scenarios.h"

#define TO .to = { .connect = 5000, .client = 30000, .server = 30000, .queue = 5000 }
#define NEAR .n_servers = 1
#define FAR .n_servers = 1, .server = { { .path = FAKE_FAR, .one_way = 10 * FAKE_MS } }
#define SMART .cfg.options = OPT_SMART_CONNECT
#define CLIENT_END { STEP_WAIT_EOF, 0 }, { STEP_CLOSE, 0 }

/* One request, one answer, the server closes. */
#define REQUEST(mode_, how, calls)                                                        \
	.cfg = { .mode = INTEREST_##mode_, TO, how },                                     \
	.client = { { STEP_SEND, 100 }, CLIENT_END },                                     \
	.origin = { { STEP_WAIT, 100 }, { STEP_SEND, 1000 }, { STEP_CLOSE, 0 } },         \
	.terms = "--", .to_server = 100, .to_client = 1000, .max_calls = calls, .golden = 1

/* The server speaks first. */
#define GREETING(mode_, how)                                                              \
	.cfg = { .mode = INTEREST_##mode_, TO, how },                                     \
	.client = { { STEP_WAIT, 50 }, { STEP_SEND, 100 }, CLIENT_END },                  \
	.origin = { { STEP_SEND, 50 }, { STEP_WAIT, 100 }, { STEP_SEND, 200 } },          \
	.terms = "--", .to_server = 100, .to_client = 250, .golden = 1

/* Three requests on one connection, then the client closes. */
#define ASK { STEP_SEND, 100 }, { STEP_WAIT, 1000 }
#define ANSWER { STEP_WAIT, 100 }, { STEP_SEND, 1000 }
#define KEEPALIVE(mode_, how)                                                             \
	.cfg = { .mode = INTEREST_##mode_, TO, how },                                     \
	.client = { ASK, ASK, ASK, { STEP_CLOSE, 0 } },                                   \
	.origin = { ANSWER, ANSWER, ANSWER, { STEP_WAIT_EOF, 0 } },                       \
	.terms = "--", .to_server = 300, .to_client = 3000, .golden = 1

/* Small buffers, and streams through pipes. */
#define PIPES(mode_, opt_, after_, ...)                                                   \
	.cfg = { .mode = INTEREST_##mode_, .bufsize = 4096, .sndbuf = 20000,              \
		 .rcvbuf = 20000, .options = STREAM_##opt_, .splice_after = after_,   \
		 __VA_ARGS__ }
#define STREAM_AUTO OPT_SPLICE_AUTO
#define STREAM_REQUEST OPT_SPLICE_REQUEST
#define STREAM_RESPONSE OPT_SPLICE_RESPONSE
#define STREAM_COPY 0
#define FOUR .maxpipes = 4, TO, NEAR
#define ASKS .client = { { STEP_SEND, 100 }, CLIENT_END }
#define ASKS_DEAF(ms)                                                                     \
	.client = { { STEP_SEND, 100 }, { STEP_DEAF, 0 }, { STEP_PAUSE, ms },             \
		    { STEP_HEAR, 0 }, CLIENT_END }
#define SENDS(bytes)                                                                      \
	.origin = { { STEP_WAIT, 100 }, { STEP_SEND, bytes }, { STEP_CLOSE, 0 } },        \
	.to_server = 100
#define SENDS_AND_RESETS(bytes)                                                           \
	.origin = { { STEP_WAIT, 100 }, { STEP_SEND, bytes }, { STEP_PAUSE, 50 },         \
		    { STEP_RESET, 0 } },                                                  \
	.to_server = 100, .terms = "SD", .to_client = bytes
#define WHOLE(bytes) SENDS(bytes), .terms = "--", .to_client = bytes

/* Mode http: texts. */
#define SAY(t) { STEP_SAY, (uintptr_t)(t) }
#define AWAIT(t) { STEP_AWAIT, (uintptr_t)(t) }
#define LEN(t) (sizeof(t) - 1)
#define WEB(mode_, ...) .cfg = { .mode = INTEREST_##mode_, TO, NEAR, .http = 1, __VA_ARGS__ }
#define GET "GET / HTTP/1.1\r\nHost: a\r\n"
#define CLOSED_GET GET "Connection: close\r\n\r\n"
#define POST "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\n"
#define OK "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
#define CLOSED_OK "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"
#define CHUNKED "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"
#define LAST "0\r\n\r\n"
#define HEARD AWAIT("\r\n\r\n")
#define END { STEP_CLOSE, 0 }

const struct scenario scenarios[] = {
	/* one request, both sides close */
	{ .name = "http_close_edge", WEB(EDGE, .defer = 1, .persistence = HTTP_SERVER_CLOSE),
	  .client = { SAY(CLOSED_GET), CLIENT_END }, .origin = { HEARD, SAY(OK), END },
	  .terms = "--", .to_server = LEN(CLOSED_GET), .to_client = LEN(CLOSED_OK),
	  .max_calls = 11, .golden = 1 },
	{ .name = "http_close_merged", WEB(MERGED, .persistence = HTTP_SERVER_CLOSE),
	  .client = { SAY(CLOSED_GET), CLIENT_END }, .origin = { HEARD, SAY(OK), END },
	  .terms = "--", .to_server = LEN(CLOSED_GET), .to_client = LEN(CLOSED_OK), .golden = 1 },
	/* three requests over two connections */
	{ .name = "http_keepalive_edge", WEB(EDGE),
	  .client = { SAY(GET "\r\n"), AWAIT("hello"), SAY(GET "\r\n"), AWAIT("hello"),
		  SAY(GET "\r\n"), AWAIT("hello"), END },
	  .origin = { HEARD, SAY(OK), HEARD, SAY(OK), HEARD, SAY(OK), { STEP_WAIT_EOF, 0 } },
	  .terms = "-- -- --", .to_server = 3 * LEN(GET "\r\n"), .to_client = 3 * LEN(OK),
	  .golden = 1 },
	{ .name = "http_keepalive_merged", WEB(MERGED),
	  .client = { SAY(GET "\r\n"), AWAIT("hello"), SAY(GET "\r\n"), AWAIT("hello"), END },
	  .origin = { HEARD, SAY(OK), HEARD, SAY(OK), { STEP_WAIT_EOF, 0 } },
	  .terms = "-- --", .to_server = 2 * LEN(GET "\r\n"), .to_client = 2 * LEN(OK),
	  .golden = 1 },
	/* a body in two pieces each way, then another request that came with the first */
	{ .name = "http_post_chunks", WEB(EDGE),
	  .client = { SAY(POST "abc"), { STEP_PAUSE, 10 }, SAY("def" GET "\r\n"), AWAIT(LAST),
		  AWAIT(LAST), END },
	  .origin = { AWAIT("def"), SAY(CHUNKED), { STEP_PAUSE, 10 }, SAY(LAST), HEARD,
		  SAY(CHUNKED LAST), { STEP_WAIT_EOF, 0 } },
	  .terms = "-- --", .to_server = LEN(POST "abcdef" GET "\r\n"),
	  .to_client = 2 * LEN(CHUNKED LAST), .golden = 1 },
	/* the server ends the connection that was kept: the request goes to a new one */
	{ .name = "http_sent_again", WEB(EDGE),
	  .client = { SAY(GET "\r\n"), AWAIT("hello"), SAY(GET "\r\n"), AWAIT("hello"), END },
	  .origin = { HEARD, SAY(OK), HEARD, END },
	  .terms = "-- --", .to_client = 2 * LEN(OK), .to_server = 2 * LEN(GET "\r\n"),
	  .uneven = 1, .golden = 1 },
	{ .name = "http_cut", WEB(EDGE), .client = { SAY(GET "\r\n"), CLIENT_END },
	  .origin = { HEARD, SAY("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello"), END },
	  .terms = "SD", .to_server = LEN(GET "\r\n"), .to_client = LEN(OK), .golden = 1 },
	{ .name = "http_slow_client", .client = { SAY(CLOSED_GET), { STEP_DEAF, 0 },
		  { STEP_PAUSE, 100 }, CLIENT_END },
	  WEB(MERGED, .sndbuf = 40, .rcvbuf = 30, .persistence = HTTP_SERVER_CLOSE),
	  .origin = { HEARD, SAY(OK), END },
	  .terms = "--", .to_server = LEN(CLOSED_GET), .to_client = LEN(CLOSED_OK) },
	{ .name = "http_bad", WEB(EDGE), .client = { SAY("GET /\r\n\r\n"), CLIENT_END },
	  .terms = "PR", .to_client = 207, .golden = 1 },
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
	/* One look more at the poller, for the first answer only; none for a greeting. */
	{ .name = "smart_keepalive_merged", KEEPALIVE(MERGED, NEAR), SMART },
	{ .name = "smart_keepalive_edge", KEEPALIVE(EDGE, NEAR), SMART },
	{ .name = "smart_greeting_edge", GREETING(EDGE, NEAR), SMART },
	{ .name = "eager_merged",
	  .cfg = { .mode = INTEREST_MERGED, .eager = 1, TO, NEAR },
	  .client = { { STEP_SEND, 100 }, CLIENT_END },
	  .origin = { { STEP_WAIT, 100 }, { STEP_SEND, 1000 }, { STEP_CLOSE, 0 } },
	  .terms = "--", .to_server = 100, .to_client = 1000 },
	{ .name = "deferred_accept",
	  .cfg = { .mode = INTEREST_MERGED, .defer = 1, TO, NEAR },
	  .client = { { STEP_PAUSE, 50 }, { STEP_SEND, 100 }, CLIENT_END },
	  .origin = { { STEP_WAIT, 100 }, { STEP_SEND, 1000 }, { STEP_CLOSE, 0 } },
	  .terms = "--", .to_server = 100, .to_client = 1000, .max_calls = 16, .golden = 1 },
	{ .name = "client_shuts_first",
	  .cfg = { .mode = INTEREST_MERGED, TO, NEAR },
	  .client = { { STEP_SEND, 100 }, { STEP_SHUT, 0 }, CLIENT_END },
	  .origin = { { STEP_WAIT_EOF, 0 }, { STEP_PAUSE, 20 }, { STEP_SEND, 1000 }, { STEP_CLOSE,
	    0 } },
	  .terms = "--", .to_server = 100, .to_client = 1000, .golden = 1 },
	{ .name = "client_shuts_later",
	  .cfg = { .mode = INTEREST_MERGED, TO, FAR },
	  .client = { { STEP_SEND, 100 }, { STEP_WAIT, 10 }, { STEP_SHUT, 0 }, CLIENT_END },
	  .origin = { { STEP_WAIT, 100 }, { STEP_SEND, 10 }, { STEP_WAIT_EOF, 0 }, { STEP_SEND,
	    1000 },
		  { STEP_CLOSE, 0 } },
	  .terms = "--", .to_server = 100, .to_client = 1010, .golden = 1 },
	{ .name = "server_shuts_first",
	  .cfg = { .mode = INTEREST_MERGED, TO, NEAR },
	  .client = { CLIENT_END },
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
	  .client = { { STEP_SEND, 100 }, CLIENT_END },
	  .origin = { { STEP_WAIT, 100 }, { STEP_SEND, 700 }, { STEP_RESET, 0 } },
	  .terms = "SD", .to_server = 100, .to_client = 700, .golden = 1 },
	{ .name = "server_resets_far_client",
	  .cfg = { .mode = INTEREST_EDGE, .client_delay = 30 * FAKE_MS, TO, NEAR },
	  .client = { { STEP_SEND, 100 }, CLIENT_END },
	  .origin = { { STEP_WAIT, 100 }, { STEP_SEND, 40000 }, { STEP_RESET, 0 } },
	  .terms = "SD", .to_server = 100, .to_client = 40000 },
	{ .name = "server_resets_slow_client",
	  .cfg = { .mode = INTEREST_MERGED, .sndbuf = 8192, .rcvbuf = 8192, TO, NEAR },
	  .client = { { STEP_SEND, 100 }, { STEP_DEAF, 0 }, { STEP_PAUSE, 300 }, { STEP_HEAR, 0 },
	    CLIENT_END },
	  .origin = { { STEP_WAIT, 100 }, { STEP_SEND, 20000 }, { STEP_RESET, 0 } },
	  /* what had reached us when the reset came: the rest never left the server */
	  .terms = "SD", .to_server = 100, .to_client = 16384 },
	{ .name = "server_resets_before_a_word",
	  .cfg = { .mode = INTEREST_MERGED, TO, NEAR },
	  .client = { CLIENT_END },
	  .origin = { { STEP_RESET, 0 } }, .terms = "SC" },
	{ .name = "client_resets_before_a_word",
	  .cfg = { .mode = INTEREST_MERGED, TO, NEAR },
	  .client = { { STEP_PAUSE, 10 }, { STEP_RESET, 0 } },
	  .origin = { { STEP_WAIT_EOF, 0 } }, .terms = "CD" },
	{ .name = "refused",
	  .cfg = { .mode = INTEREST_MERGED, TO, .n_servers = 1, .server = { { .absent = 1 } } },
	  .client = { { STEP_SEND, 100 }, CLIENT_END }, .terms = "SC", .golden = 1 },
	{ .name = "refused_far",
	  .cfg = { .mode = INTEREST_EDGE, TO, .n_servers = 1,
		  .server = { { .path = FAKE_REFUSED, .one_way = FAKE_MS } } },
	  .client = { CLIENT_END }, .terms = "SC", .golden = 1 },
	{ .name = "refused_retries",
	  .cfg = { .mode = INTEREST_MERGED, TO, .retries = 2, .n_servers = 1,
	    .server = { { .absent = 1 } } },
	  .client = { { STEP_SEND, 100 }, CLIENT_END }, .terms = "SC", .golden = 1 },
	{ .name = "refused_redispatch",
	  .cfg = { .mode = INTEREST_MERGED, TO, .retries = 2, .redispatch = -1, .n_servers = 2,
		  .server = { { .absent = 1 }, { .path = FAKE_NEAR } } },
	  .client = { { STEP_SEND, 100 }, CLIENT_END },
	  .origin = { { STEP_WAIT, 100 }, { STEP_SEND, 1000 }, { STEP_CLOSE, 0 } },
	  .terms = "--", .to_server = 100, .to_client = 1000, .golden = 1 },
	{ .name = "connect_timeout",
	  .cfg = { .mode = INTEREST_MERGED, .to = { .connect = 1000, .client = 9000,
	    .server = 9000, .queue = 9000 },
		  .retries = 1, .n_servers = 1, .server = { { .path = FAKE_BLACKHOLE } } },
	  .client = { { STEP_SEND, 100 }, CLIENT_END }, .terms = "sC", .golden = 1 },
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
	  .client = { { STEP_SEND, 10 }, { STEP_SHUT, 0 }, CLIENT_END },
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
	  .client = { { STEP_SEND, 100 }, { STEP_DEAF, 0 }, { STEP_PAUSE, 100 }, CLIENT_END },
	  .origin = { { STEP_WAIT, 100 }, { STEP_SEND, 30000 }, { STEP_CLOSE, 0 } },
	  .terms = "--", .to_server = 100, .to_client = 30000, .max_ms = 150, .golden = 1 },
	{ .name = "queue_timeout", .n_clients = 2,
	  .cfg = { .mode = INTEREST_MERGED, .to = { .connect = 9000, .client = 9000,
	    .server = 9000, .queue = 1000 },
		  .n_servers = 1, .server = { { .maxconn = 1 } } },
	  .client = { CLIENT_END }, .origin = { { STEP_PAUSE, 3000 }, { STEP_CLOSE, 0 } },
	    .terms = "sQ --" },
	{ .name = "queue_served", .n_clients = 3,
	  .cfg = { .mode = INTEREST_MERGED, TO, .n_servers = 1, .server = { { .maxconn = 1 } } },
	  .client = { { STEP_SEND, 100 }, CLIENT_END },
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
	  .client = { CLIENT_END }, .origin = { { STEP_WAIT_EOF, 0 } }, .terms = "cD",
	    .golden = 1 },
	{ .name = "server_timeout",
	  .cfg = { .mode = INTEREST_MERGED, .to = { .connect = 9000, .client = 9000,
	    .server = 1000, .queue = 9000 },
		  NEAR },
	  .client = { { STEP_SEND, 100 }, CLIENT_END }, .origin = { { STEP_WAIT_EOF, 0 } },
	    .terms = "sD",
	  .to_server = 100, .golden = 1 },
	{ .name = "server_fin_timeout",
	  .cfg = { .mode = INTEREST_MERGED, .to = { .connect = 9000, .client = 9000,
	    .server = 9000, .queue = 9000,
		  .server_fin = 500 }, NEAR },
	  .client = { { STEP_SEND, 100 }, { STEP_SHUT, 0 }, CLIENT_END },
	  .origin = { { STEP_WAIT_EOF, 0 }, { STEP_PAUSE, 3000 } }, .terms = "sD",
	    .to_server = 100 },
	/* nobody is late while he is not listened to, or has nothing to take */
	{ .name = "patience_with_a_slow_server",
	  .cfg = { .mode = INTEREST_UNMERGED, .sndbuf = 8192, .rcvbuf = 8192, NEAR,
		  .to = { .connect = 5000, .client = 300, .server = 5000, .queue = 5000 } },
	  .client = { { STEP_SEND, 60000 }, { STEP_SHUT, 0 }, CLIENT_END },
	  .origin = { { STEP_DEAF, 0 }, { STEP_PAUSE, 1000 }, { STEP_WAIT_EOF, 0 },
		  { STEP_SEND, 10 } },
	  .terms = "--", .to_server = 60000, .to_client = 10 },
	{ .name = "patience_with_a_far_server",
	  .cfg = { .mode = INTEREST_MERGED, .n_servers = 1,
		  .server = { { .path = FAKE_FAR, .one_way = 200 * FAKE_MS } },
		  .to = { .connect = 5000, .client = 450, .server = 5000, .queue = 5000 } },
	  .client = { { STEP_WAIT, 50 }, { STEP_SEND, 100 }, CLIENT_END },
	  .origin = { { STEP_SEND, 50 }, { STEP_WAIT, 100 }, { STEP_SEND, 10 } },
	  .terms = "--", .to_server = 100, .to_client = 60 },
	{ .name = "patience_with_a_late_burst",
	  .cfg = { .mode = INTEREST_MERGED, .sndbuf = 2048, .rcvbuf = 2048, .bufsize = 4096, NEAR,
		  .to = { .connect = 5000, .client = 5000, .server = 300, .queue = 5000 } },
	  .client = { { STEP_WAIT_EOF, 0 }, { STEP_PAUSE, 1000 }, { STEP_SEND, 60000 } },
	  .origin = { { STEP_SHUT, 0 }, { STEP_DEAF, 0 }, { STEP_PAUSE, 1200 },
		  { STEP_WAIT_EOF, 0 } },
	  .terms = "--", .to_server = 60000 },
	{ .name = "big_both_ways",
	  .cfg = { .mode = INTEREST_MERGED, .sndbuf = 20000, .rcvbuf = 10000, .bufsize = 4096, TO,
	    NEAR },
	  .client = { { STEP_SEND, 200000 }, { STEP_SHUT, 0 }, CLIENT_END },
	  .origin = { { STEP_SEND, 150000 }, { STEP_WAIT_EOF, 0 } }, .terms = "--",
	  .to_server = 200000, .to_client = 150000, .no_torture = 1 },
	{ .name = "big_both_ways_edge",
	  .cfg = { .mode = INTEREST_EDGE, .sndbuf = 20000, .rcvbuf = 10000, .bufsize = 4096, TO,
	    FAR },
	  .client = { { STEP_SEND, 200000 }, { STEP_SHUT, 0 }, CLIENT_END },
	  .origin = { { STEP_SEND, 150000 }, { STEP_WAIT_EOF, 0 } }, .terms = "--",
	  .to_server = 200000, .to_client = 150000, .no_torture = 1 },
	{ .name = "slow_client",
	  .cfg = { .mode = INTEREST_MERGED, .sndbuf = 8192, .rcvbuf = 8192, .bufsize = 4096, TO,
	    NEAR },
	  .client = { { STEP_SEND, 100 }, { STEP_DEAF, 0 }, { STEP_PAUSE, 500 }, { STEP_HEAR, 0 },
	    CLIENT_END },
	  .origin = { { STEP_WAIT, 100 }, { STEP_SEND, 60000 }, { STEP_CLOSE, 0 } },
	  .terms = "--", .to_server = 100, .to_client = 60000, .golden = 1 },
	{ .name = "slow_client_edge",
	  .cfg = { .mode = INTEREST_EDGE, .sndbuf = 8192, .rcvbuf = 8192, .bufsize = 4096, TO,
	    NEAR },
	  .client = { { STEP_SEND, 100 }, { STEP_DEAF, 0 }, { STEP_PAUSE, 500 }, { STEP_HEAR, 0 },
	    CLIENT_END },
	  .origin = { { STEP_WAIT, 100 }, { STEP_SEND, 60000 }, { STEP_CLOSE, 0 } },
	  .terms = "--", .to_server = 100, .to_client = 60000 },
	{ .name = "zerocopy_slow_client",
	  .cfg = { .mode = INTEREST_EDGE, .sndbuf = 20000, .rcvbuf = 8192, .bufsize = 4096,
		  .zerocopy = 2048, TO, NEAR },
	  .client = { { STEP_SEND, 100 }, { STEP_DEAF, 0 }, { STEP_PAUSE, 500 }, { STEP_HEAR, 0 },
	    CLIENT_END },
	  .origin = { { STEP_WAIT, 100 }, { STEP_SEND, 60000 }, { STEP_CLOSE, 0 } },
	  .terms = "--", .to_server = 100, .to_client = 60000, .golden = 1 },
	{ .name = "zerocopy_far_close",
	  .cfg = { .mode = INTEREST_MERGED, .bufsize = 4096, .zerocopy = 2048, TO, NEAR,
		  .client_delay = 20 * FAKE_MS },
	  .client = { { STEP_SEND, 100 }, CLIENT_END },
	  .origin = { { STEP_WAIT, 100 }, { STEP_SEND, 20000 }, { STEP_CLOSE, 0 } },
	  .terms = "--", .to_server = 100, .to_client = 20000, .golden = 1 },
	{ .name = "splice_near_edge", PIPES(EDGE, RESPONSE, 1, FOUR), ASKS, WHOLE(50000),
	  .golden = 1 },
	{ .name = "splice_near_merged", PIPES(MERGED, RESPONSE, 1, FOUR), ASKS, WHOLE(50000),
	  .golden = 1 },
	{ .name = "splice_near_unmerged", PIPES(UNMERGED, RESPONSE, 1, FOUR), ASKS, WHOLE(50000) },
	/* copied until it has proved to be long */
	{ .name = "splice_auto", PIPES(EDGE, AUTO, 16384, FOUR), ASKS, WHOLE(60000), .golden = 1 },
	{ .name = "splice_not_for_the_short", PIPES(EDGE, AUTO, 16384, FOUR), ASKS, WHOLE(16000),
	  .golden = 1 },
	{ .name = "splice_slow_client", PIPES(EDGE, RESPONSE, 1, FOUR), ASKS_DEAF(500),
	  WHOLE(60000), .golden = 1 },
	{ .name = "splice_slow_client_merged", PIPES(MERGED, AUTO, 8192, FOUR), ASKS_DEAF(500),
	  WHOLE(60000) },
	/* a pipe is full with a few bytes in it, and a short count is no drained source */
	{ .name = "splice_tiny_segments", ASKS, WHOLE(40000),
	  PIPES(EDGE, RESPONSE, 1, FOUR, .pipe_slots = 4, .fragment = 100) },
	{ .name = "splice_tiny_segments_slow_client", ASKS_DEAF(100), WHOLE(30000),
	  PIPES(EDGE, RESPONSE, 1, FOUR, .pipe_slots = 4, .fragment = 300) },
	/* pipes too small to be of use are not used */
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
	/* what stands in the pipe is delivered before the reset is passed on */
	{ .name = "splice_server_resets_slow_client", PIPES(EDGE, RESPONSE, 1, FOUR),
	  ASKS_DEAF(300), SENDS_AND_RESETS(60000), .golden = 1 },
	{ .name = "splice_client_resets", PIPES(EDGE, RESPONSE, 1, FOUR), SENDS(90000),
	  .client = { { STEP_SEND, 100 }, { STEP_DEAF, 0 }, { STEP_PAUSE, 100 },
		  { STEP_RESET, 0 } },
	  .terms = "CD" },
	{ .name = "splice_client_half_close", PIPES(EDGE, RESPONSE, 1, FOUR), WHOLE(60000),
	  .client = { { STEP_SEND, 100 }, { STEP_SHUT, 0 }, CLIENT_END }, .golden = 1 },
	{ .name = "splice_request", PIPES(EDGE, REQUEST, 1, FOUR),
	  .client = { { STEP_SEND, 60000 }, CLIENT_END },
	  .origin = { { STEP_WAIT, 60000 }, { STEP_SEND, 10 }, { STEP_CLOSE, 0 } },
	  .terms = "--", .to_server = 60000, .to_client = 10 },
	{ .name = "splice_server_half_close", PIPES(EDGE, AUTO, 4096, FOUR),
	  .client = { { STEP_WAIT_EOF, 0 }, { STEP_SEND, 60000 }, { STEP_CLOSE, 0 } },
	  .origin = { { STEP_SEND, 30000 }, { STEP_SHUT, 0 }, { STEP_WAIT_EOF, 0 },
		  { STEP_CLOSE, 0 } },
	  .terms = "--", .to_server = 60000, .to_client = 30000 },
	{ .name = "splice_both_ways", PIPES(EDGE, AUTO, 8192, FOUR),
	  .client = { { STEP_SEND, 200000 }, { STEP_SHUT, 0 }, CLIENT_END },
	  .origin = { { STEP_SEND, 150000 }, { STEP_WAIT_EOF, 0 } },
	  .terms = "--", .to_server = 200000, .to_client = 150000, .no_torture = 1 },
	{ .name = "splice_client_timeout", SENDS(90000),
	  PIPES(EDGE, RESPONSE, 1, .maxpipes = 4, NEAR,
		.to = { .connect = 5000, .client = 1000, .server = 5000, .queue = 5000 }),
	  .client = { { STEP_SEND, 100 }, { STEP_DEAF, 0 }, { STEP_PAUSE, 3000 }, CLIENT_END },
	  .terms = "cD", .to_client = 20000 },
	/* bursts with pauses between them: copied again when they become small */
	{ .name = "splice_comes_and_goes", PIPES(EDGE, AUTO, 4096, FOUR), ASKS,
	  .origin = { { STEP_WAIT, 100 }, { STEP_SEND, 20000 }, { STEP_PAUSE, 10 },
		  { STEP_SEND, 10 }, { STEP_PAUSE, 10 }, { STEP_SEND, 10 }, { STEP_PAUSE, 10 },
		  { STEP_SEND, 10 }, { STEP_PAUSE, 10 }, { STEP_SEND, 20010 }, { STEP_CLOSE, 0 } },
	  .terms = "--", .to_server = 100, .to_client = 40040, .golden = 1 },
	/* streams take turns, and are read in bigger pieces */
	{ .name = "streams_take_turns", .n_clients = 5, ASKS, SENDS(60000),
	  PIPES(EDGE, COPY, 4096, TO, NEAR, .stream_turn = 4096),
	  .terms = "-- -- -- -- --", .to_client = 60000, .no_torture = 1 },
	{ .name = "spliced_streams_take_turns", .n_clients = 5, ASKS, SENDS(60000),
	  PIPES(MERGED, AUTO, 4096, FOUR, .stream_turn = 1024),
	  .terms = "-- -- -- -- --", .to_client = 60000, .no_torture = 1 },
	{ .name = "streams_two_turns", .n_clients = 2, ASKS_DEAF(10), SENDS(40000),
	  PIPES(EDGE, AUTO, 4096, FOUR, .stream_turn = 1024), .terms = "-- --",
	  .to_client = 40000 },
	{ .name = "streams_big_pieces", ASKS, WHOLE(60000), .golden = 1,
	  PIPES(EDGE, COPY, 8192, TO, NEAR, .stream_bufsize = 16384, .stream_turn = 16384) },
	{ .name = "streams_big_pieces_slow_client", ASKS_DEAF(100), WHOLE(60000), .golden = 1,
	  PIPES(EDGE, COPY, 8192, TO, NEAR, .stream_bufsize = 16384, .stream_turn = 16384) },
	{ .name = "streams_reset", ASKS_DEAF(300), SENDS_AND_RESETS(50000),
	  PIPES(EDGE, COPY, 4096, TO, NEAR, .stream_bufsize = 16384, .stream_turn = 2048) },
	{ .name = "out_of_descriptors", .n_clients = 5,
	  .cfg = { .mode = INTEREST_MERGED, .fd_limit = 9, TO, NEAR },
	  .client = { { STEP_SEND, 100 }, CLIENT_END },
	  .origin = { { STEP_WAIT, 100 }, { STEP_PAUSE, 250 }, { STEP_SEND, 1000 }, { STEP_CLOSE,
	    0 } },
	  .terms = "-- -- -- -- --", .to_server = 100, .to_client = 1000 },
	{ .name = "frontend_full", .n_clients = 5,
	  .cfg = { .mode = INTEREST_MERGED, .maxconn = 2, TO, NEAR },
	  .client = { { STEP_SEND, 100 }, CLIENT_END },
	  .origin = { { STEP_WAIT, 100 }, { STEP_PAUSE, 50 }, { STEP_SEND, 1000 }, { STEP_CLOSE,
	    0 } },
	  .terms = "-- -- -- -- --", .to_server = 100, .to_client = 1000 },
	{ .name = "crowd_merged", .n_clients = 20,
	  .cfg = { .mode = INTEREST_MERGED, TO, NEAR },
	  .client = { { STEP_SEND, 100 }, CLIENT_END },
	  .origin = { { STEP_WAIT, 100 }, { STEP_SEND, 1000 }, { STEP_CLOSE, 0 } },
	  .terms = "-- -- -- -- -- -- -- -- -- -- -- -- -- -- -- -- -- -- -- --", .to_server = 100,
	  .to_client = 1000, .max_calls = 280, .no_torture = 1 },
	{ .name = "crowd_edge", .n_clients = 20,
	  .cfg = { .mode = INTEREST_EDGE, TO, NEAR },
	  .client = { { STEP_SEND, 100 }, CLIENT_END },
	  .origin = { { STEP_WAIT, 100 }, { STEP_SEND, 1000 }, { STEP_CLOSE, 0 } },
	  .terms = "-- -- -- -- -- -- -- -- -- -- -- -- -- -- -- -- -- -- -- --", .to_server = 100,
	  .to_client = 1000, .max_calls = 260, .no_torture = 1 },
	{ .name = "few_events_a_wait", .n_clients = 12,
	  .cfg = { .mode = INTEREST_EDGE, .max_events = 2, TO, FAR },
	  .client = { { STEP_SEND, 100 }, CLIENT_END },
	  .origin = { { STEP_WAIT, 100 }, { STEP_SEND, 1000 }, { STEP_CLOSE, 0 } },
	  .terms = "-- -- -- -- -- -- -- -- -- -- -- --", .to_server = 100, .to_client = 1000,
	  .no_torture = 1 },
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
