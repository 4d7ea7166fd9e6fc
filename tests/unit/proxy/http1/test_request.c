/* Requests before a server is chosen: rules, and bodies that are waited for. */
#include "unit/proxy/session_rig.h"

#define ASKS(head) .client = { SAY(head), AWAIT("ok"), { STEP_CLOSE, 0 } }
#define REFUSED(head) .client = { SAY(head), AWAIT("</html>\n"), { STEP_CLOSE, 0 } }
#define RULES(text) .cfg = { HTTP_WORLD, .rules = text }
#define FORBIDDEN                                                              \
	"HTTP/1.1 403 Forbidden\r\nContent-Length: 93\r\nCache-Control: no-cache\r\n" \
	"Content-Type: text/html\r\n\r\n<html><body><h1>403 Forbidden</h1>\n"  \
	"Request forbidden by administrative rules.\n</body></html>\n"
#define ANSWER(text, length) \
	"HTTP/1.1 200 OK\r\nContent-Length: " length "\r\nContent-Type: a/b\r\n" text
#define POST "POST / HTTP/1.1\r\nHost: a\r\n"

static const struct http_dialogue rewrites[] = {
	{ .name = "fields",
		RULES("http-request set-header X-A %[method]\nhttp-request add-header X-B c\n"
		      "http-request del-header X-C\nhttp-request set-path /p%[path]"),
		ASKS(GET "X-A: old\r\nX-C: d\r\n\r\n"),
		REPLY_OK,
		.to_server = "GET /p/ HTTP/1.1\r\nHost: a\r\nX-A: GET\r\nX-B: c\r\n"
			     "Connection: close\r\n\r\n",
		.terms = "--",
		.served = 1 },
	/* A client cannot remove what rules set. */
	{ .name = "fields named by Connection",
		RULES("http-request set-header X-A %[req.hdr(x-a)],ours"),
		ASKS(GET "Connection: X-A\r\nX-A: theirs\r\n\r\n"),
		REPLY_OK,
		.to_server = GET "X-A: theirs,ours\r\nConnection: close\r\n\r\n",
		.terms = "--",
		.served = 1 },
	{ .name = "fetches of Connection",
		RULES("http-request set-header X-A yes if { hdr(connection) -i upgrade }"),
		ASKS(GET "Connection: upgrade\r\nUpgrade: x\r\n\r\n"),
		REPLY_OK,
		.to_server = GET
			"Upgrade: x\r\nX-A: yes\r\nConnection: upgrade\r\n\r\n",
		.terms = "--",
		.served = 1 },
	/* As HAProxy: a method that it knows has its case, and -i is for the others. */
	{ .name = "methods without case",
		RULES("http-request add-header S a if { method -i get }\n"
		      "http-request add-header S b if { method -i GET }\n"
		      "http-request add-header S c if { method GET }\n"
		      "http-request add-header S d if { method get }\n"
		      "http-request add-header S e if { method -i -m str get }\n"
		      "http-request add-header S f if { method -i get GET }\n"
		      "http-request add-header S g if { method,lower get }"),
		ASKS(GET "\r\n"),
		REPLY_OK,
		.to_server = GET "S: b\r\nS: c\r\nS: e\r\nS: f\r\nS: g\r\n"
			     "Connection: close\r\n\r\n",
		.terms = "--",
		.served = 1 },
	{ .name = "unknown methods without case",
		RULES("acl m method -m str -i put\nacl m method -i PuT\n"
		      "http-request add-header S a if { method -i get }\n"
		      "http-request add-header S b if { method -i GET }\n"
		      "http-request add-header S c if { method get }\n"
		      "http-request add-header S d if { method -i GeT }\n"
		      "http-request add-header S e if { method Get }\n"
		      "http-request add-header S f if { method -i patch } || m"),
		ASKS("Get / HTTP/1.1\r\nHost: a\r\n\r\n"),
		REPLY_OK,
		.to_server = "Get / HTTP/1.1\r\nHost: a\r\nS: a\r\nS: d\r\nS: e\r\n"
			     "Connection: close\r\n\r\n",
		.terms = "--",
		.served = 1 },
	{ .name = "PATCH without case",
		RULES("acl m method -m str -i puT\nacl m method -i PATch\n"
		      "http-request add-header S f if { method -i patch } m"),
		ASKS("PATCH / HTTP/1.1\r\nHost: a\r\n\r\n"),
		REPLY_OK,
		.to_server = "PATCH / HTTP/1.1\r\nHost: a\r\nS: f\r\nConnection: close\r\n\r\n",
		.terms = "--",
		.served = 1 },
	{ .name = "allow ends the list",
		RULES("http-request allow if { path / }\nhttp-request deny"),
		ASKS(GET "\r\n"),
		REPLY_OK,
		.terms = "--",
		.served = 1 },
};

