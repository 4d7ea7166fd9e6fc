#include "unit/net/net_rig.h"

#include <sys/ioctl.h>

#include "base/sbuf.h"
#include "net/conn.h"

static struct conn c;
static int peer;
static uint32_t seen;

static void
on_fd(void *owner, int fd, uint32_t ev)
{
	(void)owner;
	(void)fd;
	seen |= ev;
}

static void
open_pair(enum interest_mode mode)
{
	int fd[2];

	rig_open(mode);
	rig_tcp_pair(fd);
	peer = fd[0];
	seen = 0;
	assert_int_equal(conn_open(&c, rig_loop, fd[1], on_fd, NULL, 0), 0);
}

static int
setup(void **st)
{
	(void)st;
	open_pair(INTEREST_EDGE);
	return 0;
}

static int
teardown(void **st)
{
	(void)st;
	conn_close(&c);
	assert_false(conn_is_open(&c));
	if (peer >= 0)
		close(peer);
	rig_close();
	return 0;
}

/* Waits until the loop has reported these bits. */
static void
await(uint32_t bits)
{
	loop_want(rig_loop, c.fd, EV_R);
	loop_again(rig_loop, c.fd, DIR_R);
	while ((seen & bits) != bits)
		rig_turn(PATIENCE_MS);
}

/* Sends at the peer, and waits until the socket has it: the loop may not report it. */
static void
arrive_below_low_water(const char *text, int n)
{
	int unread = 0;

	assert_int_equal(write(peer, text, (size_t)n), n);
	while (unread < n)
		assert_int_equal(ioctl(c.fd, FIONREAD, &unread), 0);
	rig_turn(0);
	assert_false(loop_is_ready(rig_loop, c.fd, DIR_R));
}

static void
a_short_read_means_drained(void **st)
{
	char buf[64];
	size_t got;

	(void)st;
	assert_int_equal(write(peer, "hello", 5), 5);
	await(EV_R);
	assert_true(loop_is_ready(rig_loop, c.fd, DIR_R));
	assert_int_equal(conn_recv(&c, buf, sizeof(buf), &got), IO_OK);
	assert_int_equal(got, 5);
	assert_false(loop_is_ready(rig_loop, c.fd, DIR_R));
	assert_int_equal(rig_calls(SYS_CALL_recvfrom), 1);
}

static void
a_full_read_leaves_it_ready(void **st)
{
	char buf[5];
	size_t got;

	(void)st;
	assert_int_equal(write(peer, "hello, you", 10), 10);
	await(EV_R);
	assert_int_equal(conn_recv(&c, buf, sizeof(buf), &got), IO_OK);
	assert_true(loop_is_ready(rig_loop, c.fd, DIR_R));
	assert_false(c.eof);
}

static void
rdhup_and_a_short_read_is_the_end(void **st)
{
	char buf[64];
	size_t got;

	(void)st;
	assert_int_equal(write(peer, "last", 4), 4);
	assert_int_equal(shutdown(peer, SHUT_WR), 0);
	await(EV_R | EV_RDHUP);
	assert_int_equal(conn_recv(&c, buf, sizeof(buf), &got), IO_OK);
	assert_int_equal(got, 4);
	assert_true(c.eof);
	/* The end is known: there is no other call. */
	assert_int_equal(conn_recv(&c, buf, sizeof(buf), &got), IO_EOF);
	assert_int_equal(rig_calls(SYS_CALL_recvfrom), 1);
}

