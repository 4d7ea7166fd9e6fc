#include "unit/net/net_rig.h"

#include <linux/filter.h>
#include <poll.h>
#include <stdio.h>

#include "net/listener.h"
#include "net/sockbuf.h"

static struct bind_conf bind_conf;
static struct listener ln;
static int got[64];
static int n_got;

static void
on_accept(struct listener *l, int fd, const struct addr *peer)
{
	assert_ptr_equal(l, &ln);
	assert_int_equal(addr_family(peer), AF_INET);
	assert_true(n_got < 64);
	got[n_got++] = fd;
}

static int
setup(void **st)
{
	char why[128];

	(void)st;
	rig_open(INTEREST_EDGE);
	memset(&bind_conf, 0, sizeof(bind_conf));
	listener_init(&ln, &bind_conf);
	ln.addr = rig_any();
	ln.max_accept = 64;
	ln.on_accept = on_accept;
	n_got = 0;
	assert_int_equal(listener_bind(&ln, &rig_sys, 64, why, sizeof(why)), 0);
	assert_int_equal(listener_start(&ln, rig_loop), 0);
	return 0;
}

static int
teardown(void **st)
{
	(void)st;
	listener_close(&ln, &rig_sys);
	for (int i = 0; i < n_got; i++)
		close(got[i]);
	rig_close();
	return 0;
}

static void
connect_some(int *fd, int n)
{
	for (int i = 0; i < n; i++)
		fd[i] = rig_connect(&ln.addr);
}

static void
close_some(const int *fd, int n)
{
	for (int i = 0; i < n; i++)
		close(fd[i]);
}

static void
turns(int n)
{
	for (int i = 0; i < n; i++)
		rig_turn(0);
}

static void
all_waiting_connections_are_accepted(void **st)
{
	int fd[20];

	(void)st;
	connect_some(fd, 20);
	turns(20);
	assert_int_equal(n_got, 20);
	assert_int_equal(ln.conns, 20);
	assert_int_equal(ln.accepted, 20);
	assert_true(ln.empty_accepts <= 1);
	close_some(fd, 20);
}

static void
accepted_sockets_are_nonblocking_and_closed_on_exec(void **st)
{
	int fd;

	(void)st;
	connect_some(&fd, 1);
	turns(2);
	assert_int_equal(n_got, 1);
	assert_true(fcntl(got[0], F_GETFL) & O_NONBLOCK);
	assert_true(fcntl(got[0], F_GETFD) & FD_CLOEXEC);
	close(fd);
}

static void
its_maxconn_leaves_the_rest_in_the_backlog(void **st)
{
	int fd[5];

	(void)st;
	bind_conf.maxconn = 2;
	connect_some(fd, 5);
	turns(10);
	assert_int_equal(n_got, 2);
	assert_int_equal(ln.state, LISTENER_FULL);
	listener_release(&ln);
	turns(3);
	assert_int_equal(n_got, 3);
	close_some(fd, 5);
}

static void
a_hold_lasts_until_the_last_reason_is_gone(void **st)
{
	int fd;

	(void)st;
	listener_hold(&ln, LISTENER_HOLD_FRONTEND);
	listener_hold(&ln, LISTENER_HOLD_PROCESS);
	connect_some(&fd, 1);
	turns(3);
	assert_int_equal(n_got, 0);
	listener_resume(&ln, LISTENER_HOLD_PROCESS);
	turns(3);
	assert_int_equal(n_got, 0);
	listener_resume(&ln, LISTENER_HOLD_FRONTEND);
	turns(3);
	assert_int_equal(n_got, 1);
	close(fd);
}

static int asked, allowed, given_back, n_permits;

static int
may(struct listener *l)
{
	(void)l;
	asked++;
	return allowed-- > 0;
}

static void
give_back(struct listener *l)
{
	(void)l;
	given_back++;
}

