#include "base/compiler.h"
#include "base/str.h"
#include "unit/test.h"

static void
test_is(void **state)
{
	(void)state;
	assert_true(str_is(STR("abc"), str_of("abc")));
	assert_false(str_is(STR("abc"), STR("abC")));
	assert_false(str_is(STR("abc"), STR("ab")));
	assert_true(str_is((struct str){ NULL, 0 }, STR("")));
	assert_true(str_is(STR("a\0b"), STR("a\0b")));
	assert_false(str_is(STR("a\0b"), STR("a\0c")));
}

static void
test_is_nocase(void **state)
{
	(void)state;
	assert_true(str_is_nocase(STR("aBc-Z"), STR("AbC-z")));
	assert_true(str_is_nocase((struct str){ NULL, 0 }, STR("")));
	assert_false(str_is_nocase(STR("abc"), STR("abcd")));
	/* These differ in the same bit as upper and lower case letters do. */
	assert_false(str_is_nocase(STR("@"), STR("`")));
	assert_false(str_is_nocase(STR("["), STR("{")));
	assert_false(str_is_nocase(STR("\xc4"), STR("\xe4")));
	assert_false(str_is_nocase(STR("a\0b"), STR("a\0c")));
}

/* The comparison of eight bytes at a time agrees with one byte at a time: every pair of bytes, at
 * every position. */
static void
test_is_nocase_wide(void **state)
{
	(void)state;
	for (size_t len = 1; len <= 20; len++)
		for (size_t at = 0; at < len; at++)
			for (int x = 0; x < 256; x++)
				for (int d = 0; d < 8; d++) {
					static const int other[] = { 0, 32, -32, 1, 128, 64, 16,
								   96 };
					char a[20], b[20];
					int same;

					memset(a, 'Q', sizeof(a));
					memset(b, 'q', sizeof(b));
					a[at] = (char)x;
					b[at] = (char)(x + other[d]);
					same = str_lower(a[at]) == str_lower(b[at]);
					assert_int_equal(same, str_is_nocase((struct str){ a, len },
								       (struct str){ b, len }));
				}
}

static void
test_lower(void **state)
{
	(void)state;
	for (int c = 0; c < 256; c++)
		assert_int_equal(str_lower((char)c),
			(char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c));
}

static void
test_trim(void **state)
{
	(void)state;
	assert_true(str_is(str_trim(STR(" \t a \tb\t ")), STR("a \tb")));
	assert_true(str_is(str_trim(STR("a")), STR("a")));
	assert_int_equal(str_trim(STR(" \t")).len, 0);
	assert_int_equal(str_trim((struct str){ NULL, 0 }).len, 0);
	/* Other white space is not trimmed. */
	assert_true(str_is(str_trim(STR("\n\v\r")), STR("\n\v\r")));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_is),
		cmocka_unit_test(test_is_nocase),
		cmocka_unit_test(test_is_nocase_wide),
		cmocka_unit_test(test_lower),
		cmocka_unit_test(test_trim),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