/* The call that reads the bytes also reads the end behind them. */
static void
one_call_reads_the_bytes_and_the_end(void **st)
{
	static const struct {
		const char *bytes;
		int ends;
		size_t len; /* of the buffer */
		enum io_result r;
		const char *got;
		int eof, ready;
	} t[] = {
		{ "last", 1, 64, IO_OK, "last", 1, 1 },
		{ "some", 0, 64, IO_OK, "some", 0, 0 },
		{ "filled", 0, 4, IO_OK, "fill", 0, 1 },
		{ "all", 1, 4, IO_OK, "all", 1, 1 },
		{ "full", 1, 4, IO_OK, "full", 0, 1 },
		{ "", 1, 64, IO_EOF, "", 1, 1 },
		{ "", 0, 64, IO_AGAIN, "", 0, 0 },
		/* The buffer is too small for two reads. */
		{ "x", 1, 1, IO_OK, "x", 0, 1 },
	};

	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		char buf[64];
		size_t got, n = strlen(t[i].bytes);

		if (i) {
			(void)teardown(st);
			(void)setup(st);
		}
		assert_int_equal(write(peer, t[i].bytes, n), n);
		if (t[i].ends)
			assert_int_equal(shutdown(peer, SHUT_WR), 0);
		conn_expect_end(&c);
		assert_int_equal(conn_recv(&c, buf, t[i].len, &got), t[i].r);
		assert_int_equal(got, strlen(t[i].got));
		assert_memory_equal(buf, t[i].got, got);
		assert_int_equal(c.eof, t[i].eof);
		assert_int_equal(loop_is_ready(rig_loop, c.fd, DIR_R), t[i].ready);
		assert_int_equal(rig_calls(SYS_CALL_recvmmsg), t[i].len > 1);
		assert_int_equal(rig_calls(SYS_CALL_recvfrom), t[i].len == 1);
	}
}

/* The end is read only on request, and not after an event has reported it. */
static void
a_known_end_is_not_read_again(void **st)
{
	char buf[64];
	size_t got;

	(void)st;
	assert_int_equal(write(peer, "last", 4), 4);
	conn_expect_end(&c);
	assert_int_equal(conn_recv(&c, buf, sizeof(buf), &got), IO_OK);
	assert_int_equal(shutdown(peer, SHUT_WR), 0);
	await(EV_R | EV_RDHUP);
	conn_expect_end(&c);
	assert_int_equal(conn_recv(&c, buf, sizeof(buf), &got), IO_EOF);
	assert_int_equal(rig_calls(SYS_CALL_recvmmsg), 1);
	assert_int_equal(rig_calls(SYS_CALL_recvfrom), 1);
}

/* The kernel reports the reset before the bytes. */
static void
bytes_before_a_reset_are_read_with_their_end(void **st)
{
	struct conn other;
	char buf[64];
	size_t got;

	(void)st;
	assert_int_equal(write(peer, "last", 4), 4);
	conn_init(&other);
	conn_attach(&other, rig_loop, peer);
	conn_reset_on_close(&other);
	close(peer);
	peer = -1;
	conn_expect_end(&c);
	assert_int_equal(conn_recv(&c, buf, sizeof(buf), &got), IO_OK);
	assert_int_equal(got, 4);
	assert_false(c.eof);
	assert_int_equal(conn_recv(&c, buf, sizeof(buf), &got), IO_ERR);
	assert_int_equal(c.err, ECONNRESET);
}

/* A read ends at urgent data; the data behind it must still be read. */
static void
urgent_data_does_not_hide_what_follows(void **st)
{
	char buf[64];
	size_t got;

	(void)st;
	/* Registered before the data arrives: one edge is reported for all of it. */
	loop_want(rig_loop, c.fd, EV_R);
	loop_again(rig_loop, c.fd, DIR_R);
	rig_turn(0);
	assert_int_equal(write(peer, "ab", 2), 2);
	assert_int_equal(send(peer, "!", 1, MSG_OOB), 1);
	assert_int_equal(write(peer, "cd", 2), 2);
	assert_int_equal(shutdown(peer, SHUT_WR), 0);
	await(EV_R | EV_RDHUP);
	assert_int_equal(conn_recv(&c, buf, sizeof(buf), &got), IO_OK);
	assert_int_equal(got, 2);
	assert_false(c.eof);
	assert_true(loop_is_ready(rig_loop, c.fd, DIR_R));
	assert_int_equal(conn_recv(&c, buf, sizeof(buf), &got), IO_OK);
	assert_int_equal(got, 2);
	assert_memory_equal(buf, "cd", 2);
	assert_int_equal(conn_recv(&c, buf, sizeof(buf), &got), IO_EOF);
}

