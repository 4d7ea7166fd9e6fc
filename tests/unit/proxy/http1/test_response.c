/* The response's head: informational responses, tunnels, and heads that are missing or invalid. */
#include "unit/proxy/session_rig.h"

#define LONG "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static const struct http_dialogue interim[] = {
	{ .name = "informational responses",
		.cfg = { HTTP_WORLD },
		.client = { SAY("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
				"Content-Length: 3\r\nConnection: close\r\n\r\n"),
			AWAIT("100 Continue\r\n\r\n"), SAY("abc"), EOF_CLOSE },
		REPLY(SAY("HTTP/1.1 100 Continue\r\n\r\n"), AWAIT("abc"),
			SAY("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" OK2 "\r\nok"), EOF_CLOSE),
		.to_client =
			"HTTP/1.1 100 Continue\r\n\r\n"
			"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" OK2
			"Connection: close\r\n\r\nok",
		.terms = "--",
		.served = 1 },
	{ .name = "none for an HTTP/1.0 client",
		.cfg = { HTTP_WORLD },
		.client = { SAY("GET / HTTP/1.0\r\n\r\n"), EOF_CLOSE },
		REPLY(SAY("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" OK2 "\r\nok"), EOF_CLOSE),
		.to_client = OK2 "Connection: close\r\n\r\nok",
		.terms = "--",
		.served = 1 },
};

#define STALL { STEP_STALL, 0 }
#define READ { STEP_PAUSE, 50 }, { STEP_READ, 0 }
#define OK82 "HTTP/1.1 200 OK\r\nContent-Length: 82\r\n\r\n" LONG
#define HINTS "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
#define BAD_GATEWAY(more)                                                                 \
	"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 107\r\nCache-Control: no-cache\r\n"    \
	"Content-Type: text/html\r\n" more "\r\n<html><body><h1>502 Bad Gateway</h1>\n"      \
	"The server returned an invalid or incomplete response.\n</body></html>\n"

/* The client reads an informational response in pieces, and the server has closed meanwhile. */
static const struct http_dialogue slowly[] = {
	/* The response before it takes most of the space. */
	{ .name = "the response follows",
		.cfg = { .mode = INTEREST_EDGE, .sndbuf = 70, .rcvbuf = 70,
			.to = { .connect = 5000, .client = 30000, .server = 30000 } },
		.client = { STALL, SAY(GET "\r\n"), SAY(GET_CLOSE), READ, EOF_CLOSE },
		.origin = { AWAIT("\r\n\r\n"), SAY(OK82), AWAIT("\r\n\r\n"),
			SAY(HINTS "HTTP/1.1 204 No\r\n\r\n"), { STEP_CLOSE, 0 } },
		.to_client = OK82 HINTS "HTTP/1.1 204 No\r\nConnection: close\r\n\r\n",
		.terms = "-- --",
		.served = 1,
		.reuses = 1 },
	{ .name = "no response follows",
		.cfg = { HTTP_WORLD, .sndbuf = 16, .rcvbuf = 8 },
		.client = { STALL, SAY(GET_CLOSE), READ, EOF_CLOSE },
		.origin = { AWAIT("\r\n\r\n"), SAY(HINTS), { STEP_CLOSE, 0 } },
		.to_client = HINTS BAD_GATEWAY("Connection: close\r\n"),
		.terms = "SH",
		.served = 1 },
	{ .name = "timeout of the client's body",
		.cfg = { .mode = INTEREST_EDGE, .sndbuf = 16, .rcvbuf = 8,
			.to = { .connect = 5000, .client = 100, .server = 30000 },
			.rules = "http-after-response set-status 200 reason OK\n" },
		.client = { STALL, SAY("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\na"),
			{ STEP_PAUSE, 500 }, { STEP_READ, 0 }, EOF_CLOSE },
		.origin = { AWAIT("\r\n\r\n"), SAY(HINTS), EOF_CLOSE },
		.terms = "cD",
		.served = 1 },
	{ .name = "a retry",
		.cfg = { HTTP_WORLD, .sndbuf = 16, .rcvbuf = 8, .retries = 1,
			.retry_on = 1u << HTTP_RETRY_JUNK_RESPONSE },
		.client = { STALL, SAY(GET_CLOSE), READ, EOF_CLOSE },
		.origin = { AWAIT("\r\n\r\n"), SAY(HINTS), { STEP_CLOSE, 0 } },
		.to_client = HINTS HINTS BAD_GATEWAY("Connection: close\r\n"),
		.terms = "SH",
		.served = 2 },
};

