/* http-response wait-for-body: the head is held back until the rules have what they wait for. */
#include "unit/proxy/session_rig.h"

#include "proxy/model/count.h"

#define WAITS(more) .cfg = { HTTP_WORLD, .rules = "http-response wait-for-body " more "\n" SHOW }
#define SHOW "http-response set-header X-L %[res.body_len]/%[res.body_size]/%[res.body,hex]\n"
#define RULES(text) .cfg = { HTTP_WORLD, .rules = text }
#define GETS .client = { SAY(GET_CLOSE), EOF_CLOSE }
#define CLOSE "Connection: close\r\n\r\n"
#define LEAD "HTTP/1.1 200 OK\r\n"
#define OK6 LEAD "Content-Length: 6\r\n"
#define CHUNKED LEAD "Transfer-Encoding: chunked\r\n"
#define PAUSE { STEP_PAUSE, 20 }
#define ANSWERED .terms = "--", .served = 1
#define BAD_GATEWAY                                                                       \
	"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 107\r\nCache-Control: no-cache\r\n"    \
	"Content-Type: text/html\r\nConnection: close\r\n\r\n<html><body><h1>502 Bad "       \
	"Gateway</h1>\nThe server returned an invalid or incomplete response.\n</body></html>\n"
#define TIME_OUT                                                                            \
	"HTTP/1.1 504 Gateway Time-out\r\nContent-Length: 92\r\nCache-Control: no-cache\r\n" \
	"Content-Type: text/html\r\nConnection: close\r\n\r\n<html><body><h1>504 Gateway "    \
	"Time-out</h1>\nThe server didn't respond in time.\n</body></html>\n"