static void
bytes_before_a_reset_are_read_then_the_error(void **st)
{
	struct linger lg = { 1, 0 };
	char buf[64];
	size_t got;

	(void)st;
	assert_int_equal(write(peer, "last", 4), 4);
	assert_int_equal(setsockopt(peer, SOL_SOCKET, SO_LINGER, &lg, sizeof(lg)), 0);
	close(peer);
	peer = -1;
	await(EV_R | EV_ERR);
	assert_int_equal(conn_recv(&c, buf, sizeof(buf), &got), IO_OK);
	assert_int_equal(got, 4);
	assert_false(c.eof);
	assert_true(loop_is_ready(rig_loop, c.fd, DIR_R));
	assert_int_equal(conn_recv(&c, buf, sizeof(buf), &got), IO_ERR);
	assert_int_equal(c.err, ECONNRESET);
	assert_int_equal(conn_send(&c, "x", 1, 0, &got), IO_ERR);
}

static void
peeking_leaves_the_bytes_and_consuming_removes_them(void **st)
{
	char buf[64];
	size_t got;

	(void)st;
	assert_int_equal(write(peer, "hello", 5), 5);
	await(EV_R);
	for (int i = 0; i < 2; i++) {
		memset(buf, 0, sizeof(buf));
		assert_int_equal(conn_peek(&c, buf, sizeof(buf), &got), IO_OK);
		assert_int_equal(got, 5);
		assert_memory_equal(buf, "hello", 5);
		/* There is data, and it can be peeked at again. */
		assert_true(loop_is_ready(rig_loop, c.fd, DIR_R));
	}
	assert_int_equal(conn_take(&c, buf, 2, 0), IO_OK);
	assert_memory_equal(buf, "he", 2);
	assert_true(loop_is_ready(rig_loop, c.fd, DIR_R));
	assert_int_equal(conn_peek(&c, buf, sizeof(buf), &got), IO_OK);
	assert_int_equal(got, 3);
	assert_int_equal(conn_take(&c, buf, 3, 1), IO_OK);
	assert_memory_equal(buf, "llo", 3);
	assert_false(loop_is_ready(rig_loop, c.fd, DIR_R));
	assert_int_equal(conn_peek(&c, buf, sizeof(buf), &got), IO_AGAIN);
}

/* The same rules as after a read: with the FIN seen before, a short peek that was consumed
 * completely means the end. */
static void
consuming_may_reveal_the_end(void **st)
{
	char buf[64];
	size_t got;

	(void)st;
	assert_int_equal(write(peer, "bye", 3), 3);
	assert_int_equal(shutdown(peer, SHUT_WR), 0);
	await(EV_R | EV_RDHUP);
	assert_int_equal(conn_peek(&c, buf, sizeof(buf), &got), IO_OK);
	assert_false(c.eof);
	assert_int_equal(conn_take(&c, buf, 3, 1), IO_OK);
	assert_true(c.eof);
	assert_int_equal(conn_peek(&c, buf, sizeof(buf), &got), IO_EOF);
}

/* The peeked bytes were already sent: if they cannot be consumed, the stream has ended. */
static void
a_failed_consume_ends_the_stream(void **st)
{
	char buf[8];
	size_t got;

	(void)st;
	assert_int_equal(write(peer, "abc", 3), 3);
	await(EV_R);
	assert_int_equal(conn_peek(&c, buf, sizeof(buf), &got), IO_OK);
	assert_int_equal(conn_take(&c, buf, 5, 0), IO_ERR);
	assert_true(c.err != 0);
	/* The kernel considers the connection intact: only a reset notifies the peer. */
	assert_false(conn_is_dead(&c));
}

static void
no_data_is_eagain(void **st)
{
	char buf[8];
	size_t got = 9;

	(void)st;
	assert_int_equal(conn_recv(&c, buf, sizeof(buf), &got), IO_AGAIN);
	assert_int_equal(got, 0);
	assert_false(loop_is_ready(rig_loop, c.fd, DIR_R));
}

static void
nodelay_comes_with_the_second_send(void **st)
{
	size_t put;

	(void)st;
	assert_int_equal(conn_send(&c, "a", 1, 0, &put), IO_OK);
	assert_int_equal(rig_opt(c.fd, IPPROTO_TCP, TCP_NODELAY), 0);
	assert_int_equal(rig_calls(SYS_CALL_setsockopt), 0);
	assert_int_equal(conn_send(&c, "b", 1, 0, &put), IO_OK);
	assert_true(rig_opt(c.fd, IPPROTO_TCP, TCP_NODELAY) != 0);
	assert_int_equal(conn_send(&c, "c", 1, 0, &put), IO_OK);
	assert_int_equal(rig_calls(SYS_CALL_setsockopt), 1);
}

