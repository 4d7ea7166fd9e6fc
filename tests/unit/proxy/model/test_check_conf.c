/* Settings of health checks as data. */
#include "base/err.h"
#include "base/mem.h"
#include "proxy/model/check_conf.h"
#include "unit/test.h"

static void
statuses_have_codes_texts_and_results(void **state)
{
	(void)state;
	assert_string_equal(check_status_code(CHECK_L7OKC), "L7OKC");
	assert_string_equal(check_status_text(CHECK_L7STS), "Layer7 wrong status");
	assert_int_equal(check_status_result(CHECK_UNK), CHECK_UNKNOWN);
	assert_int_equal(check_status_result(CHECK_L4OK), CHECK_PASSED);
	assert_int_equal(check_status_result(CHECK_L7OKC), CHECK_CONDPASS);
	assert_int_equal(check_status_result(CHECK_CHECKED), CHECK_NEUTRAL);
	assert_int_equal(check_status_result(CHECK_SOCKERR), CHECK_FAILED);
}

static struct check_rule *
add(struct check_conf *c, enum check_family family, enum check_rule_kind kind)
{
	struct check_rule *r;

	check_conf_set_family(c, family);
	r = check_rule_add(c, kind, (struct cfg_where){ 0 });
	assert_non_null(r);
	return r;
}

static unsigned int
count(const struct check_conf *c)
{
	unsigned int n = 0;

	list_each(it, &c->rules) {
		n++;
	}
	return n;
}

/* A section's own rules replace inherited ones, and those of the other family. */
static void
own_rules_replace_those_of_the_other_family(void **state)
{
	struct check_conf c, from;
	struct check_rule *r;

	(void)state;
	check_conf_init(&c);
	check_conf_init(&from);
	r = add(&from, CHECK_FAMILY_TCP, CHECK_RULE_SEND);
	r->comment = mem_strdup("x");
	r->u.send.data.p = mem_strdup("y");
	(void)add(&from, CHECK_FAMILY_TCP, CHECK_RULE_EXPECT);
	from.user = mem_strdup("bob");
	assert_int_equal(check_conf_inherit(&c, &from), 0);
	assert_int_equal(count(&c), 2);
	assert_false(c.own_rules);
	assert_string_equal(c.user, "bob");
	assert_ptr_not_equal(c.user, from.user);
	/* Their texts are those of the defaults section. */
	assert_ptr_equal(list_first(&c.rules, struct check_rule, link)->comment, r->comment);
	(void)add(&c, CHECK_FAMILY_TCP, CHECK_RULE_CONNECT);
	(void)add(&c, CHECK_FAMILY_TCP, CHECK_RULE_SEND);
	assert_true(c.own_rules);
	assert_int_equal(count(&c), 2);
	assert_int_equal(c.steps, 2);
	r = add(&c, CHECK_FAMILY_HTTP, CHECK_RULE_EXPECT);
	assert_int_equal(count(&c), 1);
	assert_int_equal(r->step, 1);
	assert_int_equal(r->u.expect.min_recv, -1);
	check_conf_fini(&c);
	check_conf_fini(&from);
}

/* A comment goes to the next rule. */
static void
a_comment_belongs_to_the_next_rule(void **state)
{
	struct check_conf c;

	(void)state;
	check_conf_init(&c);
	check_conf_set_family(&c, CHECK_FAMILY_TCP);
	c.comment = mem_strdup("x");
	assert_string_equal(add(&c, CHECK_FAMILY_TCP, CHECK_RULE_CONNECT)->comment, "x");
	assert_null(c.comment);
	assert_null(add(&c, CHECK_FAMILY_TCP, CHECK_RULE_SEND)->comment);
	c.comment = mem_strdup("left");
	check_conf_fini(&c);
}

static void
settings_of_checks_are_inherited(void **state)
{
	struct check_server_conf a, b;

	(void)state;
	check_server_conf_init(&a);
	assert_int_equal(a.rise, 2);
	assert_int_equal(a.fall, 3);
	a.agent_send = mem_strdup("x");
	a.track = mem_strdup("y");
	a.rise = 7;
	assert_int_equal(check_server_conf_copy(&b, &a), 0);
	assert_int_equal(b.rise, 7);
	assert_string_equal(b.agent_send, "x");
	assert_ptr_not_equal(b.track, a.track);
	check_server_conf_fini(&a);
	check_server_conf_fini(&b);
	assert_null(b.track);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(statuses_have_codes_texts_and_results),
		cmocka_unit_test(own_rules_replace_those_of_the_other_family),
		cmocka_unit_test(a_comment_belongs_to_the_next_rule),
		cmocka_unit_test(settings_of_checks_are_inherited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
