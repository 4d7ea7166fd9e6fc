/* Exchanges: bodies with every framing, and premature ends, as both ends see them. */
#include "unit/proxy/session_rig.h"

#include "proxy/model/memory.h"

#define CHUNKS "Transfer-Encoding: chunked\r\n"

static const struct http_dialogue bodies[] = {
	{ .name = "a length",
		.cfg = { HTTP_WORLD },
		.client = { SAY(GET_CLOSE), EOF_CLOSE },
		REPLY(SAY(OK2 "\r\nok"), { STEP_CLOSE, 0 }),
		.to_server = GET_CLOSE,
		.to_client = OK2 "Connection: close\r\n\r\nok",
		.terms = "--",
		.served = 1 },
	{ .name = "a length, in two pieces",
		.cfg = { HTTP_WORLD },
		.client = { SAY(GET_CLOSE), EOF_CLOSE },
		REPLY(SAY(OK2 "\r\no"), { STEP_PAUSE, 20 }, SAY("k"), EOF_CLOSE),
		.to_client = OK2 "Connection: close\r\n\r\nok",
		.terms = "--",
		.served = 1 },
	{ .name = "a head in pieces",
		.cfg = { HTTP_WORLD },
		.client = { SAY("GET / HT"), { STEP_PAUSE, 20 }, SAY("TP/1.1\r\nHost: a\r"),
			{ STEP_PAUSE, 20 }, SAY("\nConnection: close\r\n\r\n"), EOF_CLOSE },
		REPLY(SAY("HTTP/1."), { STEP_PAUSE, 20 },
			SAY("1 200 OK\r\nContent-Length: 0\r\n\r"), { STEP_PAUSE, 20 }, SAY("\n"),
			EOF_CLOSE),
		.to_server = GET_CLOSE,
		.to_client = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
		.terms = "--",
		.served = 1 },
	{ .name = "chunks and trailers",
		.cfg = { HTTP_WORLD },
		.client = { SAY(GET "\r\n"), AWAIT("X: y\r\n\r\n"), { STEP_CLOSE, 0 } },
		REPLY(SAY("HTTP/1.1 200 OK\r\n" CHUNKS "\r\n2\r\nok\r\n"), { STEP_PAUSE, 5 },
			SAY("1;e=x\r\n!\r\n0\r\nX: y\r\n\r\n"), EOF_CLOSE),
		.to_client = "HTTP/1.1 200 OK\r\n" CHUNKS
			     "\r\n2\r\nok\r\n1;e=x\r\n!\r\n0\r\nX: y\r\n\r\n",
		.terms = "--",
		.served = 1 },
	{ .name = "chunks to an HTTP/1.0 client",
		.cfg = { HTTP_WORLD },
		.client = { SAY("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"), EOF_CLOSE },
		REPLY(SAY("HTTP/1.1 200 OK\r\n" CHUNKS "\r\n2\r\nok\r\n"), { STEP_PAUSE, 5 },
			SAY("1\r\n!\r\n0\r\nX: y\r\n\r\n"), EOF_CLOSE),
		.to_server = "GET / HTTP/1.0\r\n\r\n",
		.to_client = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nok!",
		.terms = "--",
		.served = 1 },
	{ .name = "until the close",
		.cfg = { HTTP_WORLD },
		CLIENT_GET,
		REPLY(SAY("HTTP/1.1 200 OK\r\n\r\no"), { STEP_PAUSE, 20 }, SAY("k"),
			{ STEP_CLOSE, 0 }),
		.to_client = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nok",
		.terms = "--",
		.served = 1 },
	{ .name = "no body to HEAD",
		.cfg = { HTTP_WORLD },
		.client = { SAY("HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"),
			EOF_CLOSE },
		REPLY(SAY(OK2 "\r\n"), EOF_CLOSE),
		.to_client = OK2 "Connection: close\r\n\r\n",
		.terms = "--",
		.served = 1 },
	/* An HTTP/1.0 client gets no Transfer-Encoding, with or without a body. */
	{ .name = "HEAD of HTTP/1.0",
		.cfg = { HTTP_WORLD },
		.client = { SAY("HEAD / HTTP/1.0\r\n\r\n"), EOF_CLOSE },
		REPLY(SAY("HTTP/1.1 200 OK\r\n" CHUNKS "\r\n"), EOF_CLOSE),
		.to_client = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n",
		.terms = "--",
		.served = 1 },
	{ .name = "204 has no body",
		.cfg = { HTTP_WORLD },
		.client = { SAY(GET_CLOSE), EOF_CLOSE },
		REPLY(SAY("HTTP/1.1 204 No Content\r\n\r\n"), EOF_CLOSE),
		.to_client = "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n",
		.terms = "--",
		.served = 1 },
	{ .name = "304 has no body",
		.cfg = { HTTP_WORLD },
		.client = { SAY(GET_CLOSE), EOF_CLOSE },
		REPLY(SAY("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n"), EOF_CLOSE),
		.to_client =
			"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n"
			"Connection: close\r\n\r\n",
		.terms = "--",
		.served = 1 },
	{ .name = "a request body in chunks",
		.cfg = { HTTP_WORLD },
		.client = { SAY("POST / HTTP/1.1\r\nHost: a\r\n" CHUNKS
				"Connection: close\r\n\r\n3\r\nab"),
			{ STEP_PAUSE, 20 }, SAY("c\r\n0\r\n\r\n"), EOF_CLOSE },
		.origin = { AWAIT("0\r\n\r\n"), SAY(OK2 "\r\nok"), EOF_CLOSE },
		.to_server = "POST / HTTP/1.1\r\nHost: a\r\n" CHUNKS
			     "Connection: close\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
		.to_client = OK2 "Connection: close\r\n\r\nok",
		.terms = "--",
		.served = 1 },
};