/* The socket is readable when that many bytes or an end have arrived; the mark is set only when it
 * changes. */
static void
bytes_below_the_low_water_mark_do_not_wake(void **st)
{
	(void)st;
	conn_low_water(&c, 1);
	assert_int_equal(rig_calls(SYS_CALL_setsockopt), 0);
	conn_low_water(&c, 3);
	conn_low_water(&c, 3);
	assert_int_equal(rig_calls(SYS_CALL_setsockopt), 1);
	assert_int_equal(rig_opt(c.fd, SOL_SOCKET, SO_RCVLOWAT), 3);
	loop_want(rig_loop, c.fd, EV_R);
	loop_again(rig_loop, c.fd, DIR_R);
	arrive_below_low_water("ab", 2);
	conn_low_water(&c, 2);
	rig_turn(PATIENCE_MS);
	assert_true(loop_is_ready(rig_loop, c.fd, DIR_R));
	conn_low_water(&c, 1);
	assert_int_equal(rig_calls(SYS_CALL_setsockopt), 3);
	assert_int_equal(rig_opt(c.fd, SOL_SOCKET, SO_RCVLOWAT), 1);
}

static void
an_end_below_the_low_water_mark_wakes(void **st)
{
	(void)st;
	conn_low_water(&c, 9);
	loop_want(rig_loop, c.fd, EV_R);
	loop_again(rig_loop, c.fd, DIR_R);
	arrive_below_low_water("ab", 2);
	assert_int_equal(shutdown(peer, SHUT_WR), 0);
	rig_turn(PATIENCE_MS);
	assert_true(loop_is_ready(rig_loop, c.fd, DIR_R));
}

static void
a_full_socket_blocks_writing(void **st)
{
	static char big[1 << 20];
	enum io_result r = IO_OK;
	size_t put, sum = 0;

	(void)st;
	for (int i = 0; i < 100 && loop_is_ready(rig_loop, c.fd, DIR_W); i++) {
		r = conn_send(&c, big, sizeof(big), 0, &put);
		sum += put;
	}
	assert_true(r == IO_OK || r == IO_AGAIN);
	assert_true(sum > 0);
	assert_false(loop_is_ready(rig_loop, c.fd, DIR_W));
	assert_true(conn_unsent(&c) > 0);
}

/* Reads at the peer until it has `upto` bytes. */
static void
peer_reads(char *got, size_t *n, size_t upto)
{
	while (*n < upto) {
		long r = read(peer, got + *n, upto - *n);

		if (r > 0)
			*n += (size_t)r;
	}
}

static void
a_buffer_is_sent_in_parts(void **st)
{
	static char text[1 << 20], got[sizeof(text)];
	struct sbuf out;
	size_t sent = 0, n = 0, parts = 0;
	int small = 65536;

	(void)st;
	assert_int_equal(setsockopt(c.fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small)), 0);
	assert_int_equal(setsockopt(peer, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)), 0);
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)(i % 251);
	sbuf_init(&out, 0);
	sbuf_add(&out, text, sizeof(text));
	while (conn_send_sbuf(&c, &out, &sent) == IO_AGAIN) {
		uint64_t calls = rig_calls(SYS_CALL_sendto);

		parts++;
		/* Without an event it is not tried again. */
		assert_true(sent > 0 && sent < sizeof(text));
		assert_int_equal(conn_send_sbuf(&c, &out, &sent), IO_AGAIN);
		assert_int_equal(rig_calls(SYS_CALL_sendto), calls);
		peer_reads(got, &n, sent);
		loop_want(rig_loop, c.fd, EV_W);
		while (!loop_is_ready(rig_loop, c.fd, DIR_W))
			rig_turn(PATIENCE_MS);
	}
	assert_true(parts > 1);
	assert_int_equal(sent, 0);
	assert_int_equal(out.len, 0);
	peer_reads(got, &n, sizeof(got));
	assert_memory_equal(got, text, sizeof(text));
	close(peer);
	peer = -1;
	await(EV_RDHUP);
	do
		sbuf_add(&out, "x", 1);
	while (conn_send_sbuf(&c, &out, &sent) == IO_OK);
	assert_int_equal(c.err, EPIPE);
	sbuf_fini(&out);
}

