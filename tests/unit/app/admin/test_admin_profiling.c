/* show profiling and set profiling with one worker; the forms are compared with HAProxy's in
 * tests/system/test_oracle_profiling.py. */
#include "unit/app/app_rig.h"

#include "base/counter.h"
#include "event/profile.h"

static void
one(void)
{
}
PROFILE_NAME(one, number_one)

static void
two(void)
{
}

static long
read_no_clock(void *ctx, clockid_t id, struct timespec *ts)
{
	(void)ctx, (void)id;
	*ts = (struct timespec){ .tv_sec = 1000 };
	return 0;
}

/* Counts a call of so many nanoseconds, that was on time. */
static void
count_call(profile_fn *fn, uint64_t ns)
{
	const struct sys_ops *before = w->sys->ops;
	struct sys_ops ops = *before;

	ops.clock_gettime = read_no_clock;
	w->sys->ops = &ops;
	profile_count(loop_profile(w->loop), fn, 1000 * UINT64_C(1000000000) - ns, UINT64_MAX);
	w->sys->ops = before;
}

static void
modes_are_shown_and_set(void **st)
{
	(void)st;
	rig_open("profiling.tasks auto", "");
	assert_non_null(strstr(rig_command("show profiling status"), " : auto-off      # set"));
	assert_string_equal(rig_command("set profiling tasks on"), "\n");
	assert_non_null(strstr(rig_command("show profiling status"), " : on            # set"));
	assert_int_equal(counter_read(&loop_profile(w->loop)->mode), PROFILE_ON);
	assert_string_equal(rig_command("set profiling tasks off"), "\n");
	assert_non_null(strstr(rig_command("show profiling status"), " : off           # set"));
	assert_string_equal(rig_command("set profiling tasks auto"), "\n");
	assert_non_null(strstr(rig_command("show profiling status"), " : auto-off      # set"));
	counter_set(&loop_profile(w->loop)->is_on, 1);
	assert_non_null(strstr(rig_command("show profiling status"), " : auto-on       # set"));
	rig_close();
}

static void
functions_are_listed_by_time_or_address(void **st)
{
	const char *a, *second;
	char line[128];
	int by_addr;

	(void)st;
	rig_open("", "");
	count_call(one, 1000000000);
	count_call(two, 3000000000);
	count_call(two, 5000000000);
	snprintf(line, sizeof(line), "\n  0x%-22lx          2    8.",
		(unsigned long)(uintptr_t)two);
	a = rig_command("show profiling tasks");
	second = strstr(a, "\n  number_one                        1    1.");
	assert_non_null(second);
	assert_non_null(strstr(a, line));
	assert_true(strstr(a, line) < second);
	a = rig_command("show profiling tasks 1");
	assert_non_null(strstr(a, line));
	assert_null(strstr(a, "number_one"));
	a = rig_command("show profiling tasks byaddr");
	by_addr = (uintptr_t)one < (uintptr_t)two;
	assert_int_equal(strstr(a, "number_one") < strstr(a, line), by_addr);
	/* A new count. */
	assert_string_equal(rig_command("set profiling tasks on"), "\n");
	assert_null(strstr(rig_command("show profiling tasks"), "number_one"));
	rig_close();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(modes_are_shown_and_set),
		cmocka_unit_test(functions_are_listed_by_time_or_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
