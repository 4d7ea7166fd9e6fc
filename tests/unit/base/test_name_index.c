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

/* Remaining items are found after any removal, in a table that was filled to its limit, too. */
static void
removed_items(void **state)
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
	for (int i = 0; i < MANY; i++) {
		/* The first of every second, both of every third. */
		if (i % 2 == 0 || i % 3 == 0)
			name_index_remove(&x, name[i], &items[i][0]);
		if (i % 3 == 0)
			name_index_remove(&x, name[i], &items[i][1]);
		name_index_remove(&x, name[i], &items[(i + 1) % MANY][0]);
	}
	for (int i = 0; i < MANY; i++)
		assert_ptr_equal(name_index_find(&x, name[i]),
			i % 3 == 0 ? NULL : &items[i][i % 2 == 0]);
	for (int i = 0; i < MANY; i++)
		for (int k = 0; k < 2; k++)
			name_index_remove(&x, name[i], &items[i][k]);
	assert_int_equal(x.n, 0);
	for (uint32_t i = 0; i < x.cap; i++)
		assert_null(x.slot[i].item);
	name_index_fini(&x);
	name_index_remove(&x, "1", name);
}

/* After it has made room, as many items are added as were asked for, and the table stays where it
 * is. */
static void
room(void **state)
{
	static char name[MANY][16];
	struct name_index x = { 0 }, more;
	struct name_slot *at;
	int n = 0;

	(void)state;
	assert_int_equal(name_index_make_room(&x, 0, &more), 0);
	assert_null(more.slot);
	for (uint32_t k = 1; n + (int)k < MANY; k++) {
		assert_int_equal(name_index_make_room(&x, k, &more), 0);
		if (more.cap) {
			name_index_fini(&x);
			x = more;
		}
		at = x.slot;
		for (uint32_t i = 0; i < k; i++, n++) {
			snprintf(name[n], sizeof(name[n]), "%d", n);
			assert_int_equal(name_index_add(&x, name[n], name[n]), 0);
		}
		assert_ptr_equal(x.slot, at);
	}
	for (int i = 0; i < n; i++)
		assert_ptr_equal(name_index_find(&x, name[i]), name[i]);
	name_index_fini(&x);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_names),
		cmocka_unit_test(first_of_a_name),
		cmocka_unit_test(removed_items),
		cmocka_unit_test(room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
