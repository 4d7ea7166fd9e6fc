#include "unit/rule/action_rig.h"

/* The authentication header of the response. */
static void
asks(const char *line, const char *value)
{
	action_rig_good(&r, line);
	action_rig_heads(&r, "GET / HTTP/1.1\r\nHost: h", NULL);
	r.v.realm = "px";
	assert_int_equal(action_rig_run(&r, RULE_HTTP_REQUEST), RULE_FINAL);
	assert_int_equal(r.v.what, RULE_END_REPLY);
	assert_int_equal(r.v.status, 401);
	assert_false(r.v.has_answer);
	assert_true(str_is(r.v.field, STR("WWW-Authenticate")));
	if (!str_is(r.v.value, str_of(value)))
		fail_msg("%s: %.*s", line, (int)r.v.value.len, r.v.value.p);
}

static void
questions(void **state)
{
	char line[600] = "http-request auth realm ", want[600];

	(void)state;
	asks("http-request auth", "Basic realm=\"px\"");
	asks("http-request auth if TRUE", "Basic realm=\"px\"");
	asks("http-request auth realm App", "Basic realm=\"App\"");
	asks("http-request auth realm 'a \"b\\c' unless FALSE", "Basic realm=\"a \\\"b\\\\c\"");
	memset(line + 24, 'r', 512);
	(void)snprintf(want, sizeof(want), "Basic realm=\"%s\"", line + 24);
	asks(line, want);
	line[24 + 512] = 'r';
	action_rig_refuses(&r, line, "more than 512 bytes");
}

static void
a_proxied_request_is_asked_as_by_a_proxy(void **state)
{
	(void)state;
	action_rig_good(&r, "http-request auth realm R");
	action_rig_heads(&r, "GET http://h/ HTTP/1.1\r\nHost: h", NULL);
	r.x.cx.is_proxied = 1;
	assert_int_equal(action_rig_run(&r, RULE_HTTP_REQUEST), RULE_FINAL);
	assert_int_equal(r.v.status, 407);
	assert_true(str_is(r.v.field, STR("Proxy-Authenticate")));
	assert_true(str_is(r.v.value, STR("Basic realm=\"R\"")));
}

static void
valid_and_invalid_lines(void **state)
{
	(void)state;
	action_rig_refuses(&r, "http-request auth realm", "expects [realm <realm>]");
	action_rig_refuses(&r, "http-request auth real x", "found 'real'");
	action_rig_refuses(&r, "http-request auth realm x y", "found 'y'");
	action_rig_refuses(&r, "http-request auth realm \"a\\nb\"", "control characters are not");
	action_rig_refuses(&r, "http-response auth", "action 'auth' is not for 'http-response'");
}

/* If there is no memory for the response, access is not granted. */
static void
without_room(void **state)
{
	(void)state;
	action_rig_good(&r, "http-request auth");
	action_rig_heads(&r, "GET / HTTP/1.1\r\nHost: h", NULL);
	r.v.realm = "px";
	r.x.arena.used = r.x.arena.cap;
	assert_int_equal(action_rig_run(&r, RULE_HTTP_REQUEST), RULE_FINAL);
	assert_int_equal(r.v.what, RULE_END_ERROR);
	assert_int_equal(r.v.status, 500);
	assert_null(r.v.field.p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ACTION_CASE(questions),
		ACTION_CASE(a_proxied_request_is_asked_as_by_a_proxy),
		ACTION_CASE(valid_and_invalid_lines),
		ACTION_CASE(without_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
