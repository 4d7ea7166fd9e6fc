#include "unit/rule/action_rig.h"

/* The Location of the redirect, and the other fields of the response. */
static const char *
answer(const char *line, const char *req)
{
	action_rig_good(&r, line);
	action_rig_heads(&r, req, NULL);
	if (strncmp(line, "redirect", 8) == 0)
		assert_int_equal(rules_run(&r.redirects, &r.next, &r.x.cx, &r.v), RULE_FINAL);
	else
		assert_int_equal(action_rig_run(&r, RULE_HTTP_REQUEST), RULE_FINAL);
	assert_int_equal(r.v.what, RULE_END_REPLY);
	assert_int_equal(r.v.has_answer, 1);
	assert_int_equal(r.v.body.len, 0);
	return action_rig_show(&r, &r.answer);
}

#define TO(code, reason, rest) "HTTP/1.1 " code " " reason "|Content-Length: 0|Location: " rest "|"
#define GET(target) "GET " target " HTTP/1.1\r\nHost: h.org:80\r\nF: f"

/* The responses of HAProxy 2.6, except for the order and case of fields. */
static void
test_redirects(void **state)
{
	static const struct {
		const char *line, *req, *want;
	} rows[] = {
		{ "http-request redirect code 301 location /l%[rq(F)] set-cookie A=b", GET("/"),
			TO("301", "Moved Permanently", "/lf|Set-Cookie: A=b; path=/;") },
		{ "http-request redirect location \"/l x\" clear-cookie A=", GET("/"),
			TO("302", "Found", "/l x|Cache-Control: no-cache|"
					   "Set-Cookie: A=; path=/; Max-Age=0;") },
		{ "http-request redirect code 303 prefix http://x.y/p", GET("/a?b=c"),
			TO("303", "See Other", "http://x.y/p/a?b=c|Cache-Control: no-cache") },
		{ "http-request redirect code 307 prefix / drop-query append-slash", GET("/a?x=1"),
			TO("307", "Temporary Redirect", "/a/|Cache-Control: no-cache") },
		{ "http-request redirect code 307 prefix / drop-query append-slash", GET("/a/?x"),
			TO("307", "Temporary Redirect", "/a/|Cache-Control: no-cache") },
		{ "http-request redirect code 308 scheme https", GET("/a?b"),
			TO("308", "Permanent Redirect", "https://h.org:80/a?b") },
		{ "http-request redirect code 301 scheme https",
			"GET http://abs.org/p?x HTTP/1.1\r\nHost: abs.org",
			TO("301", "Moved Permanently", "https://abs.org/p?x") },
		{ "http-request redirect code 301 scheme https", "OPTIONS * HTTP/1.0",
			TO("301", "Moved Permanently", "https:///") },
		{ "http-request redirect code 301 location %[rq(none)]", GET("/"),
			TO("301", "Moved Permanently", "") },
		{ "redirect code 301 location /%[rq(F)]", GET("/"),
			TO("301", "Moved Permanently", "/%[rq(F)]") },
		{ "redirect prefix http://x code 301", GET("/a"),
			TO("301", "Moved Permanently", "http://x/a") },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_string_equal(answer(rows[i].line, rows[i].req), rows[i].want);
}

static void
test_ignore_empty(void **state)
{
	(void)state;
	(void)action_rig_request(&r, "http-request redirect location %[rq(none)] ignore-empty",
		GET("/"));
}

/* A location from the traffic cannot end its header line. */
static void
test_injection(void **state)
{
	(void)state;
	assert_string_equal(
		answer("http-request set-var(txn.x) str(\"a\\r\\nX: y\")\n"
		       "http-request redirect code 301 location /%[var(txn.x)]",
			GET("/")),
		TO("301", "Moved Permanently", "/a%0D%0AX: y"));
}

static void
test_refused(void **state)
{
	(void)state;
	action_rig_refuses(&r, "http-request redirect", "expects 'location', 'prefix' or 'scheme'");
	action_rig_refuses(&r, "http-request redirect location", "'location' expects an argument");
	action_rig_refuses(&r, "http-request redirect location / foo x", "not 'foo'");
	action_rig_refuses(
		&r, "http-request redirect location / code 304", "the code is one of 301, ");
	action_rig_refuses(&r, "http-request redirect location / code 300", "301..308");
	action_rig_refuses(&r, "http-request redirect location / code",
		"'code' expects an argument");
	action_rig_refuses(&r, "http-request redirect location / set-cookie \"a; b\"", "a cookie");
	action_rig_refuses(&r, "http-request redirect location / set-cookie \"a\\nb\"", "a cookie");
	action_rig_refuses(
		&r, "http-request redirect location \"a\\rb\"", "control characters are not");
	action_rig_refuses(&r, "http-request redirect location %[nope]", "nope");
	action_rig_refuses(
		&r, "http-response redirect prefix /", "needs the request, which is not");
	action_rig_refuses(&r, "redirect", "expects 'location', 'prefix' or 'scheme'");
}

static void
test_no_room(void **state)
{
	(void)state;
	r.x.arena.cap = 8;
	action_rig_good(&r, "http-request redirect prefix http://far.away");
	action_rig_heads(&r, GET("/"), NULL);
	assert_int_equal(action_rig_run(&r, RULE_HTTP_REQUEST), RULE_FINAL);
	assert_int_equal(r.v.what, RULE_END_ERROR);
	r.x.arena.cap = RIG_ARENA;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ACTION_CASE(test_redirects),
		ACTION_CASE(test_ignore_empty),
		ACTION_CASE(test_injection),
		ACTION_CASE(test_refused),
		ACTION_CASE(test_no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
