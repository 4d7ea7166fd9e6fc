/* The fake kernel by itself: time, the network's ways, buffers, faults, and what it watches for. */
#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/un.h>

#include "fake/kernel.h"
#include "unit/test.h"

#define PORT 80

struct rig {
	struct fake *k;
	struct sys sys;
	int ep;
};

static struct sockaddr_in
loopback(unsigned int port)
{
	struct sockaddr_in in = { .sin_family = AF_INET };

	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	in.sin_port = htons((uint16_t)port);
	return in;
}

static int
setup(void **state)
{
	static struct rig r;

	r.k = fake_new();
	sys_init(&r.sys, &sys_fake, r.k);
	r.ep = (int)sys_epoll_create1(&r.sys, 0);
	*state = &r;
	return 0;
}

static int
teardown(void **state)
{
	struct rig *r = *state;

	fake_free(&r->k);
	return 0;
}

static int
tcp_socket(struct rig *r)
{
	return (int)sys_socket(&r->sys, AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
}

static int
listen_on(struct rig *r, unsigned int port, int backlog)
{
	struct sockaddr_in in = loopback(port);
	int fd = tcp_socket(r);

	assert_int_equal(sys_bind(&r->sys, fd, (struct sockaddr *)&in, sizeof(in)), 0);
	assert_int_equal(sys_listen(&r->sys, fd, backlog), 0);
	return fd;
}

static long
connect_to(struct rig *r, int fd, unsigned int port)
{
	struct sockaddr_in in = loopback(port);

	return sys_connect(&r->sys, fd, (struct sockaddr *)&in, sizeof(in));
}

static int
accept_one(struct rig *r, int fd)
{
	return (int)sys_accept4(&r->sys, fd, NULL, NULL, SOCK_NONBLOCK);
}

static void
watch(struct rig *r, int fd, uint32_t events)
{
	struct epoll_event ev = { .events = events, .data.fd = fd };

	assert_int_equal(sys_epoll_ctl(&r->sys, r->ep, EPOLL_CTL_ADD, fd, &ev), 0);
}

/* The events of one wait: of the only fd that has some, 0 for none. */
static uint32_t
wait_ms(struct rig *r, int ms)
{
	struct epoll_event ev[8];
	long n = sys_epoll_wait(&r->sys, r->ep, ev, 8, ms);

	assert_in_range(n, 0, 1);
	return n ? ev[0].events : 0;
}

static int
so_error(struct rig *r, int fd)
{
	socklen_t len = sizeof(int);
	int err = -1;

	assert_int_equal(sys_getsockopt(&r->sys, fd, SOL_SOCKET, SO_ERROR, &err, &len), 0);
	return err;
}

static void
test_fd_numbers_are_the_lowest_free(void **state)
{
	struct rig *r = *state;
	int a = tcp_socket(r), b = tcp_socket(r), c = tcp_socket(r);

	assert_int_equal(a, r->ep + 1);
	assert_int_equal(sys_close(&r->sys, b), 0);
	assert_int_equal(tcp_socket(r), b);
	assert_int_equal(sys_close_range(&r->sys, (unsigned int)a, (unsigned int)c), 0);
	assert_int_equal(fake_fds(r->k), 1);
	fake_set_fd_limit(r->k, a + 1);
	assert_int_equal(tcp_socket(r), a);
	assert_int_equal(tcp_socket(r), -EMFILE);
	assert_int_equal(fake_any_fd(r->k), r->ep);
}

static void
test_accept_without_descriptors_fails_and_keeps_the_connection(void **state)
{
	struct rig *r = *state;
	int l = listen_on(r, PORT, 4);

	fake_client(r->k, PORT);
	fake_set_fd_limit(r->k, l + 1);
	assert_int_equal(accept_one(r, l), -EMFILE);
	fake_set_fd_limit(r->k, 100);
	assert_int_equal(accept_one(r, l), l + 1);
	assert_int_equal(accept_one(r, l), -EAGAIN);
}

static void
test_near_connect_completes_at_once(void **state)
{
	struct rig *r = *state;
	struct fake_sock *o = fake_origin(r->k, PORT, 4), *s;
	int fd = tcp_socket(r);
	char buf[8];

	assert_int_equal(connect_to(r, fd, PORT), -EINPROGRESS);
	assert_int_equal(sys_sendto(&r->sys, fd, "hi", 2, MSG_NOSIGNAL), 2);
	s = fake_origin_accept(o);
	assert_non_null(s);
	assert_int_equal(fake_peer_recv(s, buf, sizeof(buf)), 2);
	assert_null(fake_origin_accept(o));
}

static void
test_far_connect_takes_a_round_trip(void **state)
{
	struct rig *r = *state;
	uint64_t start = fake_now(r->k);
	struct fake_sock *o = fake_origin(r->k, PORT, 4), *s;
	int fd = tcp_socket(r), outq = 0;
	char buf[8];

	fake_route(r->k, PORT, FAKE_FAR, 10 * FAKE_MS);
	assert_int_equal(connect_to(r, fd, PORT), -EINPROGRESS);
	assert_int_equal(sys_sendto(&r->sys, fd, "hi", 2, MSG_NOSIGNAL), -EAGAIN);
	watch(r, fd, EPOLLOUT | EPOLLET);
	assert_int_equal(wait_ms(r, 5), 0);
	assert_int_equal(fake_now(r->k) - start, 5 * FAKE_MS);
	assert_int_equal(wait_ms(r, -1), EPOLLOUT);
	assert_int_equal(fake_now(r->k) - start, 20 * FAKE_MS);
	assert_int_equal(sys_sendto(&r->sys, fd, "hi", 2, MSG_NOSIGNAL), 2);
	s = fake_origin_accept(o);
	assert_int_equal(fake_peer_recv(s, buf, sizeof(buf)), -EAGAIN);
	assert_int_equal(sys_ioctl(&r->sys, fd, SIOCOUTQ, &outq), 0);
	assert_int_equal(outq, 2);
	fake_advance(r->k, 10 * FAKE_MS);
	assert_int_equal(fake_peer_recv(s, buf, sizeof(buf)), 2);
	assert_int_equal(sys_ioctl(&r->sys, fd, SIOCOUTQ, &outq), 0);
	assert_int_equal(outq, 0);
}

/* Bytes take the time of the path, and those before them on it. */
static void
test_a_path_has_a_rate(void **state)
{
	struct rig *r = *state;
	struct fake_sock *o = fake_origin(r->k, PORT, 4), *s;
	int fd = tcp_socket(r);
	char buf[2000] = { 0 };

	fake_route(r->k, PORT, FAKE_FAR, 10 * FAKE_MS);
	fake_limit(r->k, PORT, 100000);
	assert_int_equal(connect_to(r, fd, PORT), -EINPROGRESS);
	fake_advance(r->k, 20 * FAKE_MS);
	s = fake_origin_accept(o);
	assert_int_equal(sys_sendto(&r->sys, fd, buf, 1000, MSG_NOSIGNAL), 1000);
	assert_int_equal(sys_sendto(&r->sys, fd, buf, 500, MSG_NOSIGNAL), 500);
	fake_advance(r->k, 20 * FAKE_MS - 1);
	assert_int_equal(fake_peer_recv(s, buf, sizeof(buf)), -EAGAIN);
	fake_advance(r->k, 1);
	assert_int_equal(fake_peer_recv(s, buf, sizeof(buf)), 1000);
	assert_int_equal(fake_peer_send(s, buf, 100), 100);
	fake_advance(r->k, 5 * FAKE_MS);
	assert_int_equal(fake_peer_recv(s, buf, sizeof(buf)), 500);
	assert_int_equal(sys_recvfrom(&r->sys, fd, buf, sizeof(buf), 0), -EAGAIN);
	fake_advance(r->k, 6 * FAKE_MS);
	assert_int_equal(sys_recvfrom(&r->sys, fd, buf, sizeof(buf), 0), 100);
}

static void
test_refused_and_unanswered_connects(void **state)
{
	struct rig *r = *state;
	int near = tcp_socket(r), far = tcp_socket(r), lost = tcp_socket(r);

	assert_int_equal(connect_to(r, near, PORT), -EINPROGRESS);
	assert_int_equal(so_error(r, near), ECONNREFUSED);
	fake_route(r->k, 81, FAKE_REFUSED, FAKE_MS);
	assert_int_equal(connect_to(r, far, 81), -EINPROGRESS);
	assert_int_equal(so_error(r, far), 0);
	watch(r, far, EPOLLOUT);
	assert_int_equal(wait_ms(r, -1), EPOLLOUT | EPOLLERR | EPOLLHUP);
	assert_int_equal(so_error(r, far), ECONNREFUSED);
	sys_close(&r->sys, far);
	fake_route(r->k, 82, FAKE_BLACKHOLE, 0);
	assert_int_equal(connect_to(r, lost, 82), -EINPROGRESS);
	watch(r, lost, EPOLLOUT);
	assert_int_equal(wait_ms(r, 60000), 0);
	assert_int_equal(wait_ms(r, -1), EPOLLOUT | EPOLLERR | EPOLLHUP);
	assert_int_equal(so_error(r, lost), ETIMEDOUT);
}

static void
test_full_backlog_delays_the_client(void **state)
{
	struct rig *r = *state;
	int l = listen_on(r, PORT, 0);
	struct fake_sock *a = fake_client(r->k, PORT), *b = fake_client(r->k, PORT);

	assert_true(fake_peer_is_connected(a));
	assert_false(fake_peer_is_connected(b));
	assert_true(accept_one(r, l) > 0);
	assert_int_equal(accept_one(r, l), -EAGAIN);
	fake_advance(r->k, 2 * FAKE_SEC);
	assert_true(fake_peer_is_connected(b));
	assert_true(accept_one(r, l) > 0);
}

static void
test_deferred_accept_waits_for_bytes(void **state)
{
	struct rig *r = *state;
	int l = listen_on(r, PORT, 4), secs = 3;
	struct fake_sock *a, *b;

	sys_setsockopt(&r->sys, l, IPPROTO_TCP, TCP_DEFER_ACCEPT, &secs, sizeof(secs));
	a = fake_client(r->k, PORT);
	b = fake_client(r->k, PORT);
	assert_true(fake_peer_is_connected(a) && fake_peer_is_connected(b));
	assert_int_equal(accept_one(r, l), -EAGAIN);
	fake_peer_send(b, "x", 1);
	assert_true(accept_one(r, l) > 0);
	assert_int_equal(accept_one(r, l), -EAGAIN);
	fake_advance(r->k, 4 * FAKE_SEC);
	assert_true(accept_one(r, l) > 0);
}

static void
test_buffers_are_bounded_and_signal_free_space(void **state)
{
	static char big[40000], in[40000];
	struct rig *r = *state;
	struct fake_sock *c;
	int l, fd;

	fake_set_buffers(r->k, 10000, 5000);
	l = listen_on(r, PORT, 4);
	c = fake_client(r->k, PORT);
	fd = accept_one(r, l);
	watch(r, fd, EPOLLOUT | EPOLLET);
	assert_int_equal(wait_ms(r, 0), EPOLLOUT);
	/* 10,000 fit into the send buffer; 5,000 of them move to the receiver */
	assert_int_equal(sys_sendto(&r->sys, fd, big, sizeof(big), MSG_NOSIGNAL), 10000);
	assert_int_equal(sys_sendto(&r->sys, fd, big, sizeof(big), MSG_NOSIGNAL), 5000);
	assert_int_equal(sys_sendto(&r->sys, fd, big, sizeof(big), MSG_NOSIGNAL), -EAGAIN);
	assert_int_equal(wait_ms(r, 0), 0);
	assert_int_equal(fake_peer_recv(c, in, 1000), 1000);
	assert_int_equal(wait_ms(r, 0), 0); /* less than a third is free */
	assert_int_equal(fake_peer_recv(c, in, sizeof(in)), 5000);
	assert_int_equal(wait_ms(r, 0), EPOLLOUT);
	assert_int_equal(wait_ms(r, 0), 0);
}

static void
test_bytes_before_a_reset_can_still_be_read(void **state)
{
	struct rig *r = *state;
	int l = listen_on(r, PORT, 4), fd;
	struct fake_sock *c = fake_client(r->k, PORT);
	char buf[16];

	fd = accept_one(r, l);
	fake_peer_send(c, "last", 4);
	fake_peer_reset(c);
	assert_int_equal(sys_recvfrom(&r->sys, fd, buf, sizeof(buf), 0), 4);
	assert_int_equal(sys_recvfrom(&r->sys, fd, buf, sizeof(buf), 0), -ECONNRESET);
	assert_int_equal(sys_recvfrom(&r->sys, fd, buf, sizeof(buf), 0), 0);
	assert_int_equal(sys_sendto(&r->sys, fd, buf, 1, MSG_NOSIGNAL), -EPIPE);
}

static void
test_closing_with_unread_bytes_resets(void **state)
{
	struct rig *r = *state;
	int l = listen_on(r, PORT, 4), fd;
	struct fake_sock *c = fake_client(r->k, PORT);
	char buf[4];

	fd = accept_one(r, l);
	fake_peer_send(c, "x", 1);
	sys_close(&r->sys, fd);
	assert_int_equal(fake_peer_recv(c, buf, 4), -ECONNRESET);
}

static void
test_msg_more_holds_until_the_fin_and_stalls_without(void **state)
{
	struct rig *r = *state;
	int l = listen_on(r, PORT, 4), fd;
	struct fake_sock *c = fake_client(r->k, PORT);
	uint64_t before;
	char buf[16];

	fd = accept_one(r, l);
	before = fake_segments(r->k);
	sys_sendto(&r->sys, fd, "abc", 3, MSG_MORE | MSG_NOSIGNAL);
	assert_int_equal(fake_peer_recv(c, buf, sizeof(buf)), -EAGAIN);
	sys_shutdown(&r->sys, fd, SHUT_WR);
	assert_int_equal(fake_segments(r->k) - before, 1);
	assert_int_equal(fake_peer_recv(c, buf, sizeof(buf)), 3);
	assert_int_equal(fake_peer_recv(c, buf, sizeof(buf)), 0);
	assert_int_equal(fake_abuse(r->k, FAKE_CORK_STALL), 0);
	c = fake_client(r->k, PORT);
	fd = accept_one(r, l);
	sys_sendto(&r->sys, fd, "abc", 3, MSG_MORE | MSG_NOSIGNAL);
	fake_advance(r->k, 200 * FAKE_MS);
	assert_int_equal(fake_peer_recv(c, buf, sizeof(buf)), 3);
	assert_int_equal(fake_abuse(r->k, FAKE_CORK_STALL), 1);
}

static void
test_faults_hit_the_call_they_name(void **state)
{
	struct rig *r = *state;
	int l = listen_on(r, PORT, 4), fd;
	struct fake_sock *c = fake_client(r->k, PORT);
	char buf[4];

	fd = accept_one(r, l);
	fake_peer_send(c, "x", 1);
	fake_fail(r->k, SYS_CALL_recvfrom, 2, ENOMEM);
	assert_int_equal(sys_recvfrom(&r->sys, fd, buf, 4, MSG_PEEK), 1);
	assert_int_equal(sys_recvfrom(&r->sys, fd, buf, 4, 0), -ENOMEM);
	assert_int_equal(sys_recvfrom(&r->sys, fd, buf, 4, 0), 1);
	assert_int_equal(fake_failed_call(r->k), SYS_CALL_recvfrom);
	fake_fail(r->k, FAKE_ANY_CALL, fake_calls(r->k) + 1, EIO);
	assert_int_equal(sys_close(&r->sys, fd), -EIO);
	assert_int_equal(sys_close(&r->sys, fd), -EBADF); /* it was closed nevertheless */
	assert_int_equal(fake_abuse(r->k, FAKE_BAD_FD), 1);
}

static void
test_an_injected_eagain_is_followed_by_a_wake_up(void **state)
{
	struct rig *r = *state;
	int l = listen_on(r, PORT, 4), fd;
	struct fake_sock *c = fake_client(r->k, PORT);
	char buf[4];

	fd = accept_one(r, l);
	fake_peer_send(c, "x", 1);
	watch(r, fd, EPOLLIN | EPOLLET);
	assert_int_equal(wait_ms(r, 0), EPOLLIN);
	fake_fail(r->k, SYS_CALL_recvfrom, 1, EAGAIN);
	assert_int_equal(sys_recvfrom(&r->sys, fd, buf, 4, 0), -EAGAIN);
	assert_int_equal(wait_ms(r, -1), EPOLLIN);
}

static void
test_misuse_is_counted(void **state)
{
	struct rig *r = *state;
	int l = listen_on(r, PORT, 4), fd;
	char buf[4];

	fake_client(r->k, PORT);
	fd = accept_one(r, l);
	watch(r, fd, EPOLLIN);
	sys_recvfrom(&r->sys, fd, buf, 0, 0);
	assert_int_equal(fake_abuse(r->k, FAKE_RECV_ZERO), 1);
	sys_epoll_ctl(&r->sys, r->ep, EPOLL_CTL_DEL, fd, NULL);
	sys_close(&r->sys, fd);
	assert_int_equal(fake_abuse(r->k, FAKE_DEL_BEFORE_CLOSE), 1);
	sys_close(&r->sys, fd);
	assert_int_equal(fake_abuse(r->k, FAKE_BAD_FD), 1);
	assert_int_equal(sys_chroot(&r->sys, "/"), -ENOSYS);
	assert_int_equal(fake_abuse(r->k, FAKE_UNKNOWN), 1);
	fake_client(r->k, PORT);
	watch(r, l, EPOLLIN);
	for (int i = 0; i < 300; i++)
		assert_int_equal(wait_ms(r, -1), EPOLLIN);
	assert_int_equal(fake_abuse(r->k, FAKE_BUSY), 1);
}

static void
test_a_quiet_world_is_detected(void **state)
{
	struct rig *r = *state;
	struct epoll_event ev;
	int l = listen_on(r, PORT, 4);

	watch(r, l, EPOLLIN);
	assert_int_equal(sys_epoll_wait(&r->sys, r->ep, &ev, 1, -1), -EINTR);
	assert_true(fake_is_quiet(r->k));
	fake_client(r->k, PORT);
	assert_int_equal(wait_ms(r, -1), EPOLLIN);
	assert_false(fake_is_quiet(r->k));
}

static void
send_later(struct fake *k, void *arg)
{
	fake_note(k, "later");
	fake_peer_send(arg, "x", 1);
}

static void
test_the_trace_reads_like_strace(void **state)
{
	struct rig *r = *state;
	struct fake_sock *c;
	char buf[4];
	int l;

	fake_trace_on(r->k, 1);
	l = listen_on(r, PORT, 4);
	c = fake_client(r->k, PORT);
	accept_one(r, l);
	watch(r, l + 1, EPOLLIN | EPOLLRDHUP);
	fake_after(r->k, 3 * FAKE_MS, send_later, c);
	wait_ms(r, -1);
	sys_recvfrom(&r->sys, l + 1, buf, 4, 0);
	sys_recvfrom(&r->sys, l + 1, buf, 4, 0);
	assert_string_equal(fake_trace(r->k), "socket(INET) = 4\n"
					      "bind(4) = 0\n"
					      "listen(4, 4) = 0\n"
					      "accept4(4) = 5\n"
					      "epoll_ctl(3, ADD, 5, IN|RDHUP) = 0\n"
					      "later\n"
					      "epoll_wait(3, -1) = 1 5:IN\n"
					      "recvfrom(5, 4) = 1\n"
					      "recvfrom(5, 4) = EAGAIN\n");
}

static void
count(struct fake *k, void *arg)
{
	(void)k;
	++*(int *)arg;
}

static void
test_peers_are_notified_of_changes(void **state)
{
	struct rig *r = *state;
	int l = listen_on(r, PORT, 4), told = 0, fd;
	struct fake_sock *c = fake_client(r->k, PORT);

	fd = accept_one(r, l);
	fake_peer_notify(c, FAKE_MS, count, &told);
	fake_advance(r->k, 2 * FAKE_MS);
	assert_int_equal(told, 1); /* once at first */
	sys_sendto(&r->sys, fd, "a", 1, 0);
	sys_sendto(&r->sys, fd, "b", 1, 0);
	assert_int_equal(told, 1);
	fake_advance(r->k, FAKE_MS);
	assert_int_equal(told, 2);
}

static void
test_signals_come_through_a_signalfd(void **state)
{
	struct rig *r = *state;
	struct signalfd_siginfo si;
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	fd = (int)sys_signalfd4(&r->sys, -1, &set, SFD_NONBLOCK);
	watch(r, fd, EPOLLIN);
	assert_int_equal(sys_read(&r->sys, fd, &si, sizeof(si)), -EAGAIN);
	fake_signal(r->k, SIGUSR1);
	assert_int_equal(wait_ms(r, 0), 0);
	fake_signal(r->k, SIGTERM);
	assert_int_equal(wait_ms(r, 0), EPOLLIN);
	assert_int_equal(sys_read(&r->sys, fd, &si, sizeof(si)), sizeof(si));
	assert_int_equal(si.ssi_signo, SIGTERM);
}

static void
test_unix_connects_complete_at_once(void **state)
{
	struct rig *r = *state;
	struct sockaddr_un un = { .sun_family = AF_UNIX, .sun_path = "/run/x" };
	int l = (int)sys_socket(&r->sys, AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	int c = (int)sys_socket(&r->sys, AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	assert_int_equal(sys_connect(&r->sys, c, (struct sockaddr *)&un, sizeof(un)),
	    -ECONNREFUSED);
	assert_int_equal(sys_bind(&r->sys, l, (struct sockaddr *)&un, sizeof(un)), 0);
	assert_int_equal(sys_listen(&r->sys, l, 0), 0);
	assert_int_equal(sys_connect(&r->sys, c, (struct sockaddr *)&un, sizeof(un)), 0);
	assert_true(accept_one(r, l) > 0);
	assert_true(fake_peer_is_connected(fake_client_unix(r->k, "/run/x")));
}

static void
test_the_cpu_affinity_is_within_the_present_cpus(void **state)
{
	struct rig *r = *state;
	cpu_set_t set;

	assert_int_equal(sys_sched_getaffinity(&r->sys, sizeof(set), &set), 0);
	assert_int_equal(CPU_COUNT(&set), 1);
	fake_set_cpus(r->k, 4);
	assert_int_equal(sys_sched_getaffinity(&r->sys, sizeof(set), &set), 0);
	assert_int_equal(CPU_COUNT(&set), 4);
	assert_int_equal(sys_sched_getaffinity(&r->sys, 4, &set), -EINVAL);
	CPU_ZERO(&set);
	assert_int_equal(sys_sched_setaffinity(&r->sys, sizeof(set), &set), -EINVAL);
	CPU_SET(3, &set);
	CPU_SET(9, &set);
	assert_int_equal(sys_sched_setaffinity(&r->sys, sizeof(set), &set), 0);
	assert_int_equal(sys_sched_getaffinity(&r->sys, sizeof(set), &set), 0);
	assert_int_equal(CPU_COUNT(&set), 1);
	assert_true(CPU_ISSET(3, &set));
}

/* A connection whose two ends have fds, and a pipe. */
static void
pipe_rig(struct rig *r, int *a, struct fake_sock **peer, int p[2])
{
	int l = listen_on(r, PORT, 4);

	*peer = fake_client(r->k, PORT);
	*a = accept_one(r, l);
	assert_int_equal(sys_pipe2(&r->sys, p, O_NONBLOCK | O_CLOEXEC), 0);
}

static void
test_a_pipe_is_full_when_its_slots_are(void **state)
{
	struct rig *r = *state;
	struct fake_sock *peer;
	char buf[4000];
	int a, p[2];

	fake_set_pipes(r->k, 4, 100);
	pipe_rig(r, &a, &peer, p);
	assert_int_equal(sys_splice(&r->sys, a, p[1], 1000, SPLICE_F_NONBLOCK), -EAGAIN);
	memset(buf, 'x', sizeof(buf));
	assert_int_equal(fake_peer_send(peer, buf, 1000), 1000);
	assert_int_equal(sys_splice(&r->sys, a, p[1], 50, SPLICE_F_NONBLOCK), 50);
	assert_int_equal(sys_splice(&r->sys, a, p[1], 1000, SPLICE_F_NONBLOCK), 300);
	/* The source has more: EAGAIN is for the pipe. */
	assert_int_equal(sys_splice(&r->sys, a, p[1], 1000, SPLICE_F_NONBLOCK), -EAGAIN);
	assert_int_equal(sys_read(&r->sys, p[0], buf, 49), 49);
	assert_int_equal(sys_splice(&r->sys, a, p[1], 1000, SPLICE_F_NONBLOCK), -EAGAIN);
	assert_int_equal(sys_read(&r->sys, p[0], buf, 1), 1);
	assert_int_equal(sys_splice(&r->sys, a, p[1], 1000, SPLICE_F_NONBLOCK), 100);
	assert_int_equal(sys_read(&r->sys, p[0], buf, sizeof(buf)), 400);
	assert_int_equal(sys_read(&r->sys, p[0], buf, sizeof(buf)), -EAGAIN);
	fake_peer_shut(peer);
	assert_int_equal(sys_splice(&r->sys, a, p[1], 1000, SPLICE_F_NONBLOCK), 400);
	assert_int_equal(sys_read(&r->sys, p[0], buf, sizeof(buf)), 400);
	assert_int_equal(sys_splice(&r->sys, a, p[1], 1000, SPLICE_F_NONBLOCK), 150);
	assert_int_equal(sys_read(&r->sys, p[0], buf, sizeof(buf)), 150);
	assert_int_equal(sys_splice(&r->sys, a, p[1], 1000, SPLICE_F_NONBLOCK), 0);
	assert_int_equal(sys_fcntl(&r->sys, p[0], F_GETPIPE_SZ, 0), 4 * 4096);
	assert_int_equal(sys_fcntl(&r->sys, p[0], F_SETPIPE_SZ, 5 * 4096), -EPERM);
	fake_set_pipes(r->k, 16, 100);
	assert_int_equal(sys_fcntl(&r->sys, p[0], F_SETPIPE_SZ, 5 * 4096), 8 * 4096);
	assert_int_equal(sys_fcntl(&r->sys, p[0], F_SETPIPE_SZ, 2 << 20), -EPERM);
	assert_int_equal(sys_close_range(&r->sys, (unsigned)p[0], (unsigned)p[1]), 0);
}

/* A send that was interrupted by a reset only reports its count. */
static void
test_a_cut_splice_hides_the_reset(void **state)
{
	struct rig *r = *state;
	struct fake_sock *peer;
	char buf[100] = "";
	int a, p[2];

	pipe_rig(r, &a, &peer, p);
	assert_int_equal(fake_peer_send(peer, buf, 100), 100);
	assert_int_equal(sys_splice(&r->sys, a, p[1], 100, SPLICE_F_NONBLOCK), 100);
	fake_cut_splice(r->k, 1);
	assert_int_equal(sys_splice(&r->sys, p[0], a, 100, SPLICE_F_NONBLOCK), 50);
	assert_int_equal(sys_recvfrom(&r->sys, a, buf, sizeof(buf), 0), 0);
	assert_int_equal(sys_splice(&r->sys, p[0], a, 50, SPLICE_F_NONBLOCK), -EPIPE);
	assert_int_equal(fake_peer_recv(peer, buf, sizeof(buf)), 50);
	assert_int_equal(fake_peer_recv(peer, buf, sizeof(buf)), -ECONNRESET);
}

/* Bytes moved justify the wait after them; a peek and EAGAIN do not. */
static void
test_useless_waits_are_counted(void **state)
{
	struct rig *r = *state;
	struct fake_sock *peer;
	char buf[100] = { 0 };
	int a, p[2];

	pipe_rig(r, &a, &peer, p);
	assert_int_equal(fake_peer_send(peer, buf, 90), 90);
	(void)wait_ms(r, 0);
	assert_int_equal(fake_empty_waits(r->k), 1);
	assert_int_equal(sys_recvfrom(&r->sys, a, buf, 10, 0), 10);
	(void)wait_ms(r, 0);
	assert_int_equal(sys_splice(&r->sys, a, p[1], 80, SPLICE_F_NONBLOCK), 80);
	(void)wait_ms(r, 0);
	assert_int_equal(sys_splice(&r->sys, p[0], a, 80, SPLICE_F_NONBLOCK), 80);
	(void)wait_ms(r, 0);
	assert_int_equal(sys_sendto(&r->sys, a, buf, 1, MSG_NOSIGNAL), 1);
	(void)wait_ms(r, 0);
	assert_int_equal(fake_empty_waits(r->k), 1);
	assert_int_equal(fake_waits(r->k), 5);
	assert_int_equal(fake_peer_send(peer, buf, 1), 1);
	assert_int_equal(sys_recvfrom(&r->sys, a, buf, 10, MSG_PEEK), 1);
	(void)wait_ms(r, 0);
	assert_int_equal(sys_splice(&r->sys, p[0], a, 80, SPLICE_F_NONBLOCK), -EAGAIN);
	(void)wait_ms(r, 0);
	assert_int_equal(fake_empty_waits(r->k), 3);
}


int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_fd_numbers_are_the_lowest_free),
		CASE(test_accept_without_descriptors_fails_and_keeps_the_connection),
		CASE(test_near_connect_completes_at_once),
		CASE(test_far_connect_takes_a_round_trip),
		CASE(test_a_path_has_a_rate),
		CASE(test_refused_and_unanswered_connects),
		CASE(test_full_backlog_delays_the_client),
		CASE(test_deferred_accept_waits_for_bytes),
		CASE(test_buffers_are_bounded_and_signal_free_space),
		CASE(test_bytes_before_a_reset_can_still_be_read),
		CASE(test_closing_with_unread_bytes_resets),
		CASE(test_msg_more_holds_until_the_fin_and_stalls_without),
		CASE(test_faults_hit_the_call_they_name),
		CASE(test_an_injected_eagain_is_followed_by_a_wake_up),
		CASE(test_misuse_is_counted),
		CASE(test_a_quiet_world_is_detected),
		CASE(test_the_trace_reads_like_strace),
		CASE(test_peers_are_notified_of_changes),
		CASE(test_signals_come_through_a_signalfd),
		CASE(test_unix_connects_complete_at_once),
		CASE(test_the_cpu_affinity_is_within_the_present_cpus),
		CASE(test_a_pipe_is_full_when_its_slots_are),
		CASE(test_a_cut_splice_hides_the_reset),
		CASE(test_useless_waits_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
