#include "unit/rule/action_rig.h"

#define REQ "GET / HTTP/1.1\r\nHost: h\r\nF: 12"

/* The value of the variable txn.x after these rules. */
static const char *
left(const char *lines)
{
	var_forget(&r.x.cx, (struct var_name){ 0 });
	vars_fini(&r.x.vars[VAR_TXN]);
	vars_init(&r.x.vars[VAR_TXN]);
	(void)action_rig_request(&r, lines, REQ);
	assert_int_equal(arena_mark(&r.x.arena), 0);
	return rig_eval(&r.x, "var(txn.x)");
}

#define SET(what) "http-request set-var(txn.x) " what "\n"
#define IF(cond, what) "http-request set-var(txn.x," cond ") " what "\n"

static void
test_sets(void **state)
{
	(void)state;
	assert_string_equal(left(SET("rq(F)")), "12");
	assert_string_equal(left(SET("int(3)") SET("rq(none)")), "3");
	assert_string_equal(left("http-request set-var-fmt(txn.x) <%[rq(F)]>"), "<12>");
	assert_string_equal(left(SET("int(3)") "http-request unset-var(txn.x)"), "(none)");
	assert_string_equal(left("http-request unset-var(txn.x)"), "(none)");
	/* The scope does not exist there: nothing happens. */
	r.x.cx.txn = NULL;
	action_rig_good(&r, SET("int(3)"));
	action_rig_heads(&r, REQ, NULL);
	assert_int_equal(action_rig_run(&r, RULE_HTTP_REQUEST), RULE_CONT);
	assert_int_equal(r.v.failed_rewrites, 0);
}

static void
test_conditions(void **state)
{
	(void)state;
	assert_string_equal(left(IF("ifexists", "int(1)")), "(none)");
	assert_string_equal(left(IF("ifnotexists", "int(1)") IF("ifnotexists", "int(2)")), "1");
	assert_string_equal(left(SET("int(1)") IF("ifset", "int(2)")), "2");
	assert_string_equal(left(IF("ifnotset", "int(2)")), "2");
	assert_string_equal(left(IF("ifempty", "str(a)")), "(none)");
	assert_string_equal(left(IF("ifnotempty", "str(a)")), "a");
	assert_string_equal(left(SET("int(5)") IF("ifgt", "int(4)")), "4");
	assert_string_equal(left(SET("int(5)") IF("ifgt", "int(5)")), "5");
	assert_string_equal(left(SET("int(5)") IF("iflt", "int(6)")), "6");
	assert_string_equal(left(SET("int(5)") IF("iflt", "int(4)")), "5");
	assert_string_equal(left(SET("str(b)") IF("ifgt", "int(9)")), "9");
	assert_string_equal(left(IF("ifnotexists,ifempty", "str(a)")), "(none)");
}

#define PROC(cond) "http-request set-var(proc.x," cond ") int(1)\n" SET("var(proc.x)")

/* Variables of scope proc exist from the start, and are not set. */
static void
test_conditions_of_scope_proc(void **state)
{
	(void)state;
	assert_string_equal(left(PROC("ifnotexists")), "(none)");
	assert_string_equal(left(PROC("ifset")), "(none)");
	assert_string_equal(left(PROC("ifexists,ifnotset")), "1");
}

static void
test_bound(void **state)
{
	(void)state;
	action_rig_good(&r, SET("rq(F)"));
	action_rig_heads(&r, REQ, NULL);
	r.x.vars[VAR_TXN].bytes = VARS_BYTES_MAX;
	assert_int_equal(action_rig_run(&r, RULE_HTTP_REQUEST), RULE_FINAL);
	assert_int_equal(r.v.what, RULE_END_ERROR);
	r.x.vars[VAR_TXN].bytes = 0;
}

static void
test_refused(void **state)
{
	(void)state;
	action_rig_refuses(&r, "http-request set-var(x) int(1)", "variable 'x'");
	action_rig_refuses(&r, "http-request set-var(txn.a-b) int(1)", "variable 'txn.a-b'");
	action_rig_refuses(&r, "http-request set-var(txn.x int(1)", "')' is missing");
	action_rig_refuses(&r, "http-request set-var(txn.x)", "expects <expr>");
	action_rig_refuses(&r, "http-request set-var txn.x int(1)", "is followed by '(...)'");
	action_rig_refuses(&r, IF("iffy", "int(1)"), "unknown condition 'iffy'");
	action_rig_refuses(&r, IF("ifset,ifset,ifset,ifset,ifset", "int(1)"), "unexpected 'ifset'");
	action_rig_refuses(&r, "http-request unset-var(txn.x,ifset)", "unexpected 'ifset'");
	action_rig_refuses(&r, "http-request set-var(txn.x) nope", "nope");
	action_rig_refuses(&r, "http-request set-var-fmt(txn.x) %[nope]", "nope");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ACTION_CASE(test_sets),
		ACTION_CASE(test_conditions),
		ACTION_CASE(test_conditions_of_scope_proc),
		ACTION_CASE(test_bound),
		ACTION_CASE(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
