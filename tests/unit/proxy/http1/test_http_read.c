/* READ: request heads that arrive, are invalid, or are late. */
#include "unit/proxy/session_rig.h"

#include "base/mem.h"
#include "proxy/model/memory.h"

#define STATUS(n) "HTTP/1.1 " n " "
#define LIMITS(client_, request_) \
	{ .mode = INTEREST_EDGE, .to = { .connect = 5000, .client = client_, .server = 30000, \
	  .queue = 5000, .http_request = request_ } }
#define BODY(client_, request_) \
	{ .mode = INTEREST_EDGE, .to = { .connect = 5000, .client = client_, .server = 30000, \
	  .queue = 5000, .http_request = request_ }, .options = OPT_HTTP_BUFFER_REQUEST }
#define LONG "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define DRIP(t) { STEP_DRIP, (uintptr_t)(t) }
#define SILENT .origin = { EOF_CLOSE }

struct refusal {
	struct http_dialogue d;
	const char *status;    /* what the client reads first; "" for nothing */
	unsigned int min_ms, max_ms;
};

static void
play(const struct refusal *r)
{
	struct world_config cfg = r->d.cfg;
	uint64_t ms;

	cfg.http = 1;
	rig_play(&cfg, r->d.client, r->d.origin);
	ms = (w.ended - w.opened) / FAKE_MS;
	if (r->status[0] ? strncmp(w.client[0].text, r->status, strlen(r->status)) != 0
			 : w.client[0].got != 0)
		fail_msg("%s: the client read \"%s\"", r->d.name, w.client[0].text);
	if (strcmp(rig_terms(), r->d.terms) != 0)
		fail_msg("%s: ends are %s", r->d.name, rig_terms());
	if (r->max_ms && (ms < r->min_ms || ms > r->max_ms))
		fail_msg("%s: it took %u ms", r->d.name, (unsigned int)ms);
	assert_int_equal(w.n_served, r->d.served);
	rig_close();
}