static void
requests_are_rewritten(void **st)
{
	(void)st;
	http_play_all(rewrites, ARRAY_LEN(rewrites));
}

static const struct http_dialogue ends[] = {
	{ .name = "deny", RULES("http-request deny if { path / }"), REFUSED(GET "\r\n"), REPLY_OK,
		.to_client = FORBIDDEN, .terms = "PR" },
	{ .name = "the next request", RULES("http-request deny if { path / }"),
		.client = { SAY(GET "\r\nGET /x HTTP/1.1\r\nHost: a\r\n\r\n"), AWAIT("ok"),
			{ STEP_CLOSE, 0 } },
		REPLY_OK, .to_client = FORBIDDEN OK2 "\r\nok", .terms = "PR --", .served = 1 },
	{ .name = "return",
		RULES("http-request return content-type a/b lf-string \"<%[path]>ok\""),
		ASKS(GET "\r\n"), REPLY_OK, .to_client = ANSWER("\r\n</>ok", "5"),
		.terms = "LR" },
	{ .name = "nothing follows HEAD",
		RULES("http-request return content-type a/b string ok"),
		.client = { SAY("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n"), AWAIT("\r\n\r\n"),
			{ STEP_CLOSE, 0 } },
		REPLY_OK, .to_client = ANSWER("\r\n", "2"), .terms = "LR" },
	{ .name = "redirect", RULES("redirect prefix http://b code 301 if { path / }"),
		.client = { SAY(GET_CLOSE), EOF_CLOSE }, REPLY_OK,
		.to_client = "HTTP/1.1 301 Moved Permanently\r\nContent-Length: 0\r\n"
			     "Location: http://b/\r\nConnection: close\r\n\r\n",
		.terms = "LR" },
	{ .name = "reject", RULES("http-request reject"), .client = { SAY(GET "\r\n"), EOF_CLOSE },
		REPLY_OK, .to_client = "", .terms = "PR" },
	/* strict-mode */
	{ .name = "a rewrite fails", RULES("http-request set-path x"),
		.client = { SAY(GET_CLOSE), EOF_CLOSE }, REPLY_OK, .terms = "PR" },
};

static void
rules_end_requests(void **st)
{
	(void)st;
	http_play_all(ends, ARRAY_LEN(ends));
}

#define WAITS "http-request wait-for-body time 1s\n" \
	"http-request return content-type a/b lf-string \"<%[req.body]>ok\""

