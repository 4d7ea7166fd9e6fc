/* Informational responses of tacit to clients that read them late, in pieces, or not at all. */
#include "unit/proxy/session_rig.h"

#define STALL { STEP_STALL, 0 }
#define READ { STEP_PAUSE, 20 }, { STEP_READ, 0 }
/* The buffers on both sides of a connection together take half of it. */
#define NARROW .sndbuf = 8, .rcvbuf = 8
#define BUFFERS HTTP_WORLD, .options = OPT_HTTP_BUFFER_REQUEST
#define CONTINUE "HTTP/1.1 100 Continue\r\n\r\n"
#define POST "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n"
#define EXPECT POST "Expect: 100-continue\r\nConnection: close\r\n\r\n"
#define SENT POST "Connection: close\r\n\r\nabc"
#define CLOSED OK2 "Connection: close\r\n\r\nok"
#define WAITS "http-request wait-for-body time 100ms\n"

static const struct http_dialogue dialogues[] = {
	{ .name = "at once", .cfg = { BUFFERS },
	  .client = { SAY(EXPECT), AWAIT(CONTINUE), SAY("abc"), EOF_CLOSE },
	  .origin = { AWAIT("abc"), SAY(CLOSED), EOF_CLOSE }, .to_server = SENT,
	  .to_client = CONTINUE CLOSED, .terms = "--", .served = 1 },
	{ .name = "in pieces", .cfg = { BUFFERS, NARROW },
	  .client = { STALL, SAY(EXPECT), READ, AWAIT(CONTINUE), SAY("abc"), EOF_CLOSE },
	  .origin = { AWAIT("abc"), SAY(CLOSED), EOF_CLOSE }, .to_server = SENT,
	  .to_client = CONTINUE CLOSED, .terms = "--", .served = 1 },
	/* The response before it has filled the socket buffers. */
	{ .name = "behind another response", .cfg = { BUFFERS, .sndbuf = 20, .rcvbuf = 20 },
	  .client = { STALL, SAY("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), SAY(EXPECT), READ,
		  AWAIT(CONTINUE), SAY("abc"), EOF_CLOSE },
	  .origin = { AWAIT("\r\n\r\n"), SAY(OK2 "\r\nok"), AWAIT("abc"), SAY(CLOSED),
		  EOF_CLOSE },
	  .to_client = OK2 "\r\nok" CONTINUE CLOSED, .terms = "-- --", .served = 1,
	  .reuses = 1 },
	/* A client that continues without waiting still gets it, before the response. */
	{ .name = "the client does not wait", .cfg = { BUFFERS, NARROW },
	  .client = { STALL, SAY(EXPECT), { STEP_PAUSE, 10 }, SAY("abc"), { STEP_PAUSE, 100 }, READ,
		  EOF_CLOSE },
	  .origin = { AWAIT("abc"), SAY(CLOSED), EOF_CLOSE }, .to_server = SENT,
	  .to_client = CONTINUE CLOSED, .terms = "--", .served = 1 },
	{ .name = "a local reply", .cfg = { HTTP_WORLD, NARROW,
		.rules = WAITS "http-request return status 200 content-type a/b string no" },
	  .client = { STALL, SAY(EXPECT), { STEP_PAUSE, 10 }, SAY("abc"), { STEP_PAUSE, 200 }, READ,
		  EOF_CLOSE },
	  .origin = { EOF_CLOSE },
	  .to_client = CONTINUE "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: a/b\r\n"
		  "Connection: close\r\n\r\nno", .terms = "LR" },
	{ .name = "no server", .cfg = { BUFFERS, NARROW, .n_servers = 1,
		.server = { { .absent = 1 } },
		.rules = "http-after-response set-status 200 reason OK" },
	  .client = { STALL, SAY(EXPECT), { STEP_PAUSE, 10 }, SAY("abc"), { STEP_PAUSE, 200 }, READ,
		  EOF_CLOSE },
	  .origin = { EOF_CLOSE },
	  .to_client = CONTINUE "HTTP/1.1 200 OK\r\nContent-Length: 107\r\n"
		  "Cache-Control: no-cache\r\nContent-Type: text/html\r\n"
		  "Connection: close\r\n\r\n"
		  "<html><body><h1>503 Service Unavailable</h1>\n"
		  "No server is available to handle this request.\n</body></html>\n",
	  .terms = "SC" },
	{ .name = "the client closes", .cfg = { BUFFERS, NARROW },
	  .client = { STALL, SAY(EXPECT), { STEP_PAUSE, 20 }, { STEP_RESET, 0 } },
	  .origin = { EOF_CLOSE }, .terms = "CR" },
};

static void
all_of_it_is_sent(void **st)
{
	(void)st;
	http_play_all(dialogues, ARRAY_LEN(dialogues));
}

/* Nothing else may follow a part of it. */
static void
without_memory_a_partial_one_ends_the_connection(void **st)
{
	static const struct step client[] = { STALL, SAY("POST / HTTP/1.1\r\n"),
		{ STEP_PAUSE, 20 }, SAY("Host: a\r\nContent-Length: 3\r\n"
			"Expect: 100-continue\r\n\r\n"), READ, EOF_CLOSE };
	struct world_config cfg = { BUFFERS, NARROW };
	void *kept = NULL;

	(void)st;
	rig_open(&cfg, NULL);
	(void)world_client(&w, client, 0);
	world_run(&w, 10 * FAKE_MS);
	assert_int_equal(w.engine.pools.txn.live, 1);
	while (w.engine.pools.buf.kept) {
		void **p = pool_get(&w.engine.pools.buf);

		*p = kept;
		kept = p;
	}
	w.engine.limits.max_memory = 1;
	world_run(&w, RIG_LIMIT);
	w.engine.limits.max_memory = 0;
	while (kept) {
		void *next = *(void **)kept;

		pool_put(&w.engine.pools.buf, kept);
		kept = next;
	}
	assert_string_equal(rig_terms(), "RR");
	assert_int_equal(w.client[0].err, ECONNRESET);
	assert_true(w.engine.stat.buf_waits > 0);
	rig_close();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_it_is_sent),
		cmocka_unit_test(without_memory_a_partial_one_ends_the_connection),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
