/* Heads that grow by more than tune.maxrewrite: whatever stands behind one makes way, and the bound
 * is the buffer. A buffer has 2560 bytes here, 1024 of them in front of a head. */
#include "unit/proxy/session_rig.h"

#include "base/mem.h"
#include "proxy/model/count.h"

#define BUF 2560
#define A2000 TEN(TEN(TEN("ab")))
#define BODY TEN(TEN("0123456789abcd")) /* 1400 bytes: with a grown head more than a buffer */
#define BODY_CHUNKED "578\r\n" BODY "\r\n0\r\n\r\n"
#define X "X-Long: " A2000 "\r\n"

#define WORLD(lines) HTTP_WORLD, .bufsize = BUF, .rules = lines
#define GROW_REQ WORLD("http-request set-header X-Long " A2000)
#define GROW_RES WORLD("http-response set-header X-Long " A2000)
#define CLOSE "Connection: close\r\n\r\n"
#define POST POST_LINE "Content-Length: 1400\r\n"
#define POST_CHUNKED POST_LINE "Transfer-Encoding: chunked\r\n"
#define OK1400 "HTTP/1.1 200 OK\r\nContent-Length: 1400\r\n"
#define OK_CHUNKED "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
#define ANSWERED .to_client = OK2 "\r\nok", .terms = "--", .served = 1
#define TO_OK(...) .client = { __VA_ARGS__, AWAIT("ok"), { STEP_CLOSE, 0 } }