static const struct http_dialogue waits[] = {
	{ .name = "a body in pieces", RULES(WAITS),
		.client = { SAY(POST "Content-Length: 6\r\n\r\nab"), { STEP_PAUSE, 100 }, SAY("cd"),
			{ STEP_PAUSE, 100 }, SAY("ef"), AWAIT("ok"), { STEP_CLOSE, 0 } },
		REPLY_OK, .to_client = ANSWER("\r\n<abcdef>ok", "10"), .terms = "LR" },
	{ .name = "chunks", RULES(WAITS),
		.client = { SAY(POST "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n"),
			{ STEP_PAUSE, 100 }, SAY("1\r\nc\r\n0\r\n\r\n"), AWAIT("ok"),
			{ STEP_CLOSE, 0 } },
		REPLY_OK, .to_client = ANSWER("\r\n<abc>ok", "7"), .terms = "LR" },
	{ .name = "a part of the body", RULES("http-request wait-for-body time 1s at-least 3\n"
		"http-request return content-type a/b lf-string \"<%[req.body]>ok\""),
		.client = { SAY(POST "Content-Length: 6\r\n\r\nab"), { STEP_PAUSE, 100 }, SAY("cd"),
			AWAIT("ok"), { STEP_PAUSE, 50 }, SAY("ef"), EOF_CLOSE },
		REPLY_OK, .to_client = ANSWER("Connection: close\r\n\r\n<abcd>ok", "8"),
		.terms = "LR" },
	{ .name = "the body is late", RULES(WAITS),
		.client = { SAY(POST "Content-Length: 6\r\n\r\nab"), EOF_CLOSE }, REPLY_OK,
		.terms = "cR" },
	{ .name = "100 (Continue)", RULES(WAITS),
		.client = { SAY(POST "Content-Length: 2\r\nExpect: 100-continue\r\n\r\n"),
			AWAIT("100 Continue\r\n\r\n"), SAY("ab"), AWAIT("ok"), { STEP_CLOSE, 0 } },
		REPLY_OK, .to_client = "HTTP/1.1 100 Continue\r\n\r\n" ANSWER("\r\n<ab>ok", "6"),
		.terms = "LR" },
	/* Changes that rules made before and after they waited. */
	{ .name = "forwarding after the wait",
		RULES("http-request set-header X-A %[method]\nhttp-request wait-for-body time 1s\n"
		      "http-request set-header X-B %[req.body]"),
		.client = { SAY(POST "Content-Length: 4\r\n\r\nab"), { STEP_PAUSE, 100 }, SAY("cd"),
			AWAIT("ok"), { STEP_CLOSE, 0 } },
		.origin = { AWAIT("abcd"), AWAIT("abcd"), SAY(OK2 "\r\nok"), EOF_CLOSE },
		.to_server = POST "Content-Length: 4\r\nX-A: POST\r\nX-B: abcd\r\n"
				  "Connection: close\r\n\r\nabcd",
		.terms = "--", .served = 1 },
};

static void
bodies_are_waited_for(void **st)
{
	(void)st;
	http_play_all(waits, ARRAY_LEN(waits));
}

/* The reply is sent late, and the connection is kept; a client that closes is not kept waiting. */
static void
a_tarpit_holds(void **st)
{
#define TARPIT .cfg = { .mode = INTEREST_EDGE, .rules = "http-request tarpit deny_status 403", \
	.to = { .connect = 5000, .client = 5000, .server = 5000, .queue = 100, .tarpit = 700 } }
	static const struct http_dialogue d[] = {
		{ .name = "the reply is delayed",
			TARPIT,
			REFUSED(GET "\r\n"),
			REPLY_OK,
			.to_client = FORBIDDEN,
			.terms = "PT" },
		{ .name = "the client closes",
			TARPIT,
			.client = { SAY(GET "\r\n"), { STEP_PAUSE, 100 }, { STEP_RESET, 0 } },
			REPLY_OK,
			.to_client = "",
			.terms = "PT" },
	};
	static const struct step client[] = { SAY(GET "\r\n"), AWAIT("</html>\n"),
		{ STEP_CLOSE, 0 } };
	struct world_config cfg = d[0].cfg;

	(void)st;
	http_play_all(d, ARRAY_LEN(d));
	cfg.http = 1;
	rig_open(&cfg, NULL);
	(void)world_client(&w, client, 0);
	world_run(&w, RIG_LIMIT);
	assert_in_range((w.ended - w.opened) / 1000000, 700, 800);
	rig_close();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_are_rewritten),
		cmocka_unit_test(rules_end_requests),
		cmocka_unit_test(bodies_are_waited_for),
		cmocka_unit_test(a_tarpit_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
