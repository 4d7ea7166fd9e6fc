#include <stdio.h>

#include "base/name_index.h"
#include "unit/test.h"

enum { MANY = 5000 };

static void
many_names(void **state)
{
	static char name[MANY][16];
	struct name_index x = { 0 };
	char other[16];

	(void)state;
	assert_null(name_index_find(&x, "a"));
	for (int i = 0; i < MANY; i++) {
		snprintf(name[i], sizeof(name[i]), "name%d", i);
		assert_null(name_index_find(&x, name[i]));
		assert_int_equal(name_index_add(&x, name[i], name[i]), 0);
	}
	for (int i = 0; i < MANY; i++) {
		snprintf(other, sizeof(other), "name%d", i);
		assert_ptr_equal(name_index_find(&x, other), name[i]);
		snprintf(other, sizeof(other), "Name%d", i);
		assert_null(name_index_find(&x, other));
	}
	assert_null(name_index_find(&x, ""));
	assert_true(2 * x.n <= x.cap);
	name_index_fini(&x);
	assert_null(name_index_find(&x, "name1"));
}

/* The first of several items with one name is found, however often the table has grown. */
static void
first_of_a_name(void **state)
{
	static char name[MANY][16];
	struct name_index x = { 0 };
	int items[MANY][2];

	(void)state;
	for (int i = 0; i < MANY; i++) {
		snprintf(name[i], sizeof(name[i]), "%d", i);
		for (int k = 0; k < 2; k++)
			assert_int_equal(name_index_add(&x, name[i], &items[i][k]), 0);
	}
	for (int i = 0; i < MANY; i++)
		assert_ptr_equal(name_index_find(&x, name[i]), &items[i][0]);
	name_index_fini(&x);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_names),
		cmocka_unit_test(first_of_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
