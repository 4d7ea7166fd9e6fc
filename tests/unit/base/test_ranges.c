/* Acknowledged ranges: by example, at the bounds, and compared with a bitmap. */
#include <stdlib.h>

#include "base/err.h"
#include "base/ranges.h"
#include "unit/test.h"

/* Both implementations must give the same result. */
static struct ranges fast, plain;

static void
open_at(uint32_t first)
{
	ranges_init(&fast, first, 1);
	ranges_init(&plain, first, 0);
}

static void
close_both(void)
{
	ranges_fini(&fast);
	ranges_fini(&plain);
}

/* See --wrap in build-aux/build.mk. */
static int no_memory;
void *__real_realloc(void *p, size_t n);
void *__wrap_realloc(void *p, size_t n);

void *
__wrap_realloc(void *p, size_t n)
{
	return no_memory ? NULL : __real_realloc(p, n);
}

static void
ack(uint32_t lo, uint32_t hi, uint32_t next, uint32_t kept)
{
	assert_int_equal(ranges_ack(&fast, lo, hi), 0);
	assert_int_equal(ranges_ack(&plain, lo, hi), 0);
	assert_int_equal(fast.next, next);
	assert_int_equal(plain.next, next);
	assert_int_equal(fast.n, kept);
	assert_int_equal(plain.n, kept);
}

static void
in_order_only_advances(void **st)
{
	(void)st;
	open_at(0);
	for (uint32_t i = 0; i < 1000; i++)
		ack(3 * i, 3 * i + 2, 3 * i + 3, 0);
	/* The allocation failed: there is no set. */
	assert_null(fast.set);
	assert_int_equal(fast.held, 0);
	assert_int_equal(plain.held, 1000);
	close_both();
}

static void
ranges_after_a_gap_wait(void **st)
{
	(void)st;
	open_at(10);
	ack(12, 13, 10, 1);
	ack(20, 20, 10, 2);
	ack(14, 15, 10, 2); /* touches the first */
	ack(18, 19, 10, 2); /* touches the second from below */
	ack(16, 17, 10, 1); /* fills the gap between them */
	ack(11, 11, 10, 1);
	ack(10, 10, 21, 0);
	ack(21, 21, 22, 0);
	close_both();
}

static void
filling_a_gap_advances_over_later_ranges(void **st)
{
	(void)st;
	open_at(0);
	ack(2, 3, 0, 1);
	ack(6, 7, 0, 2);
	ack(10, 11, 0, 3);
	ack(0, 6, 8, 1); /* overlaps both, and ends in the middle of the second */
	ack(8, 8, 9, 1);
	ack(9, 9, 12, 0);
	close_both();
}

static void
repeated_ranges_are_ignored(void **st)
{
	(void)st;
	open_at(100);
	ack(50, 99, 100, 0);
	ack(100, 104, 105, 0);
	ack(100, 104, 105, 0);
	ack(90, 110, 111, 0); /* partly acknowledged before */
	ack(120, 130, 111, 1);
	ack(122, 125, 111, 1);
	ack(118, 132, 111, 1);
	ack(111, 120, 133, 0);
	assert_int_equal(fast.old, 2);
	close_both();
}

static void
the_counter_wraps(void **st)
{
	(void)st;
	open_at(UINT32_MAX - 3);
	ack(1, 2, UINT32_MAX - 3, 1);
	ack(UINT32_MAX - 1, 0, UINT32_MAX - 3, 1);
	ack(UINT32_MAX - 3, UINT32_MAX - 2, 3, 0);
	ack(UINT32_MAX - 3, UINT32_MAX, 3, 0);
	close_both();
	open_at(UINT32_MAX);
	ack(UINT32_MAX, UINT32_MAX, 0, 0);
	ack(0, 0, 1, 0);
	close_both();
	/* At the maximum distance, and one beyond it, which counts as past. */
	open_at(7);
	ack(7u + INT32_MAX, 7u + INT32_MAX, 7, 1);
	ack(7u + INT32_MAX + 1, 7u + INT32_MAX + 1, 7, 1);
	ack(7, 7u + INT32_MAX - 1, 7u + INT32_MAX + 1, 0);
	close_both();
}

static void
invalid_ranges_are_rejected(void **st)
{
	(void)st;
	open_at(5);
	assert_int_equal(ranges_ack(&fast, 6, 5), -ERR_INVAL);
	assert_int_equal(ranges_ack(&fast, 5, 4), -ERR_INVAL);
	assert_int_equal(ranges_ack(&plain, 5, 4), -ERR_INVAL);
	assert_int_equal(fast.next, 5);
	assert_int_equal(fast.n, 0);
	close_both();
}

static void
the_set_is_bounded(void **st)
{
	struct ranges *both[] = { &fast, &plain };

	(void)st;
	open_at(0);
	for (uint32_t i = 1; i <= RANGES_MAX; i++)
		ack(4 * i, 4 * i, 0, i);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(ranges_ack(both[i], 4 * RANGES_MAX + 4, 4 * RANGES_MAX + 4),
				 -ERR_FULL);
		assert_int_equal(ranges_ack(both[i], 6, 6), -ERR_FULL);
		assert_int_equal(both[i]->full, 2);
		assert_int_equal(both[i]->n, RANGES_MAX);
	}
	/* Extending a range, joining two, and advancing need no memory. */
	ack(5, 5, 0, RANGES_MAX);
	ack(0, 1, 2, RANGES_MAX);
	ack(2, 3, 6, RANGES_MAX - 1);
	ack(6, 4 * RANGES_MAX, 4 * RANGES_MAX + 1, 0);
	close_both();
}