static void
bodies_end_where_they_end(void **st)
{
	(void)st;
	http_play_all(bodies, ARRAY_LEN(bodies));
}

static const struct http_dialogue failures[] = {
	{ .name = "a truncated body",
		.cfg = { HTTP_WORLD },
		CLIENT_GET,
		REPLY(SAY(OK2 "\r\no"), { STEP_CLOSE, 0 }),
		.to_client = OK2 "\r\no",
		.terms = "SD",
		.served = 1 },
	{ .name = "truncated chunks",
		.cfg = { HTTP_WORLD },
		CLIENT_GET,
		REPLY(SAY("HTTP/1.1 200 OK\r\n" CHUNKS "\r\n2\r\nok\r\n"), { STEP_PAUSE, 20 },
			{ STEP_CLOSE, 0 }),
		.to_client = "HTTP/1.1 200 OK\r\n" CHUNKS "\r\n2\r\nok\r\n",
		.terms = "SD",
		.served = 1 },
	{ .name = "bad chunks",
		.cfg = { HTTP_WORLD },
		CLIENT_GET,
		REPLY(SAY("HTTP/1.1 200 OK\r\n" CHUNKS "\r\n2\r\nok\r\n"), { STEP_PAUSE, 20 },
			SAY("x\r\n"), EOF_CLOSE),
		.terms = "PD",
		.served = 1 },
	/* As in HAProxy: nothing was sent yet. */
	{ .name = "a bad chunk with the head",
		.cfg = { HTTP_WORLD },
		.client = { SAY(GET_CLOSE), AWAIT("502 Bad Gateway"), EOF_CLOSE },
		REPLY(SAY("HTTP/1.1 200 OK\r\n" CHUNKS "\r\n2\r\nok\r\nx\r\n"), EOF_CLOSE),
		.terms = "PH",
		.served = 1 },
	{ .name = "a good chunk with the head, and a part of one",
		.cfg = { HTTP_WORLD },
		CLIENT_GET,
		REPLY(SAY("HTTP/1.1 200 OK\r\n" CHUNKS "\r\n2\r\nok\r\n5\r\nab"),
			{ STEP_PAUSE, 20 }, SAY("cde\r\n0\r\n\r\n"), EOF_CLOSE),
		.to_client = "HTTP/1.1 200 OK\r\n" CHUNKS
			"\r\n2\r\nok\r\n5\r\nabcde\r\n0\r\n\r\n",
		.terms = "--",
		.served = 1 },
	/* A part of the head in the buffer does not extend timeout server. */
	{ .name = "timeout in the head",
		.cfg = { .mode = INTEREST_EDGE,
			.to = { .connect = 5000, .client = 30000, .server = 100, .queue = 5000 } },
		.client = { SAY(GET_CLOSE), EOF_CLOSE },
		REPLY(SAY("HTTP/1.1 200 OK\r\n"), EOF_CLOSE),
		.terms = "sH",
		.served = 1 },
	{ .name = "timeout in the body",
		.cfg = { .mode = INTEREST_EDGE,
			.to = { .connect = 5000, .client = 30000, .server = 100, .queue = 5000 } },
		CLIENT_GET,
		REPLY(SAY(OK2 "\r\no"), EOF_CLOSE),
		.to_client = OK2 "\r\no",
		.terms = "sD",
		.served = 1 },
	{ .name = "the client resets",
		.cfg = { HTTP_WORLD },
		.client = { SAY("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\na"),
			{ STEP_PAUSE, 20 }, { STEP_CLOSE, 0 } },
		REPLY(EOF_CLOSE),
		.terms = "CD",
		.served = 1 },
	{ .name = "a bad chunk of a request",
		.cfg = { HTTP_WORLD },
		.client = { SAY("POST / HTTP/1.1\r\nHost: a\r\n" CHUNKS "\r\n"), { STEP_PAUSE, 20 },
			SAY("x\r\n"), EOF_CLOSE },
		REPLY(EOF_CLOSE),
		.terms = "PR",
		.served = 1 },
};

