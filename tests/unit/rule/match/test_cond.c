#include "unit/rule/expr_rig.h"
/* The unit itself, instead of the library's. */
#include "rule/sample/expr.c"

static struct cond_rig rig;

/* yes, no and wait; the traffic of the last has not arrived */
#define ACLS "acl y always_true\nacl n always_false\nacl w t.later -m found\n"

/* The disjunctive form of the manual (7.2), with operands that wait. */
static void
and_binds_closer_than_or(void **state)
{
	static const struct {
		const char *cond;
		enum rule_truth want;
	} t[] = {
		{ "y", RULE_YES },
		{ "n", RULE_NO },
		{ "!n", RULE_YES },
		{ "! n", RULE_YES },
		{ "!!n", RULE_NO },
		{ "! !y", RULE_YES },
		{ "!{ always_false }", RULE_YES },
		{ "! { always_true }", RULE_NO },
		{ "y y", RULE_YES },
		{ "y n", RULE_NO },
		{ "n y", RULE_NO },
		{ "n or y", RULE_YES },
		{ "n OR y", RULE_YES },
		{ "n || y", RULE_YES },
		{ "y n || n y || y y", RULE_YES },
		{ "y n || n y || y !y", RULE_NO },
		{ "n y or y", RULE_YES },
		{ "y or n y", RULE_YES },
		{ "y or n n", RULE_YES },
		{ "n or y n", RULE_NO },
		{ "{ int(1) 1 } { int(2) 2 }", RULE_YES },
		{ "{ int(1) 1 } { int(2) 3 }", RULE_NO },
		{ "{ int(1) 2 } || { int(2) 2 }", RULE_YES },
		{ "w", RULE_WAIT },
		{ "!w", RULE_WAIT },
		{ "w y", RULE_WAIT },
		{ "w n", RULE_NO },
		{ "n w", RULE_NO },
		{ "w || y", RULE_YES },
		{ "w || n", RULE_WAIT },
		{ "n || w", RULE_WAIT },
		{ "w n || w n", RULE_NO },
		{ "w n || y !w", RULE_WAIT },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		int got = cond_rig_ask(&rig, ACLS, t[i].cond);

		if (got != (int)t[i].want)
			fail_msg("%s: %d, want %d: %s", t[i].cond, got, t[i].want, rig.printed);
		cond_rig_fini(&rig);
	}
}

static void
unless_negates_the_condition(void **state)
{
	static const char *const words[] = { "y", "n", "w" };
	static const enum rule_truth want[] = { RULE_NO, RULE_YES, RULE_WAIT };
	char line[128];

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		cond_rig_init(&rig);
		snprintf(line, sizeof(line), ACLS "when unless %s", words[i]);
		assert_null(cond_rig_read(&rig, line));
		assert_int_equal(rule_cond_eval(rig.cond[0], &rig.expr.cx), want[i]);
		cond_rig_fini(&rig);
	}
}

/* Nothing waits when no more can arrive; a value that arrived and matches counts at once. */
static void
a_condition_waits_for_its_data(void **state)
{
	(void)state;
	cond_rig_init(&rig);
	assert_null(cond_rig_read(&rig, ACLS "when if { t.later -m beg GET }\nwhen if !w"));
	assert_int_equal(rule_cond_eval(rig.cond[0], &rig.expr.cx), RULE_WAIT);
	traffic.later = "GE";
	assert_int_equal(rule_cond_eval(rig.cond[0], &rig.expr.cx), RULE_WAIT);
	traffic.later = "GET";
	assert_int_equal(rule_cond_eval(rig.cond[0], &rig.expr.cx), RULE_YES);
	traffic.later = NULL;
	rig.expr.cx.req_ended = 1;
	assert_int_equal(rule_cond_eval(rig.cond[0], &rig.expr.cx), RULE_NO);
	assert_int_equal(rule_cond_eval(rig.cond[1], &rig.expr.cx), RULE_YES);
	cond_rig_fini(&rig);
}

/* Operands after the one that decides are not evaluated. */
static void
operands_after_the_decision_are_not_evaluated(void **state)
{
	(void)state;
	cond_rig_init(&rig);
	assert_null(cond_rig_read(&rig, ACLS "when if y or { t.path x }\nwhen if n { t.path x }"));
	traffic.asked = 0;
	assert_int_equal(rule_cond_eval(rig.cond[0], &rig.expr.cx), RULE_YES);
	assert_int_equal(rule_cond_eval(rig.cond[1], &rig.expr.cx), RULE_NO);
	assert_int_equal(traffic.asked, 0);
	cond_rig_fini(&rig);
}

/* The line "when ..." begins in column 1. */
static void
bad_conditions_are_refused(void **state)
{
	static const struct {
		const char *line;
		unsigned int col;
		const char *why;
	} t[] = {
		{ "when", 5, "'if' or 'unless' is expected" },
		{ "when y", 6, "'if' or 'unless' is expected, not 'y'" },
		{ "when if", 8, "'if' expects a condition" },
		{ "when unless", 12, "'unless' expects a condition" },
		{ "when if or", 9, "an ACL is expected here" },
		{ "when if TRUE or", 16, "an ACL is expected behind 'or'" },
		{ "when if TRUE || || FALSE", 17, "an ACL is expected here" },
		{ "when if !", 10, "an ACL is expected here" },
		{ "when if TRUE ! or TRUE", 16, "an ACL is expected here" },
		{ "when if nope", 9, "no such ACL : 'nope'" },
		{ "when if !nope", 9, "no such ACL : 'nope'" },
		{ "when if TRUEE", 9, "did you mean 'TRUE' maybe ?" },
		{ "when if { t.path x", 9, "missing closing '}'" },
		{ "when if { }", 11, "no criterion" },
		{ "when if TRUE { t.pth x }", 16, "'t.pth'" },
		{ "when if TRUE { t.path -m reg a( }", 32, "regex" },
		{ "when if !{ t.path -z }", 19, "error detected in the condition of 'when'" },
		{ "when if METH_GET", 9, "'method'" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		char place[32];
		const char *said;

		cond_rig_init(&rig);
		if (strstr(t[i].line, "METH_GET") &&
			rule_find_fetch(&rig.expr.vocab, STR("method"))) {
			cond_rig_fini(&rig);
			continue;
		}
		said = cond_rig_read(&rig, t[i].line);
		snprintf(place, sizeof(place), "[t:2:%u]", t[i].col);
		if (!said || !strstr(said, t[i].why) || !strstr(said, place))
			fail_msg("%s: want %s %s, got %s", t[i].line, place, t[i].why,
				said ? said : "nothing");
		assert_null(rig.cond[0]);
		cond_rig_fini(&rig);
	}
}

/* An invalid line of an ACL causes one error, and not another for each use of the ACL. */
static void
a_bad_acl_is_one_error(void **state)
{
	(void)state;
	cond_rig_init(&rig);
	assert_non_null(cond_rig_read(&rig, "acl a t.pth x\nwhen if a\nwhen unless !a"));
	assert_int_equal(rig.diag.count[CFG_ALERT], 1);
	assert_int_equal(rig.diag.count[CFG_WARNING], 0);
	cond_rig_fini(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(and_binds_closer_than_or),
		cmocka_unit_test(unless_negates_the_condition),
		cmocka_unit_test(a_condition_waits_for_its_data),
		cmocka_unit_test(operands_after_the_decision_are_not_evaluated),
		cmocka_unit_test(bad_conditions_are_refused),
		cmocka_unit_test(a_bad_acl_is_one_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
