/* Pollers on real sockets: the requirements that every one must meet, and what one of them does
 * besides. */
#include <sys/socket.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/sys.h"
#include "event/interest.h"
#include "event/poller.h"
#include "unit/test.h"

#define MAX_FD 256

struct rig {
	struct sys sys;
	struct poller *p;
	int fd[2];
	struct poll_event ev[8];
};

static void
rig_open(struct rig *r, const struct poller_ops *ops)
{
	sys_init(&r->sys, &sys_linux, NULL);
	assert_int_equal(ops->open(&r->p, &r->sys, MAX_FD), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, r->fd), 0);
	assert_true(r->fd[1] < MAX_FD);
}

static void
rig_close(struct rig *r, const struct poller_ops *ops)
{
	close(r->fd[0]);
	close(r->fd[1]);
	ops->close(&r->p);
	assert_null(r->p);
}

static void
check_quiet_then_readable(const struct poller_ops *ops)
{
	struct rig r;

	rig_open(&r, ops);
	assert_int_equal(ops->set(r.p, r.fd[0], 7, 0, EV_R), 0);
	assert_int_equal(ops->wait(r.p, r.ev, 8, 0), 0);
	assert_int_equal(write(r.fd[1], "x", 1), 1);
	/* Level-triggered: it is reported until it is read. */
	for (int i = 0; i < 2; i++) {
		assert_int_equal(ops->wait(r.p, r.ev, 8, 60000), 1);
		assert_int_equal(r.ev[0].fd, r.fd[0]);
		assert_int_equal(r.ev[0].gen, 7);
		assert_int_equal(r.ev[0].ev & EV_RW, EV_R);
	}
	assert_int_equal(ops->set(r.p, r.fd[0], 7, EV_R, 0), 0);
	assert_int_equal(ops->wait(r.p, r.ev, 8, 0), 0);
	rig_close(&r, ops);
}

static void
check_both_directions(const struct poller_ops *ops)
{
	struct rig r;

	rig_open(&r, ops);
	assert_int_equal(write(r.fd[1], "x", 1), 1);
	assert_int_equal(ops->set(r.p, r.fd[0], 1, 0, EV_W), 0);
	assert_int_equal(ops->wait(r.p, r.ev, 8, 60000), 1);
	assert_int_equal(r.ev[0].ev & EV_RW, EV_W);
	assert_int_equal(ops->set(r.p, r.fd[0], 1, EV_W, EV_RW), 0);
	assert_int_equal(ops->wait(r.p, r.ev, 8, 60000), 1);
	assert_int_equal(r.ev[0].ev & EV_RW, EV_RW);
	assert_int_equal(ops->set(r.p, r.fd[0], 1, EV_RW, 0), 0);
	rig_close(&r, ops);
}

static void
check_the_peers_end_is_readable(const struct poller_ops *ops)
{
	struct rig r;

	rig_open(&r, ops);
	assert_int_equal(ops->set(r.p, r.fd[0], 1, 0, EV_R), 0);
	assert_int_equal(shutdown(r.fd[1], SHUT_WR), 0);
	assert_int_equal(ops->wait(r.p, r.ev, 8, 60000), 1);
	assert_true(r.ev[0].ev & EV_R);
	/* Only a poller with RDHUP reports that nothing follows the available bytes. */
	assert_int_equal(!!(r.ev[0].ev & EV_RDHUP), ops->has_edge);
	assert_int_equal(ops->set(r.p, r.fd[0], 1, EV_R, 0), 0);
	rig_close(&r, ops);
}

static void
check_timeouts(const struct poller_ops *ops)
{
	struct rig r;
	uint64_t start, ns;

	rig_open(&r, ops);
	assert_int_equal(ops->set(r.p, r.fd[0], 1, 0, EV_R), 0);
	start = sys_clock_ns(&r.sys, CLOCK_MONOTONIC);
	assert_int_equal(ops->wait(r.p, r.ev, 8, 20), 0);
	ns = sys_clock_ns(&r.sys, CLOCK_MONOTONIC) - start;
	assert_true(ns >= 19000000u);
	assert_int_equal(ops->set(r.p, r.fd[0], 1, EV_R, 0), 0);
	rig_close(&r, ops);
}

/* The number of a closed descriptor is used again: events belong to the new registration. */
static void
check_a_number_is_used_again(const struct poller_ops *ops)
{
	struct rig r;
	int copy;

	rig_open(&r, ops);
	assert_int_equal(ops->set(r.p, r.fd[0], 1, 0, EV_R), 0);
	assert_int_equal(ops->wait(r.p, r.ev, 8, 0), 0);
	if (!ops->close_forgets)
		assert_int_equal(ops->set(r.p, r.fd[0], 1, EV_R, 0), 0);
	copy = r.fd[0];
	close(r.fd[0]);
	close(r.fd[1]);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, r.fd), 0);
	assert_int_equal(r.fd[0], copy);
	assert_int_equal(ops->wait(r.p, r.ev, 8, 0), 0);
	assert_int_equal(ops->set(r.p, r.fd[0], 2, 0, EV_R), 0);
	assert_int_equal(write(r.fd[1], "x", 1), 1);
	assert_int_equal(ops->wait(r.p, r.ev, 8, 60000), 1);
	assert_int_equal(r.ev[0].gen, 2);
	assert_int_equal(ops->set(r.p, r.fd[0], 2, EV_R, 0), 0);
	rig_close(&r, ops);
}

static void
check_poller(const struct poller_ops *ops)
{
	check_quiet_then_readable(ops);
	check_both_directions(ops);
	check_the_peers_end_is_readable(ops);
	check_timeouts(ops);
	check_a_number_is_used_again(ops);
}

static void
every_poller_is_found_by_its_name(void **st)
{
	int n = 0;

	(void)st;
	for (const struct poller_ops *const *p = poller_all(); *p; p++, n++)
		assert_ptr_equal(poller_find((*p)->name), *p);
	assert_int_equal(n, 4);
	assert_ptr_equal(poller_all()[0], &poller_epoll);
	assert_null(poller_find("kqueue"));
	assert_null(poller_find(""));
}

/* --- epoll --- */

static void
poller_epoll_keeps_the_contract(void **st)
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
		assert_int_equal(poller_epoll.wait(r.p, r.ev, 8, 60000), 1);
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

/* --- libev --- */

static void
libev_epoll_keeps_the_contract(void **st)
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
		cmocka_unit_test(every_poller_is_found_by_its_name),
		cmocka_unit_test(poller_epoll_keeps_the_contract),
		cmocka_unit_test(an_edge_fires_once_for_each_arrival),
		cmocka_unit_test(a_bad_descriptor_is_refused),
		cmocka_unit_test(libev_epoll_keeps_the_contract),
		cmocka_unit_test(poll_keeps_the_contract),
		cmocka_unit_test(select_keeps_the_contract),
		cmocka_unit_test(a_small_array_is_enough),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
