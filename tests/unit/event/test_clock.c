/* The loop's clock on a kernel whose times are set by the test. */

#include <string.h>

#include "event/clock.h"
#include "unit/test.h"

#define S 1000000000u

static uint64_t mono, wall, cpu;

static long
fake_clock_gettime(void *ctx, clockid_t id, struct timespec *ts)
{
	uint64_t ns = id == CLOCK_REALTIME ? wall : mono;

	(void)ctx;
	ts->tv_sec = (time_t)(ns / S);
	ts->tv_nsec = (long)(ns % S);
	return 0;
}

static long
fake_getrusage(void *ctx, int who, struct rusage *ru)
{
	(void)ctx;
	assert_int_equal(who, RUSAGE_THREAD);
	memset(ru, 0, sizeof(*ru));
	ru->ru_utime.tv_sec = (time_t)(cpu / S);
	ru->ru_utime.tv_usec = (suseconds_t)(cpu % S / 1000);
	return 0;
}

static const struct sys_ops ops = { .clock_gettime = fake_clock_gettime,
				    .getrusage = fake_getrusage };
static struct sys sys;
static struct loop_clock clk;

static int
setup(void **st)
{
	(void)st;
	sys_init(&sys, &ops, NULL);
	mono = 5 * (uint64_t)S;
	wall = 1000 * (uint64_t)S;
	cpu = S;
	clock_init(&clk, &sys);
	return 0;
}

static void
one_read_a_turn_and_the_rest_once_a_second(void **st)
{
	uint64_t reads = ledger_sum(&sys.ledger, SYS_CALL_clock_gettime);

	(void)st;
	for (int i = 0; i < 9; i++) {
		mono += S / 10;
		clock_read(&clk, &sys);
		assert_int_equal(clk.now_ns, mono);
	}
	assert_int_equal(ledger_sum(&sys.ledger, SYS_CALL_clock_gettime), reads + 9);
	assert_int_equal(ledger_sum(&sys.ledger, SYS_CALL_getrusage), 1);
	mono += S / 10;
	clock_read(&clk, &sys);
	assert_int_equal(ledger_sum(&sys.ledger, SYS_CALL_clock_gettime), reads + 11);
	assert_int_equal(ledger_sum(&sys.ledger, SYS_CALL_getrusage), 2);
}

static void
the_wall_clock_follows_within_a_second(void **st)
{
	(void)st;
	assert_int_equal(clock_wall_ns(&clk), wall);
	mono += S / 2;
	clock_read(&clk, &sys);
	assert_int_equal(clock_wall_ns(&clk), wall + S / 2);
	/* The wall clock is set back by an hour. */
	wall -= 3600 * (uint64_t)S;
	mono += S;
	clock_read(&clk, &sys);
	assert_int_equal(clock_wall_ns(&clk), wall);
}

static void
idle_is_the_time_without_cpu_usage(void **st)
{
	(void)st;
	assert_int_equal(clk.idle_pct, 100);
	mono += 2 * (uint64_t)S;
	cpu += S / 2;
	clock_read(&clk, &sys);
	assert_int_equal(clk.idle_pct, 75);
	/* By rounding, more CPU time than elapsed time: the result is never below zero. */
	mono += S;
	cpu += 2 * (uint64_t)S;
	clock_read(&clk, &sys);
	assert_int_equal(clk.idle_pct, 0);
}

int
main(void)
{
#define T(fn) cmocka_unit_test_setup(fn, setup)
	const struct CMUnitTest tests[] = {
		T(one_read_a_turn_and_the_rest_once_a_second),
		T(the_wall_clock_follows_within_a_second),
		T(idle_is_the_time_without_cpu_usage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
