#include "unit/rule/action_rig.h"

static void
test_targets(void **state)
{
	static const struct {
		const char *line, *target, *after;
	} rows[] = {
		{ "set-path /x", "/p?q=1", "/x?q=1" },
		{ "set-path /x%[rq(F)]", "/p", "/x1" },
		{ "set-path /x", "http://h/p?q", "http://h/x?q" },
		{ "set-pathq /x?y", "/p?q=1", "/x?y" },
		{ "set-query y=%[rq(F)]", "/p?q=1", "/p?y=1" },
		{ "set-query y", "/p", "/p?y" },
		{ "set-query %[rq(none)]", "/p?q", "/p?" },
		{ "set-uri http://o.org/z", "/p", "http://o.org/z" },
		{ "replace-path (.*) /a\\\\1", "/p?q=1", "/a/p?q=1" },
		{ "replace-path /p/(.*) /\\\\1", "/p/b?q=1", "/b?q=1" },
		{ "replace-path /zz /y", "/p/b?q=1", "/p/b?q=1" },
		{ "replace-pathq ([^?]*)(\\\\?(.*))? \\\\1/foo\\\\2", "/bar?q=1", "/bar/foo?q=1" },
		{ "replace-uri ^http://(.*) https://\\\\1", "http://h/p", "https://h/p" },
		{ "replace-uri ([^/:]*://[^/]*)?(.*) \\\\1/foo\\\\2", "http://h/p",
			"http://h/foo/p" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char line[256], req[256], want[256];
		const char *got;

		(void)snprintf(line, sizeof(line), "http-request %s", rows[i].line);
		(void)snprintf(req, sizeof(req), "GET %s HTTP/1.1\r\nHost: h\r\nF: 1",
			rows[i].target);
		(void)snprintf(want, sizeof(want), "GET %s HTTP/1.1|", rows[i].after);
		got = action_rig_request(&r, line, req);
		if (strncmp(got, want, strlen(want)) != 0)
			fail_msg("%s: %s is not %s", line, got, want);
	}
	/* A new authority becomes the new Host. */
	assert_string_equal(action_rig_request(&r, "http-request set-uri http://o.org/z",
				    "GET /p HTTP/1.1\r\nHost: h"),
		"GET http://o.org/z HTTP/1.1|Host: o.org|");
}

/* The result must be a request that the parser would accept. */
static void
test_no_smuggling(void **state)
{
	static const char *const lines[] = {
		"set-path x", "set-path \"/a b\"", "set-path /%[rq(F)]", "set-uri %[rq(F)]",
		"set-pathq \"/a#b\"", "set-query %[rq(F)]", "set-uri %[rq(none)]",
			"set-path /\xc3\xa9",
		"replace-path /p \"/a HTTP/1.1\"",
			"replace-uri .* \"/ HTTP/1.1\\\\x0d\\\\x0aX: y\"",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		char line[256];

		(void)snprintf(line, sizeof(line), "http-request %s", lines[i]);
		action_rig_fails(&r, RULE_HTTP_REQUEST, line,
			"GET /p HTTP/1.1\r\nHost: h\r\nF: / HTTP/1.1", NULL);
	}
	action_rig_fails(&r, RULE_HTTP_REQUEST, "http-request set-path /x",
		"CONNECT h:80 HTTP/1.1\r\nHost: h:80", NULL);
}

static void
test_methods(void **state)
{
	(void)state;
	assert_string_equal(action_rig_request(&r, "http-request set-method PUT",
				    "POST / HTTP/1.1\r\nHost: h"),
		"PUT / HTTP/1.1|Host: h|");
	assert_int_equal(r.req.method, HTTP_PUT);
	assert_string_equal(action_rig_request(&r, "http-request set-method %[rq(M)]",
				    "GET / HTTP/1.1\r\nHost: h\r\nM: X"),
		"X / HTTP/1.1|Host: h|M: X|");
	action_rig_fails(&r, RULE_HTTP_REQUEST, "http-request set-method %[rq(M)]",
		"GET / HTTP/1.1\r\nHost: h\r\nM: GET /x", NULL);
	/* The client and the server must agree on the end of the response. */
	assert_string_equal(action_rig_request(&r, "http-request set-method GET",
				    "HEAD / HTTP/1.1\r\nHost: h"),
		"GET / HTTP/1.1|Host: h|");
	assert_int_equal(r.req.method, HTTP_GET);
	action_rig_fails(&r, RULE_HTTP_REQUEST, "http-request set-method GET",
		"CONNECT h:80 HTTP/1.1\r\nHost: h:80", NULL);
	action_rig_fails(&r, RULE_HTTP_REQUEST, "http-request set-method %[rq(M)]",
		"GET / HTTP/1.1\r\nHost: h\r\nM: HEAD", NULL);
	assert_string_equal(action_rig_request(&r, "http-request set-method %[rq(M)]",
				    "HEAD / HTTP/1.1\r\nHost: h\r\nM: HEAD"),
		"HEAD / HTTP/1.1|Host: h|M: HEAD|");
	action_rig_refuses(&r, "http-request set-method HEAD", "ends differently");
	action_rig_refuses(&r, "http-request set-method CONNECT", "ends differently");
	action_rig_refuses(&r, "http-request set-method \"a b\"", "cannot be a method");
}

static void
test_status(void **state)
{
	static const char res[] = "HTTP/1.1 200 OK\r\nContent-Length: 0";

	(void)state;
	assert_string_equal(action_rig_response(&r, "http-response set-status 431", res),
		"HTTP/1.1 431 Request Header Fields Too Large|Content-Length: 0|");
	assert_string_equal(
		action_rig_response(&r, "http-response set-status 503 reason \"Slow Down\"", res),
		"HTTP/1.1 503 Slow Down|Content-Length: 0|");
	/* The body is dropped where the response is sent, unless a later rule brings it back. */
	assert_string_equal(action_rig_response(&r, "http-response set-status 204",
				    "HTTP/1.1 200 OK\r\nContent-Length: 2"),
		"HTTP/1.1 204 No Content|Content-Length: 2|");
	assert_string_equal(
		action_rig_response(&r,
			"http-response set-status 204\nhttp-response set-status 201",
			"HTTP/1.1 200 OK\r\nContent-Length: 2"),
		"HTTP/1.1 201 Created|Content-Length: 2|");
	assert_int_equal(r.res.framing, HTTP_BODY_LENGTH);
	assert_int_equal(r.res.length, 2);
	assert_string_equal(action_rig_response(&r, "http-response set-status 304",
				    "HTTP/1.1 304 OK\r\nContent-Length: 2"),
		"HTTP/1.1 304 Not Modified|Content-Length: 2|");
	action_rig_refuses(&r, "http-response set-status 100", "is no final status");
	action_rig_refuses(&r, "http-response set-status 101", "is no final status");
	action_rig_refuses(&r, "http-response set-status 99", "100..999");
	action_rig_refuses(&r, "http-response set-status 1000", "100..999");
	action_rig_refuses(&r, "http-response set-status 500 reason", "expects <status>");
	action_rig_refuses(
		&r, "http-response set-status 500 reason \"a\\nb\"", "control characters are not");
	action_rig_refuses(&r, "http-request set-status 500", "is not for 'http-request' rules");
	/* A request without a body gets an empty one, whatever Content-Length it had. */
	assert_string_equal(
		action_rig_response(&r, "http-response set-status 500", "HTTP/1.1 204 No Content"),
		"HTTP/1.1 500 Internal Server Error|Content-Length: 0|");
	assert_string_equal(action_rig_response(&r, "http-response set-status 200",
		"HTTP/1.1 304 Not Modified\r\nContent-Length: 70\r\nETag: \"a\""),
		"HTTP/1.1 200 OK|ETag: \"a\"|Content-Length: 0|");
	assert_int_equal(r.res.framing, HTTP_BODY_LENGTH);
	assert_int_equal(r.res.length, 0);
	assert_string_equal(action_rig_response(&r, "http-response set-status 200",
		"HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked"),
		"HTTP/1.1 200 OK|Content-Length: 0|");
	action_rig_fails(&r, RULE_HTTP_RESPONSE, "http-response set-status 204",
		"GET / HTTP/1.1\r\nHost: h",
		"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade");
	action_rig_fails(&r, RULE_HTTP_RESPONSE, "http-response set-status 500",
		"GET / HTTP/1.1\r\nHost: h",
		"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade");
}

static void
test_refused(void **state)
{
	(void)state;
	action_rig_refuses(&r, "http-request set-path", "expects <fmt>");
	action_rig_refuses(&r, "http-request replace-path a", "expects <regex> <fmt>");
	action_rig_refuses(&r, "http-request replace-path ( a", "(byte ");
	action_rig_refuses(&r, "http-response set-path /", "is not for 'http-response' rules");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ACTION_CASE(test_targets),
		ACTION_CASE(test_no_smuggling),
		ACTION_CASE(test_methods),
		ACTION_CASE(test_status),
		ACTION_CASE(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
