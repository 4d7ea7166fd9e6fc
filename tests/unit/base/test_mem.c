#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/mem.h"

#define OBJECTS 10
#define KEEP 4

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
	/* a block of nothing is refused as well, so that it cannot be freed unseen */
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

static void
test_a_pool_counts_and_keeps(void **state)
{
	struct pool p;
	char *obj[OBJECTS];

	(void)state;
	pool_init(&p, "test", 32, KEEP);
	for (int i = 0; i < OBJECTS; i++) {
		obj[i] = pool_get(&p);
		assert_non_null(obj[i]);
		memset(obj[i], i, 32);
	}
	for (int i = 0; i < OBJECTS; i++)
		assert_int_equal(obj[i][31], i);
	assert_int_equal(p.live, OBJECTS);
	assert_int_equal(p.peak, OBJECTS);
	for (int i = 0; i < OBJECTS; i++)
		pool_put(&p, obj[i]);
	assert_int_equal(p.live, 0);
	assert_int_equal(p.gets, OBJECTS);
	assert_int_equal(p.fails, 0);
#ifdef TACIT_MAGIC
	assert_int_equal(p.kept, 0);
#else
	assert_int_equal(p.kept, KEEP);
	/* the last one put back is the first one handed out: it is the warmest */
	obj[0] = pool_get(&p);
	assert_ptr_equal(obj[0], obj[KEEP - 1]);
	assert_int_equal(p.kept, KEEP - 1);
	pool_put(&p, obj[0]);
#endif
	assert_int_equal(p.peak, OBJECTS);
	pool_fini(&p);
	assert_int_equal(p.kept, 0);
	assert_null(p.free);
}

static void
test_a_pool_of_tiny_objects_can_link_them(void **state)
{
	struct pool p;
	char *a, *b;

	(void)state;
	pool_init(&p, "tiny", 1, KEEP);
	assert_true(p.size >= sizeof(void *));
	a = pool_get(&p);
	b = pool_get(&p);
	assert_true(a && b && a != b);
	pool_put(&p, a);
	pool_put(&p, b);
	pool_fini(&p);
}

static void
test_a_pool_says_when_memory_is_out(void **state)
{
	struct pool p;

	(void)state;
	pool_init(&p, "huge", SIZE_MAX / 4, 1);
	assert_null(pool_get(&p));
	assert_int_equal(p.fails, 1);
	assert_int_equal(p.live, 0);
	assert_int_equal(p.gets, 0);
	pool_fini(&p);
}

static void
test_an_aligned_pool_fills_its_pages(void **state)
{
	struct pool p;
	char *obj[4];

	(void)state;
	pool_init_aligned(&p, "pages", 5000, 4096, 4);
	assert_int_equal(p.size, 8192);
	for (size_t i = 0; i < ARRAY_LEN(obj); i++) {
		obj[i] = pool_get(&p);
		assert_non_null(obj[i]);
		assert_int_equal((uintptr_t)obj[i] % 4096, 0);
		memset(obj[i], 'x', p.size);
	}
	for (size_t i = 0; i < ARRAY_LEN(obj); i++)
		pool_put(&p, obj[i]);
	assert_int_equal(pool_reserve(&p), 0);
	assert_int_equal((uintptr_t)p.free % 4096, 0);
	pool_fini(&p);
}

static void
test_what_is_reserved_can_be_had(void **state)
{
	struct pool p;
	void *obj;

	(void)state;
	pool_init(&p, "p", 64, 0);
	assert_int_equal(pool_reserve(&p), 0);
	assert_int_equal(p.kept, 1);
	/* Once is enough. */
	assert_int_equal(pool_reserve(&p), 0);
	assert_int_equal(p.kept, 1);
	obj = p.free;
	assert_ptr_equal(pool_get(&p), obj);
	assert_int_equal(p.kept, 0);
	assert_int_equal(p.live, 1);
	pool_put(&p, obj);
	/* One that nobody took goes with the pool. */
	assert_int_equal(pool_reserve(&p), 0);
	pool_fini(&p);
	pool_init(&p, "huge", SIZE_MAX / 4, 1);
	assert_int_equal(pool_reserve(&p), -1);
	assert_int_equal(p.fails, 1);
	pool_fini(&p);
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
		cmocka_unit_test(test_a_pool_counts_and_keeps),
		cmocka_unit_test(test_a_pool_of_tiny_objects_can_link_them),
		cmocka_unit_test(test_a_pool_says_when_memory_is_out),
		cmocka_unit_test(test_an_aligned_pool_fills_its_pages),
		cmocka_unit_test(test_what_is_reserved_can_be_had),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
