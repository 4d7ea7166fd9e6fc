#include <string.h>

#include "base/pool.h"
#include "unit/test.h"

#define OBJECTS 10
#define KEEP 4

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
	/* the object put back last is handed out first: it is most likely in the cache */
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
test_a_pool_reports_that_memory_is_out(void **state)
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
test_reserved_objects_are_available(void **state)
{
	struct pool p;
	void *obj;

	(void)state;
	pool_init(&p, "p", 64, 0);
	assert_int_equal(pool_reserve(&p), 0);
	assert_int_equal(p.kept, 1);
	/* One reservation is enough. */
	assert_int_equal(pool_reserve(&p), 0);
	assert_int_equal(p.kept, 1);
	obj = p.free;
	assert_ptr_equal(pool_get(&p), obj);
	assert_int_equal(p.kept, 0);
	assert_int_equal(p.live, 1);
	pool_put(&p, obj);
	/* A reserved object that was not taken is freed with the pool. */
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
		cmocka_unit_test(test_a_pool_counts_and_keeps),
		cmocka_unit_test(test_a_pool_of_tiny_objects_can_link_them),
		cmocka_unit_test(test_a_pool_reports_that_memory_is_out),
		cmocka_unit_test(test_an_aligned_pool_fills_its_pages),
		cmocka_unit_test(test_reserved_objects_are_available),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