static const struct refusal refusals[] = {
	{ { .name = "an invalid head",
		  .cfg = { HTTP_WORLD },
		  .client = { SAY("GET /\x01 HTTP/1.1\r\n\r\n"), EOF_CLOSE },
		  SILENT,
		  .terms = "PR" },
		STATUS("400"), 0, 0 },
	{ { .name = "version",
		  .cfg = { HTTP_WORLD },
		  .client = { SAY("GET / HTTP/3.0\r\n\r\n"), EOF_CLOSE },
		  SILENT,
		  .terms = "PR" },
		STATUS("505"), 0, 0 },
	{ { .name = "too many fields",
		  .cfg = { HTTP_WORLD, .maxhdr = 2 },
		  .client = { SAY(GET "A: b\r\nB: c\r\n\r\n"), EOF_CLOSE },
		  SILENT,
		  .terms = "PR" },
		STATUS("431"), 0, 0 },
	{ { .name = "the maximum number of fields",
		  .cfg = { HTTP_WORLD, .maxhdr = 2 },
		  .client = { SAY(GET "A: b\r\n\r\n"), AWAIT("ok"), { STEP_CLOSE, 0 } },
		  .origin = { AWAIT("\r\n\r\n"), SAY(OK2 "\r\nok"), EOF_CLOSE },
		  .terms = "--",
		  .served = 1 },
		STATUS("200"), 0, 0 },
	{ { .name = "long head",
		  .cfg = { HTTP_WORLD, .bufsize = 512 },
		  .client = { SAY(GET "X: " LONG LONG LONG "aaaaaaa"
				      "\r\n\r\n"),
			  EOF_CLOSE },
		  SILENT,
		  .terms = "PR" },
		STATUS("431"), 0, 0 },
	{ { .name = "long target",
		  .cfg = { HTTP_WORLD, .bufsize = 512 },
		  .client = { SAY("GET /" LONG LONG LONG "aaaaaaa"
				  "\r\n\r\n"),
			  EOF_CLOSE },
		  SILENT,
		  .terms = "PR" },
		STATUS("414"), 0, 0 },
	{ { .name = "long target behind an empty line",
		  .cfg = { HTTP_WORLD, .bufsize = 512 },
		  .client = { SAY("\r\nGET /" LONG LONG LONG "aaaaaaa"
				  "\r\n\r\n"),
			  EOF_CLOSE },
		  SILENT,
		  .terms = "PR" },
		STATUS("414"), 0, 0 },
	/* timeout http-request runs from the connection on, and further bytes do not extend it */
	{ { .name = "slow head",
		  .cfg = LIMITS(30000, 100),
		  .client = { SAY("GET"), { STEP_PAUSE, 60 }, SAY(" "), { STEP_PAUSE, 60 },
			  SAY("/"), EOF_CLOSE },
		  SILENT,
		  .terms = "cR" },
		STATUS("408"), 100, 125 },
	/* one byte at a time; bytes that cannot end the head are not read */
	/* timeout client bounds the wait for a body, from its last bytes on */
	{ { .name = "slow body",
		  .cfg = BODY(100, 5000),
		  .client = { SAY("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n"),
			  { STEP_PAUSE, 60 }, SAY("a"), EOF_CLOSE },
		  SILENT,
		  .terms = "cR" },
		STATUS("408"), 160, 185 },
	{ { .name = "one byte at a time, no end",
		  .cfg = LIMITS(30000, 100),
		  .client = { DRIP("GET /" LONG " HTTP/1.1\r\n"), EOF_CLOSE },
		  SILENT,
		  .terms = "cR" },
		STATUS("408"), 100, 1125 },
	{ { .name = "one byte at a time, invalid",
		  .cfg = LIMITS(30000, 5000),
		  .client = { DRIP(GET "Bad\x01: 1\r\n\r\n"), EOF_CLOSE },
		  SILENT,
		  .terms = "PR" },
		STATUS("400"), 0, 0 },
	{ { .name = "one byte at a time, incomplete",
		  .cfg = LIMITS(30000, 5000),
		  .client = { DRIP("GET / HTTP"), { STEP_SHUT, 0 }, EOF_CLOSE },
		  SILENT,
		  .terms = "CR" },
		STATUS("400"), 0, 1000 },
	{ { .name = "one byte at a time, too long",
		  .cfg = { HTTP_WORLD, .bufsize = 512 },
		  .client = { DRIP(GET "X: " LONG LONG LONG "aaaaaaa\r\n\r\n"), EOF_CLOSE },
		  SILENT,
		  .terms = "PR" },
		STATUS("431"), 0, 0 },
	{ { .name = "no head",
		  .cfg = LIMITS(30000, 100),
		  .client = { EOF_CLOSE },
		  SILENT,
		  .terms = "cR" },
		STATUS("408"), 100, 101 },
	{ { .name = "timeout client",
		  .cfg = LIMITS(100, 0),
		  .client = { EOF_CLOSE },
		  SILENT,
		  .terms = "cR" },
		STATUS("408"), 100, 201 },
	/* waiting for a body has its own timeout, which begins with the head */
	{ { .name = "slow body",
		  .cfg = BODY(30000, 100),
		  .client = { SAY("POST / HTTP/1.1\r\nHost: a\r\n"), { STEP_PAUSE, 60 },
			  SAY("Content-Length: 4\r\n\r\nab"), { STEP_PAUSE, 60 }, SAY("c"),
			  EOF_CLOSE },
		  SILENT,
		  .terms = "cR" },
		STATUS("408"), 160, 185 },
	{ { .name = "slow body, and no time for requests",
		  .cfg = BODY(100, 0),
		  .client = { SAY("POST / HTTP/1.1\r\nHost: a\r\n"), { STEP_PAUSE, 60 },
			  SAY("Content-Length: 4\r\n\r\nab"), { STEP_PAUSE, 60 }, SAY("c"),
			  EOF_CLOSE },
		  SILENT,
		  .terms = "cR" },
		STATUS("408"), 220, 345 },
	{ { .name = "body in time",
		  .cfg = BODY(30000, 100),
		  .client = { SAY("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\na"),
			  { STEP_PAUSE, 60 }, SAY("b"), AWAIT("ok"), { STEP_CLOSE, 0 } },
		  .origin = { AWAIT("ab"), { STEP_PAUSE, 200 }, SAY(OK2 "\r\nok"), EOF_CLOSE },
		  .terms = "--",
		  .served = 1 },
		STATUS("200"), 260, 400 },
	/* A client that closes before its body is complete gets no response. */
	{ { .name = "the client closes in the body",
		  .cfg = BODY(30000, 5000),
		  .client = { SAY("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\na"),
			  { STEP_PAUSE, 60 }, { STEP_SHUT, 0 }, EOF_CLOSE },
		  SILENT,
		  .terms = "CR" },
		"", 60, 100 },
	{ { .name = "the client resets in the body",
		  .cfg = BODY(30000, 5000),
		  .client = { SAY("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\na"),
			  { STEP_PAUSE, 60 }, { STEP_RESET, 0 } },
		  SILENT,
		  .terms = "CR" },
		"", 60, 100 },
	{ { .name = "the client closes",
		  .cfg = { HTTP_WORLD },
		  .client = { { STEP_CLOSE, 0 } },
		  SILENT,
		  .terms = "CR" },
		"", 0, 0 },
	{ { .name = "the client closes in the head",
		  .cfg = { HTTP_WORLD },
		  .client = { SAY("GET /"), { STEP_SHUT, 0 }, EOF_CLOSE },
		  SILENT,
		  .terms = "CR" },
		STATUS("400"), 0, 0 },
	{ { .name = "reset",
		  .cfg = { HTTP_WORLD },
		  .client = { SAY("GET /"), { STEP_PAUSE, 20 }, { STEP_RESET, 0 } },
		  SILENT,
		  .terms = "CR" },
		"", 0, 0 },
};