/* When it may not accept, connections stay in the backlog, and it asks again later. */
static void
may_accept_is_called_before_each_accept(void **st)
{
	int fd[5];

	(void)st;
	ln.may_accept = may;
	ln.not_accepted = give_back;
	asked = given_back = 0;
	allowed = 2;
	connect_some(fd, 5);
	turns(10);
	assert_int_equal(n_got, 2);
	assert_true(asked >= 4);
	assert_int_equal(given_back, 0);
	allowed = 100;
	turns(20);
	assert_int_equal(n_got, 5);
	/* An accept() that finds no connection gives its place back. */
	ln.budget.now = 8;
	close_some(fd, 5);
	connect_some(fd, 1);
	given_back = 0;
	ln.empty_accepts = 0;
	turns(3);
	assert_int_equal(n_got, 6);
	assert_int_equal(ln.empty_accepts, 1);
	assert_int_equal(given_back, 1);
	close_some(fd, 1);
}

/* No descriptors are left: it pauses without spinning, and resumes afterwards. */
static void
without_descriptors_it_pauses(void **st)
{
	struct rlimit old, none;
	uint64_t waits;
	int fd;

	(void)st;
	connect_some(&fd, 1);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	none = old;
	none.rlim_cur = 3;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	turns(2);
	assert_int_equal(ln.state, LISTENER_PAUSED);
	assert_int_equal(ln.paused, 1);
	assert_int_equal(n_got, 0);
	waits = loop_stats(rig_loop)->waits;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	while (n_got == 0)
		rig_turn(1000);
	/* One wait for the pause, one or two for what follows. */
	assert_in_range(loop_stats(rig_loop)->waits - waits, 1, 6);
	assert_int_equal(ln.state, LISTENER_READY);
	close(fd);
}

static void
a_closed_listener_accepts_no_connection(void **st)
{
	int fd;

	(void)st;
	connect_some(&fd, 1);
	listener_close(&ln, &rig_sys);
	turns(2);
	assert_int_equal(n_got, 0);
	assert_int_equal(ln.state, LISTENER_CLOSED);
	close(fd);
}

/* An inherited socket stays open in another process after our close, and clients may be queued on
 * it. */
static void
a_closed_inherited_listener_does_not_wake(void **st)
{
	struct listener given;
	char why[128];
	uint64_t woken;
	int fd, theirs;

	(void)st;
	theirs = socket(AF_INET, SOCK_STREAM, 0);
	assert_true(theirs >= 0);
	listener_init(&given, &bind_conf);
	given.inherit_fd = dup(theirs);
	assert_int_equal(listener_bind(&given, &rig_sys, 4, why, sizeof(why)), 0);
	assert_int_equal(listener_start(&given, rig_loop), 0);
	turns(1);
	fd = rig_connect(&given.addr);
	listener_close(&given, &rig_sys);
	woken = loop_stats(rig_loop)->wakes;
	turns(3);
	assert_int_equal(loop_stats(rig_loop)->wakes, woken);
	assert_int_equal(loop_stats(rig_loop)->stale, 0);
	close(fd);
	fd = accept(theirs, NULL, NULL);
	assert_true(fd >= 0);
	close(fd);
	close(theirs);
}

static void
on_unix_accept(struct listener *l, int fd, const struct addr *peer)
{
	(void)l;
	(void)peer;
	got[n_got++] = fd;
}

/* Unix sockets do not inherit the size from the listener. */
static void
an_accepted_unix_socket_is_given_its_buffer(void **st)
{
	static const struct sockbuf small = { .rcv = 4096, .snd = 8192, .notsent = 1000 };
	struct listener un;
	char why[128];
	int fd;

	(void)st;
	listener_init(&un, &bind_conf);
	un.on_accept = on_unix_accept;
	un.sockbuf = &small;
	un.addr.u.un.sun_family = AF_UNIX;
	un.addr.len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
		(size_t)snprintf(un.addr.u.un.sun_path + 1, 60, "tacit-listener-%d", getpid()));
	assert_int_equal(listener_bind(&un, &rig_sys, 4, why, sizeof(why)), 0);
	assert_int_equal(listener_start(&un, rig_loop), 0);
	fd = rig_connect(&un.addr);
	turns(3);
	assert_int_equal(n_got, 1);
	assert_int_equal(rig_opt(got[0], SOL_SOCKET, SO_SNDBUF), 2 * small.snd);
	close(fd);
	listener_close(&un, &rig_sys);
}

