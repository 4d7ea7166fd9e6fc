#include "unit/rule/action_rig.h"

#include "base/log.h"

#define REQ "GET / HTTP/1.1\r\nHost: h\r\nMs: 1500"
#define RES "HTTP/1.1 200 OK"

static void
run(const char *lines)
{
	action_rig_good(&r, lines);
	action_rig_heads(&r, REQ, NULL);
	assert_int_equal(action_rig_run(&r, RULE_HTTP_REQUEST), RULE_CONT);
}

static void
test_expect_proxy(void **state)
{
	(void)state;
	action_rig_good(&r, "tcp-request connection expect-proxy layer4 if FALSE");
	action_rig_heads(&r, REQ, NULL);
	assert_int_equal(action_rig_run(&r, RULE_TCP_CONNECTION), RULE_CONT);
	assert_int_equal(r.v.expects_proxy, 0);
	action_rig_good(&r, "tcp-request connection expect-proxy layer4 unless FALSE");
	assert_int_equal(action_rig_run(&r, RULE_TCP_CONNECTION), RULE_CONT);
	assert_int_equal(r.v.expects_proxy, 1);
	action_rig_refuses(&r, "tcp-request connection expect-proxy", "expects layer4");
	action_rig_refuses(&r, "tcp-request connection expect-proxy layer5", "not on 'layer5'");
	action_rig_refuses(&r, "http-request expect-proxy layer4", "is not for 'http-request'");
}

/* There is no early data to wait for the end of. */
static void
test_wait_for_handshake(void **state)
{
	(void)state;
	run("http-request wait-for-handshake");
	run("http-request wait-for-handshake if { method GET }");
	action_rig_refuses(&r, "http-response wait-for-handshake", "is not for 'http-response'");
}

static void
test_log_level(void **state)
{
	(void)state;
	run("http-request set-log-level err");
	assert_int_equal(r.v.log_level, LOG_LEVEL_ERR + 1);
	run("http-request set-log-level emerg\nhttp-request set-log-level silent");
	assert_int_equal(r.v.log_level, -1);
	action_rig_refuses(&r, "http-request set-log-level", "expects <level>|silent");
	action_rig_refuses(&r, "http-request set-log-level loud", "unknown level 'loud'");
}

static void
test_timeouts(void **state)
{
	(void)state;
	run("backend b\nhttp-request set-timeout server 5s\n"
	    "http-request set-timeout tunnel rq(Ms)");
	assert_int_equal(r.v.timeout_ms[RULE_TIMEOUT_SERVER], 5000);
	assert_int_equal(r.v.timeout_ms[RULE_TIMEOUT_TUNNEL], 1500);
	/* A missing or invalid value does not change the timeout. */
	run("backend b\nhttp-request set-timeout server rq(none)\n"
	    "http-request set-timeout tunnel int(0)");
	assert_int_equal(r.v.timeout_ms[RULE_TIMEOUT_SERVER], 0);
	assert_int_equal(r.v.timeout_ms[RULE_TIMEOUT_TUNNEL], 0);
	action_rig_good(&r, "backend b\nhttp-response set-timeout server 3s");
	action_rig_heads(&r, REQ, RES);
	assert_int_equal(action_rig_run(&r, RULE_HTTP_RESPONSE), RULE_CONT);
	assert_int_equal(r.v.timeout_ms[RULE_TIMEOUT_SERVER], 3000);
	action_rig_refuses(&r, "backend b\nhttp-after-response set-timeout server 5s",
		"is not for 'http-after-response'");
	action_rig_refuses(
		&r, "http-request set-timeout server 5s", "a frontend has none of these timeouts");
	action_rig_refuses(&r, "http-response set-timeout server 5s",
		"a frontend has none of these timeouts");
	action_rig_refuses(&r, "backend b\nhttp-request set-timeout client 5s", "client");
	action_rig_refuses(&r, "backend b\nhttp-request set-timeout server 5x", "5x");
	action_rig_refuses(&r, "backend b\nhttp-request set-timeout server 0", "0");
	action_rig_refuses(&r, "backend b\nhttp-request set-timeout server 99d", "99d");
	action_rig_refuses(&r, "backend b\nhttp-request set-timeout server",
		"expects server|tunnel");
}