static const struct http_dialogue requests[] = {
	{ .name = "without a body", .cfg = { GROW_REQ }, TO_OK(SAY(GET "\r\n")), REPLY_OK,
	  .to_server = GET X CLOSE, ANSWERED },
	{ .name = "with a body", .cfg = { GROW_REQ }, TO_OK(SAY(POST "\r\n" BODY)),
	  .origin = { AWAIT(BODY), SAY(OK2 "\r\nok"), EOF_CLOSE },
	  .to_server = POST X CLOSE BODY, ANSWERED },
	{ .name = "in chunks", .cfg = { GROW_REQ }, TO_OK(SAY(POST_CHUNKED "\r\n" BODY_CHUNKED)),
	  .origin = { AWAIT("0\r\n\r\n"), SAY(OK2 "\r\nok"), EOF_CLOSE },
	  .to_server = POST_CHUNKED X CLOSE BODY_CHUNKED, ANSWERED },
	{ .name = "with a body that comes later", .cfg = { GROW_REQ },
	  TO_OK(SAY(LONG_POST), { STEP_PAUSE, 100 }, SAY(LONG_BODY)),
	  .origin = { AWAIT(LONG_BODY), SAY(OK2 "\r\nok"), EOF_CLOSE },
	  ANSWERED },
	{ .name = "with a body of which a part is there", .cfg = { GROW_REQ },
	  TO_OK(SAY(LONG_POST LONG_BODY)),
	  .origin = { AWAIT(LONG_BODY), SAY(OK2 "\r\nok"), EOF_CLOSE },
	  ANSWERED },
	{ .name = "a body that is waited for",
	  .cfg = { WORLD("http-request set-header X-Long %[method]" A2000 "\n"
			 "http-request wait-for-body time 1h") },
	  TO_OK(SAY(POST_LINE "Expect: 100-continue\r\nContent-Length: 2200\r\n\r\n"),
		  { STEP_PAUSE, 10 }, SAY(LONG_BODY)),
	  .origin = { AWAIT(LONG_BODY), SAY(OK2 "\r\nok"), EOF_CLOSE },
	  .to_client = "HTTP/1.1 100 Continue\r\n\r\n" OK2 "\r\nok", .terms = "--", .served = 1 },
	{ .name = "a body that has no room after the first rule",
	  .cfg = { WORLD("http-request set-header X-Long %[method]" A2000 "\n"
			 "http-request wait-for-body time 1h at-least 1500") },
	  TO_OK(SAY(LONG_POST BODY), { STEP_PAUSE, 10 }, SAY(TEN(TEN("01234567")))),
	  .origin = { AWAIT("0123456701234567"), SAY(OK2 "\r\nok"), EOF_CLOSE },
	  ANSWERED },
	{ .name = "a long path", .cfg = { WORLD("http-request set-path /" A2000) },
	  TO_OK(SAY(POST "\r\n" BODY)),
	  .origin = { AWAIT(BODY), SAY(OK2 "\r\nok"), EOF_CLOSE },
	  .to_server = "POST /" A2000 " HTTP/1.1\r\nHost: a\r\nContent-Length: 1400\r\n" CLOSE BODY,
	  ANSWERED },
	{ .name = "a path that is replaced",
	  .cfg = { WORLD("http-request replace-path ^/(.*) /" A2000 "\\1") },
	  TO_OK(SAY("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 1400\r\n\r\n" BODY)),
	  .origin = { AWAIT(BODY), SAY(OK2 "\r\nok"), EOF_CLOSE },
	  .to_server = "POST /" A2000 "x HTTP/1.1\r\nHost: a\r\nContent-Length: 1400\r\n" CLOSE
		  BODY,
	  ANSWERED },
	{ .name = "several fields",
	  .cfg = { WORLD("http-request set-header X-A %[method]" TEN(TEN("0123456")) "\n"
			 "http-request set-header X-B %[path]" TEN(TEN("0123456")) "\n"
			 "http-request set-header X-C %[method]" TEN(TEN("0123456"))) },
	  TO_OK(SAY(POST "\r\n" BODY)),
	  .origin = { AWAIT(BODY), SAY(OK2 "\r\nok"), EOF_CLOSE },
	  .to_server = POST "X-A: POST" TEN(TEN("0123456")) "\r\nX-B: /" TEN(TEN("0123456"))
		  "\r\nX-C: POST" TEN(TEN("0123456")) "\r\n" CLOSE BODY,
	  ANSWERED },
	{ .name = "CONNECT, and bytes of the tunnel behind it", .cfg = { GROW_REQ },
	  .client = { SAY("CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n" BODY), AWAIT("world"),
		  { STEP_CLOSE, 0 } },
	  .origin = { AWAIT("\r\n\r\n"), SAY("HTTP/1.1 200 OK\r\n\r\n"), AWAIT(BODY), SAY("world"),
		  EOF_CLOSE },
	  .to_server = "CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n" X CLOSE BODY,
	  .to_client = "HTTP/1.1 200 OK\r\n\r\nworld", .terms = "--", .served = 1 },
	{ .name = "an upgrade, and bytes behind it", .cfg = { GROW_REQ },
	  .client = { SAY(GET "Upgrade: x\r\nConnection: upgrade\r\n\r\n" BODY), AWAIT("world"),
		  { STEP_CLOSE, 0 } },
	  .origin = { AWAIT("\r\n\r\n"),
		  SAY("HTTP/1.1 101 Go\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"), AWAIT(BODY),
		  SAY("world"), EOF_CLOSE },
	  .to_server = GET "Upgrade: x\r\n" X "Connection: upgrade\r\n\r\n" BODY, .terms = "--",
	  .served = 1 },
};

#define STALL { STEP_STALL, 0 }
#define READ { STEP_PAUSE, 50 }, { STEP_READ, 0 }

