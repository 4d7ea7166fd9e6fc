#include "unit/rule/action_rig.h"

#define REQ "GET / HTTP/1.1\r\nHost: h"
#define RES "HTTP/1.1 200 OK\r\nContent-Length: 0"

static enum rule_result
run(enum rule_place place, const char *lines)
{
	action_rig_good(&r, lines);
	action_rig_heads(&r, REQ, place == RULE_HTTP_REQUEST ? NULL : RES);
	return action_rig_run(&r, place);
}

static void
test_ends(void **state)
{
	static const struct {
		const char *lines;
		enum rule_place place;
		enum rule_result result;
		enum rule_end what;
		unsigned int status;
	} rows[] = {
		{ "http-request allow\nhttp-request deny", RULE_HTTP_REQUEST, RULE_STOP,
			RULE_END_NONE, 0 },
		{ "http-after-response allow", RULE_HTTP_AFTER_RESPONSE, RULE_STOP, RULE_END_NONE,
			0 },
		{ "tcp-request connection accept", RULE_TCP_CONNECTION, RULE_STOP, RULE_END_NONE,
			0 },
		{ "tcp-request connection reject", RULE_TCP_CONNECTION, RULE_FINAL,
			RULE_END_REJECT, 0 },
		{ "http-request deny", RULE_HTTP_REQUEST, RULE_FINAL, RULE_END_DENY, 403 },
		{ "http-request deny deny_status 429", RULE_HTTP_REQUEST, RULE_FINAL,
			RULE_END_DENY, 429 },
		{ "http-request deny status 400 default-errorfiles", RULE_HTTP_REQUEST, RULE_FINAL,
			RULE_END_DENY, 400 },
		{ "http-response deny", RULE_HTTP_RESPONSE, RULE_FINAL, RULE_END_DENY, 502 },
		{ "http-request tarpit", RULE_HTTP_REQUEST, RULE_FINAL, RULE_END_TARPIT, 500 },
		{ "http-request tarpit deny_status 503", RULE_HTTP_REQUEST, RULE_FINAL,
			RULE_END_TARPIT, 503 },
		{ "http-request reject", RULE_HTTP_REQUEST, RULE_FINAL, RULE_END_REJECT, 0 },
		{ "http-request silent-drop", RULE_HTTP_REQUEST, RULE_FINAL, RULE_END_DROP, 0 },
		{ "http-request return status 404 default-errorfiles", RULE_HTTP_REQUEST,
			RULE_FINAL,
			RULE_END_REPLY, 404 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (run(rows[i].place, rows[i].lines) != rows[i].result ||
			r.v.what != rows[i].what || r.v.status != rows[i].status || r.v.has_answer)
			fail_msg("%s: %d, %u", rows[i].lines, r.v.what, r.v.status);
		assert_non_null(r.v.by);
	}
}

static void
test_answers(void **state)
{
	(void)state;
	assert_int_equal(run(RULE_HTTP_REQUEST,
				 "http-request deny status 418 content-type text/plain string no"),
		RULE_FINAL);
	assert_int_equal(r.v.what, RULE_END_DENY);
	assert_int_equal(r.v.has_answer, 1);
	assert_string_equal(action_rig_show(&r, &r.answer),
		"HTTP/1.1 418 I'm a teapot|Content-Length: 2|Content-Type: text/plain|");
	assert_true(str_is(r.v.body, STR("no")));
	assert_int_equal(run(RULE_HTTP_REQUEST, "http-request deny status 404"), RULE_FINAL);
	assert_int_equal(r.v.what, RULE_END_DENY);
	assert_int_equal(r.v.has_answer, 1);
	assert_string_equal(action_rig_show(&r, &r.answer),
		"HTTP/1.1 404 Not Found|Content-Length: 0|");
	assert_int_equal(run(RULE_HTTP_REQUEST, "http-request tarpit status 299"), RULE_FINAL);
	assert_int_equal(r.v.has_answer, 1);
	assert_int_equal(run(RULE_HTTP_RESPONSE, "http-response return status 599"), RULE_FINAL);
	assert_int_equal(r.v.what, RULE_END_REPLY);
	/* A reply that cannot be made is an error, with strict-mode off too. */
	r.x.arena.cap = 4;
	assert_int_equal(run(RULE_HTTP_REQUEST, "http-request strict-mode off\nhttp-request return "
						"content-type a lf-string %[str(12345678)]"),
		RULE_FINAL);
	assert_int_equal(r.v.what, RULE_END_ERROR);
	assert_int_equal(r.v.status, 500);
	assert_int_equal(r.v.has_answer, 0);
	r.x.arena.cap = RIG_ARENA;
}

static void
test_refused(void **state)
{
	(void)state;
	action_rig_refuses(&r, "http-request deny deny_status 418",
		"there is no page for status 418");
	action_rig_refuses(&r, "http-request deny deny_status 99", "200..599");
	action_rig_refuses(&r, "http-request deny status 404 deny_status 403", "expects either");
	action_rig_refuses(&r, "http-request return deny_status 403", "expects either 'if'");
	action_rig_refuses(&r, "http-request accept", "is not for 'http-request' rules");
	action_rig_refuses(&r, "tcp-request connection allow", "is not for");
	action_rig_refuses(&r, "http-response tarpit", "is not for");
	action_rig_refuses(&r, "http-request allow x", "but found 'x'");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ACTION_CASE(test_ends),
		ACTION_CASE(test_answers),
		ACTION_CASE(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