/* As measured with HAProxy 2.6, but for chunks and an HTTP/1.0 client. */
static const struct http_dialogue waits[] = {
	{ .name = "all is there", WAITS("time 1s"), GETS,
		REPLY(SAY(OK6 "\r\nabcdef"), EOF_CLOSE),
		.to_client = OK6 "X-L: 6/6/616263646566\r\n" CLOSE "abcdef", ANSWERED },
	{ .name = "three parts", WAITS("time 1s"), GETS,
		REPLY(SAY(OK6 "\r\n"), PAUSE, SAY("abc"), PAUSE, SAY("def"), EOF_CLOSE),
		.to_client = OK6 "X-L: 6/6/616263646566\r\n" CLOSE "abcdef", ANSWERED },
	{ .name = "at least 4", WAITS("time 1s at-least 4"), GETS,
		REPLY(SAY(OK6 "\r\nabc"), PAUSE, SAY("d"), PAUSE, SAY("ef"), EOF_CLOSE),
		.to_client = OK6 "X-L: 4/6/61626364\r\n" CLOSE "abcdef", ANSWERED },
	{ .name = "chunks", WAITS("time 1s"), GETS,
		REPLY(SAY(CHUNKED "\r\n3\r\nab"), PAUSE, SAY("c\r\n3\r"), PAUSE,
			SAY("\ndef\r\n0\r\n"), PAUSE, SAY("\r\n"), EOF_CLOSE),
		.to_client = CHUNKED "X-L: 6/6/616263646566\r\n" CLOSE
			     "3\r\nabc\r\n3\r\ndef\r\n0\r\n\r\n", ANSWERED },
	{ .name = "at least 4 in chunks", WAITS("time 1s at-least 4"), GETS,
		REPLY(SAY(CHUNKED "\r\n3\r\nabc\r\n"), PAUSE, SAY("3\r\nd"), PAUSE,
			SAY("ef\r\n0\r\n\r\n"), EOF_CLOSE),
		.to_client = CHUNKED "X-L: 4/4/61626364\r\n" CLOSE
			     "3\r\nabc\r\n3\r\ndef\r\n0\r\n\r\n", ANSWERED },
	{ .name = "chunks for an HTTP/1.0 client", WAITS("time 1s"),
		.client = { SAY("GET / HTTP/1.0\r\n\r\n"), EOF_CLOSE },
		REPLY(SAY(CHUNKED "\r\n3\r\nabc\r\n"), PAUSE, SAY("3\r\ndef\r\n0\r\n\r\n"),
			EOF_CLOSE),
		.to_client = LEAD "X-L: 6/6/616263646566\r\n" CLOSE "abcdef", ANSWERED },
	{ .name = "until the server closes", WAITS("time 1s"), GETS,
		REPLY(SAY(LEAD "\r\nabc"), PAUSE, SAY("def"), PAUSE, { STEP_CLOSE, 0 }),
		.to_client = LEAD "X-L: 6/6/616263646566\r\n" CLOSE "abcdef", ANSWERED },
	{ .name = "it closes with its last bytes", WAITS("time 1s"), GETS,
		REPLY(SAY(LEAD "\r\nabc"), PAUSE, SAY("def"), { STEP_CLOSE, 0 }),
		.to_client = LEAD "X-L: 6/6/616263646566\r\n" CLOSE "abcdef", ANSWERED },
	{ .name = "no body with 204", WAITS("time 1s"), GETS,
		REPLY(SAY("HTTP/1.1 204 No\r\n\r\n"), EOF_CLOSE),
		.to_client = "HTTP/1.1 204 No\r\nX-L: 0/0/\r\n" CLOSE, ANSWERED },
	{ .name = "no body for HEAD", WAITS("time 1s"),
		.client = { SAY("HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"),
			EOF_CLOSE },
		REPLY(SAY(OK6 "\r\n"), EOF_CLOSE),
		.to_client = OK6 "X-L: 0/0/\r\n" CLOSE, ANSWERED },
	{ .name = "informational responses do not wait", WAITS("time 1s"), GETS,
		REPLY(SAY("HTTP/1.1 103 Early\r\n\r\n" OK6 "\r\nab"), PAUSE, SAY("cdef"),
			EOF_CLOSE),
		.to_client = "HTTP/1.1 103 Early\r\n\r\n" OK6 "X-L: 6/6/616263646566\r\n" CLOSE
			     "abcdef", ANSWERED },
	/* The server's timeout bounds it. */
	{ .name = "time 0", WAITS("time 0"), GETS,
		REPLY(SAY(OK6 "\r\nabc"), { STEP_PAUSE, 10000 }, SAY("def"), EOF_CLOSE),
		.to_client = OK6 "X-L: 6/6/616263646566\r\n" CLOSE "abcdef", ANSWERED },
	{ .name = "two rules",
		RULES("http-response set-header A %[res.body_len]\n"
			"http-response wait-for-body time 1s at-least 2\n"
			"http-response set-header A \"%[res.hdr(A)] %[res.body_len]\"\n"
			"http-response wait-for-body time 1s at-least 4\n"
			"http-after-response set-header A "
			"\"%[res.hdr(A)] %[res.body_len]\"\n"), GETS,
		REPLY(SAY(OK6 "\r\na"), PAUSE, SAY("b"), PAUSE, SAY("cde"), PAUSE, SAY("f"),
			EOF_CLOSE),
		.to_client = OK6 "A: 1 2 5\r\n" CLOSE "abcdef", ANSWERED },
	{ .name = "a rule that does not apply",
		RULES("http-response wait-for-body time 1s if { status 404 }\n" SHOW), GETS,
		REPLY(SAY(OK6 "\r\nabc"), PAUSE, SAY("def"), EOF_CLOSE),
		.to_client = OK6 "X-L: 3/6/616263\r\n" CLOSE "abcdef", ANSWERED },
	{ .name = "a body that is denied",
		RULES("http-response wait-for-body time 1s\n"
		      "http-response deny if { res.body -m sub cd }"),
		GETS, REPLY(SAY(OK6 "\r\nabc"), PAUSE, SAY("def"), EOF_CLOSE),
		.to_client = BAD_GATEWAY, .terms = "PH", .served = 1 },
	{ .name = "a tunnel", WAITS("time 1s"),
		.client = { SAY(GET "Upgrade: x\r\nConnection: upgrade\r\n\r\n"), AWAIT("abc"),
			SAY("q"), EOF_CLOSE },
		REPLY(SAY("HTTP/1.1 101 Go\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nabc"),
			AWAIT("q"), { STEP_CLOSE, 0 }),
		.to_client = "HTTP/1.1 101 Go\r\nUpgrade: x\r\nX-L: 3/3/616263\r\n"
			     "Connection: upgrade\r\n\r\nabc", ANSWERED },
};

static void
rules_wait_for_the_body(void **st)
{
	(void)st;
	http_play_all(waits, ARRAY_LEN(waits));
}

