/* Exchanges: heads, bodies of every framing, and ends that come too early, as both ends see
 * them. */
#include "http_rig.h"

#define ASKED GET "Connection: close\r\n\r\n"
#define ORIGIN(...) .origin = { AWAIT("\r\n\r\n"), __VA_ARGS__ }
#define ASKS .client = { SAY(GET "\r\n"), EOF_CLOSE }
#define LONG "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define CHUNKS "Transfer-Encoding: chunked\r\n"

static const struct http_dialogue bodies[] = {
	{ .name = "length",
		.cfg = { HTTP_WORLD },
		.client = { SAY(GET_CLOSE), EOF_CLOSE },
		ORIGIN(SAY(OK2 "\r\nok"), { STEP_CLOSE, 0 }),
		.to_server = ASKED,
		.to_client = OK2 "Connection: close\r\n\r\nok",
		.terms = "--",
		.served = 1 },
	{ .name = "length in two pieces",
		.cfg = { HTTP_WORLD },
		.client = { SAY(GET_CLOSE), EOF_CLOSE },
		ORIGIN(SAY(OK2 "\r\no"), { STEP_PAUSE, 20 }, SAY("k"), EOF_CLOSE),
		.to_client = OK2 "Connection: close\r\n\r\nok",
		.terms = "--",
		.served = 1 },
	{ .name = "a head in pieces",
		.cfg = { HTTP_WORLD },
		.client = { SAY("GET / HT"), { STEP_PAUSE, 20 }, SAY("TP/1.1\r\nHost: a\r"),
			{ STEP_PAUSE, 20 }, SAY("\nConnection: close\r\n\r\n"), EOF_CLOSE },
		ORIGIN(SAY("HTTP/1."), { STEP_PAUSE, 20 },
			SAY("1 200 OK\r\nContent-Length: 0\r\n\r"), { STEP_PAUSE, 20 }, SAY("\n"),
			EOF_CLOSE),
		.to_server = ASKED,
		.to_client = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
		.terms = "--",
		.served = 1 },
	{ .name = "chunks and trailers",
		.cfg = { HTTP_WORLD },
		.client = { SAY(GET "\r\n"), AWAIT("X: y\r\n\r\n"), { STEP_CLOSE, 0 } },
		ORIGIN(SAY("HTTP/1.1 200 OK\r\n" CHUNKS "\r\n2\r\nok\r\n"), { STEP_PAUSE, 5 },
			SAY("1;e=x\r\n!\r\n0\r\nX: y\r\n\r\n"), EOF_CLOSE),
		.to_client = "HTTP/1.1 200 OK\r\n" CHUNKS
			     "\r\n2\r\nok\r\n1;e=x\r\n!\r\n0\r\nX: y\r\n\r\n",
		.terms = "--",
		.served = 1 },
	{ .name = "chunks to an old client",
		.cfg = { HTTP_WORLD },
		.client = { SAY("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"), EOF_CLOSE },
		ORIGIN(SAY("HTTP/1.1 200 OK\r\n" CHUNKS "\r\n2\r\nok\r\n"), { STEP_PAUSE, 5 },
			SAY("1\r\n!\r\n0\r\nX: y\r\n\r\n"), EOF_CLOSE),
		.to_server = "GET / HTTP/1.0\r\n\r\n",
		.to_client = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nok!",
		.terms = "--",
		.served = 1 },
	{ .name = "until the server closes",
		.cfg = { HTTP_WORLD },
		ASKS,
		ORIGIN(SAY("HTTP/1.1 200 OK\r\n\r\no"), { STEP_PAUSE, 20 }, SAY("k"),
			{ STEP_CLOSE, 0 }),
		.to_client = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nok",
		.terms = "--",
		.served = 1 },
	{ .name = "no body to HEAD",
		.cfg = { HTTP_WORLD },
		.client = { SAY("HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"),
			EOF_CLOSE },
		ORIGIN(SAY(OK2 "\r\n"), EOF_CLOSE),
		.to_client = OK2 "Connection: close\r\n\r\n",
		.terms = "--",
		.served = 1 },
	{ .name = "204 has none",
		.cfg = { HTTP_WORLD },
		.client = { SAY(GET_CLOSE), EOF_CLOSE },
		ORIGIN(SAY("HTTP/1.1 204 No Content\r\n\r\n"), EOF_CLOSE),
		.to_client = "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n",
		.terms = "--",
		.served = 1 },
	{ .name = "304 has none",
		.cfg = { HTTP_WORLD },
		.client = { SAY(GET_CLOSE), EOF_CLOSE },
		ORIGIN(SAY("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n"), EOF_CLOSE),
		.to_client =
			"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n"
			"Connection: close\r\n\r\n",
		.terms = "--",
		.served = 1 },
	{ .name = "interim responses",
		.cfg = { HTTP_WORLD },
		.client = { SAY("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
				"Content-Length: 3\r\nConnection: close\r\n\r\n"),
			AWAIT("100 Continue\r\n\r\n"), SAY("abc"), EOF_CLOSE },
		ORIGIN(SAY("HTTP/1.1 100 Continue\r\n\r\n"), AWAIT("abc"),
			SAY("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" OK2 "\r\nok"), EOF_CLOSE),
		.to_client =
			"HTTP/1.1 100 Continue\r\n\r\n"
			"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" OK2
			"Connection: close\r\n\r\nok",
		.terms = "--",
		.served = 1 },
	{ .name = "none for an old client",
		.cfg = { HTTP_WORLD },
		.client = { SAY("GET / HTTP/1.0\r\n\r\n"), EOF_CLOSE },
		ORIGIN(SAY("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" OK2 "\r\nok"), EOF_CLOSE),
		.to_client = OK2 "Connection: close\r\n\r\nok",
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
	{ .name = "no answer",
		.cfg = { HTTP_WORLD },
		.client = { SAY(GET_CLOSE), EOF_CLOSE },
		ORIGIN({ STEP_CLOSE, 0 }),
		.terms = "SH",
		.served = 1 },
	{ .name = "a reset",
		.cfg = { HTTP_WORLD },
		.client = { SAY(GET_CLOSE), EOF_CLOSE },
		ORIGIN({ STEP_RESET, 0 }),
		.terms = "SH",
		.served = 1 },
	{ .name = "half a head",
		.cfg = { HTTP_WORLD },
		.client = { SAY(GET_CLOSE), EOF_CLOSE },
		ORIGIN(SAY("HTTP/1.1 200 OK\r\n"), { STEP_CLOSE, 0 }),
		.terms = "SH",
		.served = 1 },
	{ .name = "no HTTP",
		.cfg = { HTTP_WORLD },
		.client = { SAY(GET_CLOSE), EOF_CLOSE },
		ORIGIN(SAY("hello\r\n\r\n"), EOF_CLOSE),
		.terms = "PH",
		.served = 1 },
	{ .name = "no end of the head",
		.cfg = { HTTP_WORLD, .bufsize = 1024 },
		.client = { SAY(GET_CLOSE), EOF_CLOSE },
		ORIGIN(SAY("HTTP/1.1 200 OK\r\nX: "), { STEP_SEND, 0 },
			SAY(LONG
			    LONG
			    LONG
			    LONG
			    LONG
			    LONG
			    LONG),
			EOF_CLOSE),
		.terms = "PH",
		.served = 1 },
	/* After the head the client sees a cut, never a clean end. */
	{ .name = "half a body",
		.cfg = { HTTP_WORLD },
		ASKS,
		ORIGIN(SAY(OK2 "\r\no"), { STEP_CLOSE, 0 }),
		.to_client = OK2 "\r\no",
		.terms = "SD",
		.served = 1 },
	{ .name = "half the chunks",
		.cfg = { HTTP_WORLD },
		ASKS,
		ORIGIN(SAY("HTTP/1.1 200 OK\r\n" CHUNKS "\r\n2\r\nok\r\n"), { STEP_PAUSE, 20 },
			{ STEP_CLOSE, 0 }),
		.to_client = "HTTP/1.1 200 OK\r\n" CHUNKS "\r\n2\r\nok\r\n",
		.terms = "SD",
		.served = 1 },
	{ .name = "bad chunks",
		.cfg = { HTTP_WORLD },
		ASKS,
		ORIGIN(SAY("HTTP/1.1 200 OK\r\n" CHUNKS "\r\n2\r\nok\r\n"), { STEP_PAUSE, 20 },
			SAY("x\r\n"), EOF_CLOSE),
		.terms = "PD",
		.served = 1 },
	{ .name = "late",
		.cfg = { .mode = INTEREST_EDGE,
			.to = { .connect = 5000, .client = 30000, .server = 100, .queue = 5000 } },
		.client = { SAY(GET_CLOSE), EOF_CLOSE },
		ORIGIN(EOF_CLOSE),
		.terms = "sH",
		.served = 1 },
	{ .name = "late in the body",
		.cfg = { .mode = INTEREST_EDGE,
			.to = { .connect = 5000, .client = 30000, .server = 100, .queue = 5000 } },
		ASKS,
		ORIGIN(SAY(OK2 "\r\no"), EOF_CLOSE),
		.to_client = OK2 "\r\no",
		.terms = "sD",
		.served = 1 },
	{ .name = "the client leaves",
		.cfg = { HTTP_WORLD },
		.client = { SAY("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\na"),
			{ STEP_PAUSE, 20 }, { STEP_CLOSE, 0 } },
		ORIGIN(EOF_CLOSE),
		.terms = "CH",
		.served = 1 },
	{ .name = "a bad chunk of a request",
		.cfg = { HTTP_WORLD },
		.client = { SAY("POST / HTTP/1.1\r\nHost: a\r\n" CHUNKS "\r\n"), { STEP_PAUSE, 20 },
			SAY("x\r\n"), EOF_CLOSE },
		ORIGIN(EOF_CLOSE),
		.terms = "PR",
		.served = 1 },
};

static void
failures_are_told(void **st)
{
	(void)st;
	http_play_all(failures, ARRAY_LEN(failures));
}

/* No answer, or a bad one, is answered by us; the status says why. */
static void
the_status_says_why(void **st)
{
	static const struct {
		const char *name, *status;
	} t[] = { { "no answer", "HTTP/1.1 502 " }, { "a reset", "HTTP/1.1 502 " },
		{ "half a head", "HTTP/1.1 502 " }, { "no HTTP", "HTTP/1.1 502 " },
		{ "no end of the head", "HTTP/1.1 502 " }, { "late", "HTTP/1.1 504 " },
		{ "a bad chunk of a request", "HTTP/1.1 400 " } };

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(t); i++)
		for (size_t k = 0; k < ARRAY_LEN(failures); k++) {
			struct world_config cfg = failures[k].cfg;

			if (strcmp(failures[k].name, t[i].name) != 0)
				continue;
			cfg.http = 1;
			rig_play(&cfg, failures[k].client, failures[k].origin);
			if (strncmp(w.client[0].text, t[i].status, strlen(t[i].status)) != 0)
				fail_msg("%s: \"%s\"", t[i].name, w.client[0].text);
			rig_close();
		}
}

