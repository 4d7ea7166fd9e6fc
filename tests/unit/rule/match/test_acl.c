#include "unit/rule/expr_rig.h"

#include "rule/match/acl.h"

static struct cond_rig rig;

static int
ask(const char *acls, const char *cond)
{
	int truth = cond_rig_ask(&rig, acls, cond);

	if (truth < 0)
		fail_msg("%s: %s", cond, rig.printed);
	cond_rig_fini(&rig);
	return truth;
}

/* Several lines of one name: the ACL matches if one of them does. */
static void
an_acl_matches_if_one_line_does(void **state)
{
	static const char acls[] =
		"acl a t.path_beg /x\nacl a t.path_end .gif\nacl b t.path_beg /x";

	(void)state;
	assert_int_equal(ask(acls, "a"), RULE_YES);
	assert_int_equal(ask(acls, "b"), RULE_NO);
	assert_int_equal(ask("acl A t.path_beg /x\nacl a t.path_beg /s", "A"), RULE_NO);
}

/* Any value of a fetch that returns several; a missing one does not hide those after it. */
static void
an_acl_matches_if_one_value_does(void **state)
{
	(void)state;
	traffic.n_multi = 3;
	traffic.multi[0] = "one";
	traffic.multi[1] = NULL;
	traffic.multi[2] = "three";
	assert_int_equal(ask("", "{ t.multi one }"), RULE_YES);
	assert_int_equal(ask("", "{ t.multi three }"), RULE_YES);
	assert_int_equal(ask("", "{ t.multi two }"), RULE_NO);
	assert_int_equal(ask("", "!{ t.multi three }"), RULE_NO);
	assert_int_equal(ask("", "{ t.multi -m found }"), RULE_YES);
	/* a converter that fails for one of the values */
	traffic.multi[0] = "x";
	traffic.multi[1] = "10.0.0.1";
	assert_int_equal(ask("", "{ t.multi -m ip 10.0.0.1 }"), RULE_YES);
	traffic.n_multi = 0;
	assert_int_equal(ask("", "{ t.multi one }"), RULE_NO);
	assert_int_equal(ask("", "{ t.multi -m found }"), RULE_NO);
}

/* A fetch that is not available in this place is never called, and does not match. */
static void
fetches_that_are_not_available(void **state)
{
	(void)state;
	assert_int_equal(cond_rig_ask(&rig, "", "{ t.res -m found }"), RULE_NO);
	assert_non_null(strstr(rig.printed, "never matches"));
	cond_rig_fini(&rig);
	assert_int_equal(cond_rig_ask(&rig, "", "!{ t.res -m found }"), RULE_YES);
	cond_rig_fini(&rig);
	/* one of two may match: no warning */
	assert_int_equal(cond_rig_ask(&rig, "acl a t.res -m found\nacl a t.path_beg /s", "a"),
		RULE_YES);
	assert_string_equal(rig.printed, "");
	assert_int_equal(rule_cond_needs(rig.cond[0]), SAMPLE_AT_RES);
	cond_rig_fini(&rig);
}

static void
predefined_acls_can_be_replaced(void **state)
{
	(void)state;
	assert_int_equal(ask("", "TRUE"), RULE_YES);
	assert_int_equal(ask("", "FALSE"), RULE_NO);
	/* the section's own ACL takes precedence */
	assert_int_equal(ask("acl TRUE always_false", "TRUE"), RULE_NO);
	assert_null(rule_acl_predefined("true"));
	assert_string_equal(rule_acl_predefined("METH_GET")[2], "HEAD");
	assert_null(rule_acl_predefined("METH_GET")[3]);
	assert_string_equal(rule_acl_suggest(NULL, "METH_GETT"), "METH_GET");
	cond_rig_init(&rig);
	assert_null(cond_rig_read(&rig, "acl my_name t.path x"));
	assert_string_equal(rule_acl_suggest(&rig.acls, "mi_name"), "my_name");
	assert_null(rule_acl_find(&rig.acls, "mi_name"));
	assert_null(rule_acl_find(NULL, "my_name"));
	cond_rig_fini(&rig);
}

/* The condition uses neither of the named ACLs. */
static void
all_acls_are_checked(void **state)
{
	struct rule_err why;

	(void)state;
	check_calls = 0;
	cond_rig_init(&rig);
	assert_null(cond_rig_read(&rig,
		"acl a t.path x\nacl a t.check y\nacl b t.check z\nwhen if !{ t.check u }"));
	assert_int_equal(rule_acls_check(&rig.acls, NULL, &rig.diag), 0);
	assert_int_equal(check_calls, 2);
	assert_int_equal(rule_cond_check(rig.cond[0], NULL, &why), 0);
	assert_int_equal(check_calls, 3);
	assert_int_equal(rule_acls_check(&rig.acls, &rig, &rig.diag), -1);
	assert_int_equal(rig.diag.count[CFG_ALERT], 2);
	assert_int_equal(rule_cond_check(rig.cond[0], &rig, &why), -1);
	assert_non_null(strstr(why.text, "there is no such thing"));
	cond_rig_fini(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_acl_matches_if_one_line_does),
		cmocka_unit_test(an_acl_matches_if_one_value_does),
		cmocka_unit_test(fetches_that_are_not_available),
		cmocka_unit_test(predefined_acls_can_be_replaced),
		cmocka_unit_test(all_acls_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
