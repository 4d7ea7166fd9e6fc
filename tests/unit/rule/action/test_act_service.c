#include "unit/rule/action_rig.h"

static enum rule_result
run(const char *lines)
{
	action_rig_good(&r, lines);
	action_rig_heads(&r, "GET /metrics HTTP/1.1\r\nHost: h", NULL);
	return action_rig_run(&r, RULE_HTTP_REQUEST);
}

static void
test_a_service_ends_the_list(void **state)
{
	(void)state;
	assert_int_equal(run("http-request use-service prometheus-exporter if TRUE\n"
			     "http-request deny"),
		RULE_FINAL);
	assert_int_equal(r.v.what, RULE_END_SERVICE);
	assert_false(r.v.has_answer);
}

static void
test_its_condition(void **state)
{
	(void)state;
	assert_int_equal(
		run("http-request use-service prometheus-exporter unless TRUE"), RULE_CONT);
	assert_int_equal(r.v.what, RULE_END_NONE);
}

static void
test_other_names(void **state)
{
	(void)state;
	action_rig_refuses(&r, "http-request use-service", "expects prometheus-exporter");
	action_rig_refuses(&r, "http-request use-service prometheus-exportr if TRUE",
		"unknown service name 'prometheus-exportr'; did you mean 'prometheus-exporter'?");
	action_rig_refuses(&r, "http-request use-service lua.hello",
		"'http-request use-service lua.hello' is not supported.");
	action_rig_refuses(&r, "http-request use-service somethingelse",
		"unknown service name 'somethingelse'; there is only 'prometheus-exporter'.");
	action_rig_refuses(&r, "http-request use-service prometheus-exporter now", "if");
	action_rig_refuses(&r, "http-response use-service prometheus-exporter",
		"is not for 'http-response'");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ACTION_CASE(test_a_service_ends_the_list),
		ACTION_CASE(test_its_condition),
		ACTION_CASE(test_other_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