static void
a_preface_leaves_with_the_first_bytes(void **st)
{
	char buf[64];
	size_t put;

	(void)st;
	assert_int_equal(conn_set_preface(&c, "first ", 6), 0);
	assert_true(conn_has_preface(&c, "first ", 6));
	assert_false(conn_has_preface(&c, "first", 5));
	assert_false(conn_has_preface(&c, "worst ", 6));
	assert_int_equal(conn_send(&c, "hello", 5, 0, &put), IO_OK);
	assert_int_equal(put, 5);
	assert_int_equal(c.sent, 5);
	assert_int_equal(rig_calls(SYS_CALL_sendmsg), 1);
	assert_int_equal(rig_calls(SYS_CALL_sendto), 0);
	assert_int_equal(read(peer, buf, sizeof(buf)), 11);
	assert_memory_equal(buf, "first hello", 11);
	assert_int_equal(conn_send(&c, "more", 4, 0, &put), IO_OK);
	assert_int_equal(read(peer, buf, sizeof(buf)), 4);
	assert_int_equal(rig_calls(SYS_CALL_setsockopt), 1);
	assert_true(conn_has_preface(&c, "first ", 6));
}

static void
a_preface_leaves_alone(void **st)
{
	char buf[64];
	size_t put;

	(void)st;
	assert_int_equal(conn_send_preface(&c), IO_OK);
	assert_int_equal(conn_set_preface(&c, "first ", 6), 0);
	assert_false(conn_can(&c, XPRT_SPLICE));
	assert_int_equal(conn_send_preface(&c), IO_OK);
	assert_int_equal(conn_send_preface(&c), IO_OK);
	assert_true(conn_can(&c, XPRT_SPLICE));
	assert_int_equal(c.sent, 0);
	assert_int_equal(read(peer, buf, sizeof(buf)), 6);
	/* Nagle's algorithm would hold back a second send. */
	assert_int_equal(conn_send(&c, "hello", 5, 0, &put), IO_OK);
	assert_int_equal(rig_calls(SYS_CALL_setsockopt), 1);
	assert_int_equal(read(peer, buf, sizeof(buf)), 5);
}

static void
a_preface_leaves_before_the_fin(void **st)
{
	char buf[64];

	(void)st;
	assert_int_equal(conn_set_preface(&c, "first ", 6), 0);
	conn_shut(&c);
	assert_int_equal(read(peer, buf, sizeof(buf)), 6);
	assert_int_equal(read(peer, buf, sizeof(buf)), 0);
}

static void
a_fin_is_sent_once(void **st)
{
	char b;

	(void)st;
	conn_shut(&c);
	conn_shut(&c);
	assert_int_equal(rig_calls(SYS_CALL_shutdown), 1);
	assert_int_equal(read(peer, &b, 1), 0);
}

static void
a_reset_is_seen_as_one(void **st)
{
	struct pollfd p = { .fd = peer, .events = POLLIN };
	char b;

	(void)st;
	conn_reset_on_close(&c);
	conn_close(&c);
	assert_int_equal(poll(&p, 1, 60000), 1);
	assert_int_equal(read(peer, &b, 1), -1);
	assert_int_equal(errno, ECONNRESET);
}

static void
late_closes_happen_at_the_end_of_the_turn(void **st)
{
	struct conn other;
	int fd[2];

	(void)st;
	rig_tcp_pair(fd);
	/* Gives them adjacent numbers. */
	assert_int_equal(dup2(fd[0], c.fd + 1), c.fd + 1);
	if (fd[0] != c.fd + 1)
		close(fd[0]);
	assert_int_equal(conn_open(&other, rig_loop, c.fd + 1, on_fd, NULL, 0), 0);
	conn_close_late(&other);
	conn_close_late(&c);
	assert_int_equal(rig_calls(SYS_CALL_close_range), 0);
	assert_false(conn_is_open(&c));
	assert_false(conn_is_open(&other));
	assert_int_equal(loop_turn(rig_loop, 0), 0);
	assert_int_equal(rig_calls(SYS_CALL_close_range), 1);
	assert_int_equal(rig_calls(SYS_CALL_close), 0);
	/* Closed already: nothing is done. */
	conn_close_late(&c);
	assert_int_equal(loop_turn(rig_loop, 0), 0);
	assert_int_equal(rig_calls(SYS_CALL_close_range), 1);
	close(fd[1]);
}

