#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rule/match/pattern_net.h"
#include "unit/test.h"

static void
numbers_are_parsed(void **state)
{
	static const struct {
		const char *text;
		int ok;
		int64_t want;
	} t[] = {
		{ "0", 1, 0 },
		{ "+5", 1, 5 },
		{ "-5", 1, -5 },
		{ "007", 1, 7 },
		{ "9223372036854775807", 1, INT64_MAX },
		{ "-9223372036854775808", 1, INT64_MIN },
		{ "9223372036854775808", 0, 0 },
		{ "-9223372036854775809", 0, 0 },
		{ "99999999999999999999", 0, 0 },
		{ "", 0, 0 },
		{ "-", 0, 0 },
		{ "1a", 0, 0 },
		{ " 1", 0, 0 },
		{ "--1", 0, 0 },
	};
	int64_t v;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		v = 42;
		if (pattern_number_parse(str_of(t[i].text), &v) != (t[i].ok ? 0 : -1))
			fail_msg("<%s>", t[i].text);
		assert_int_equal(v, t[i].ok ? t[i].want : 42);
	}
	assert_int_equal(pattern_number_parse((struct str){ NULL, 0 }, &v), -1);
}

static void
ranges_are_parsed(void **state)
{
	static const struct {
		const char *text;
		int dotted, ok;
		int64_t lo, hi;
	} t[] = {
		{ "80", 0, 1, 80, 80 },
		{ "1024:65535", 0, 1, 1024, 65535 },
		{ "1024:", 0, 1, 1024, INT64_MAX },
		{ ":1023", 0, 1, INT64_MIN, 1023 },
		{ "-5:-1", 0, 1, -5, -1 },
		{ "1:1", 0, 1, 1, 1 },
		{ ":", 0, 0, 0, 0 },
		{ "", 0, 0, 0, 0 },
		{ "10:1", 0, 0, 0, 0 },
		{ "1:2:3", 0, 0, 0, 0 },
		{ "1.0", 0, 0, 0, 0 },
		{ "3:3.1", 1, 1, 3 << 16, (3 << 16) + 1 },
		{ "1.2", 1, 1, (1 << 16) + 2, (1 << 16) + 2 },
		{ "65535.65535", 1, 1, UINT32_MAX, UINT32_MAX },
		{ "65536.0", 1, 0, 0, 0 },
		{ "1.65536", 1, 0, 0, 0 },
		{ "1.", 1, 0, 0, 0 },
		{ ".1", 1, 0, 0, 0 },
		{ "1.2.3", 1, 0, 0, 0 },
		{ "-1.0", 1, 1, INT64_MIN, 1 << 16 },
		{ "3.0-3.1", 1, 1, 3 << 16, (3 << 16) + 1 },
		{ "3-", 1, 1, 3 << 16, INT64_MAX },
		{ "3.1-3.0", 1, 0, 0, 0 },
		{ "3.0-3.1:3.2", 1, 0, 0, 0 },
		{ "-", 1, 0, 0, 0 },
		{ "1-2", 0, 0, 0, 0 },
	};
	int64_t lo, hi;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		const char *why = NULL;
		int r = pattern_range_parse(str_of(t[i].text), t[i].dotted, &lo, &hi, &why);

		if (r != (t[i].ok ? 0 : -1))
			fail_msg("<%s>: %d", t[i].text, r);
		if (r == 0 && (lo != t[i].lo || hi != t[i].hi))
			fail_msg("<%s>: %lld to %lld", t[i].text, (long long)lo, (long long)hi);
		assert_non_null(why);
	}
}

static void
ranges_are_written(void **state)
{
	static const struct {
		int64_t lo, hi;
		int dotted;
		const char *want; /* NULL: none */
	} t[] = {
		{ 101, INT64_MAX, 0, "101:" }, { INT64_MIN, -5, 0, ":-5" }, { 1, 5, 0, "1:5" },
		{ INT64_MIN, INT64_MAX, 0, ":" }, { INT64_MAX, INT64_MIN, 0, NULL },
		{ 0x10001, INT64_MAX, 1, "1.1:" }, { INT64_MIN, 0x30000, 1, ":3.0" },
		{ 0x100000000, INT64_MAX, 1, NULL }, { INT64_MIN, -1, 1, NULL },
	};
	char text[PATTERN_RANGE_MAX];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		assert_int_equal(pattern_range_text(t[i].lo, t[i].hi, t[i].dotted, text),
			t[i].want ? 0 : -1);
		if (t[i].want)
			assert_string_equal(text, t[i].want);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_parsed),
		cmocka_unit_test(ranges_are_parsed),
		cmocka_unit_test(ranges_are_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