static void
failures_are_reported(void **st)
{
	(void)st;
	http_play_all(failures, ARRAY_LEN(failures));
}

/* Nothing of a response was sent yet. */
static void
a_bad_chunk_gets_a_reply(void **st)
{
	const struct http_dialogue *d = &failures[ARRAY_LEN(failures) - 1];
	struct world_config cfg = d->cfg;

	(void)st;
	cfg.http = 1;
	rig_play(&cfg, d->client, d->origin);
	assert_memory_equal(w.client[0].text, "HTTP/1.1 400 ", 13);
	rig_close();
}

/* Chunked framing is removed in a buffer: without a buffer the bytes wait in the socket, within the
 * limit. */
static void
dechunking_waits_for_memory(void **st)
{
	static const struct step client[] = { SAY("GET / HTTP/1.0\r\n\r\n"), EOF_CLOSE };
	static const struct step origin[] = { AWAIT("\r\n\r\n"),
		SAY("HTTP/1.1 200 OK\r\n" CHUNKS "\r\n2\r\nok\r\n"), { STEP_PAUSE, 20 },
		SAY("2\r\nok\r\n0\r\n\r\n"), EOF_CLOSE };
	struct world_config cfg = { HTTP_WORLD };
	void *kept;

	(void)st;
	rig_open(&cfg, origin);
	(void)world_client(&w, client, 0);
	world_run(&w, 10 * FAKE_MS);
	kept = rig_exhaust_memory();
	world_run(&w, 500 * FAKE_MS);
	assert_int_equal(memory_used(&w.engine), w.engine.limits.max_memory);
	assert_null(rig_session(0)->dir[SERVER].buf);
	assert_in_range(w.engine.stat.buf_waits, 5, 15);
	rig_restore_memory(kept);
	world_run(&w, RIG_LIMIT);
	assert_string_equal(w.client[0].text, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nokok");
	assert_string_equal(rig_terms(), "--");
	rig_close();
}

/* The client reads a response that arrives before its request is complete. */
static void
an_early_response_arrives(void **st)
{
	static const struct http_dialogue d = { .name = "an early response", .cfg = { HTTP_WORLD },
		.client = { SAY("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc"),
			AWAIT("ok"), SAY("defghi"), EOF_CLOSE },
		REPLY(SAY(OK2 "\r\nok"), EOF_CLOSE), .to_client = OK2 "\r\nok", .terms = "--",
		.served = 1 };

	(void)st;
	http_play(&d);
}

/* option abortonclose: a client that closed ends the session; one that sends more data does not. */
static void
abortonclose_notices_a_closed_client(void **st)
{
	static const struct http_dialogue d[] = {
		{ .name = "the client closed",
			.cfg = { HTTP_WORLD, .options = OPT_ABORTONCLOSE },
			.client = { SAY(GET "\r\n"), { STEP_PAUSE, 50 }, { STEP_SHUT, 0 },
				EOF_CLOSE },
			REPLY(EOF_CLOSE),
			.terms = "CH",
			.served = 1 },
		{ .name = "the client sends more",
			.cfg = { HTTP_WORLD, .options = OPT_ABORTONCLOSE },
			.client = { SAY(GET "\r\n"), { STEP_PAUSE, 50 }, SAY(GET_CLOSE),
				EOF_CLOSE },
			.origin = { { STEP_PAUSE, 100 }, SAY(OK2 "\r\nok"), EOF_CLOSE },
			.to_client = OK2 "\r\nok" OK2 "Connection: close\r\n\r\nok",
			.terms = "-- --",
			.served = 2 },
	};

	(void)st;
	http_play_all(d, ARRAY_LEN(d));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bodies_end_where_they_end),
		cmocka_unit_test(failures_are_reported),
		cmocka_unit_test(a_bad_chunk_gets_a_reply),
		cmocka_unit_test(dechunking_waits_for_memory),
		cmocka_unit_test(an_early_response_arrives),
		cmocka_unit_test(abortonclose_notices_a_closed_client),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
