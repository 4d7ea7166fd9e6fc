/* The parameters behind the prefix in a request for the statistics. */
#include "unit/test.h"

#include "app/stats/stats_query.h"

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
	assert_int_equal(query("/s;json").output, STATS_JSON);
	assert_int_equal(query("/s;typed;norefresh").output, STATS_TYPED);
	assert_int_equal(query("/s;up;csv").words, STATS_UP);
	assert_int_equal(query("/s;up;norefresh").words, STATS_UP | STATS_NOREFRESH);
	/* As a form sends them. */
	assert_int_equal(query("/s?up=&scope=").words, STATS_UP);
	assert_int_equal(query("/s;upper").words, 0);
	assert_true(str_is(query("/s;st=DONE;up").result, STR("DONE")));
	assert_int_equal(query("/s").result.len, 0);
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

static void
a_row_has_three_numbers(void **st)
{
	static const char *const bad[] = { "/s", "/s;row=", "/s;row=1", "/s;row=1.2", "/s;row=1.2.",
		"/s;row=.2.3", "/s;row=1.2.3.", "/s;row=1.2.3x", "/s;row=-1.2.3",
		"/s;row=1234567890.2.3" };
	struct stats_query q = query("/s;row=12.2.345;up");

	(void)st;
	assert_int_equal(q.row.proxy, 12);
	assert_int_equal(q.row.type, 2);
	assert_int_equal(q.row.server, 345);
	assert_int_equal(q.words, STATS_UP);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(query(bad[i]).row.proxy, -1);
}

static void
values_are_decoded(void **st)
{
	static const struct {
		const char *text, *value; /* NULL: invalid */
	} cases[] = {
		{ "", "" },
		{ "abc", "abc" },
		{ "%23a+b", "#a b" },
		{ "%3c%3E", "<>" },
		{ "%", NULL },
		{ "%2", NULL },
		{ "a%zz", NULL },
		{ "%00", NULL },
		{ "1234567", "1234567" },
		{ "12345678", NULL },
	};
	char to[8];

	(void)st;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *value = cases[i].value;

		assert_int_equal(stats_decode(str_of(cases[i].text), to, sizeof(to)),
			value ? 0 : -1);
		assert_string_equal(to, value ? value : "");
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(outputs_are_words),
		cmocka_unit_test(a_row_has_three_numbers),
		cmocka_unit_test(values_are_decoded),
		cmocka_unit_test(a_scope_ends_at_the_next_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