static void
the_error_of_a_refused_connect_is_taken_once(void **st)
{
	struct addr a = rig_any();
	struct conn d;
	int ls = socket(AF_INET, SOCK_STREAM, 0),
	    fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	(void)st;
	assert_int_equal(bind(ls, &a.u.sa, a.len), 0);
	assert_int_equal(addr_of_socket(&rig_sys, ls, &a), 0);
	(void)!connect(fd, &a.u.sa, a.len);
	assert_int_equal(poll(&p, 1, 60000), 1);
	assert_int_equal(conn_open(&d, rig_loop, fd, on_fd, NULL, 0), 0);
	assert_int_equal(conn_take_error(&d), ECONNREFUSED);
	assert_int_equal(d.err, ECONNREFUSED);
	assert_int_equal(conn_take_error(&d), 0);
	conn_close(&d);
	close(ls);
}

/* On a unix socket, passed descriptors end a read as well. */
static void
descriptors_do_not_hide_what_follows(void **st)
{
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(int))];
	} ctl = { .h = { .cmsg_len = CMSG_LEN(sizeof(int)),
			  .cmsg_level = SOL_SOCKET,
			  .cmsg_type = SCM_RIGHTS } };
	struct iovec iov = { .iov_base = (char[]){ "ab" }, .iov_len = 2 };
	struct msghdr m = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &ctl, .msg_controllen = sizeof(ctl)
	};
	int fd[2], unix_peer, zero = 0;
	struct conn u;
	char buf[64];
	size_t got;

	(void)st;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd), 0);
	unix_peer = fd[0];
	assert_int_equal(conn_open(&u, rig_loop, fd[1], on_fd, NULL, CONN_UNIX), 0);
	memcpy(CMSG_DATA(&ctl.h), &zero, sizeof(zero));
	assert_int_equal(sendmsg(unix_peer, &m, 0), 2);
	assert_int_equal(write(unix_peer, "cd", 2), 2);
	assert_int_equal(shutdown(unix_peer, SHUT_WR), 0);
	loop_want(rig_loop, u.fd, EV_R);
	loop_again(rig_loop, u.fd, DIR_R);
	while (!(seen & EV_RDHUP))
		rig_turn(PATIENCE_MS);
	assert_int_equal(conn_recv(&u, buf, sizeof(buf), &got), IO_OK);
	assert_int_equal(got, 2);
	assert_true(loop_is_ready(rig_loop, u.fd, DIR_R));
	assert_int_equal(conn_recv(&u, buf, sizeof(buf), &got), IO_OK);
	assert_int_equal(got, 2);
	assert_int_equal(conn_recv(&u, buf, sizeof(buf), &got), IO_EOF);
	conn_close(&u);
	close(unix_peer);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_short_read_means_drained),
		CASE(a_full_read_leaves_it_ready),
		CASE(rdhup_and_a_short_read_is_the_end),
		CASE(one_call_reads_the_bytes_and_the_end),
		CASE(a_known_end_is_not_read_again),
		CASE(bytes_before_a_reset_are_read_with_their_end),
		CASE(urgent_data_does_not_hide_what_follows),
		CASE(descriptors_do_not_hide_what_follows),
		CASE(bytes_before_a_reset_are_read_then_the_error),
		CASE(peeking_leaves_the_bytes_and_consuming_removes_them),
		CASE(consuming_may_reveal_the_end),
		CASE(a_failed_consume_ends_the_stream),
		CASE(no_data_is_eagain),
		CASE(nodelay_comes_with_the_second_send),
		CASE(bytes_below_the_low_water_mark_do_not_wake),
		CASE(an_end_below_the_low_water_mark_wakes),
		CASE(a_full_socket_blocks_writing),
		CASE(a_buffer_is_sent_in_parts),
		CASE(a_preface_leaves_with_the_first_bytes),
		CASE(a_preface_leaves_alone),
		CASE(a_preface_leaves_before_the_fin),
		CASE(a_fin_is_sent_once),
		CASE(a_reset_is_seen_as_one),
		CASE(late_closes_happen_at_the_end_of_the_turn),
		CASE(the_error_of_a_refused_connect_is_taken_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