/* The client is not deaf to a server that answers before it has heard everything. */
static void
an_early_answer_arrives(void **st)
{
	static const struct http_dialogue d = { .name = "early", .cfg = { HTTP_WORLD },
		.client = { SAY("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc"),
			AWAIT("ok"), SAY("defghi"), EOF_CLOSE },
		ORIGIN(SAY(OK2 "\r\nok"), EOF_CLOSE), .to_client = OK2 "\r\nok", .terms = "--",
		.served = 1 };

	(void)st;
	http_play(&d);
}

static void
a_tunnel_carries_what_it_likes(void **st)
{
	static const struct http_dialogue d[] = {
		{ .name = "upgrade", .cfg = { HTTP_WORLD },
		  .client = { SAY(GET "Upgrade: x\r\nConnection: upgrade\r\n\r\n"), AWAIT("hi"),
			  SAY("\r\nnot HTTP\r\n"), AWAIT("bye"), { STEP_CLOSE, 0 } },
		  .origin = { AWAIT("\r\n\r\n"), SAY("HTTP/1.1 101 Switching Protocols\r\n"
			  "Upgrade: x\r\nConnection: upgrade\r\n\r\nhi"), AWAIT("not HTTP"),
			  SAY("bye"), EOF_CLOSE },
		  .to_server = GET "Upgrade: x\r\nConnection: upgrade\r\n\r\n\r\nnot HTTP\r\n",
		  .to_client = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n"
			  "Connection: upgrade\r\n\r\nhibye", .terms = "--", .served = 1 },
		/* what nobody asked for */
		{ .name = "unasked", .cfg = { HTTP_WORLD },
		  .client = { SAY(GET_CLOSE), EOF_CLOSE },
		  .origin = { AWAIT("\r\n\r\n"), SAY("HTTP/1.1 101 Switching Protocols\r\n\r\nhi"),
			  EOF_CLOSE },
		  .terms = "PH", .served = 1 },
	};

	(void)st;
	http_play_all(d, ARRAY_LEN(d));
}