static void
informational_responses_are_not_truncated(void **st)
{
	(void)st;
	http_play_all(slowly, ARRAY_LEN(slowly));
}

static void
informational_responses_are_forwarded(void **st)
{
	(void)st;
	http_play_all(interim, ARRAY_LEN(interim));
}

static const struct http_dialogue failures[] = {
	{ .name = "no answer",
		.cfg = { HTTP_WORLD },
		.client = { SAY(GET_CLOSE), EOF_CLOSE },
		REPLY({ STEP_CLOSE, 0 }),
		.terms = "SH",
		.served = 1 },
	{ .name = "a reset",
		.cfg = { HTTP_WORLD },
		.client = { SAY(GET_CLOSE), EOF_CLOSE },
		REPLY({ STEP_RESET, 0 }),
		.terms = "SH",
		.served = 1 },
	{ .name = "a truncated head",
		.cfg = { HTTP_WORLD },
		.client = { SAY(GET_CLOSE), EOF_CLOSE },
		REPLY(SAY("HTTP/1.1 200 OK\r\n"), { STEP_CLOSE, 0 }),
		.terms = "SH",
		.served = 1 },
	{ .name = "no HTTP",
		.cfg = { HTTP_WORLD },
		.client = { SAY(GET_CLOSE), EOF_CLOSE },
		REPLY(SAY("hello\r\n\r\n"), EOF_CLOSE),
		.terms = "PH",
		.served = 1 },
	{ .name = "a head without an end",
		.cfg = { HTTP_WORLD, .bufsize = 1024 },
		.client = { SAY(GET_CLOSE), EOF_CLOSE },
		REPLY(SAY("HTTP/1.1 200 OK\r\nX: "), { STEP_SEND, 0 },
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
	/* After the head the client sees a truncated response, never a clean end. */
	{ .name = "timeout in the body",
		.cfg = { .mode = INTEREST_EDGE,
			.to = { .connect = 5000, .client = 30000, .server = 100, .queue = 5000 } },
		.client = { SAY(GET_CLOSE), EOF_CLOSE },
		REPLY(EOF_CLOSE),
		.terms = "sH",
		.served = 1 },
};

static void
failures_get_a_local_reply(void **st)
{
	(void)st;
	http_play_all(failures, ARRAY_LEN(failures));
}

/* A missing or invalid response causes a local reply; its status is the reason. */
static void
the_status_shows_the_reason(void **st)
{
	static const struct {
		const char *name, *status;
	} t[] = { { "no answer", "HTTP/1.1 502 " }, { "a reset", "HTTP/1.1 502 " },
		{ "half a head", "HTTP/1.1 502 " }, { "no HTTP", "HTTP/1.1 502 " },
		{ "no end of the head", "HTTP/1.1 502 " }, { "late", "HTTP/1.1 504 " } };

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

static void
a_tunnel_forwards_any_bytes(void **st)
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
		/* unrequested data */
		{ .name = "unrequested data", .cfg = { HTTP_WORLD },
		  .client = { SAY(GET_CLOSE), EOF_CLOSE },
		  .origin = { AWAIT("\r\n\r\n"), SAY("HTTP/1.1 101 Switching Protocols\r\n\r\nhi"),
			  EOF_CLOSE },
		  .terms = "PH", .served = 1 },
		{ .name = "a switch that Connection does not say", .cfg = { HTTP_WORLD },
		  .client = { SAY(GET "Upgrade: x\r\nConnection: upgrade\r\n\r\n"),
			  AWAIT("502 "), { STEP_CLOSE, 0 } },
		  .origin = { AWAIT("\r\n\r\n"), SAY("HTTP/1.1 101 Switching Protocols\r\n"
			  "Upgrade: x\r\n\r\nhi"), EOF_CLOSE },
		  .terms = "PH", .served = 1 },
	};

	(void)st;
	http_play_all(d, ARRAY_LEN(d));
}

/* A fast server's response is read early, without an event; with a slow one this fails once, and
 * then events are used. */
static void
fast_responses_are_read_early(void **st)
{
	static const struct step client[] = { SAY(GET_CLOSE), EOF_CLOSE };
	static const struct step quick[] = { AWAIT("\r\n\r\n"), SAY(OK2 "\r\nok"), EOF_CLOSE };
	static const struct step slow[] = { AWAIT("\r\n\r\n"), { STEP_PAUSE, 5 },
		SAY(OK2 "\r\nok"), EOF_CLOSE };
	static const struct step until_end[] = { AWAIT("\r\n\r\n"),
		SAY("HTTP/1.1 200 OK\r\n\r\nok"), { STEP_CLOSE, 0 } };
	static const struct {
		const struct step *origin;
		uint64_t speculates_read, registered; /* of ten requests */
	} t[] = { { quick, 10, 0 }, { slow, 1, 10 }, { until_end, 1, 10 } };
	struct world_config cfg = { HTTP_WORLD, .defer = 1, .persistence = HTTP_SERVER_CLOSE };

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		uint64_t turns, ctl;

		rig_open(&cfg, t[i].origin);
		turns = loop_stats(w.loop)->spec_turns;
		ctl = ledger_sum(&w.sys.ledger, SYS_CALL_epoll_ctl);
		for (int n = 0; n < 10; n++) {
			(void)world_client(&w, client, 0);
			world_run(&w, FAKE_SEC);
		}
		assert_int_equal(w.n_ends, 10);
		assert_int_equal(loop_stats(w.loop)->spec_turns - turns, t[i].speculates_read);
		assert_int_equal(ledger_sum(&w.sys.ledger, SYS_CALL_epoll_ctl) - ctl,
			t[i].registered);
		rig_close();
	}
}

