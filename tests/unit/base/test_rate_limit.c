#include "unit/test.h"

#include <string.h>

#include "base/rate_limit.h"

static struct rate_limit r;

static int
setup(void **st)
{
	(void)st;
	memset(&r, 0, sizeof(r));
	r.max = 10;
	return 0;
}

/* The event happens at once if it is allowed. */
static uint64_t
ask(uint64_t now)
{
	uint64_t wait = rate_limit_wait(&r, NULL, now, 1);

	if (!wait)
		rate_limit_keep(&r, NULL);
	return wait;
}

static void
take(uint64_t now, unsigned int n)
{
	while (n--)
		assert_int_equal(ask(now), 0);
}

static void
an_event_that_may_not_happen_delays_little(void **st)
{
	(void)st;
	take(5000, 9);
	/* A worker has asked, and has found no client yet. */
	assert_int_equal(rate_limit_wait(&r, NULL, 5000, 1), 0);
	assert_int_equal(ask(5000), 1);
	rate_limit_cancel(&r, NULL);
	assert_int_equal(r.cur, 9);
	take(5001, 1);
	assert_int_equal(ask(5001), 999);
	assert_int_equal(r.asked, 0);
}

/* As HAProxy: measured with a limit of 10 the times were 10 x 0, 1.0, 1.1, 1.2 ... */
static void
a_burst_is_followed_by_an_even_rate(void **st)
{
	uint64_t now = 5000;

	(void)st;
	take(now, 10);
	assert_int_equal(ask(now), 1000);
	now += 400;
	assert_int_equal(ask(now), 600);
	now += 600;
	for (unsigned int n = 1; n <= 30; n++) {
		uint64_t wait;

		while ((wait = ask(now)) > 0) {
			assert_true(wait <= 101);
			now += wait;
		}
		assert_in_range(now, 5900 + 100 * n, 6020 + 100 * n);
	}
}

static void
a_steady_stream_keeps_to_it(void **st)
{
	unsigned int n = 0;

	(void)st;
	for (uint64_t now = 777; now < 20777; now += 1 + now % 7)
		n += !ask(now);
	assert_in_range(n, 195, 212);
}

static void
an_idle_one_allows_the_whole_burst_again(void **st)
{
	(void)st;
	take(1000, 10);
	take(3100, 10);
	assert_int_equal(ask(3100), 1000);
}

static void
without_a_limit_nothing_waits(void **st)
{
	(void)st;
	r.max = 0;
	take(1, 100);
	assert_int_equal(r.cur, 0);
}

static void
counting_may_come_later(void **st)
{
	(void)st;
	for (int i = 0; i < 20; i++)
		assert_int_equal(rate_limit_wait(&r, NULL, 1000, 0), 0);
	for (int i = 0; i < 10; i++)
		rate_limit_count(&r, NULL, 1000);
	assert_int_equal(rate_limit_wait(&r, NULL, 1000, 0), 1000);
	rate_limit_give_back(&r, NULL);
	assert_int_equal(rate_limit_wait(&r, NULL, 1000, 0), 0);
}

/* A worker whose clock is behind. */
static void
an_earlier_time_is_the_current_second(void **st)
{
	(void)st;
	take(5000, 10);
	assert_int_equal(ask(4990), 1000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_burst_is_followed_by_an_even_rate, setup),
		cmocka_unit_test_setup(an_event_that_may_not_happen_delays_little, setup),
		cmocka_unit_test_setup(a_steady_stream_keeps_to_it, setup),
		cmocka_unit_test_setup(an_idle_one_allows_the_whole_burst_again, setup),
		cmocka_unit_test_setup(without_a_limit_nothing_waits, setup),
		cmocka_unit_test_setup(counting_may_come_later, setup),
		cmocka_unit_test_setup(an_earlier_time_is_the_current_second, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
