#include "app/process/wake_worker.h"
#include "unit/app/app_rig.h"
#include "unit/test.h"

static void
the_interval_is_a_part_of_the_managers(void **st)
{
	(void)st;
	assert_int_equal(watchdog_interval("30000000", NULL, 7), 30000 / WATCHDOG_ROUNDS);
	assert_int_equal(watchdog_interval("30000000", "7", 7), 30000 / WATCHDOG_ROUNDS);
	assert_int_equal(watchdog_interval("30000000", "8", 7), 0);
	assert_int_equal(watchdog_interval(NULL, NULL, 7), 0);
	assert_int_equal(watchdog_interval("0", NULL, 7), 0);
	assert_int_equal(watchdog_interval("", NULL, 7), 0);
	assert_int_equal(watchdog_interval("10s", NULL, 7), 0);
	assert_int_equal(watchdog_interval("1000", NULL, 7), 1);
}

static void
a_running_worker_answers(void **st)
{
	int pair[2];
	char text[64];

	(void)st;
	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair), 0);
	bench_start("", "");
	nobody.fd = pair[0];
	nobody.sys = &sys;
	proc.watchdog.interval_ms = 5;
	assert_int_equal(watchdog_start(&proc), 0);
	while (recv(pair[1], text, sizeof(text), MSG_DONTWAIT) < 0)
		assert_int_equal(worker_turn(w), 0);
	watchdog_stop(&proc);
	nobody.fd = -1;
	bench_close();
	close(pair[0]);
	close(pair[1]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_interval_is_a_part_of_the_managers),
		cmocka_unit_test(a_running_worker_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