#define RULES(text) .cfg = { HTTP_WORLD, .rules = text }
#define CLOSING .client = { SAY(GET_CLOSE), EOF_CLOSE }

static const struct http_dialogue rules[] = {
	{ .name = "fields",
		RULES("http-response set-header X-A %[status]\n"
		      "http-response del-header X-B\n"
		      "http-after-response add-header X-C %[res.hdr(x-a)]"),
		CLOSING,
		REPLY(SAY(OK2 "X-B: x\r\n\r\nok"), EOF_CLOSE),
		.to_client = OK2 "X-A: 200\r\nX-C: 200\r\nConnection: close\r\n\r\nok",
		.terms = "--",
		.served = 1 },
	{ .name = "the body arrives later",
		RULES("http-response set-header X-A %[res.hdr(x-b)]"),
		CLOSING,
		REPLY(SAY(OK2 "X-B: x\r\n\r\no"), { STEP_PAUSE, 20 }, SAY("k"), EOF_CLOSE),
		.to_client = OK2 "X-B: x\r\nX-A: x\r\nConnection: close\r\n\r\nok",
		.terms = "--",
		.served = 1 },
	{ .name = "return",
		RULES("http-response return content-type a/b "
		      "lf-string \"%[status] %[res.hdr(x-b)]\""),
		CLOSING,
		REPLY(SAY(OK2 "X-B: x\r\n\r\nok"), EOF_CLOSE),
		.to_client = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Type: a/b\r\n"
			     "Connection: close\r\n\r\n200 x",
		.terms = "LH",
		.served = 1 },
	{ .name = "deny",
		RULES("http-response deny if { status 200 }"),
		CLOSING,
		REPLY(SAY(OK2 "\r\nok"), EOF_CLOSE),
		.terms = "PH",
		.served = 1 },
	/* a rule closes a connection that would have been kept */
	{ .name = "close",
		RULES("http-response set-header Connection close"),
		.client = { SAY(GET "\r\n"), EOF_CLOSE },
		REPLY(SAY(OK2 "\r\nok"), EOF_CLOSE),
		.to_client = OK2 "Connection: close\r\n\r\nok",
		.terms = "--",
		.served = 1 },
	/* The request. */
	{ .name = "the request of a response",
		.cfg = { HTTP_WORLD, .persistence = HTTP_KEEP_ALIVE, .rules =
			"http-request set-method PUT if { path /x }\n"
			"http-response add-header A %[http_first_req],%[method] if METH_GET\n"
			"http-after-response add-header A second if METH_GET !{ http_first_req }" },
		.client = { SAY(GET "\r\n"), AWAIT("ok"), SAY("GET /x HTTP/1.1\r\nHost: a\r\n\r\n"),
			AWAIT("second\r\n\r\nok"), { STEP_CLOSE, 0 } },
		.origin = { AWAIT("\r\n\r\n"), SAY(OK2 "\r\nok"), AWAIT("PUT /x"),
			SAY(OK2 "\r\nok"), EOF_CLOSE },
		.to_client = OK2 "A: 1,GET\r\n\r\nok" OK2 "A: 0,GET\r\nA: second\r\n\r\nok",
		.terms = "-- --",
		.served = 1,
		.reuses = 1 },
	{ .name = "no rules for informational responses",
		RULES("http-response set-header X-A b"),
		CLOSING,
		REPLY(SAY("HTTP/1.1 103 Early Hints\r\n\r\n" OK2 "\r\nok"), EOF_CLOSE),
		.to_client = "HTTP/1.1 103 Early Hints\r\n\r\n" OK2 "X-A: b\r\n"
			     "Connection: close\r\n\r\nok",
		.terms = "--",
		.served = 1 },
};

