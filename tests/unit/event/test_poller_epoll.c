#include "poller_check.h"

static void
keeps_the_contract(void **st)
{
	(void)st;
	check_poller(&poller_epoll);
}

static void
an_edge_fires_once_for_each_arrival(void **st)
{
	struct rig r;

	(void)st;
	rig_open(&r, &poller_epoll);
	assert_int_equal(poller_epoll.set(r.p, r.fd[0], 3, 0, EV_R | EV_EDGE), 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(write(r.fd[1], "x", 1), 1);
		assert_int_equal(poller_epoll.wait(r.p, r.ev, 8, 1000), 1);
		assert_int_equal(poller_epoll.wait(r.p, r.ev, 8, 0), 0);
	}
	rig_close(&r, &poller_epoll);
}

static void
a_bad_descriptor_is_refused(void **st)
{
	struct rig r;

	(void)st;
	rig_open(&r, &poller_epoll);
	assert_int_equal(poller_epoll.set(r.p, MAX_FD - 1, 1, 0, EV_R), -EBADF);
	rig_close(&r, &poller_epoll);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_the_contract),
		cmocka_unit_test(an_edge_fires_once_for_each_arrival),
		cmocka_unit_test(a_bad_descriptor_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