static const struct http_dialogue responses[] = {
	{ .name = "without a body", .cfg = { GROW_RES },
	  REPLY(SAY("HTTP/1.1 204 No\r\n\r\n"), EOF_CLOSE),
	  .client = { SAY(GET_CLOSE), EOF_CLOSE },
	  .to_client = "HTTP/1.1 204 No\r\n" X CLOSE, .terms = "--", .served = 1 },
	{ .name = "with a body", .cfg = { GROW_RES }, .client = { SAY(GET_CLOSE), EOF_CLOSE },
	  REPLY(SAY(OK1400 "\r\n" BODY), EOF_CLOSE),
	  .to_client = OK1400 X CLOSE BODY, .terms = "--", .served = 1 },
	{ .name = "in chunks", .cfg = { GROW_RES }, .client = { SAY(GET_CLOSE), EOF_CLOSE },
	  REPLY(SAY(OK_CHUNKED "\r\n" BODY_CHUNKED), EOF_CLOSE),
	  .to_client = OK_CHUNKED X CLOSE BODY_CHUNKED, .terms = "--", .served = 1 },
	{ .name = "without chunks for HTTP/1.0", .cfg = { GROW_RES },
	  .client = { SAY("GET / HTTP/1.0\r\n\r\n"), EOF_CLOSE },
	  REPLY(SAY(OK_CHUNKED "\r\n" BODY_CHUNKED), EOF_CLOSE),
	  .to_client = "HTTP/1.1 200 OK\r\n" X CLOSE BODY, .terms = "--", .served = 1 },
	{ .name = "until the server closes", .cfg = { GROW_RES },
	  .client = { SAY(GET_CLOSE), EOF_CLOSE },
	  REPLY(SAY("HTTP/1.1 200 OK\r\n\r\n" BODY), { STEP_CLOSE, 0 }),
	  .to_client = "HTTP/1.1 200 OK\r\n" X CLOSE BODY, .terms = "--", .served = 1 },
	{ .name = "after informational ones", .cfg = { GROW_RES },
	  .client = { SAY(GET_CLOSE), EOF_CLOSE },
	  REPLY(SAY("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" OK1400 "\r\n" BODY), EOF_CLOSE),
	  .to_client = "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" OK1400 X CLOSE BODY,
	  .terms = "--", .served = 1 },
	{ .name = "to a slow client",
	  .cfg = { GROW_RES, .sndbuf = 70, .rcvbuf = 70 },
	  .client = { STALL, SAY(GET_CLOSE), READ, EOF_CLOSE },
	  REPLY(SAY("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" OK1400 "\r\n" BODY), EOF_CLOSE),
	  .to_client = "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" OK1400 X CLOSE BODY,
	  .terms = "--", .served = 1 },
	{ .name = "an upgrade, and bytes behind it", .cfg = { GROW_RES },
	  .client = { SAY(GET "Upgrade: x\r\nConnection: upgrade\r\n\r\n"), AWAIT(BODY),
		  SAY("hello"), EOF_CLOSE },
	  .origin = { AWAIT("\r\n\r\n"),
		  SAY("HTTP/1.1 101 Go\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n" BODY),
		  AWAIT("hello"), { STEP_CLOSE, 0 } },
	  .to_client = "HTTP/1.1 101 Go\r\nUpgrade: x\r\n" X "Connection: upgrade\r\n\r\n" BODY,
	  .terms = "--", .served = 1 },
	{ .name = "a local reply",
	  .cfg = { WORLD("http-after-response set-header X-Long " A2000 "\n"
			 "http-request return status 200 content-type text/plain string ok") },
	  .client = { SAY(GET_CLOSE), EOF_CLOSE },
	  .to_client = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: text/plain\r\n" X
		  CLOSE "ok", .terms = "LR" },
};

/* Several requests of one connection, all of them received with the first. */
static const struct http_dialogue pipelined[] = {
	{ .name = "requests behind each other", .cfg = { GROW_REQ },
	  TO_OK(SAY(GET "\r\n" POST "\r\n" BODY GET "A: 2\r\n\r\n"), AWAIT("ok"), AWAIT("ok")),
	  REPLY(SAY(OK2 "\r\nok"), EOF_CLOSE),
	  .to_server = GET X CLOSE, .to_client = OK2 "\r\nok" OK2 "\r\nok" OK2 "\r\nok",
	  .terms = "-- -- --", .served = 3 },
	{ .name = "on kept connections",
	  .cfg = { WORLD("http-request set-header X-Long " A2000 " if { path_end 1 }\n"
			 "http-response set-header X-Long " A2000) },
	  TO_OK(SAY("GET /1 HTTP/1.1\r\nHost: a\r\n\r\n" "GET /2 HTTP/1.1\r\nHost: a\r\n\r\n")),
	  .origin = { AWAIT("\r\n\r\n"), SAY(OK2 "\r\nno"), AWAIT("\r\n\r\n"), SAY(OK2 "\r\nok"),
		  EOF_CLOSE },
	  .to_server = "GET /1 HTTP/1.1\r\nHost: a\r\n" X "\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n",
	  .terms = "-- --", .served = 1, .reuses = 1 },
};

