#include <string.h>

#include "base/mem.h"
#include "unit/test.h"

static void
test_blocks(void **state)
{
	char *p = mem_zalloc(100);

	(void)state;
	assert_non_null(p);
	for (int i = 0; i < 100; i++)
		assert_int_equal(p[i], 0);
	memset(p, 'x', 100);
	p = mem_resize(p, 50, 4);
	assert_non_null(p);
	assert_int_equal(p[99], 'x');
	mem_free(p);
	mem_free(NULL);
}

static void
test_aligned_blocks(void **state)
{
	(void)state;
	for (size_t align = 16; align <= 4096; align *= 2) {
		for (size_t size = 1; size < 300; size += 37) {
			char *p = mem_zalloc_aligned(align, size);

			assert_non_null(p);
			assert_int_equal((uintptr_t)p % align, 0);
			for (size_t i = 0; i < size; i++)
				assert_int_equal(p[i], 0);
			memset(p, 'x', size);
			mem_free(p);
		}
	}
	assert_null(mem_zalloc_aligned(64, SIZE_MAX - 3));
}

static void
test_resize_does_not_wrap(void **state)
{
	char *p = mem_alloc(8);
	void *q;

	(void)state;
	assert_non_null(p);
	p[0] = 'a';
	q = mem_resize(p, SIZE_MAX / 2 + 1, 2);
	assert_null(q);
	q = mem_resize(p, SIZE_MAX, SIZE_MAX);
	assert_null(q);
	/* a block of size 0 is rejected as well, otherwise it could be freed unnoticed */
	q = mem_resize(p, 0, 8);
	assert_null(q);
	assert_int_equal(p[0], 'a');
	mem_free(p);
}

static void
test_strings(void **state)
{
	const char unended[3] = { 'a', 'b', 'c' };
	char *s = mem_strdup("hello");
	char *n = mem_strndup("hello", 2);
	char *u = mem_strndup(unended, 3);
	char *longer = mem_strndup("hi", 100);

	(void)state;
	assert_string_equal(s, "hello");
	assert_string_equal(n, "he");
	assert_string_equal(u, "abc");
	assert_string_equal(longer, "hi");
	mem_free(s);
	mem_free(n);
	mem_free(u);
	mem_free(longer);
}

static void
test_the_allocator_is_the_one_configured(void **state)
{
	(void)state;
#ifdef TACIT_JEMALLOC
	assert_non_null(strstr(mem_allocator(), "jemalloc"));
#else
	assert_string_equal(mem_allocator(), "libc");
#endif
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_aligned_blocks),
		cmocka_unit_test(test_resize_does_not_wrap),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_the_allocator_is_the_one_configured),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