static void
late_and_invalid_heads_get_a_reply(void **st)
{
	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(refusals); i++)
		play(&refusals[i]);
}

/* The number of reads for this request, with a header value of n bytes. */
static unsigned int
reads_of_dripped(int low_water, int n)
{
	static const struct world_config cfg = { HTTP_WORLD, .persistence = HTTP_KEEP_ALIVE };
	static const struct step origin[] = { AWAIT("\r\n\r\nbody"), SAY(OK2 "\r\nok"),
		AWAIT("\r\n\r\n"), SAY(OK2 "\r\nok"), { STEP_CLOSE, 0 } };
	char head[300];
	struct step client[] = { DRIP(head), DRIP("body"), AWAIT("ok"), SAY(GET "\r\n"),
		AWAIT("ok"), { STEP_CLOSE, 0 } };
	unsigned int reads;

	(void)snprintf(head, sizeof(head),
		"POST /%.*s HTTP/1.1\r\nHost: a\r\nX: %.*s\r\nContent-Length: 4\r\n\r\n", n,
		LONG, n, LONG);
	rig_open(&cfg, origin);
	w.engine.low_water = low_water;
	(void)world_client(&w, client, 0);
	world_run(&w, 5 * FAKE_SEC);
	if (strcmp(rig_terms(), "-- --") != 0)
		fail_msg("%d bytes: %s", n, rig_terms());
	reads = (unsigned int)ledger_sum(&w.sys.ledger, SYS_CALL_recvfrom);
	rig_close();
	return reads;
}

/* Wherever the low-water mark falls, the end of the request and what follows it are noticed at
 * once. */
static void
a_slow_head_is_not_read_for_each_byte(void **st)
{
	(void)st;
	for (int n = 0; n < 24; n++) {
		unsigned int each = reads_of_dripped(0, n), fewer = reads_of_dripped(1, n);

		if (2 * fewer > each)
			fail_msg("%d bytes: %u reads, each byte looked at: %u", n, fewer, each);
	}
}

/* An invalid head gets the same response with a low-water mark, and no later than a late head
 * would: at once if there is no timeout. */
static void
an_invalid_head_below_the_low_water_mark(void **st)
{
	static const struct step origin[] = { EOF_CLOSE };
	static const struct world_config limits[] = { LIMITS(30000, 200), LIMITS(200, 0),
		LIMITS(0, 0) };
	char head[100];
	struct step client[] = { DRIP(head), EOF_CLOSE };

	(void)st;
	for (size_t i = 0; i < 12 * ARRAY_LEN(limits); i++) {
		struct world_config cfg = limits[i / 12];

		cfg.http = 1;
		(void)snprintf(head, sizeof(head), "GET / HTTP/1.1\r\nHost: a\r\nX: %.*s\x01",
			(int)(i % 12), "bcdefghijklm");
		rig_play(&cfg, client, origin);
		if (strncmp(w.client[0].text, STATUS("400"), 13) != 0 ||
			strcmp(rig_terms(), "PR") != 0)
			fail_msg("%zu: %s, %s", i, rig_terms(), w.client[0].text);
		rig_close();
	}
}