/* A name of a server is written into the placed head: here there is no room in front of it. */
static void
name_at_length(struct proxy *px)
{
	struct server *srv = list_entry(px->servers.prev, struct server, link);

	mem_free(srv->name);
	srv->name = mem_strdup(TEN(TEN("the-name")));
	assert_non_null(srv->name);
}

#define TWO_SERVERS                                                                          \
	.n_servers = 2, .server = { { .path = FAKE_REFUSED }, { .path = FAKE_NEAR } },       \
	.retries = 1, .redispatch = 1, .options = OPT_REDISPATCH

static const struct http_dialogue retries[] = {
	{ .name = "another server", .cfg = { GROW_REQ, TWO_SERVERS }, TO_OK(SAY(POST "\r\n" BODY)),
	  .origin = { AWAIT(BODY), SAY(OK2 "\r\nok"), EOF_CLOSE },
	  .to_server = POST X CLOSE BODY, ANSWERED },
	{ .name = "another server with a longer name",
	  .cfg = { WORLD("http-send-name-header X-Server\n"
			 "http-request set-header X-Long %[method]" TEN(TEN("0123456789"))),
		  TWO_SERVERS, .prepare = name_at_length },
	  TO_OK(SAY(POST "\r\n" BODY)),
	  .origin = { AWAIT(BODY), SAY(OK2 "\r\nok"), EOF_CLOSE },
	  .to_server = POST "X-Long: POST" TEN(TEN("0123456789")) "\r\nConnection: close\r\n"
		  "X-Server: " TEN(TEN("the-name")) "\r\n\r\n" BODY,
	  ANSWERED },
	{ .name = "once more to a server that has closed",
	  .cfg = { GROW_REQ, .retries = 1, .retry_on = 1u << HTTP_RETRY_EMPTY_RESPONSE },
	  .client = { SAY(POST "\r\n" BODY), EOF_CLOSE },
	  .origin = { AWAIT(BODY), { STEP_CLOSE, 0 } },
	  .to_server = POST X CLOSE BODY, .terms = "SH", .served = 2 },
};

static void
requests_grow(void **st)
{
	(void)st;
	http_play_all(requests, ARRAY_LEN(requests));
}

static void
responses_grow(void **st)
{
	(void)st;
	http_play_all(responses, ARRAY_LEN(responses));
}

static void
requests_behind_a_grown_one_are_not_lost(void **st)
{
	(void)st;
	http_play_all(pipelined, ARRAY_LEN(pipelined));
}

static void
a_grown_request_is_sent_to_another_server(void **st)
{
	(void)st;
	http_play_all(retries, ARRAY_LEN(retries));
}

/* --- heads without room --------------------------------------------------------------------- */

#define TOO_LONG TEN(TEN("0123456789012345678901234567"))

static const struct {
	const char *rules, *terms;
	int fails;
	uint64_t fe, srv; /* failed rewrites */
	const char *begins;
} bounds[] = {
	{ "http-request set-header X " TOO_LONG, "PR", 1, 1, 0, "HTTP/1.1 500" },
	{ "http-request strict-mode off\nhttp-request set-header X " TOO_LONG
	  "\nhttp-request set-header Y 1", "--", 0, 1, 0, OK2 },
	{ "http-response set-header X " TOO_LONG, "PH", 1, 1, 1, "HTTP/1.1 500" },
	{ "http-response strict-mode off\nhttp-response set-header X " TOO_LONG, "--", 0, 1, 1,
	  OK2 CLOSE },
	{ "http-request strict-mode off\nhttp-request set-path /" TOO_LONG, "--", 0, 1, 0, OK2 },
	{ "http-request strict-mode off\nhttp-request replace-header Host .* " TOO_LONG, "--", 0, 1,
	  0, OK2 },
	{ "http-response strict-mode off\nhttp-response set-status 200 reason " TOO_LONG, "--", 0,
	  1, 1, OK2 CLOSE },
	/* Each fits, both do not. */
	{ "http-request strict-mode off\nhttp-request add-header X " A2000
	  "\nhttp-request add-header X " A2000, "--", 0, 1, 0, OK2 },
	/* The value replaces one: there is room. */
	{ "http-request set-header X " A2000 "\nhttp-request set-header X b" A2000, "--", 0, 0, 0,
	  OK2 },
	/* The reply, and the page instead of it. */
	{ "http-after-response set-header X " TOO_LONG, "PH", 1, 2, 2, "HTTP/1.1 500" },
	{ "http-after-response set-header X " TOO_LONG "\nhttp-request deny", "PR", 1, 2, 0,
	  "HTTP/1.1 500" },
};

