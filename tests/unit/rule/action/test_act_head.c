#include "unit/rule/action_rig.h"

#define REQ "GET /p HTTP/1.1\r\nHost: h.org\r\nA: 1\r\nb: 2\r\nA: 3, 4"
#define RES "HTTP/1.1 200 OK\r\nA: 1\r\nContent-Length: 0"

static void
test_changes(void **state)
{
	static const struct {
		const char *line, *after;
	} rows[] = {
		{ "set-header X y", "GET /p HTTP/1.1|Host: h.org|A: 1|b: 2|A: 3, 4|X: y|" },
		{ "set-header a %[rq(b)]", "GET /p HTTP/1.1|Host: h.org|a: 2|b: 2|" },
		{ "set-header A %[rq(A)]x", "GET /p HTTP/1.1|Host: h.org|A: 1x|b: 2|" },
		{ "set-header X \"  y z \"",
			"GET /p HTTP/1.1|Host: h.org|A: 1|b: 2|A: 3, 4|X: y z|" },
		{ "set-header X %[rq(none)]",
			"GET /p HTTP/1.1|Host: h.org|A: 1|b: 2|A: 3, 4|X: |" },
		{ "set-header Host o.org", "GET /p HTTP/1.1|Host: o.org|A: 1|b: 2|A: 3, 4|" },
		{ "add-header Host o.org", "GET /p HTTP/1.1|Host: o.org|A: 1|b: 2|A: 3, 4|" },
		{ "set-header X: y", "GET /p HTTP/1.1|Host: h.org|A: 1|b: 2|A: 3, 4|X: y|" },
		{ "set-header A: y", "GET /p HTTP/1.1|Host: h.org|A: y|b: 2|" },
		{ "del-header A:", "GET /p HTTP/1.1|Host: h.org|b: 2|" },
		{ "replace-value A: ^4$ x", "GET /p HTTP/1.1|Host: h.org|A: 1|b: 2|A: 3, x|" },
		{ "add-header A 5%%", "GET /p HTTP/1.1|Host: h.org|A: 1|b: 2|A: 3, 4|A: 5%|" },
		{ "del-header a", "GET /p HTTP/1.1|Host: h.org|b: 2|" },
		{ "del-header A -m str", "GET /p HTTP/1.1|Host: h.org|b: 2|" },
		{ "del-header HO -m beg", "GET /p HTTP/1.1|A: 1|b: 2|A: 3, 4|" },
		{ "del-header ST -m end", "GET /p HTTP/1.1|A: 1|b: 2|A: 3, 4|" },
		{ "del-header os -m sub", "GET /p HTTP/1.1|A: 1|b: 2|A: 3, 4|" },
		{ "del-header ^[ab]$ -m reg", "GET /p HTTP/1.1|Host: h.org|" },
		{ "del-header zz -m sub", "GET /p HTTP/1.1|Host: h.org|A: 1|b: 2|A: 3, 4|" },
		{ "replace-header A (.*), <\\1>,%[rq(b)]",
			"GET /p HTTP/1.1|Host: h.org|A: 1|b: 2|A: <3>,2|" },
		{ "replace-header a \\d [\\0]", "GET /p HTTP/1.1|Host: h.org|A: [1]|b: 2|A: [3]|" },
		{ "replace-value a ^(\\d)$ n\\1",
			"GET /p HTTP/1.1|Host: h.org|A: n1|b: 2|A: n3, n4|" },
		{ "replace-value A ^4$ x", "GET /p HTTP/1.1|Host: h.org|A: 1|b: 2|A: 3, x|" },
		{ "replace-value A 9 x", "GET /p HTTP/1.1|Host: h.org|A: 1|b: 2|A: 3, 4|" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char line[256];

		(void)snprintf(line, sizeof(line), "http-request %s", rows[i].line);
		for (char *p = line; *p; p++)
			if (*p == '\\')
				memmove(p + 1, p, strlen(p) + 1), p++;
		assert_string_equal(action_rig_request(&r, line, REQ), rows[i].after);
	}
	assert_string_equal(action_rig_response(&r, "http-response set-header A %[rs(A)]b", RES),
		"HTTP/1.1 200 OK|A: 1b|Content-Length: 0|");
}

/* Rules cannot change the fields that frame a message. */
static void
test_framing_stays(void **state)
{
	static const char *const lines[] = { "set-header Content-Length 5",
		"add-header transfer-encoding chunked", "del-header Content-Length",
		"replace-header Content-length . 9", "replace-value Transfer-Encoding . 9" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		char line[256];

		(void)snprintf(line, sizeof(line), "http-request %s", lines[i]);
		action_rig_refuses(&r, line, "frames the message");
	}
	action_rig_refuses(&r, "http-request set-header Content-Length: 5",
		"frames the message");
	assert_string_equal(action_rig_response(&r, "http-response del-header . -m reg", RES),
		"HTTP/1.1 200 OK|Content-Length: 0|");
	assert_string_equal(action_rig_response(&r, "http-response del-header content -m beg", RES),
		"HTTP/1.1 200 OK|A: 1|Content-Length: 0|");
}

/* The Host header and the authority of the target stay equal. */
static void
test_host_and_target(void **state)
{
	(void)state;
	assert_string_equal(action_rig_request(&r, "http-request set-header Host o.org:8",
				    "GET http://h.org/p?q HTTP/1.1\r\nHost: h.org"),
		"GET http://o.org:8/p?q HTTP/1.1|Host: o.org:8|");
	assert_string_equal(action_rig_request(&r, "http-request replace-header Host h.org i",
				    "GET http://h.org/ HTTP/1.1\r\nHost: h.org"),
		"GET http://i/ HTTP/1.1|Host: i|");
}

static void
test_refused(void **state)
{
	(void)state;
	action_rig_refuses(&r, "http-request set-header \"a b\" x",
		"cannot be the name of a header");
	action_rig_refuses(&r, "http-request set-header \"\" x", "cannot be the name of a header");
	action_rig_refuses(&r, "http-request set-header X-A:: x", "cannot be the name of a header");
	action_rig_refuses(&r, "http-request set-header : x", "cannot be the name of a header.");
	action_rig_refuses(&r, "http-request set-header a", "expects <name> <fmt>");
	action_rig_refuses(&r, "http-request del-header", "expects <name>");
	action_rig_refuses(&r, "http-request del-header a -m", "'-m' expects");
	action_rig_refuses(&r, "http-request del-header a -m dom", "dom");
	action_rig_refuses(&r, "http-request del-header ( -m reg", "(byte ");
	action_rig_refuses(
		&r, "http-request set-header a \"x\\r\\ny\"", "control characters are not");
	action_rig_refuses(&r, "http-request set-header a 100%", "(byte 5 of '100%')");
	action_rig_refuses(&r, "http-request replace-header a [ x", "(byte ");
	action_rig_refuses(&r, "http-request replace-header a x", "expects <name> <regex> <fmt>");
	action_rig_refuses(&r, "http-request set-header a %[rs(x)]", "rs");
	action_rig_refuses(&r, "http-request set-header a b c", "expects either 'if' or 'unless'");
}

/* A value from the traffic cannot end its header line, whatever it contains. */
static void
test_injection(void **state)
{
	(void)state;
	assert_string_equal(action_rig_request(&r,
				    "http-request set-var(txn.x) str(\"a\\r\\nEvil: 1\")\n"
				    "http-request set-header X %[var(txn.x)]",
				    "GET / HTTP/1.1\r\nHost: h"),
		"GET / HTTP/1.1|Host: h|X: a%0D%0AEvil: 1|");
	/* A replacement may contain any byte. */
	action_rig_fails(&r, RULE_HTTP_REQUEST,
		"http-request replace-header A . x\\\\x0d\\\\x0aE:y",
		"GET / HTTP/1.1\r\nHost: h\r\nA: 1", NULL);
}

static void
test_no_room(void **state)
{
	char req[2048];
	size_t n = (size_t)snprintf(req, sizeof(req), "GET / HTTP/1.1\r\nHost: h");

	(void)state;
	for (int i = 1; i < RIG_FIELDS; i++)
		n += (size_t)snprintf(req + n, sizeof(req) - n, "\r\nF: %d", i);
	action_rig_fails(&r, RULE_HTTP_REQUEST, "http-request add-header X y", req, NULL);
	assert_string_equal(action_rig_request(&r, "http-request set-header F y", req),
		"GET / HTTP/1.1|Host: h|F: y|");
	r.x.arena.cap = 8;
	action_rig_fails(&r, RULE_HTTP_REQUEST, "http-request set-header Host %[rq(F)]longer",
		"GET / HTTP/1.1\r\nHost: h\r\nF: 12345678", NULL);
	assert_true(r.x.arena.refused > 0);
	r.x.arena.cap = RIG_ARENA;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ACTION_CASE(test_changes),
		ACTION_CASE(test_framing_stays),
		ACTION_CASE(test_host_and_target),
		ACTION_CASE(test_refused),
		ACTION_CASE(test_injection),
		ACTION_CASE(test_no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