/* Without a request there is no response and no log line. */
static const struct refusal silences[] = {
	{ { .name = "option http-ignore-probes",
		  .cfg = { HTTP_WORLD, .options = OPT_HTTP_IGNORE_PROBES },
		  .client = { { STEP_SHUT, 0 }, EOF_CLOSE },
		  SILENT,
		  .terms = "" },
		"", 0, 0 },
	{ { .name = "option http-ignore-probes, timeout",
		  .cfg = { .mode = INTEREST_EDGE,
			  .to = { .connect = 1, .client = 100, .server = 1, .queue = 1 },
			  .options = OPT_HTTP_IGNORE_PROBES },
		  .client = { EOF_CLOSE },
		  SILENT,
		  .terms = "" },
		"", 0, 0 },
};

static void
probes_may_be_ignored(void **st)
{
	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(silences); i++)
		play(&silences[i]);
}

/* An idle client's connection owns neither a buffer nor a transaction, and is closed without a
 * response. */
static void
an_idle_persistent_connection_owns_nothing(void **st)
{
	static const struct world_config cfg = { .mode = INTEREST_EDGE, .http = 1,
		.persistence = HTTP_SERVER_CLOSE,
		.to = { .connect = 5000, .client = 30000, .server = 30000, .queue = 5000,
			.http_keep_alive = 200, .http_request = 1000 } };
	static const struct step client[] = { SAY(GET "\r\n"), EOF_CLOSE };
	static const struct step origin[] = { AWAIT("\r\n\r\n"), SAY(OK2 "\r\nok"), EOF_CLOSE };

	(void)st;
	rig_open(&cfg, origin);
	(void)world_client(&w, client, 0);
	world_run(&w, 100 * FAKE_MS);
	assert_int_equal(w.engine.n_sessions, 1);
	assert_int_equal(rig_session(0)->state, STREAM_READ);
	assert_int_equal(w.engine.pools.buf.live, 0);
	assert_int_equal(w.engine.pools.txn.live, 0);
	assert_true(SESSION_SIZE <= 1024);
	world_run(&w, 150 * FAKE_MS);
	assert_int_equal(w.engine.n_sessions, 0);
	assert_string_equal(w.client[0].text, OK2 "\r\nok");
	assert_string_equal(rig_terms(), "--");
	rig_close();
}

static const struct http_dialogue buffered[] = {
	{ .name = "a body after 100 (Continue)",
		.cfg = { HTTP_WORLD, .options = OPT_HTTP_BUFFER_REQUEST },
		.client = { SAY("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n"
				"Expect: 100-continue\r\nConnection: close\r\n\r\n"),
			AWAIT("100 Continue\r\n\r\n"), SAY("a"), { STEP_PAUSE, 50 }, SAY("bc"),
			EOF_CLOSE },
		.origin = { AWAIT("abc"), SAY(OK2 "\r\nok"), EOF_CLOSE },
		.to_server = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n"
			     "Connection: close\r\n\r\nabc",
		.to_client = "HTTP/1.1 100 Continue\r\n\r\n" OK2 "Connection: close\r\n\r\nok",
		.terms = "--",
		.served = 1 },
	{ .name = "a body that does not come",
		.cfg = { .mode = INTEREST_EDGE,
			.options = OPT_HTTP_BUFFER_REQUEST,
			.to = { .connect = 5000,
				.client = 30000,
				.server = 30000,
				.queue = 5000,
				.http_request = 100 } },
		.client = { SAY("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\na"),
			EOF_CLOSE },
		.origin = { EOF_CLOSE },
		.terms = "cR" },
};

static void
http_buffer_request_waits_for_the_body(void **st)
{
	(void)st;
	http_play_all(buffered, ARRAY_LEN(buffered));
}

/* A client that closes while its body is awaited is counted for its backend, before or after it was
 * chosen. */
static void
a_client_that_closes_during_its_body_is_counted(void **st)
{
	static const struct step parts[] = { { STEP_SHUT, 0 }, { STEP_RESET, 0 } };
	static const char *const rules[] = { NULL, "http-request wait-for-body time 5s" };

	(void)st;
	for (size_t i = 0; i < 2 * ARRAY_LEN(parts); i++) {
		struct world_config cfg = { HTTP_WORLD, .rules = rules[i % 2],
			.options = i % 2 ? 0 : OPT_HTTP_BUFFER_REQUEST };
		struct step client[] = { SAY("POST / HTTP/1.1\r\nHost: a\r\n"
					     "Content-Length: 3\r\n\r\na"),
			{ STEP_PAUSE, 20 }, parts[i / 2], EOF_CLOSE };

		rig_play(&cfg, client, NULL);
		assert_string_equal(rig_terms(), "CR");
		assert_int_equal(w.px->shard->be.cli_abrt, 1);
		assert_int_equal(w.px->shard->fe.failed_req, 1);
		rig_close();
	}
}

