/* Texts and numbers in HTML. */
#include "unit/test.h"

#include "app/stats/stats_html.h"

static struct sbuf out;

static const char *
escaped(const char *text, size_t len)
{
	sbuf_fini(&out);
	sbuf_init(&out, 0);
	html_text(&out, (struct str){ text, len });
	return out.len ? out.p : "";
}

#define ESCAPED(text) escaped(text, sizeof(text) - 1)

static void
texts_cannot_leave_their_place(void **st)
{
	(void)st;
	assert_string_equal(ESCAPED(""), "");
	assert_string_equal(ESCAPED("plain"), "plain");
	assert_string_equal(ESCAPED("<script>"), "&lt;script&gt;");
	assert_string_equal(ESCAPED("\"'&"), "&quot;&#39;&amp;");
	assert_string_equal(ESCAPED("a&amp;b"), "a&amp;amp;b");
	assert_string_equal(ESCAPED("a\0b\nc\x7f"), "a b c ");
	assert_string_equal(ESCAPED("\xc3\xa9"), "\xc3\xa9");
}

static const char *
counted(uint64_t n)
{
	sbuf_fini(&out);
	sbuf_init(&out, 0);
	html_count(&out, n);
	sbuf_addc(&out, ' ');
	html_bytes(&out, n);
	sbuf_addc(&out, ' ');
	html_age(&out, (int64_t)n);
	return out.p;
}

static void
numbers_have_groups_and_units(void **st)
{
	(void)st;
	assert_string_equal(counted(0), "0 0\xc2\xa0" "B 0s");
	assert_string_equal(counted(119), "119 119\xc2\xa0" "B 119s");
	assert_string_equal(counted(999), "999 999\xc2\xa0" "B 16m");
	assert_string_equal(counted(1000), "1,000 1.00\xc2\xa0kB 16m");
	assert_string_equal(counted(7199), "7,199 7.20\xc2\xa0kB 119m");
	assert_string_equal(counted(9999), "9,999 10.0\xc2\xa0kB 2h");
	assert_string_equal(counted(99999), "99,999 100\xc2\xa0kB 27h");
	assert_string_equal(counted(100000), "100\xc2\xa0k 100\xc2\xa0kB 27h");
	assert_string_equal(counted(999499), "999\xc2\xa0k 999\xc2\xa0kB 11d");
	assert_string_equal(counted(999500), "1.00\xc2\xa0M 1.00\xc2\xa0MB 11d");
	assert_string_equal(counted(44746741), "44.7\xc2\xa0M 44.7\xc2\xa0MB 517d");
	assert_non_null(strstr(counted(UINT64_MAX), "18.4\xc2\xa0" "EB"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_cannot_leave_their_place),
		cmocka_unit_test(numbers_have_groups_and_units),
	};
	int r = cmocka_run_group_tests(tests, NULL, NULL);

	sbuf_fini(&out);
	return r;
}
