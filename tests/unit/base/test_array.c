#include "base/array.h"
#include "base/mem.h"
#include "unit/test.h"

static void
an_array_grows_when_it_is_full(void **state)
{
	unsigned int cap = 0, huge = 1u << 31, grown = 0;
	int *v = NULL;

	(void)state;
	for (unsigned int n = 0; n < 1000; n++) {
		unsigned int was = cap;
		int *more = array_grow(v, n, &cap, sizeof(*v));

		assert_non_null(more);
		assert_true(n < cap);
		assert_true(cap == was ? more == v : cap == 2 * was || !was);
		grown += cap != was;
		v = more;
		v[n] = (int)n;
	}
	assert_int_equal(grown, 9);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(v[i], i);
	assert_null(array_grow(v, huge, &huge, sizeof(*v)));
	assert_int_equal(huge, 1u << 31);
	mem_free(v);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_array_grows_when_it_is_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
