/* A pace: at most so many bytes in any period, and no fewer over time. */
#include <stdlib.h>

#include "base/pace.h"
#include "sim/dice.h"
#include "unit/test.h"

#define ALL ((size_t)1 << 40)

/* Uses all that is granted as early as it is, for this time: the number of bytes. */
static uint64_t
run(struct pace *p, uint64_t ms, size_t read_max)
{
	uint64_t now = p->at_ms, end = now + ms, sum = 0, wake = 0;

	while (now < end) {
		size_t n = pace_grant(p, read_max, now, &wake);

		if (!n) {
			assert_true(wake > now);
			now = wake;
			continue;
		}
		pace_used(p, n);
		sum += n;
	}
	return sum;
}

static void
assert_near(uint64_t got, uint64_t want, uint64_t by)
{
	if (got > want + by || got + by < want)
		fail_msg("%llu bytes, not %llu", (unsigned long long)got, (unsigned long long)want);
}

/* All rates and periods, with reads of all sizes: exact but for the first piece and the last. */
static void
test_ten_periods(void **state)
{
	static const uint32_t limits[] = { 1, 7, 1000, 12345, 1000000, 125000000, UINT32_MAX };
	static const uint32_t periods[] = { 1, 10, 1000, 60000, PACE_PERIOD_MAX_MS };
	struct pace p;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(limits); i++)
		for (size_t j = 0; j < ARRAY_LEN(periods); j++) {
			pace_init(&p, limits[i], periods[j], 0, 5);
			assert_near(run(&p, 10ull * periods[j], ALL), 10ull * limits[i],
				p.piece + 1ull + limits[i] / periods[j]);
		}
	pace_init(&p, 100000, 1000, 0, 0);
	assert_near(run(&p, 10000, 700), 1000000, p.piece);
}

/* No window of a period has more than the limit and the pieces that were kept. */
static void
test_any_window(void **state)
{
	struct dice d = dice_seed(7);
	struct pace p;
	uint64_t used[5000] = { 0 }, wake, in_window = 0;

	(void)state;
	pace_init(&p, 10000, 1000, 0, 0);
	for (uint64_t now = 0; now < ARRAY_LEN(used); now++) {
		size_t n = dice_is(&d, 3) ? pace_grant(&p, 1 + dice(&d, 900), now, &wake) : 0;

		pace_used(&p, n);
		used[now] = n;
		in_window += n;
		if (now >= 1000)
			in_window -= used[now - 1000];
		assert_true(in_window <= 10000 + 2 * p.piece);
	}
}

/* The last bytes of a message need not wait for those of a piece. */
static void
test_few_bytes(void **state)
{
	struct pace p;
	uint64_t wake = 0;

	(void)state;
	pace_init(&p, 1000, 1000, 100, 0);
	assert_int_equal(pace_grant(&p, ALL, 0, &wake), 100);
	pace_used(&p, 100);
	assert_int_equal(pace_grant(&p, ALL, 0, &wake), 0);
	assert_int_equal(wake, 100);
	assert_int_equal(pace_grant(&p, 3, 0, &wake), 0);
	assert_int_equal(wake, 3);
	assert_int_equal(pace_grant(&p, 3, 3, &wake), 3);
}

/* More than was granted is waited for. */
static void
test_debt(void **state)
{
	struct pace p;
	uint64_t wake = 0;

	(void)state;
	pace_init(&p, 1000, 1000, 10, 0);
	pace_used(&p, 1010);
	assert_int_equal(pace_grant(&p, ALL, 0, &wake), 0);
	assert_int_equal(wake, 1010);
	assert_int_equal(pace_grant(&p, ALL, 1009, &wake), 0);
	assert_int_equal(pace_grant(&p, ALL, 1010, &wake), 10);
}

/* A long pause gives two pieces; a clock that went back none. */
static void
test_pause(void **state)
{
	struct pace p;
	uint64_t wake = 0;

	(void)state;
	pace_init(&p, 1000, 1000, 10, 1000);
	assert_int_equal(pace_grant(&p, ALL, UINT64_MAX / 2, &wake), 20);
	pace_used(&p, 20);
	assert_int_equal(pace_grant(&p, ALL, 5, &wake), 0);
	pace_init(&p, UINT32_MAX, 1, 0, 0);
	assert_int_equal(p.piece, UINT32_MAX);
	pace_init(&p, 1, PACE_PERIOD_MAX_MS, 0, 0);
	assert_int_equal(p.piece, 1);
	/* A piece is never more than the limit: it would never pass. */
	pace_init(&p, 10, 1000, 5000, 0);
	assert_int_equal(p.piece, 10);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ten_periods),
		cmocka_unit_test(test_any_window),
		cmocka_unit_test(test_few_bytes),
		cmocka_unit_test(test_debt),
		cmocka_unit_test(test_pause),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
