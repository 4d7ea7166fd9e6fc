#include "poller_check.h"

static void
epoll_keeps_the_contract(void **st)
{
	(void)st;
	check_poller(&poller_ev_epoll);
}

static void
poll_keeps_the_contract(void **st)
{
	(void)st;
	check_poller(&poller_ev_poll);
}

static void
select_keeps_the_contract(void **st)
{
	(void)st;
	check_poller(&poller_ev_select);
}

/* Events that do not fit into the caller's array are returned by the next wait. */
static void
a_small_array_is_enough(void **st)
{
	struct rig r;
	int other[2], seen[MAX_FD] = { 0 };

	(void)st;
	rig_open(&r, &poller_ev_poll);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, other), 0);
	assert_int_equal(poller_ev_poll.set(r.p, r.fd[0], 1, 0, EV_R), 0);
	assert_int_equal(poller_ev_poll.set(r.p, other[0], 1, 0, EV_R), 0);
	assert_int_equal(write(r.fd[1], "x", 1) + write(other[1], "x", 1), 2);
	for (int i = 0; i < 2; i++) {
		char c;

		assert_int_equal(poller_ev_poll.wait(r.p, r.ev, 1, 1000), 1);
		assert_int_equal(read(r.ev[0].fd, &c, 1), 1);
		seen[r.ev[0].fd]++;
	}
	assert_int_equal(seen[r.fd[0]], 1);
	assert_int_equal(seen[other[0]], 1);
	assert_int_equal(poller_ev_poll.set(r.p, r.fd[0], 1, EV_R, 0), 0);
	assert_int_equal(poller_ev_poll.set(r.p, other[0], 1, EV_R, 0), 0);
	close(other[0]);
	close(other[1]);
	rig_close(&r, &poller_ev_poll);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(epoll_keeps_the_contract),
		cmocka_unit_test(poll_keeps_the_contract),
		cmocka_unit_test(select_keeps_the_contract),
		cmocka_unit_test(a_small_array_is_enough),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
