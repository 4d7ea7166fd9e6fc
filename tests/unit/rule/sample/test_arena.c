#include "unit/rule/expr_rig.h"

static void
blocks_that_fit(void **state)
{
	char mem[8];
	struct arena a = { .p = mem, .cap = sizeof(mem) };
	struct str s;

	(void)state;
	assert_ptr_equal(arena_get(&a, 5), mem);
	assert_ptr_equal(arena_get(&a, 3), mem + 5);
	assert_ptr_equal(arena_get(&a, 0), mem + 8);
	assert_null(arena_get(&a, 1));
	assert_null(arena_get(&a, SIZE_MAX));
	assert_int_equal(a.refused, 2);
	arena_release(&a, 5);
	s = arena_copy(&a, STR("xyz"));
	assert_ptr_equal(s.p, mem + 5);
	assert_memory_equal(mem + 5, "xyz", 3);
	/* an empty text fits into a full arena */
	s = arena_copy(&a, STR(""));
	assert_non_null(s.p);
	s = arena_copy(&a, STR("q"));
	assert_null(s.p);
	assert_int_equal(a.refused, 3);
}

static void
marks(void **state)
{
	char mem[8];
	struct arena a = { .p = mem, .cap = sizeof(mem) };
	size_t mark;

	(void)state;
	assert_non_null(arena_get(&a, 2));
	mark = arena_mark(&a);
	assert_non_null(arena_get(&a, 6));
	arena_release(&a, mark);
	assert_ptr_equal(arena_get(&a, 6), mem + 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_that_fit),
		cmocka_unit_test(marks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
