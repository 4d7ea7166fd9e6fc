/* Consistent hashing: the owner of each key, and the keys that move when members are added or
 * removed. */

#include "base/hash.h"
#include "proxy/model/consistent_hash.h"
#include "unit/test.h"

#define KEYS 20000

static struct consistent_hash r;

static void
build(const unsigned int *points, unsigned int n)
{
	consistent_hash_clear(&r);
	for (unsigned int i = 0; i < n; i++)
		consistent_hash_add(&r, (uint16_t)i, i + 1, points[i]);
	consistent_hash_sort(&r);
}

static unsigned int
owner(uint32_t hash)
{
	return r.point[consistent_hash_find(&r, hash)].who;
}

static void
test_the_nearest_point(void **state)
{
	(void)state;
	assert_int_equal(consistent_hash_init(&r, 64), 0);
	build((const unsigned int[]){ 16, 16, 16 }, 3);
	assert_int_equal(r.n, 48);
	for (unsigned int i = 0; i < r.n; i++) {
		uint32_t here = r.point[i].at, next = r.point[(i + 1) % r.n].at;
		uint32_t half = (next - here) / 2;

		assert_true(!i || r.point[i - 1].at < here);
		assert_int_equal(consistent_hash_find(&r, here), i);
		/* In the middle between two points the one before is the owner. */
		assert_int_equal(consistent_hash_find(&r, here + half), i);
		assert_int_equal(consistent_hash_find(&r, here + half + 1), (i + 1) % r.n);
		assert_int_equal(consistent_hash_find(&r, next - 1), (i + 1) % r.n);
	}
	consistent_hash_fini(&r);
}

/* No key moves from one remaining member to another. */
static void
test_only_the_removed_members_keys_move(void **state)
{
	static uint16_t before[KEYS];
	unsigned int moved = 0;

	(void)state;
	assert_int_equal(consistent_hash_init(&r, 1000), 0);
	build((const unsigned int[]){ 160, 160, 160, 160, 160 }, 5);
	for (uint32_t k = 0; k < KEYS; k++)
		before[k] = (uint16_t)owner(hash_avalanche(k));
	build((const unsigned int[]){ 160, 160, 0, 160, 160 }, 5);
	for (uint32_t k = 0; k < KEYS; k++) {
		unsigned int now = owner(hash_avalanche(k));

		assert_int_not_equal(now, 2);
		if (before[k] == 2)
			moved++;
		else
			assert_int_equal(now, before[k]);
	}
	assert_in_range(moved, KEYS / 10, KEYS * 3 / 10);
	/* A member with more weight takes keys from all others, and loses none. */
	build((const unsigned int[]){ 160, 160, 160, 160, 320 }, 5);
	for (uint32_t k = 0; k < KEYS; k++) {
		unsigned int now = owner(hash_avalanche(k));

		assert_true(now == before[k] || now == 4);
	}
	consistent_hash_fini(&r);
}

static void
test_shares_follow_weights(void **state)
{
	unsigned int keys[3] = { 0 };

	(void)state;
	assert_int_equal(consistent_hash_init(&r, 4000), 0);
	build((const unsigned int[]){ 1600, 800, 800 }, 3);
	for (uint32_t k = 0; k < KEYS; k++)
		keys[owner(hash_avalanche(k))]++;
	assert_in_range(keys[0], KEYS * 45 / 100, KEYS * 55 / 100);
	assert_in_range(keys[1], KEYS * 20 / 100, KEYS * 30 / 100);
	consistent_hash_fini(&r);
}

static void
test_the_bound_holds(void **state)
{
	(void)state;
	assert_int_equal(consistent_hash_init(&r, 10), 0);
	build((const unsigned int[]){ 8, 8 }, 2);
	assert_int_equal(r.n, 10);
	consistent_hash_fini(&r);
	assert_null(r.point);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_nearest_point),
		cmocka_unit_test(test_only_the_removed_members_keys_move),
		cmocka_unit_test(test_shares_follow_weights),
		cmocka_unit_test(test_the_bound_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