static void
rules_change_responses(void **st)
{
	(void)st;
	http_play_all(rules, ARRAY_LEN(rules));
}

/* As measured with HAProxy 2.6: a server has no response of which tcp-response rules let nothing
 * pass; one that http-response refuses is its response. */
static void
a_server_counts_what_content_rules_accept(void **st)
{
	static const struct step client[] = { SAY(GET_CLOSE), EOF_CLOSE };
	static const struct step origin[] = { AWAIT("\r\n\r\n"), SAY(OK2 "\r\nok"), EOF_CLOSE };
	static const struct {
		const char *rules;
		unsigned int count;
	} cases[] = { { "http-response deny", 1 }, { "tcp-response content accept", 1 },
		{ "tcp-response content reject", 0 }, { "tcp-response content close", 0 },
		{ "tcp-response content set-var(txn.a) int(1)\nhttp-response deny", 1 } };

	(void)st;
	for (unsigned int i = 0; i < ARRAY_LEN(cases); i++) {
		const struct world_config cfg = { HTTP_WORLD, .rules = cases[i].rules };
		const struct server_stat *stat;

		rig_play(&cfg, client, origin);
		stat = &w.srv[0]->shard[0].stat;
		assert_int_equal(stat->hrsp[2], cases[i].count);
		assert_int_equal(stat->req_tot, cases[i].count);
		assert_int_equal(w.px->shard[0].be.req_tot, 1);
		w.n_ends = 0; /* an end that the server has not sent */
		rig_close();
	}
}

/* --- a head alone --- */