static const struct http_dialogue ends[] = {
	{ .name = "the time is over", WAITS("time 100ms"), GETS,
		REPLY(SAY(OK6 "\r\nabc"), { STEP_PAUSE, 500 }, EOF_CLOSE),
		.to_client = TIME_OUT, .terms = "sR", .served = 1 },
	{ .name = "a trickle does not extend it", WAITS("time 100ms"), GETS,
		REPLY(SAY(OK6 "\r\n"), { STEP_PAUSE, 60 }, SAY("a"), { STEP_PAUSE, 60 }, SAY("b"),
			EOF_CLOSE),
		.to_client = TIME_OUT, .terms = "sR", .served = 1 },
	{ .name = "the time of the first rule bounds all",
		RULES("http-response wait-for-body time 100ms at-least 1\n"
		      "http-response wait-for-body time 1s at-least 2"), GETS,
		REPLY(SAY(OK6 "\r\n"), { STEP_PAUSE, 60 }, SAY("a"), { STEP_PAUSE, 60 }, SAY("b"),
			EOF_CLOSE),
		.to_client = TIME_OUT, .terms = "sR", .served = 1 },
	{ .name = "the server is silent", WAITS("time 1h"), GETS,
		REPLY(SAY(OK6 "\r\nabc"), EOF_CLOSE),
		.to_client = TIME_OUT, .terms = "sR", .served = 1 },
	/* The rules continue with what there is. */
	{ .name = "the server closes", WAITS("time 1s"), GETS,
		REPLY(SAY(OK6 "\r\nabc"), PAUSE, { STEP_CLOSE, 0 }),
		.to_client = OK6 "X-L: 3/6/616263\r\n" CLOSE "abc", .terms = "SD", .served = 1 },
	{ .name = "the server closes at once", WAITS("time 1s"), GETS,
		REPLY(SAY(OK6 "\r\nabc"), { STEP_CLOSE, 0 }),
		.to_client = OK6 "X-L: 3/6/616263\r\n" CLOSE "abc", .terms = "SD", .served = 1 },
	{ .name = "the server resets", WAITS("time 1s"), GETS,
		REPLY(SAY(OK6 "\r\nabc"), PAUSE, { STEP_RESET, 0 }),
		.to_client = OK6 "X-L: 3/6/616263\r\n" CLOSE "abc", .terms = "SD", .served = 1 },
	{ .name = "an invalid chunk", WAITS("time 1s"), GETS,
		REPLY(SAY(CHUNKED "\r\n3\r\nabc\r\n"), PAUSE, SAY("x"), EOF_CLOSE),
		.to_client = BAD_GATEWAY, .terms = "PH", .served = 1 },
	{ .name = "an invalid chunk with the head", WAITS("time 1s"), GETS,
		REPLY(SAY(CHUNKED "\r\nx"), EOF_CLOSE),
		.to_client = BAD_GATEWAY, .terms = "PH", .served = 1 },
	{ .name = "the client resets", WAITS("time 1s"),
		.client = { SAY(GET_CLOSE), { STEP_PAUSE, 50 }, { STEP_RESET, 0 } },
		REPLY(SAY(OK6 "\r\nabc"), { STEP_PAUSE, 100 }, SAY("def"), EOF_CLOSE),
		.to_client = "", .terms = "CD", .served = 1 },
	{ .name = "the client closes", WAITS("time 1s"),
		.client = { SAY(GET_CLOSE), { STEP_SHUT, 0 }, EOF_CLOSE },
		REPLY(SAY(OK6 "\r\nabc"), { STEP_PAUSE, 50 }, SAY("def"), EOF_CLOSE),
		.to_client = OK6 "X-L: 6/6/616263646566\r\n" CLOSE "abcdef", ANSWERED },
	/* A head has come: a client that closes has not given up. */
	{ .name = "it closes with abortonclose",
		.cfg = { HTTP_WORLD, .options = OPT_ABORTONCLOSE,
			.rules = "http-response wait-for-body time 1s\n" SHOW },
		.client = { SAY(GET_CLOSE), { STEP_PAUSE, 50 }, { STEP_SHUT, 0 }, EOF_CLOSE },
		REPLY(SAY(OK6 "\r\nabc"), { STEP_PAUSE, 100 }, SAY("def"), EOF_CLOSE),
		.to_client = OK6 "X-L: 6/6/616263646566\r\n" CLOSE "abcdef", ANSWERED },
};

static void
waits_end(void **st)
{
	(void)st;
	http_play_all(ends, ARRAY_LEN(ends));
}

/* The head has come: what fails later is no reason to send the request once more. */
static void
a_held_response_is_not_retried(void **st)
{
	static const struct http_dialogue dialogues[] = {
		{ .name = "time", .cfg = { HTTP_WORLD, .retries = 2, .retry_on = ~0u,
			.rules = "http-response wait-for-body time 100ms" }, GETS,
			REPLY(SAY(OK6 "\r\nabc"), { STEP_PAUSE, 500 }, EOF_CLOSE),
			.to_client = TIME_OUT, .terms = "sR", .served = 1 },
		{ .name = "chunks", .cfg = { HTTP_WORLD, .retries = 2, .retry_on = ~0u,
			.rules = "http-response wait-for-body time 100ms" }, GETS,
			REPLY(SAY(CHUNKED "\r\n3\r\nabc\r\n"), PAUSE, SAY("x"), EOF_CLOSE),
			.to_client = BAD_GATEWAY, .terms = "PH", .served = 1 },
	};

	(void)st;
	http_play_all(dialogues, ARRAY_LEN(dialogues));
}

