/* Users of the statistics page, and which proxies it shows. */
#include "unit/test.h"

#include "base/str.h"
#include "proxy/model/stats_conf.h"

static void
users_need_their_own_password(void **st)
{
	struct stats_conf *c = stats_conf_new();

	(void)st;
	assert_non_null(c);
	assert_int_equal(stats_conf_add_user(c, STR("a"), "b"), 0);
	assert_int_equal(stats_conf_add_user(c, STR("c"), "d:e"), 0);
	assert_int_equal(stats_conf_add_user(c, STR("e"), ""), 0);
	assert_true(stats_conf_admits(c, STR("a"), STR("b")));
	assert_true(stats_conf_admits(c, STR("c"), STR("d:e")));
	assert_true(stats_conf_admits(c, STR("e"), STR("")));
	assert_false(stats_conf_admits(c, STR("a"), STR("d:e")));
	assert_false(stats_conf_admits(c, STR("a"), STR("")));
	assert_false(stats_conf_admits(c, STR("a"), STR("bb")));
	assert_false(stats_conf_admits(c, STR("aa"), STR("b")));
	assert_false(stats_conf_admits(c, STR(""), STR("b")));
	assert_false(stats_conf_admits(c, STR("a\0"), STR("b")));
	assert_false(stats_conf_admits(c, STR("a"), STR("b\0")));
	stats_conf_free(&c);
	assert_null(c);
	stats_conf_free(&c);
}

static void
scopes_name_proxies(void **st)
{
	struct stats_conf *c = stats_conf_new(), *copy;

	(void)st;
	assert_true(stats_conf_shows(c, "own", "own"));
	assert_true(stats_conf_shows(c, "own", "other"));
	assert_int_equal(stats_conf_add_scope(c, "x"), 0);
	assert_false(stats_conf_shows(c, "own", "own"));
	assert_true(stats_conf_shows(c, "own", "x"));
	assert_false(stats_conf_shows(c, "own", "xx"));
	copy = stats_conf_copy(c);
	assert_non_null(copy);
	assert_int_equal(stats_conf_add_scope(copy, "."), 0);
	assert_true(stats_conf_shows(copy, "own", "own"));
	assert_false(stats_conf_shows(c, "own", "own"));
	assert_false(stats_conf_shows(copy, "own", "."));
	stats_conf_free(&copy);
	stats_conf_free(&c);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(users_need_their_own_password),
		cmocka_unit_test(scopes_name_proxies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