#define ASK SAY(GET_CLOSE), EOF_CLOSE
#define RETRY(what) { HTTP_WORLD, .retries = 2, .retry_on = 1u << HTTP_RETRY_##what }

static void
second_answers(struct world *x, unsigned int nth, struct step *steps)
{
	const struct step *first = x->arg;
	static const struct step good[] = { AWAIT("\r\n\r\n"), SAY(OK2 "\r\nok"), EOF_CLOSE };

	memcpy(steps, nth ? good : first, sizeof(good));
}

/* retry-on: the first server's answer is not good enough, and the second one's is passed on. */
static void
a_request_is_retried(void **st)
{
	static const struct {
		struct world_config cfg;
		struct step first[4];
	} t[] = {
		{ RETRY(EMPTY_RESPONSE), { AWAIT("\r\n\r\n"), { STEP_CLOSE, 0 } } },
		{ RETRY(JUNK_RESPONSE), { AWAIT("\r\n\r\n"), SAY("HTTP\r\n"), EOF_CLOSE } },
		{ RETRY(503), { AWAIT("\r\n\r\n"),
				      SAY("HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n"),
				      { STEP_CLOSE, 0 } } },
		{ { .mode = INTEREST_EDGE,
			  .retries = 1,
			  .retry_on = 1u << HTTP_RETRY_RESPONSE_TIMEOUT,
			  .to = { .connect = 5000, .client = 5000, .server = 100, .queue = 100 } },
			{ AWAIT("\r\n\r\n"), EOF_CLOSE } },
	};
	static const struct step client[] = { ASK };

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		struct world_config cfg = t[i].cfg;

		cfg.http = 1;
		rig_open(&cfg, NULL);
		w.origin_script = second_answers;
		w.arg = (void *)(uintptr_t)t[i].first;
		(void)world_client(&w, client, 0);
		world_run(&w, RIG_LIMIT);
		if (strcmp(w.client[0].text, OK2 "Connection: close\r\n\r\nok") != 0)
			fail_msg("%zu: the client read \"%s\", %u served", i, w.client[0].text,
				w.n_served);
		assert_int_equal(w.n_served, 2);
		assert_string_equal(w.served[0].text, w.served[1].text);
		assert_string_equal(rig_terms(), "--");
		rig_close();
	}
}

/* option abortonclose: who has gone is not waited for; who speaks on is there. */
static void
a_client_that_has_left_is_noticed(void **st)
{
	static const struct http_dialogue d[] = {
		{ .name = "left",
			.cfg = { HTTP_WORLD, .options = OPT_ABORTONCLOSE },
			.client = { SAY(GET "\r\n"), { STEP_PAUSE, 50 }, { STEP_SHUT, 0 },
				EOF_CLOSE },
			ORIGIN(EOF_CLOSE),
			.terms = "CH",
			.served = 1 },
		{ .name = "has not",
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
		cmocka_unit_test(failures_are_told),
		cmocka_unit_test(the_status_says_why),
		cmocka_unit_test(an_early_answer_arrives),
		cmocka_unit_test(a_tunnel_carries_what_it_likes),
		cmocka_unit_test(a_request_is_retried),
		cmocka_unit_test(a_client_that_has_left_is_noticed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