/* True if this process may attach a filter to a socket: some kernels want a capability for it. */
static int
filters_are_allowed(void)
{
	struct sock_filter all[] = { BPF_STMT(BPF_RET | BPF_K, UINT32_MAX) };
	struct sock_fprog prog = { .len = 1, .filter = all };
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	int r = setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &prog, sizeof(prog));

	close(fd);
	return r == 0;
}

/* Before the first turn it accepts the whole queue, more than one round may, and no later
 * connection. */
static void
draining_accepts_the_queue_only(void **st)
{
	int fd[20], late = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	struct pollfd p = { .fd = late, .events = POLLOUT };

	(void)st;
	ln.max_accept = 4;
	connect_some(fd, 20);
	assert_int_equal(listener_refuse_new(&ln, &rig_sys), 1);
	listener_drain(&ln);
	assert_int_equal(n_got, 20);
	assert_int_equal(ln.conns, 20);
	/* The SYN of the next connection is dropped. */
	if (filters_are_allowed()) {
		assert_int_equal(connect(late, &ln.addr.u.sa, ln.addr.len), -1);
		assert_int_equal(poll(&p, 1, 50), 0);
	}
	turns(3);
	assert_int_equal(n_got, 20);
	/* Accepted connections work. */
	assert_int_equal(send(fd[7], "x", 1, 0), 1);
	assert_int_equal(recv(got[7], &(char){ 0 }, 1, 0), 1);
	close(late);
	close_some(fd, 20);
}

static void
note_permit(struct listener *l unused)
{
	n_permits++;
}

/* Each accept that was permitted has its result: a limit of rate counts on it. */
static void
draining_notifies_of_results(void **st)
{
	int fd[3];

	(void)st;
	ln.may_accept = may;
	ln.not_accepted = give_back;
	ln.did_accept = note_permit;
	asked = given_back = n_permits = 0;
	allowed = 100;
	connect_some(fd, 3);
	listener_drain(&ln);
	assert_int_equal(n_got, 3);
	assert_int_equal(n_permits, 3);
	assert_int_equal(asked, n_permits + given_back);
	close_some(fd, 3);
}

static void
a_drained_one_keeps_to_its_limits(void **st)
{
	int fd[5];

	(void)st;
	bind_conf.maxconn = 2;
	connect_some(fd, 5);
	listener_drain(&ln);
	assert_int_equal(n_got, 2);
	close_some(fd, 5);
}

/* The result of connect(): 0, or -errno. */
static int
try_connect(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	int r = connect(fd, &ln.addr.u.sa, ln.addr.len) == 0 ? 0 : -errno;

	close(fd);
	return r;
}

static void
a_suspended_one_refuses_until_it_is_restarted(void **st)
{
	unsigned int port = addr_port(&ln.addr);
	uint64_t waits;
	int fd[2];

	(void)st;
	connect_some(fd, 1);
	for (int round = 0; round < 2; round++) {
		listener_suspend(&ln);
		listener_suspend(&ln);
		assert_int_equal(ln.state, LISTENER_SUSPENDED);
		assert_int_equal(loop_fds(rig_loop), 0);
		assert_int_equal(try_connect(), -ECONNREFUSED);
		waits = rig_calls(SYS_CALL_epoll_wait);
		rig_turn(5);
		assert_int_equal(rig_calls(SYS_CALL_epoll_wait) - waits, 1);
		assert_int_equal(listener_restart(&ln), 0);
		assert_int_equal(listener_restart(&ln), 0);
		assert_int_equal(ln.state, LISTENER_READY);
		assert_int_equal(addr_port(&ln.addr), port);
		n_got = 0;
		connect_some(fd + 1, 1);
		turns(3);
		assert_int_equal(n_got, 1);
		close(got[0]);
		close(fd[1]);
	}
	/* the client in the backlog was reset */
	assert_int_equal(recv(fd[0], &(char){ 0 }, 1, 0), -1);
	assert_int_equal(errno, ECONNRESET);
	close(fd[0]);
	n_got = 0;
}

