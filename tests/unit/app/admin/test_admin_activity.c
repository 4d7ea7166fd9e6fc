/* show activity: one line per counter, with one number per worker. */
#include "unit/app/app_rig.h"

#include <signal.h>

static void
one_worker_has_one_number(void **st)
{
	const char *a;

	(void)st;
	rig_open("nbthread 1", "");
	a = rig_command("show activity");
	rig_check_shape(a);
	assert_non_null(strstr(a, "\nhanded_over: 0\n"));
	assert_null(strchr(a, '['));
	rig_close();
}

static void
each_worker_has_its_own(void **st)
{
	const char *a;
	int c, s;

	(void)st;
	rig_open("nbthread 2\ntune.listener.multi-queue off", "");
	c = bench_connect("front");
	for (s = -1; s < 0;) {
		assert_int_equal(loop_turn(w->loop, 1), 0);
		s = accept(origin, NULL, NULL);
	}
	rendezvous_begin(&proc);
	a = rig_command("show activity");
	rendezvous_end(&proc);
	assert_true(strstr(a, "sessions: 1 [ 1 0 ]\n") || strstr(a, "sessions: 1 [ 0 1 ]\n"));
	assert_true(strstr(a, "accepted: 1 [ 1 0 ]\n") || strstr(a, "accepted: 1 [ 0 1 ]\n"));
	assert_non_null(strstr(a, "rendezvous: 1 [ 1 0 ]\n"));
	close(c);
	close(s);
	process_on_signal(&proc, SIGUSR1, 0);
	process_run(&proc);
	assert_int_equal(process_join(&proc), 0);
	rig_close();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_worker_has_one_number),
		cmocka_unit_test(each_worker_has_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
