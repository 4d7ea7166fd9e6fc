#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "base/str.h"

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
	/* What differs in the same bit as the cases of a letter do. */
	assert_false(str_is_nocase(STR("@"), STR("`")));
	assert_false(str_is_nocase(STR("["), STR("{")));
	assert_false(str_is_nocase(STR("\xc4"), STR("\xe4")));
	assert_false(str_is_nocase(STR("a\0b"), STR("a\0c")));
}

static void
test_lower(void **state)
{
	(void)state;
	for (int c = 0; c < 256; c++)
		assert_int_equal(str_lower((char)c),
			(char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_is),
		cmocka_unit_test(test_is_nocase),
		cmocka_unit_test(test_lower),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