static void
a_busy_port_keeps_it_suspended(void **st)
{
	int other = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	(void)st;
	listener_suspend(&ln);
	assert_int_equal(setsockopt(other, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)), 0);
	assert_int_equal(bind(other, &ln.addr.u.sa, ln.addr.len), 0);
	assert_int_equal(listen(other, 1), 0);
	assert_int_equal(listener_restart(&ln), -EADDRINUSE);
	assert_int_equal(ln.state, LISTENER_SUSPENDED);
	close(other);
	assert_int_equal(listener_restart(&ln), 0);
	assert_int_equal(try_connect(), 0);
}

/* Holds change while it is suspended, and are checked again afterwards. */
static void
a_held_one_is_restarted_full(void **st)
{
	(void)st;
	listener_suspend(&ln);
	listener_hold(&ln, LISTENER_HOLD_PROCESS);
	assert_int_equal(listener_restart(&ln), 0);
	assert_int_equal(ln.state, LISTENER_FULL);
	listener_suspend(&ln);
	listener_resume(&ln, LISTENER_HOLD_PROCESS);
	assert_int_equal(ln.state, LISTENER_SUSPENDED);
	assert_int_equal(listener_restart(&ln), 0);
	assert_int_equal(ln.state, LISTENER_READY);
}

/* A time that a limit of its frontend names does not outlast a pause. */
static void
a_suspended_one_waits_for_no_time(void **st)
{
	uint64_t now = loop_now_ms(rig_loop);

	(void)st;
	listener_hold_until(&ln, now + 1);
	assert_int_equal(ln.state, LISTENER_FULL);
	for (int i = 0; i < 20 && ln.state != LISTENER_READY; i++)
		rig_turn(5);
	assert_int_equal(ln.state, LISTENER_READY);
	listener_hold_until(&ln, now + 3600000);
	listener_suspend(&ln);
	assert_int_equal(listener_restart(&ln), 0);
	assert_int_equal(ln.state, LISTENER_READY);
}

/* Clients of a socket that a parent holds too wait. */
static void
a_suspended_inherited_one_leaves_clients_waiting(void **st)
{
	int fd[1];

	(void)st;
	ln.inherit_fd = ln.fd;
	listener_suspend(&ln);
	connect_some(fd, 1);
	turns(3);
	assert_int_equal(n_got, 0);
	assert_int_equal(listener_restart(&ln), 0);
	turns(3);
	assert_int_equal(n_got, 1);
	ln.inherit_fd = -1;
	close(fd[0]);
}

static void
a_suspended_one_can_be_closed(void **st)
{
	(void)st;
	listener_suspend(&ln);
	listener_drain(&ln);
	listener_close(&ln, &rig_sys);
	assert_int_equal(ln.state, LISTENER_CLOSED);
	listener_suspend(&ln);
	assert_int_equal(ln.state, LISTENER_CLOSED);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(all_waiting_connections_are_accepted),
		CASE(accepted_sockets_are_nonblocking_and_closed_on_exec),
		CASE(its_maxconn_leaves_the_rest_in_the_backlog),
		CASE(a_hold_lasts_until_the_last_reason_is_gone),
		CASE(may_accept_is_called_before_each_accept),
		CASE(without_descriptors_it_pauses),
		CASE(a_closed_listener_accepts_no_connection),
		CASE(a_closed_inherited_listener_does_not_wake),
		CASE(an_accepted_unix_socket_is_given_its_buffer),
		CASE(draining_accepts_the_queue_only),
		CASE(draining_notifies_of_results),
		CASE(a_drained_one_keeps_to_its_limits),
		CASE(a_suspended_one_refuses_until_it_is_restarted),
		CASE(a_busy_port_keeps_it_suspended),
		CASE(a_held_one_is_restarted_full),
		CASE(a_suspended_one_waits_for_no_time),
		CASE(a_suspended_inherited_one_leaves_clients_waiting),
		CASE(a_suspended_one_can_be_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
