#include "base/freq.h"
#include "unit/test.h"

static void
test_counts_within_a_second(void **state)
{
	struct freq f = { 0 };

	(void)state;
	assert_int_equal(freq_read(&f, 0), 0);
	freq_add(&f, 5000, 1);
	freq_add(&f, 5999, 9);
	assert_int_equal(freq_read(&f, 5999), 10);
	assert_int_equal(f.max, 10);
}

static void
test_the_last_second_fades(void **state)
{
	struct freq f = { 0 };

	(void)state;
	freq_add(&f, 5500, 1000);
	assert_int_equal(freq_read(&f, 6000), 1000);
	assert_int_equal(freq_read(&f, 6250), 750);
	assert_int_equal(freq_read(&f, 6999), 1);
	assert_int_equal(freq_read(&f, 7000), 0);
	freq_add(&f, 6500, 100);
	assert_int_equal(freq_read(&f, 6500), 600);
	assert_int_equal(freq_read(&f, 7500), 50);
	/* the maximum is one of whole seconds, not of the sliding window */
	assert_int_equal(f.max, 1000);
}

static void
test_after_a_pause_the_rate_is_zero(void **state)
{
	struct freq f = { 0 };

	(void)state;
	freq_add(&f, 1000, 50);
	freq_add(&f, 3000, 1);
	assert_int_equal(freq_read(&f, 3000), 1);
	assert_int_equal(f.max, 50);
}

static void
test_a_long_uptime_and_large_numbers(void **state)
{
	struct freq f = { 0 };
	uint64_t year = 365ull * 86400 * 1000;

	(void)state;
	freq_add(&f, 100 * year, UINT32_MAX);
	assert_int_equal(freq_read(&f, 100 * year + 999), UINT32_MAX);
	assert_int_equal(freq_read(&f, 100 * year + 1500), UINT32_MAX / 2);
}

/* The clock is read once per turn: another worker may be a second ahead. */
static void
test_a_late_clock_counts_in_the_current_second(void **state)
{
	struct freq f = { 0 };

	(void)state;
	freq_add(&f, 7000, 5);
	freq_add(&f, 6999, 1);
	assert_int_equal(freq_read(&f, 7000), 6);
	assert_int_equal(freq_read(&f, 6999), 6);
	assert_int_equal(f.max, 6);
}

static void
test_merge(void **state)
{
	static const struct {
		uint64_t a_ms, b_ms;
		uint32_t rate; /* at 7500 */
	} t[] = {
		{ 7100, 7200, 11 }, { 6100, 6200, 5 }, { 6100, 7200, 10 }, { 7100, 6200, 6 },
		{ 5100, 7200, 10 }, { 7100, 5200, 1 }, { 5100, 5200, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct freq a = { 0 }, b = { 0 }, sum = { 0 };

		freq_add(&a, t[i].a_ms, 1);
		freq_add(&b, t[i].b_ms, 10);
		freq_merge(&sum, &a);
		freq_merge(&sum, &b);
		assert_int_equal(freq_read(&sum, 7500), t[i].rate);
		assert_int_equal(sum.max, 10);
	}
}

static void
test_merge_keeps_the_second_before(void **state)
{
	struct freq a = { 0 }, b = { 0 }, sum = { 0 };

	(void)state;
	freq_add(&a, 6100, 100);
	freq_add(&a, 7100, 1);
	freq_add(&b, 6100, 40);
	freq_add(&b, 7100, 2);
	freq_merge(&sum, &a);
	freq_merge(&sum, &b);
	assert_int_equal(freq_read(&sum, 7500), 3 + 70);
	assert_int_equal(sum.max, 100);
}

/* Two workers count in the same second: each sets its maximum from the sum of both. */
static void
test_one_second_of_two_workers(void **state)
{
	struct freq a = { 0 }, b = { 0 }, sum = { 0 };
	uint64_t second = 0;

	(void)state;
	for (uint32_t i = 1; i <= 6; i++) {
		struct freq *f = i % 2 ? &a : &b;

		assert_int_equal(freq_count_second(&second, 5000), i);
		freq_add(f, 5000, 1);
		freq_raise(f, i);
	}
	assert_int_equal(freq_count_second(&second, 6000), 1);
	/* A worker whose clock is behind counts in the current second. */
	assert_int_equal(freq_count_second(&second, 5999), 2);
	assert_int_equal(freq_count_second(&second, UINT64_C(4000000000) * 1000), 1);
	freq_merge(&sum, &a);
	freq_merge(&sum, &b);
	assert_int_equal(sum.max, 6);
	freq_raise(&sum, 3);
	assert_int_equal(sum.max, 6);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts_within_a_second),
		cmocka_unit_test(test_the_last_second_fades),
		cmocka_unit_test(test_after_a_pause_the_rate_is_zero),
		cmocka_unit_test(test_a_long_uptime_and_large_numbers),
		cmocka_unit_test(test_a_late_clock_counts_in_the_current_second),
		cmocka_unit_test(test_one_second_of_two_workers),
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_merge_keeps_the_second_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
