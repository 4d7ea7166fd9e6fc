#include <string.h>
#include <time.h>

#include "base/compiler.h"
#include "http/date.h"
#include "sim/dice.h"
#include "unit/test.h"

static void
test_known(void **state)
{
	static const struct {
		int64_t sec;
		const char *text;
	} rows[] = {
		{ 0, "Thu, 01 Jan 1970 00:00:00 GMT" },
		{ 784111777, "Sun, 06 Nov 1994 08:49:37 GMT" }, /* from RFC 9110 */
		{ 951782400, "Tue, 29 Feb 2000 00:00:00 GMT" },
		{ 4102444799, "Thu, 31 Dec 2099 23:59:59 GMT" },
		{ -1, "Wed, 31 Dec 1969 23:59:59 GMT" },
		{ 253402300799, "Fri, 31 Dec 9999 23:59:59 GMT" },
		{ 253402300800, "Thu, 01 Jan 1970 00:00:00 GMT" },
		{ INT64_MAX, "Thu, 01 Jan 1970 00:00:00 GMT" },
		{ INT64_MIN, "Thu, 01 Jan 1970 00:00:00 GMT" },
	};
	char out[HTTP_DATE_LEN + 1];

	(void)state;
	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		http_date(rows[i].sec, out);
		assert_string_equal(out, rows[i].text);
	}
}

/* Compared with strftime() in the C locale. */
static void
test_like_strftime(void **state)
{
	struct dice d = dice_seed(1);
	char out[HTTP_DATE_LEN + 1], expected[64];

	(void)state;
	for (int i = 0; i < 2000; i++) {
		time_t t = (time_t)dice(&d, UINT32_MAX) * 2;
		struct tm tm;

		assert_non_null(gmtime_r(&t, &tm));
		strftime(expected, sizeof(expected), "%a, %d %b %Y %H:%M:%S GMT", &tm);
		http_date(t, out);
		assert_string_equal(out, expected);
	}
}

static void
three_forms_are_read(void **state)
{
	static const char *const same[] = { "Sun, 06 Nov 1994 08:49:37 GMT",
		"Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994" };
	static const char *const bad[] = { "", "0", "x", "Sun", "Sun, 06 Nov 1994 08:49:37",
		"Sun, 06 Nov 1994 08:49:37 GMT ", "Sun, 6 Nov 1994 08:49:37 GMT",
		"Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Abc 1994 08:49:37 GMT",
		"Sun, 00 Nov 1994 08:49:37 GMT", "Sun Nov  6 08:49:37 199", "Sunday 06",
		"Sun, 06 Nov 1994 08:49:37 UTC" };
	struct dice d = dice_seed(2);
	int64_t sec;

	(void)state;
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		assert_int_equal(http_date_parse(str_of(same[i]), &sec), 0);
		assert_int_equal(sec, 784111777);
	}
	assert_int_equal(http_date_parse(str_of("Wednesday, 06-Nov-30 08:49:37 GMT"), &sec), 0);
	assert_int_equal(sec, 1920185377);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (http_date_parse(str_of(bad[i]), &sec) == 0)
			fail_msg("%s", bad[i]);
	for (int i = 0; i < 2000; i++) {
		int64_t t = (int64_t)dice(&d, UINT32_MAX) * 2;
		char text[HTTP_DATE_LEN + 1];

		http_date(t, text);
		assert_int_equal(http_date_parse(str_of(text), &sec), 0);
		assert_int_equal(sec, t);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_like_strftime),
		cmocka_unit_test(three_forms_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