static void
monitor_uri_is_answered(void **st)
{
	static const struct world_config cfg = { HTTP_WORLD };
	static const struct step client[] = { SAY("GET /up HTTP/1.1\r\nHost: a\r\n\r\n"),
		AWAIT("Service ready."), SAY("GET /upper HTTP/1.0\r\n\r\n"), EOF_CLOSE };
	static const struct step origin[] = { AWAIT("\r\n\r\n"), { STEP_CLOSE, 0 } };

	(void)st;
	rig_open(&cfg, origin);
	w.px->http.monitor_uri = mem_strdup("/up");
	(void)world_client(&w, client, 0);
	world_run(&w, RIG_LIMIT);
	assert_int_equal(strncmp(w.client[0].text, "HTTP/1.1 200 ", 13), 0);
	assert_non_null(strstr(w.client[0].text, "HTTP/1.1 502 "));
	/* The monitor request is not logged. */
	assert_string_equal(rig_terms(), "SH");
	rig_close();
}

/* The client must receive 100 (Continue) behind a response that it has not read: n bytes of that
 * response fill its buffer, ten more fit, and 100 (Continue) is longer. */
static void
continue_behind(unsigned int read, const char *text)
{
	struct world_config cfg = { HTTP_WORLD, .options = OPT_HTTP_BUFFER_REQUEST, .sndbuf = 10,
		.rcvbuf = read };
	static const struct step client[] = { { STEP_STALL, 0 },
		SAY(GET "\r\nPOST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n"
			"Expect: 100-continue\r\nConnection: close\r\n\r\n"),
		{ STEP_PAUSE, 300 }, { STEP_READ, 0 }, SAY("a"), EOF_CLOSE };
	static const struct step origin[] = { AWAIT("\r\n\r\n"), SAY(OK2 "\r\nok"),
		AWAIT("\r\n\r\na"), SAY(OK2 "\r\nok"), EOF_CLOSE };

	rig_play(&cfg, client, origin);
	if (strcmp(rig_terms(), "-- --") != 0 || strcmp(w.client[0].text, text) != 0)
		fail_msg("%u: %s, %s", read, rig_terms(), w.client[0].text);
	rig_close();
}

/* A part of 100 (Continue) followed by a response would not be valid HTTP. */
static void
a_100_continue_is_sent_as_a_whole(void **st)
{
	static const char text[] = OK2 "\r\nokHTTP/1.1 100 Continue\r\n\r\n" OK2
				       "Connection: close\r\n\r\nok";

	(void)st;
	continue_behind(30, text);
	continue_behind(35, text);
}

/* Two requests that may be retried keep their buffers: without a third buffer they run one after
 * the other, and do not block each other. */
static void
a_request_waits_for_its_responses_room(void **st)
{
	static const struct world_config cfg = { HTTP_WORLD, .retries = 1,
		.retry_on = 1u << HTTP_RETRY_EMPTY_RESPONSE };
	static const struct step client[] = { SAY(GET_CLOSE), EOF_CLOSE };
	static const struct step origin[] = { AWAIT("\r\n\r\n"), { STEP_PAUSE, 20 },
		SAY(OK2 "\r\nok"), EOF_CLOSE };
	struct engine *e = &w.engine;

	(void)st;
	rig_open(&cfg, origin);
	w.cfg.memory = 8 * e->pools.session.size + 2 * e->pools.txn.size + 2 * e->bufsize;
	memory_bound(e, w.cfg.memory);
	for (int i = 0; i < 2; i++)
		(void)world_client(&w, client, 0);
	world_run(&w, RIG_LIMIT);
	assert_string_equal(rig_terms(), "-- --");
	rig_close();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(late_and_invalid_heads_get_a_reply),
		cmocka_unit_test(a_slow_head_is_not_read_for_each_byte),
		cmocka_unit_test(an_invalid_head_below_the_low_water_mark),
		cmocka_unit_test(probes_may_be_ignored),
		cmocka_unit_test(an_idle_persistent_connection_owns_nothing),
		cmocka_unit_test(http_buffer_request_waits_for_the_body),
		cmocka_unit_test(a_client_that_closes_during_its_body_is_counted),
		cmocka_unit_test(monitor_uri_is_answered),
		cmocka_unit_test(a_100_continue_is_sent_as_a_whole),
		cmocka_unit_test(a_request_waits_for_its_responses_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