static void
without_memory_only_gaps_are_rejected(void **st)
{
	(void)st;
	open_at(0);
	no_memory = 1;
	ack(0, 3, 4, 0);
	assert_int_equal(ranges_ack(&fast, 5, 5), -ERR_NOMEM);
	assert_int_equal(ranges_ack(&plain, 5, 5), -ERR_NOMEM);
	ack(4, 4, 5, 0);
	no_memory = 0;
	for (uint32_t i = 1; i <= 8; i++)
		ack(10 * i, 10 * i, 5, i);
	no_memory = 1;
	assert_int_equal(ranges_ack(&fast, 35, 36), -ERR_NOMEM);
	assert_int_equal(ranges_ack(&plain, 35, 36), -ERR_NOMEM);
	ack(5, 9, 11, 7);
	no_memory = 0;
	ack(35, 36, 11, 8);
	close_both();
}

/* --- compared with a bitmap --- */

#define SPAN 64

static uint64_t
dice(void)
{
	static uint64_t x = 88172645463325252ull;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

static uint64_t
bits(uint32_t lo, uint32_t hi)
{
	uint64_t to = hi == SPAN - 1 ? UINT64_MAX : (1ull << (hi + 1)) - 1;

	return to & ~((1ull << lo) - 1);
}

/* The acknowledged numbers as a bitmap; the set must be sorted, with gaps between its ranges. */
static uint64_t
known(const struct ranges *r, uint32_t base)
{
	uint32_t next = r->next - base;
	uint64_t seen = next ? bits(0, next - 1) : 0;

	for (uint32_t i = 0; i < r->n; i++) {
		uint32_t lo = r->set[i].lo - base, hi = r->set[i].hi - base;

		if (lo <= next || hi < lo || hi >= SPAN)
			fail_msg("[%u, %u] after %u", lo, hi, next);
		next = hi + 1;
		seen |= bits(lo, hi);
	}
	return seen;
}

static void
ack_random(uint32_t base, uint64_t *seen, uint32_t lo, uint32_t hi)
{
	uint32_t next;

	*seen |= bits(lo, hi);
	next = *seen == UINT64_MAX ? SPAN : (uint32_t)__builtin_ctzll(~*seen);
	if (ranges_ack(&fast, base + lo, base + hi) || ranges_ack(&plain, base + lo, base + hi))
		fail_msg("[%u, %u] was refused", lo, hi);
	if (fast.next != base + next || plain.next != base + next)
		fail_msg("next: %u with and %u without the fast path, not %u", fast.next - base,
			 plain.next - base, next);
	if (known(&fast, base) != *seen || known(&plain, base) != *seen)
		fail_msg("after [%u, %u] something is missing", lo, hi);
}

/* SPAN numbers in ranges of 1 to 8, in order at first; then some of them are moved. */
static void
one_order(void)
{
	struct range a[SPAN];
	uint32_t n = 0, base = dice() & 1 ? (uint32_t)dice() : (uint32_t)(dice() % SPAN) * -1u;
	uint32_t longest = 1 + (uint32_t)(dice() % 8), moved = (uint32_t)(dice() % 24);
	uint64_t seen = 0;

	for (uint32_t at = 0; at < SPAN; at = a[n++].hi + 1) {
		a[n].lo = at;
		a[n].hi = at + (uint32_t)(dice() % longest);
		a[n].hi = MIN(a[n].hi, SPAN - 1u);
	}
	while (moved--) {
		struct range *x = &a[dice() % n], *y = &a[dice() % n], t = *x;

		*x = *y;
		*y = t;
	}
	open_at(base);
	for (uint32_t i = 0; i < n; i++) {
		ack_random(base, &seen, a[i].lo, a[i].hi);
		/* Repeated, or extended by its neighbours. */
		if (dice() % 16 == 0)
			ack_random(base, &seen, a[i].lo - (a[i].lo > 0),
				   MIN(a[i].hi + 1, SPAN - 1u));
	}
	if (fast.next != base + SPAN || fast.n || plain.n)
		fail_msg("not all was acknowledged");
	close_both();
}

static void
random_orders_agree_with_a_bitmap(void **st)
{
	uint32_t orders = getenv("TACIT_SLOW") ? 10000000 : 1000000;

	(void)st;
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
	orders /= 10;
#endif
	while (orders--)
		one_order();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_order_only_advances),
		cmocka_unit_test(ranges_after_a_gap_wait),
		cmocka_unit_test(filling_a_gap_advances_over_later_ranges),
		cmocka_unit_test(repeated_ranges_are_ignored),
		cmocka_unit_test(the_counter_wraps),
		cmocka_unit_test(invalid_ranges_are_rejected),
		cmocka_unit_test(the_set_is_bounded),
		cmocka_unit_test(without_memory_only_gaps_are_rejected),
		cmocka_unit_test(random_orders_agree_with_a_bitmap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
