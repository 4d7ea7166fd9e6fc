/* The cost of a loop's functions, with a clock that the test moves. */

#include <string.h>

#include "base/counter.h"
#include "event/profile.h"
#include "unit/test.h"

#define MS 1000000u

static uint64_t mono;
static struct sys sys;
static struct profile profile;

static long
fake_clock_gettime(void *ctx, clockid_t id, struct timespec *ts)
{
	(void)ctx;
	assert_int_equal(id, CLOCK_MONOTONIC);
	ts->tv_sec = (time_t)(mono / 1000 / MS);
	ts->tv_nsec = (long)(mono % (1000u * MS));
	return 0;
}

static const struct sys_ops ops = { .clock_gettime = fake_clock_gettime };

static int
setup(void **st)
{
	(void)st;
	mono = 5000 * (uint64_t)MS;
	sys_init(&sys, &ops, NULL);
	profile_init(&profile, &sys);
	return 0;
}

static uint64_t
reads(void)
{
	return ledger_sum(&sys.ledger, SYS_CALL_clock_gettime);
}

static void
first(void)
{
}
PROFILE_NAME(first, the_first)

static void
second(void)
{
}

/* A call that takes so long, and was due so long before. */
static void
call(profile_fn *fn, uint64_t ns, uint64_t late)
{
	uint64_t due = mono - late, began = profile_begin(&profile);

	mono += ns;
	profile_end(&profile, fn, began, due);
}

static const struct profile_row *
row_of(profile_fn *fn)
{
	for (size_t i = 0; i < PROFILE_FNS; i++)
		if (counter_read(&profile.row[i].fn) == fn)
			return &profile.row[i];
	return NULL;
}

static void
assert_row(profile_fn *fn, uint64_t calls, uint64_t busy, uint64_t late)
{
	const struct profile_row *r = row_of(fn);

	assert_non_null(r);
	assert_int_equal(counter_read(&r->calls), calls);
	assert_int_equal(counter_read(&r->busy_ns), busy);
	assert_int_equal(counter_read(&r->late_ns), late);
}

static void
off_it_reads_no_clock(void **st)
{
	(void)st;
	for (int i = 0; i < 10; i++) {
		profile_turn(&profile, mono);
		call(first, MS, 0);
	}
	assert_int_equal(reads(), 0);
	assert_null(row_of(first));
}

static void
calls_times_and_delays_are_summed(void **st)
{
	(void)st;
	profile_set_mode(&profile, PROFILE_ON);
	call(first, 1, 0);
	assert_null(row_of(first));
	profile_turn(&profile, mono);
	assert_int_equal(reads(), 0);
	call(first, 300, 20);
	call(second, 7, 0);
	call(first, 50, 0);
	assert_int_equal(reads(), 6);
	assert_row(first, 2, 350, 20);
	assert_row(second, 1, 7, 0);
	profile_set_mode(&profile, PROFILE_OFF);
	profile_turn(&profile, mono);
	call(first, 300, 20);
	assert_row(first, 2, 350, 20);
	assert_int_equal(reads(), 6);
	profile_clear(&profile);
	assert_null(row_of(first));
}

static void
a_full_table_leaves_others_out(void **st)
{
	(void)st;
	profile_set_mode(&profile, PROFILE_ON);
	profile_turn(&profile, mono);
	for (uintptr_t i = 1; i <= PROFILE_FNS + 3; i++)
		call((profile_fn *)(i * 16), 1, 0);
	for (uintptr_t i = 1; i <= PROFILE_FNS; i++)
		assert_row((profile_fn *)(i * 16), 1, 1, 0);
	assert_null(row_of((profile_fn *)(uintptr_t)((PROFILE_FNS + 1) * 16)));
}

/* So many turns of this length. */
static void
turns(int n, uint64_t ns)
{
	while (n-- > 0) {
		mono += ns;
		profile_turn(&profile, mono - ns);
	}
}

static void
auto_follows_the_average_turn(void **st)
{
	(void)st;
	profile_set_mode(&profile, PROFILE_AUTO);
	turns(3 * PROFILE_TURNS, MS / 2);
	assert_false(counter_read(&profile.is_on));
	/* One long turn changes little. */
	turns(1, 100 * (uint64_t)MS);
	assert_false(counter_read(&profile.is_on));
	turns(20 * PROFILE_TURNS, MS + MS / 100);
	assert_true(counter_read(&profile.is_on));
	/* Between the two bounds it stays as it is. */
	turns(20 * PROFILE_TURNS, MS - MS / 200);
	assert_true(counter_read(&profile.is_on));
	turns(20 * PROFILE_TURNS, MS - MS / 50);
	assert_false(counter_read(&profile.is_on));
	turns(20 * PROFILE_TURNS, MS - MS / 200);
	assert_false(counter_read(&profile.is_on));
}

static void
functions_have_names(void **st)
{
	(void)st;
	assert_string_equal(profile_name_of(first), "the_first");
	assert_null(profile_name_of(second));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(off_it_reads_no_clock, setup),
		cmocka_unit_test_setup(calls_times_and_delays_are_summed, setup),
		cmocka_unit_test_setup(a_full_table_leaves_others_out, setup),
		cmocka_unit_test_setup(auto_follows_the_average_turn, setup),
		cmocka_unit_test_setup(functions_have_names, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
