/* What follows the prefix in a request for the statistics. */
#include "unit/test.h"

#include "app/stats/stats_int.h"

static struct stats_query
query(const char *target)
{
	struct stats_query q;

	stats_query_parse(str_of(target), STR("/s"), &q);
	return q;
}

static void
outputs_are_words(void **st)
{
	(void)st;
	assert_int_equal(query("/s").output, STATS_HTML);
	assert_int_equal(query("/s;csv").output, STATS_CSV);
	assert_int_equal(query("/s;x;csv;y").output, STATS_CSV);
	assert_int_equal(query("/s?csv").output, STATS_CSV);
	assert_int_equal(query("/stats;csv").output, STATS_CSV);
	assert_int_equal(query("/s;csvx").output, STATS_HTML);
	assert_int_equal(query("/s;xcsv").output, STATS_HTML);
	assert_int_equal(query("/s;cs").output, STATS_HTML);
}

static void
a_scope_ends_at_the_next_word(void **st)
{
	(void)st;
	assert_int_equal(query("/s").scope.len, 0);
	assert_true(str_is(query("/s?scope=ab;csv").scope, STR("ab")));
	assert_true(str_is(query("/s;csv?scope=ab").scope, STR("ab")));
	assert_true(str_is(query("/s;csv;scope=ab&x").scope, STR("ab")));
	assert_int_equal(query("/s?scope=").scope.len, 0);
	assert_int_equal(query("/s;scope").scope.len, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(outputs_are_words),
		cmocka_unit_test(a_scope_ends_at_the_next_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