static void
test_strict_mode(void **state)
{
	(void)state;
	run("http-request strict-mode off\nhttp-request set-path x");
	assert_int_equal(r.v.failed_rewrites, 1);
	action_rig_good(&r, "http-request strict-mode off\nhttp-request strict-mode on\n"
			    "http-request set-path x");
	action_rig_heads(&r, REQ, NULL);
	assert_int_equal(action_rig_run(&r, RULE_HTTP_REQUEST), RULE_FINAL);
	assert_int_equal(r.v.what, RULE_END_ERROR);
	/* The mode ends with its list of rules. */
	action_rig_good(&r, "http-request strict-mode off");
	action_rig_heads(&r, REQ, NULL);
	assert_int_equal(action_rig_run(&r, RULE_HTTP_REQUEST), RULE_CONT);
	assert_int_equal(action_rig_run(&r, RULE_HTTP_RESPONSE), RULE_CONT);
	assert_int_equal(r.v.non_strict, 0);
	action_rig_refuses(&r, "http-request strict-mode perhaps", "perhaps");
}

static void
test_wait_for_body(void **state)
{
	(void)state;
	action_rig_good(&r, "http-request set-header A 1\n"
			    "http-request wait-for-body time 2s at-least 4\n"
			    "http-request set-header B 1");
	action_rig_heads(&r, REQ, NULL);
	r.x.cx.req_body.content = STR("abc");
	assert_int_equal(action_rig_run(&r, RULE_HTTP_REQUEST), RULE_YIELD);
	assert_int_equal(r.v.wait_ms, 2000);
	assert_non_null(r.next);
	assert_true(http_find(&r.req, STR("A"), 0) >= 0);
	assert_int_equal(http_find(&r.req, STR("B"), 0), -1);
	assert_int_equal(action_rig_run(&r, RULE_HTTP_REQUEST), RULE_YIELD);
	r.x.cx.req_body.content = STR("abcd");
	assert_int_equal(action_rig_run(&r, RULE_HTTP_REQUEST), RULE_CONT);
	assert_null(r.next);
	/* The run continued at the same rule: no rule ran twice. */
	assert_int_equal(http_find(&r.req, STR("A"), 4), -1);
	assert_true(http_find(&r.req, STR("B"), 0) >= 0);

	action_rig_good(&r, "http-request wait-for-body time 1s");
	action_rig_heads(&r, REQ, NULL);
	assert_int_equal(action_rig_run(&r, RULE_HTTP_REQUEST), RULE_YIELD);
	r.x.cx.req_body.is_full = 1;
	assert_int_equal(action_rig_run(&r, RULE_HTTP_REQUEST), RULE_CONT);
	r.x.cx.req_body.is_full = 0;
	r.x.cx.req_body.is_whole = 1;
	assert_int_equal(action_rig_run(&r, RULE_HTTP_REQUEST), RULE_CONT);
	r.x.cx.req_body.is_whole = 0;
	/* No time limit. */
	action_rig_good(&r, "http-request wait-for-body time 0");
	action_rig_heads(&r, REQ, NULL);
	assert_int_equal(action_rig_run(&r, RULE_HTTP_REQUEST), RULE_YIELD);
	assert_int_equal(r.v.wait_ms, 0);
	action_rig_refuses(&r, "http-request wait-for-body", "expects time <time>");
	action_rig_refuses(&r, "http-request wait-for-body time 1s at-least 3g", "3g");
	action_rig_refuses(&r, "http-after-response wait-for-body time 1s",
		"is not for 'http-after-response'");
}

static void
test_wait_for_body_of_response(void **state)
{
	(void)state;
	action_rig_good(&r, "http-response wait-for-body time 2s at-least 4");
	action_rig_heads(&r, REQ, RES);
	r.x.cx.req_body.is_whole = 1;
	r.x.cx.res_body = (struct sample_body){ .content = STR("abc") };
	assert_int_equal(action_rig_run(&r, RULE_HTTP_RESPONSE), RULE_YIELD);
	assert_int_equal(r.v.wait_ms, 2000);
	r.x.cx.res_body.content = STR("abcd");
	assert_int_equal(action_rig_run(&r, RULE_HTTP_RESPONSE), RULE_CONT);
	r.x.cx.res_body = (struct sample_body){ .is_full = 1 };
	assert_int_equal(action_rig_run(&r, RULE_HTTP_RESPONSE), RULE_CONT);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ACTION_CASE(test_expect_proxy),
		ACTION_CASE(test_wait_for_handshake),
		ACTION_CASE(test_log_level),
		ACTION_CASE(test_timeouts),
		ACTION_CASE(test_strict_mode),
		ACTION_CASE(test_wait_for_body),
		ACTION_CASE(test_wait_for_body_of_response),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
