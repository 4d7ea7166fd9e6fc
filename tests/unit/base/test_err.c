#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/err.h"
#include "unit/test.h"

static void
test_every_reason_has_its_own_text(void **state)
{
	static const char *const want[] = {
#define ERR_ROW(name, text) text,
#include "base/err.tbl.h"
#undef ERR_ROW
	};
	size_t n = sizeof(want) / sizeof(want[0]);

	(void)state;
	assert_int_equal(ERR_END_ - ERR_FIRST - 1, n);
	for (size_t i = 0; i < n; i++) {
		assert_string_equal(err_text(-(ERR_FIRST + 1 + (int)i)), want[i]);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(want[i], want[j]);
	}
	assert_string_equal(err_text(-ERR_NOMEM), "out of memory");
	assert_string_equal(err_text(-ERR_TIMEOUT), "timed out");
}

static void
test_reasons_and_errnos_are_distinct(void **state)
{
	(void)state;
	assert_true(ERR_NOMEM > 4095);
	assert_string_equal(err_text(-ECONNREFUSED), strerror(ECONNREFUSED));
	assert_string_equal(err_text(EAGAIN), strerror(EAGAIN));
}

static void
test_unknown_values_have_a_text(void **state)
{
	(void)state;
	assert_string_equal(err_text(0), "no error");
	assert_string_equal(err_text(-ERR_FIRST), "unknown reason");
	assert_string_equal(err_text(-ERR_END_), "unknown reason");
	assert_string_equal(err_text(INT_MAX), "unknown reason");
	assert_string_equal(err_text(-INT_MAX), "unknown reason");
	assert_string_equal(err_text(INT_MIN), "unknown reason");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_reason_has_its_own_text),
		cmocka_unit_test(test_reasons_and_errnos_are_distinct),
		cmocka_unit_test(test_unknown_values_have_a_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
