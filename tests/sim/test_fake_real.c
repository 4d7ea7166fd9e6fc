/*
 * Holds the fake kernel against the real one: the same random script of socket and epoll calls
 * is run on both, over loopback, and every result and every event must be the same, in the same
 * order.
 */
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fake/kernel.h"
#include "unit/test.h"

#define SLOTS 6
#define OPS 60
#define SEEDS 60
#define FILL_MAX (64 << 20)
#define DELAYED_ACK_NS 30000000 /* the real kernel puts one off by 40 ms, in its own ticks */
#define RUNS_MAX 1000
#define SHORT_RUNS 10
#define HOPS 4 /* SYN, SYN and ACK, ACK; data, reset */

static int flush; /* sends to itself */

/* A kernel and the script's descriptors in it. */
struct box {
	struct sys sys;
	struct fake *fake; /* NULL: the real one */
	int ep, listener;
	struct sockaddr_in addr, nobody;
	int fd[SLOTS];
	int rdwr[SLOTS / 2]; /* by pair: both directions are shut */
	int full[SLOTS / 2]; /* by pair: the capacity of full buffers differs between kernels */
	char log[OPS * 200];
	size_t n;
};

static void
say(struct box *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	b->n += (size_t)vsnprintf(b->log + b->n, sizeof(b->log) - b->n, fmt, ap);
	va_end(ap);
	assert_true(b->n < sizeof(b->log));
}

static const char *
result(long r)
{
	return r < 0 ? strerrorname_np((int)-r) : "ok";
}

/* Waits until packets of the real kernel have arrived, as they do at once in the fake, with the
 * answers of the other end, and so on. A packet of `flush` is behind them in the queue of the
 * CPU. */
static void
settle(const struct box *b)
{
	char byte = 'x';

	for (int i = 0; !b->fake && i < HOPS; i++) {
		assert_int_equal(send(flush, &byte, 1, 0), 1);
		assert_int_equal(recv(flush, &byte, 1, 0), 1);
	}
}

/* The same where one end may have put off an acknowledgement: sends that. */
static void
settle_acks(const struct box *b, int slot)
{
	int on = 1;

	for (int i = slot & ~1; !b->fake && i < (slot & ~1) + 2; i++)
		if (b->fd[i] >= 0)
			(void)setsockopt(b->fd[i], IPPROTO_TCP, TCP_QUICKACK, &on, sizeof(on));
	settle(b);
}