/* Both proxies' rules wait; a persistent connection has another exchange behind. */
static void
each_exchange_waits(void **st)
{
	static const struct http_dialogue d = { .name = "twice", WAITS("time 1s"),
		.client = { SAY(GET "\r\n"), AWAIT("abcdef"), SAY(GET "\r\n"), AWAIT("ghijkl"),
			{ STEP_CLOSE, 0 } },
		.origin = { AWAIT("\r\n\r\n"), SAY(OK6 "\r\nabc"), PAUSE, SAY("def"),
			AWAIT("\r\n\r\n"), SAY(OK6 "\r\n"), PAUSE, SAY("ghijkl"), EOF_CLOSE },
		.to_client = OK6 "X-L: 6/6/616263646566\r\n\r\nabcdef" OK6
			     "X-L: 6/6/6768696A6B6C\r\n\r\nghijkl",
		.terms = "-- --", .served = 1, .reuses = 1 };

	(void)st;
	http_play(&d);
}

/* As in HAProxy: no error of the server, whose head has come. */
static void
a_time_that_is_over_is_no_error_of_the_server(void **st)
{
	static const struct world_config cfg = { HTTP_WORLD,
		.rules = "http-response wait-for-body time 100ms" };
	static const struct step client[] = { SAY(GET_CLOSE), EOF_CLOSE };
	static const struct step late[] = { AWAIT("\r\n\r\n"), SAY(OK6 "\r\n"), EOF_CLOSE };
	static const struct step bad[] = { AWAIT("\r\n\r\n"), SAY(CHUNKED "\r\nx"), EOF_CLOSE };

	(void)st;
	rig_play(&cfg, client, late);
	assert_string_equal(rig_terms(), "sR");
	assert_int_equal(w.px->shard->be.eresp, 0);
	rig_close();
	rig_play(&cfg, client, bad);
	assert_int_equal(w.px->shard->be.eresp, 1);
	rig_close();
}

/* --- a buffer of 2560 bytes, 1024 of them in front of the head --- */

#define BUF 2560
#define A2000 TEN(TEN(TEN("ab")))
#define BODY TEN(TEN("0123456789abcd")) /* 1400 bytes */
#define OK2800 LEAD "Content-Length: 2800\r\n"

/* The rules do not wait for what has no room. */
static void
a_full_buffer_ends_the_wait(void **st)
{
	static const struct http_dialogue dialogues[] = {
		{ .name = "full", .cfg = { HTTP_WORLD, .bufsize = BUF,
			.rules = "http-response wait-for-body time 1h\n"
				 "http-response set-header X %[res.body_len]" }, GETS,
			REPLY(SAY(OK2800 "\r\n"), PAUSE, SAY(BODY), PAUSE, SAY(BODY), EOF_CLOSE),
			.to_client = OK2800 "X: 1495\r\n" CLOSE BODY BODY, ANSWERED },
		{ .name = "full when the head has grown", .cfg = { HTTP_WORLD, .bufsize = BUF,
			.rules = "http-response set-header Y " A2000 "%[status]\n"
				 "http-response wait-for-body time 1h\n"
				 "http-response set-header X %[res.body_len]" }, GETS,
			REPLY(SAY(OK2800 "\r\n" BODY), PAUSE, SAY(BODY), EOF_CLOSE),
			.to_client = OK2800 "Y: " A2000 "200\r\nX: 1400\r\n" CLOSE BODY BODY,
			ANSWERED },
		{ .name = "room when the head has grown", .cfg = { HTTP_WORLD, .bufsize = BUF,
			.rules = "http-response set-header Y " A2000 "%[status]\n"
				 "http-response wait-for-body time 1h\n"
				 "http-response set-header X %[res.body_len]" }, GETS,
			REPLY(SAY(OK6 "\r\nabc"), PAUSE, SAY("def"), EOF_CLOSE),
			.to_client = OK6 "Y: " A2000 "200\r\nX: 6\r\n" CLOSE "abcdef", ANSWERED },
	};

	(void)st;
	http_play_all(dialogues, ARRAY_LEN(dialogues));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_wait_for_the_body),
		cmocka_unit_test(waits_end),
		cmocka_unit_test(a_held_response_is_not_retried),
		cmocka_unit_test(each_exchange_waits),
		cmocka_unit_test(a_time_that_is_over_is_no_error_of_the_server),
		cmocka_unit_test(a_full_buffer_ends_the_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