#define NEXT SAY(GET "X-Next: 1\r\n\r\n"), AWAIT("next")
#define ANSWER_NEXT SAY("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnext"), EOF_CLOSE
#define GOT_NEXT "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnext"
#define HEAD_AS_GET .persistence = HTTP_KEEP_ALIVE, \
	.rules = "http-request set-method GET if METH_HEAD"
#define ASK_HEAD SAY("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n"), AWAIT("\r\n\r\n")
#define EMPTIES(n) .persistence = HTTP_KEEP_ALIVE, .rules = "http-response set-status " #n \
	" unless { res.hdr(content-length) 4 }"

/* The body is read to its end and not sent; both connections serve the next request. */
static const struct http_dialogue heads[] = {
	{ .name = "a HEAD that became a GET", .cfg = { HTTP_WORLD, HEAD_AS_GET }, .reuses = 1,
	  .client = { ASK_HEAD, NEXT, { STEP_CLOSE, 0 } },
	  .origin = { AWAIT("\r\n\r\n"), SAY(OK2 "\r\nok"), AWAIT("X-Next"), ANSWER_NEXT },
	  .to_server = GET "\r\n" GET "X-Next: 1\r\n\r\n",
	  .to_client = OK2 "\r\n" GOT_NEXT, .terms = "-- --", .served = 1 },
	{ .name = "in chunks, some later", .cfg = { HTTP_WORLD, HEAD_AS_GET }, .reuses = 1,
	  .client = { ASK_HEAD, NEXT, { STEP_CLOSE, 0 } },
	  .origin = { AWAIT("\r\n\r\n"), SAY("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
		  "\r\n2\r\no"), { STEP_PAUSE, 20 }, SAY("k\r\n0\r"), { STEP_PAUSE, 20 },
		  SAY("\n\r\n"), AWAIT("X-Next"), ANSWER_NEXT },
	  .to_client = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" GOT_NEXT,
	  .terms = "-- --", .served = 1 },
	{ .name = "until the server closes", .cfg = { HTTP_WORLD, HEAD_AS_GET }, .reuses = 1,
	  .client = { ASK_HEAD, { STEP_CLOSE, 0 } },
	  .origin = { AWAIT("\r\n\r\n"), SAY("HTTP/1.1 200 OK\r\n\r\nok"), EOF_CLOSE },
	  .to_client = "HTTP/1.1 200 OK\r\n\r\n", .terms = "--", .served = 1 },
	{ .name = "a server that closes too early", .cfg = { HTTP_WORLD, HEAD_AS_GET }, .reuses = 1,
	  .client = { ASK_HEAD, { STEP_PAUSE, 100 }, { STEP_CLOSE, 0 } },
	  .origin = { AWAIT("\r\n\r\n"), SAY(OK2 "\r\n"), { STEP_PAUSE, 20 },
		  { STEP_CLOSE, 0 } },
	  .to_client = OK2 "\r\n", .terms = "SD", .served = 1 },
	{ .name = "HTTP/1.0", .cfg = { HTTP_WORLD, HEAD_AS_GET },
	  .client = { SAY("HEAD / HTTP/1.0\r\n\r\n"), EOF_CLOSE },
	  .origin = { AWAIT("\r\n\r\n"), SAY("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
		  "\r\n2\r\nok\r\n0\r\n\r\n"), EOF_CLOSE },
	  .to_client = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", .terms = "--",
	  .served = 1, .reuses = 1 },
	{ .name = "a local reply to it", .cfg = { HTTP_WORLD, .rules =
		  "http-request set-method GET if METH_HEAD\n"
		  "http-response return content-type a/b string hello" },
	  .client = { ASK_HEAD, { STEP_CLOSE, 0 } }, REPLY_OK,
	  .to_client = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Type: a/b\r\n\r\n",
	  .terms = "LH", .served = 1 },
	{ .name = "set-status 204", .cfg = { HTTP_WORLD, EMPTIES(204) }, .reuses = 1,
	  .client = { SAY(GET "\r\n"), AWAIT("\r\n\r\n"), NEXT, { STEP_CLOSE, 0 } },
	  .origin = { AWAIT("\r\n\r\n"), SAY(OK2 "\r\no"), { STEP_PAUSE, 20 }, SAY("k"),
		  AWAIT("X-Next"), ANSWER_NEXT },
	  .to_client = "HTTP/1.1 204 No Content\r\n\r\n" GOT_NEXT, .terms = "-- --",
	  .served = 1 },
	{ .name = "set-status 204 of chunks", .cfg = { HTTP_WORLD, EMPTIES(204) }, .reuses = 1,
	  .client = { SAY(GET "\r\n"), AWAIT("\r\n\r\n"), NEXT, { STEP_CLOSE, 0 } },
	  .origin = { AWAIT("\r\n\r\n"), SAY("HTTP/1.1 200 OK\r\nTrailer: a\r\n"
		  "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\na: b\r\n\r\n"),
		  AWAIT("X-Next"), ANSWER_NEXT },
	  .to_client = "HTTP/1.1 204 No Content\r\n\r\n" GOT_NEXT, .terms = "-- --",
	  .served = 1 },
	{ .name = "set-status 304", .cfg = { HTTP_WORLD, EMPTIES(304) }, .reuses = 1,
	  .client = { SAY(GET "\r\n"), AWAIT("\r\n\r\n"), NEXT, { STEP_CLOSE, 0 } },
	  .origin = { AWAIT("\r\n\r\n"), SAY(OK2 "\r\nok"), AWAIT("X-Next"), ANSWER_NEXT },
	  .to_client = "HTTP/1.1 304 Not Modified\r\nContent-Length: 2\r\n\r\n" GOT_NEXT,
	  .terms = "-- --", .served = 1 },
	{ .name = "a later rule brings the body back", .cfg = { HTTP_WORLD, .rules =
		  "http-response set-status 204\nhttp-after-response set-status 201" },
	  .client = { SAY(GET "\r\n"), AWAIT("ok"), { STEP_CLOSE, 0 } }, REPLY_OK,
	  .to_client = "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok", .terms = "--",
	  .served = 1 },
	{ .name = "204 with a length", .cfg = { HTTP_WORLD },
	  .client = { SAY(GET "\r\n"), AWAIT("\r\n\r\n"), { STEP_CLOSE, 0 } },
	  .origin = { AWAIT("\r\n\r\n"), SAY("HTTP/1.1 204 No\r\nContent-Length: 0\r\nX-A: b\r\n"
		  "\r\n"), EOF_CLOSE },
	  .to_client = "HTTP/1.1 204 No\r\nX-A: b\r\n\r\n", .terms = "--", .served = 1 },
	{ .name = "103 with a length", .cfg = { HTTP_WORLD },
	  .client = { SAY(GET "\r\n"), AWAIT("ok"), { STEP_CLOSE, 0 } },
	  .origin = { AWAIT("\r\n\r\n"), SAY("HTTP/1.1 103 Hints\r\nContent-Length: 0\r\n\r\n"
		  OK2 "\r\nok"), EOF_CLOSE },
	  .to_client = "HTTP/1.1 103 Hints\r\n\r\n" OK2 "\r\nok", .terms = "--",
	  .served = 1 },
};

static void
clients_get_a_head_alone(void **st)
{
	(void)st;
	http_play_all(heads, ARRAY_LEN(heads));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(informational_responses_are_forwarded),
		cmocka_unit_test(informational_responses_are_not_truncated),
		cmocka_unit_test(failures_get_a_local_reply),
		cmocka_unit_test(the_status_shows_the_reason),
		cmocka_unit_test(a_tunnel_forwards_any_bytes),
		cmocka_unit_test(fast_responses_are_read_early),
		cmocka_unit_test(clients_get_a_head_alone),
		cmocka_unit_test(rules_change_responses),
		cmocka_unit_test(a_server_counts_what_content_rules_accept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