static void
box_open(struct box *b, struct fake *fake)
{
	socklen_t len = sizeof(b->addr);
	int spare;

	memset(b, 0, sizeof(*b));
	b->fake = fake;
	sys_init(&b->sys, fake ? &sys_fake : &sys_linux, fake);
	for (int i = 0; i < SLOTS; i++)
		b->fd[i] = -1;
	b->ep = (int)sys_epoll_create1(&b->sys, EPOLL_CLOEXEC);
	b->addr.sin_family = AF_INET;
	b->addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	b->nobody = b->addr;
	b->listener = (int)sys_socket(&b->sys, AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	assert_int_equal(sys_bind(&b->sys, b->listener, (struct sockaddr *)&b->addr, len), 0);
	assert_int_equal(sys_listen(&b->sys, b->listener, 16), 0);
	assert_int_equal(sys_getsockname(&b->sys, b->listener, (struct sockaddr *)&b->addr, &len),
	    0);
	/* a port without a listener: bound and closed again */
	spare = (int)sys_socket(&b->sys, AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	assert_int_equal(sys_bind(&b->sys, spare, (struct sockaddr *)&b->nobody, len), 0);
	assert_int_equal(sys_getsockname(&b->sys, spare, (struct sockaddr *)&b->nobody, &len), 0);
	if (fake)
		b->nobody.sin_port = htons(9);
	assert_int_equal(sys_close(&b->sys, spare), 0);
}

static void
box_close(struct box *b)
{
	for (int i = 0; i < SLOTS; i++)
		if (b->fd[i] >= 0)
			sys_close(&b->sys, b->fd[i]);
	sys_close(&b->sys, b->listener);
	sys_close(&b->sys, b->ep);
}

static int
make_socket(struct box *b)
{
	int one = 1;
	int fd = (int)sys_socket(&b->sys, AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

	sys_setsockopt(&b->sys, fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return fd;
}

/* Slots 2i and 2i + 1 are the two ends of one connection. */
static void
op_connect(struct box *b, int slot, unsigned int rnd)
{
	int c = slot & ~1, one = 1;
	long r;

	if (b->fd[c] >= 0 || b->fd[c + 1] >= 0)
		return;
	b->fd[c] = make_socket(b);
	b->full[slot / 2] = b->rdwr[slot / 2] = 0;
	if (rnd % 8 == 0) {
		r = sys_connect(&b->sys, b->fd[c], (struct sockaddr *)&b->nobody,
		    sizeof(b->nobody));
		say(b, "connect nobody %s\n", result(r));
		settle(b);
		return;
	}
	r = sys_connect(&b->sys, b->fd[c], (struct sockaddr *)&b->addr, sizeof(b->addr));
	say(b, "connect %s\n", result(r));
	settle(b);
	b->fd[c + 1] = (int)sys_accept4(&b->sys, b->listener, NULL, NULL, SOCK_NONBLOCK);
	assert_true(b->fd[c + 1] >= 0);
	sys_setsockopt(&b->sys, b->fd[c + 1], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

static void
op_ctl(struct box *b, int slot, unsigned int rnd)
{
	static const uint32_t masks[] = { EPOLLIN, EPOLLOUT, EPOLLIN | EPOLLRDHUP, EPOLLIN |
	    EPOLLOUT,
		EPOLLIN | EPOLLOUT | EPOLLRDHUP, 0 };
	static const int ops[] = { EPOLL_CTL_ADD, EPOLL_CTL_ADD, EPOLL_CTL_MOD, EPOLL_CTL_DEL };
	struct epoll_event ev = { 0 };
	int op = ops[rnd % 4];
	long r;

	settle(b);
	ev.events = masks[rnd / 4 % 6] | (rnd / 24 % 2 ? EPOLLET : 0);
	ev.data.u32 = (uint32_t)slot;
	r = sys_epoll_ctl(&b->sys, b->ep, op, b->fd[slot], &ev);
	say(b, "ctl %d %d %x %s\n", op, slot, ev.events, result(r));
}

static void
op_wait(struct box *b, unsigned int rnd)
{
	struct epoll_event ev[SLOTS];
	int max = rnd % 4 == 0 ? 1 + (int)(rnd / 4 % 3) : SLOTS;
	long n;

	settle(b);
	n = sys_epoll_wait(&b->sys, b->ep, ev, max, 0);
	say(b, "wait %ld:", n);
	for (long i = 0; i < n; i++)
		say(b, " %u=%x", ev[i].data.u32, ev[i].events);
	say(b, "\n");
}

static void
op_fill(struct box *b, int slot)
{
	static const char junk[65536];
	long r = 0, sum = 0;

	settle(b);
	/* what is acknowledged makes room again: repeats until nothing more fits */
	for (int quiet = 0; quiet < 2 && sum < FILL_MAX;) {
		r = sys_sendto(&b->sys, b->fd[slot], junk, sizeof(junk), MSG_NOSIGNAL);
		quiet = r < 0 ? quiet + 1 : 0;
		sum += r > 0 ? r : 0;
		if (r < 0 && r != -EAGAIN)
			break;
		if (r == -EAGAIN)
			settle_acks(b, slot);
	}
	b->full[slot / 2] = 1;
	say(b, "fill %d %s\n", slot, result(r));
}

/* True if the other end has more for a socket that was read to its end. */
static int
has_more(const struct box *b, int slot)
{
	int left = 0;

	if (b->fake || !b->full[slot / 2])
		return 0;
	settle_acks(b, slot);
	/* One that is closed has, until its end has come. */
	return b->fd[slot ^ 1] < 0 ||
		(ioctl(b->fd[slot ^ 1], SIOCOUTQ, &left) == 0 && left > 0);
}

static void
op_drain(struct box *b, int slot)
{
	struct pollfd p = { .fd = b->fd[slot], .events = POLLIN };
	char buf[65536];
	long r;

	settle(b);
	for (;;) {
		r = sys_recvfrom(&b->sys, b->fd[slot], buf, sizeof(buf), 0);
		if (r == 0 || (r < 0 && (r != -EAGAIN || !has_more(b, slot))))
			break;
		/* The next part may wait for a timer of the other end. */
		if (r < 0)
			assert_int_equal(poll(&p, 1, 60000), 1);
	}
	say(b, "drain %d %s\n", slot, result(r));
}

static void
op_close(struct box *b, int slot, int reset)
{
	struct linger l = { 1, 0 };

	settle(b);
	if (reset)
		sys_setsockopt(&b->sys, b->fd[slot], SOL_SOCKET, SO_LINGER, &l, sizeof(l));
	say(b, "close %d %d %s\n", slot, reset, result(sys_close(&b->sys, b->fd[slot])));
	b->fd[slot] = -1;
}

/* Two reads in one call. */
static void
op_recv_twice(struct box *b, int slot, char *buf, size_t len)
{
	struct iovec first = { buf, len }, second = { buf + len, 1 };
	struct mmsghdr v[2] = { { .msg_hdr = { .msg_iov = &first, .msg_iovlen = 1 } },
		{ .msg_hdr = { .msg_iov = &second, .msg_iovlen = 1 } } };
	long r = sys_recvmmsg(&b->sys, b->fd[slot], v, 2, MSG_DONTWAIT);

	say(b, "recv twice %d %zu %s %ld %u %u\n", slot, len, result(r), r,
		r > 0 ? v[0].msg_len : 0, r > 1 ? v[1].msg_len : 0);
}

static void
op_bytes(struct box *b, int slot, unsigned int op, unsigned int rnd)
{
	char buf[700];
	size_t len = 1 + rnd % 600;
	socklen_t elen = sizeof(int);
	int err = 0;
	long r;

	memset(buf, 'x', sizeof(buf));
	settle(b);
	if (op == 0) {
		r = sys_sendto(&b->sys, b->fd[slot], buf, len, MSG_NOSIGNAL);
		say(b, "send %d %zu %s %ld\n", slot, len, result(r), r);
	} else if (op == 1 && rnd % 5 == 1) {
		op_recv_twice(b, slot, buf, len);
	} else if (op == 1) {
		r = sys_recvfrom(&b->sys, b->fd[slot], buf, len, rnd % 5 == 0 ? MSG_PEEK : 0);
		say(b, "recv %d %zu %s %ld\n", slot, len, result(r), r);
	} else if (op == 2) {
		int both = rnd % 9 == 0 && !b->full[slot / 2];

		b->rdwr[slot / 2] |= both;
		r = sys_shutdown(&b->sys, b->fd[slot], both ? SHUT_RDWR : SHUT_WR);
		say(b, "shutdown %d %s\n", slot, result(r));
	} else if (op == 3) {
		r = sys_getsockopt(&b->sys, b->fd[slot], SOL_SOCKET, SO_ERROR, &err, &elen);
		say(b, "error %d %d %ld\n", slot, err, r);
	} else {
		r = sys_connect(&b->sys, b->fd[slot], (struct sockaddr *)&b->addr, sizeof(b->addr));
		say(b, "reconnect %d %s\n", slot, result(r));
	}
}

static void
op(struct box *b, unsigned int kind, int slot, unsigned int rnd)
{
	if (kind < 30) {
		op_wait(b, rnd);
		return;
	}
	if (b->fd[slot] < 0) {
		op_connect(b, slot, rnd);
		return;
	}
	if (b->full[slot / 2] && kind >= 50 && kind < 80) {
		/* makes room again when both ends have been here */
		op_drain(b, slot);
		if (b->fd[slot ^ 1] >= 0)
			op_drain(b, slot ^ 1);
		b->full[slot / 2] = 0;
		return;
	}
	if (kind < 50)
		op_ctl(b, slot, rnd);
	else if (kind < 65)
		op_bytes(b, slot, 0, rnd);
	else if (kind < 80)
		op_bytes(b, slot, 1, rnd);
	else if (kind < 85)
		op_bytes(b, slot, 2, rnd);
	else if (kind < 88)
		op_bytes(b, slot, 3, rnd);
	else if (kind < 89 && (slot & 1))
		op_bytes(b, slot, 4, rnd);
	else if (kind < 91 && !b->rdwr[slot / 2])
		op_fill(b, slot); /* not where window probes would determine the time of a reset */
	else if (kind < 96)
		op_drain(b, slot);
	else
		op_close(b, slot, kind >= 98);
}

static unsigned int
draw(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned int)(*state >> 33);
}

typedef void script_fn(struct box *b, uint64_t seed);

static void
run_script(struct box *b, uint64_t seed)
{
	uint64_t rnd = seed;

	for (int i = 0; i < OPS; i++) {
		unsigned int kind = draw(&rnd) % 100;
		int slot = (int)(draw(&rnd) % SLOTS);

		op(b, kind, slot, draw(&rnd));
	}
}

/* Plays a script on the fake kernel, or on the real one. Returns the nanoseconds that it took. */
static uint64_t
play(struct box *b, script_fn *script, uint64_t seed, struct fake *k)
{
	uint64_t start;

	box_open(b, k);
	start = sys_clock_ns(&b->sys, CLOCK_MONOTONIC);
	script(b, seed);
	box_close(b);
	return sys_clock_ns(&b->sys, CLOCK_MONOTONIC) - start;
}

/* 0 when both kernels return the same. One run of the real one that does is enough: what happens
 * between its calls may change it, such as an acknowledgement that it has put off. A fault of the
 * fake is there in each run, also in those too short for that. */
static int
compare(script_fn *script, uint64_t seed)
{
	static struct box real, made;
	struct fake *k = fake_new();
	unsigned int runs = 0, short_runs = 0;
	size_t at = 0;

	(void)play(&made, script, seed, k);
	fake_free(&k);
	do {
		short_runs += play(&real, script, seed, NULL) < DELAYED_ACK_NS;
		if (strcmp(made.log, real.log) == 0)
			return 0;
	} while (short_runs < SHORT_RUNS && ++runs < RUNS_MAX);
	while (made.log[at] == real.log[at])
		at++;
	while (at && made.log[at - 1] != '\n')
		at--;
	print_message("seed %llu\n%.*s--- the fake goes on:\n%.200s\n--- the real one:\n%.200s\n",
	    (unsigned long long)seed, (int)at, made.log, made.log + at, real.log + at);
	return 1;
}

static void
test_random_scripts_agree(void **state)
{
	const char *one = getenv("SEED"), *many = getenv("SEEDS");
	uint64_t first = one ? strtoull(one, NULL, 10) : 1;
	uint64_t n = one ? 1 : many ? strtoull(many, NULL, 10) : SEEDS;
	int bad = 0;

	(void)state;
	for (uint64_t seed = first; seed < first + n; seed++)
		bad += compare(run_script, seed);
	assert_int_equal(bad, 0);
}

/* Counters, too: each write is an edge, whether read or not; a level lasts until it is read. */
static void
eventfd_script(struct sys *s, long *out)
{
	static const uint64_t one = 1, most = UINT64_MAX - 1, none = UINT64_MAX;
	static const uint32_t masks[] = { EPOLLIN, EPOLLIN | EPOLLET, EPOLLIN | EPOLLOUT };
	int ep = (int)sys_epoll_create1(s, EPOLL_CLOEXEC);

	for (size_t i = 0; i < ARRAY_LEN(masks); i++) {
		int fd = (int)sys_eventfd2(s, 0, EFD_NONBLOCK | EFD_CLOEXEC);
		struct epoll_event ev = { .events = masks[i] }, got;
		uint64_t n = 0;

		*out++ = sys_epoll_ctl(s, ep, EPOLL_CTL_ADD, fd, &ev);
		*out++ = sys_epoll_wait(s, ep, &got, 1, 0);
		*out++ = sys_read(s, fd, &n, sizeof(n));
		for (int turn = 0; turn < 3; turn++) {
			*out++ = sys_write(s, fd, &one, sizeof(one));
			*out++ = sys_epoll_wait(s, ep, &got, 1, 0);
			*out++ = sys_epoll_wait(s, ep, &got, 1, 0);
		}
		*out++ = (long)got.events;
		*out++ = sys_write(s, fd, &most, sizeof(most));
		*out++ = sys_write(s, fd, &none, sizeof(none));
		*out++ = sys_write(s, fd, &one, sizeof(one) - 1);
		*out++ = sys_read(s, fd, &n, sizeof(n) - 1);
		*out++ = sys_read(s, fd, &n, sizeof(n));
		*out++ = (long)n;
		*out++ = sys_write(s, fd, &most, sizeof(most));
		*out++ = sys_epoll_wait(s, ep, &got, 1, 0);
		*out++ = (long)got.events;
		*out++ = sys_read(s, fd, &n, sizeof(n));
		*out++ = sys_epoll_wait(s, ep, &got, 1, 0);
		*out++ = sys_close(s, fd);
	}
	*out = sys_close(s, ep);
}

static void
test_eventfds_agree(void **state)
{
	struct fake *k = fake_new();
	struct sys fake, real;
	long a[96] = { 0 }, b[96] = { 0 };

	(void)state;
	sys_init(&fake, &sys_fake, k);
	sys_init(&real, &sys_linux, NULL);
	eventfd_script(&fake, a);
	eventfd_script(&real, b);
	for (size_t i = 0; i < ARRAY_LEN(a); i++)
		if (a[i] != b[i])
			fail_msg("step %zu: the fake says %ld, the kernel %ld", i, a[i], b[i]);
	fake_free(&k);
}

static void
report_error(struct box *b, int slot)
{
	socklen_t len = sizeof(int);
	int err = 0;
	long r = sys_getsockopt(&b->sys, b->fd[slot], SOL_SOCKET, SO_ERROR, &err, &len);

	say(b, "error %d %d %ld\n", slot, err, r);
}

/* A socket that is connected to no address resets its connection, and may be connected again. */
static void
run_disconnects(struct box *b, uint64_t seed)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	int asks;

	(void)seed;
	for (int i = 0; i < 8; i++) {
		op_connect(b, 0, 1);
		op_ctl(b, 0, 3 * 4); /* ADD, IN and OUT */
		if (i & 1)
			op_bytes(b, 1, 0, 30);
		if (i & 2)
			op_bytes(b, 0, 0, 40);
		if (i & 4)
			say(b, "shutdown %s\n",
				result(sys_shutdown(&b->sys, b->fd[1], SHUT_WR)));
		op_wait(b, 1);
		say(b, "none %s\n",
			result(sys_connect(&b->sys, b->fd[0], &none, sizeof(none))));
		op_wait(b, 1);
		op_bytes(b, 1, 1, 31);
		op_close(b, 1, 0);
		asks = i % 3 == 0;
		if (asks)
			report_error(b, 0);
		say(b, "again %s\n", result(sys_connect(&b->sys, b->fd[0],
			(struct sockaddr *)(i == 5 ? &b->nobody : &b->addr), sizeof(b->addr))));
		settle(b);
		op_wait(b, 1);
		if (i != 5)
			b->fd[1] = (int)sys_accept4(&b->sys, b->listener, NULL, NULL,
				SOCK_NONBLOCK);
		else
			report_error(b, 0);
		if (i != 5)
			op_bytes(b, 0, 0, 50);
		if (i != 5)
			op_bytes(b, 1, 1, 99);
		op_close(b, 0, 0);
		if (i != 5)
			op_close(b, 1, 0);
	}
}

static void
test_disconnects_agree(void **state)
{
	(void)state;
	assert_int_equal(compare(run_disconnects, 0), 0);
}

/* One CPU has one queue of packets. */
static int
open_flush(void **state)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(a);
	int cpu = sched_getcpu();
	cpu_set_t one;

	(void)state;
	CPU_ZERO(&one);
	CPU_SET((size_t)cpu, &one);
	flush = socket(AF_INET, SOCK_DGRAM, 0);
	return cpu < 0 || sched_setaffinity(0, sizeof(one), &one) < 0 || flush < 0 ||
		bind(flush, (struct sockaddr *)&a, len) < 0 ||
		getsockname(flush, (struct sockaddr *)&a, &len) < 0 ||
		connect(flush, (struct sockaddr *)&a, len) < 0;
}

static int
close_flush(void **state)
{
	(void)state;
	return close(flush);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_disconnects_agree),
		cmocka_unit_test(test_random_scripts_agree),
		cmocka_unit_test(test_eventfds_agree),
	};

	return cmocka_run_group_tests(tests, open_flush, close_flush);
}