static void
a_head_without_room_is_a_failed_rewrite(void **st)
{
	static const struct step client[] = { SAY(GET_CLOSE), EOF_CLOSE };
	static const struct step origin[] = { AWAIT("\r\n\r\n"), SAY(OK2 "\r\nok"), EOF_CLOSE };

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(bounds); i++) {
		const struct world_config cfg = { WORLD(bounds[i].rules) };
		struct proxy_shard *shard;

		rig_play(&cfg, client, origin);
		shard = &w.px->shard[0];
		if (strcmp(rig_terms(), bounds[i].terms) != 0 ||
			shard->fe.failed_rewrites != bounds[i].fe ||
			shard->be.failed_rewrites != bounds[i].srv ||
			w.srv[0]->shard[0].stat.failed_rewrites != bounds[i].srv)
			fail_msg("%zu: ends %s, %llu failed", i, rig_terms(),
				(unsigned long long)shard->fe.failed_rewrites);
		if (strncmp(w.client[0].text, bounds[i].begins, strlen(bounds[i].begins)) != 0)
			fail_msg("%zu: the client read \"%s\"", i, w.client[0].text);
		rig_close();
	}
}

/* A head and what follows it need a larger buffer. */
static void
without_memory_a_head_cannot_grow(void **st)
{
	static const struct world_config cfg = { GROW_REQ };
	static const struct step client[] = { SAY(POST CLOSE BODY), EOF_CLOSE };

	(void)st;
	rig_open(&cfg, NULL);
	w.engine.limits.max_memory =
		w.engine.pools.session.size + w.engine.pools.txn.size + 3 * BUF - 1;
	(void)world_client(&w, client, 0);
	world_run(&w, RIG_LIMIT);
	assert_string_equal(rig_terms(), "PR");
	assert_memory_equal(w.client[0].text, "HTTP/1.1 500", 12);
	rig_close();
}

/* --- costs ---------------------------------------------------------------------------------- */

static uint64_t
calls_with(const char *rules)
{
	const struct world_config cfg = { .mode = INTEREST_EDGE, .http = 1, .bufsize = BUF,
		.rules = rules, .to = { .connect = 5000, .client = 30000, .server = 30000 } };
	static const struct step client[] = { SAY(POST "\r\n" BODY), AWAIT("0\r\n\r\n"),
		SAY(GET "\r\n"), AWAIT("\r\n\r\nok"), { STEP_CLOSE, 0 } };
	static const struct step origin[] = { AWAIT(BODY), SAY(OK_CHUNKED "\r\n" BODY_CHUNKED),
		AWAIT("\r\n\r\n"), SAY(OK2 "\r\nok"), EOF_CLOSE };
	uint64_t n;

	rig_play(&cfg, client, origin);
	assert_string_equal(rig_terms(), "-- --");
	assert_int_equal(w.engine.pools.wide.peak != 0, strlen(rules) > BUF);
	n = world_calls(&w);
	rig_close();
	return n;
}

static void
a_head_that_grows_costs_no_call(void **st)
{
	uint64_t few = calls_with("http-request set-header X-Long a\n"
				  "http-response set-header X-Long a");

	(void)st;
	assert_int_equal(calls_with("http-request set-header X-Long " A2000 "\n"
				    "http-response set-header X-Long " A2000), few);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_grow),
		cmocka_unit_test(responses_grow),
		cmocka_unit_test(requests_behind_a_grown_one_are_not_lost),
		cmocka_unit_test(a_grown_request_is_sent_to_another_server),
		cmocka_unit_test(a_head_without_room_is_a_failed_rewrite),
		cmocka_unit_test(without_memory_a_head_cannot_grow),
		cmocka_unit_test(a_head_that_grows_costs_no_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
