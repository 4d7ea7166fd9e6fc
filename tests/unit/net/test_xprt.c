/* Connections with a transport, the scripted one of fake/xprt.h, on the fake kernel. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "fake/xprt.h"
#include "net/splice.h"
#include "net/silent_drop.h"
#include "net/zerocopy.h"
#include "unit/test.h"

#define PORT 2000

static struct fake *k;
static struct sys sys;
static struct loop *loop;
static struct fake_sock *origin, *peer;
static struct fake_wire wire;
static struct conn c;
static uint32_t seen;        /* all events reported so far */
static unsigned int calls;   /* number of calls of the handler */
static struct fake_script script;

#define SCRIPT(...) script = (struct fake_script)FAKE_SCRIPT(__VA_ARGS__)

static void
on_io(void *owner, int fd, uint32_t ev)
{
	assert_int_equal(fd, ((struct conn *)owner)->fd);
	seen |= ev;
	calls++;
}

static void
turn(void)
{
	assert_int_equal(loop_turn(loop, 1), 0);
}

/* A connection to a peer, made by a script; NULL: without a transport. */
static int
open_conn(struct fake_script *how)
{
	struct addr a = { .len = sizeof(a.u.in) };
	long fd = sys_socket(&sys, AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

	a.u.in.sin_family = AF_INET;
	a.u.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	a.u.in.sin_port = htons(PORT);
	assert_int_equal(sys_connect(&sys, (int)fd, &a.u.sa, a.len), -EINPROGRESS);
	(void)fake_run_due(k);
	peer = fake_origin_accept(origin);
	assert_non_null(peer);
	memset(&wire, 0, sizeof(wire));
	wire.is_client = how && !how->is_client;
	seen = calls = 0;
	return conn_open_xprt(&c, loop, (int)fd, on_io, &c, CONN_TCP,
		how ? &how->maker : NULL);
}

static void
start(unsigned int sndbuf)
{
	struct loop_config cfg = { .poller = &poller_epoll, .mode = INTEREST_EDGE, .max_fd = 64,
				   .max_events = 16, .lazy = 1 };
	int reason;

	k = fake_new();
	if (sndbuf)
		fake_set_buffers(k, sndbuf, sndbuf);
	sys_init(&sys, &sys_fake, k);
	loop = loop_new(&sys, &cfg, &reason);
	assert_non_null(loop);
	origin = fake_origin(k, PORT, 8);
}

static int
setup(void **st)
{
	(void)st;
	start(0);
	return 0;
}

static int
setup_small(void **st)
{
	(void)st;
	start(4096);
	return 0;
}

static int
teardown(void **st)
{
	(void)st;
	conn_close(&c);
	assert_int_equal(loop_fds(loop), 0);
	loop_free(&loop);
	fake_free(&k);
	return 0;
}

/* Runs turns until conn_recv() returns something else than IO_AGAIN; the peer runs as well. */
static enum io_result
read_some(char *buf, size_t len, size_t *got)
{
	enum io_result r = IO_AGAIN;
	char none[1];

	for (int i = 0; i < 200 && r == IO_AGAIN; i++) {
		if (conn_is_ready(&c, DIR_R))
			r = conn_recv(&c, buf, len, got);
		(void)fake_wire_flush(&wire, peer);
		if (r == IO_AGAIN) {
			conn_want(&c, EV_R);
			(void)fake_wire_recv(&wire, peer, none, 0);
			turn();
		}
	}
	return r;
}

/* The same for sending all of a text. */
static void
write_all(const char *p, size_t n)
{
	char none[1];

	for (int i = 0; i < 2000 && n; i++) {
		size_t put = 0;
		enum io_result r = IO_AGAIN;

		if (conn_is_ready(&c, DIR_W))
			r = conn_send(&c, p, n, 0, &put);
		assert_true(r == IO_OK || r == IO_AGAIN);
		p += put;
		n -= put;
		(void)fake_wire_recv(&wire, peer, none, 0);
		if (r == IO_AGAIN) {
			conn_want(&c, EV_W);
			turn();
		}
	}
	assert_int_equal(n, 0);
}

static void
peer_says(const char *text)
{
	size_t n = strlen(text);

	while (n) {
		long r = fake_wire_send(&wire, peer, text, n);

		assert_true(r > 0);
		text += r;
		n -= (size_t)r;
	}
}

/* The peer has read exactly that, and then an end or nothing. */
static void
peer_reads(const char *text, long then)
{
	char buf[8192];
	size_t n = 0;
	long r;

	while ((r = fake_wire_recv(&wire, peer, buf + n, sizeof(buf) - 1 - n)) > 0)
		n += (size_t)r;
	buf[n] = '\0';
	assert_string_equal(buf, text);
	assert_int_equal(r, then);
}

/* --- capabilities --- */

static void
the_socket_can_do_everything(void **st)
{
	static const unsigned int all[] = { XPRT_PEEK, XPRT_LOW_WATER, XPRT_SPLICE, XPRT_ZEROCOPY,
					    XPRT_MORE };
	struct str out;

	(void)st;
	assert_int_equal(open_conn(NULL), 0);
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		assert_true(conn_can(&c, all[i]));
	c.is_unix = 1;
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		assert_int_equal(conn_can(&c, all[i]), all[i] == XPRT_PEEK || all[i] == XPRT_MORE);
	assert_int_equal(conn_query(&c, XPRT_QUERY_NAME, &out), -ERR_UNKNOWN);
}

static void
a_transport_has_the_capabilities_that_it_declares(void **st)
{
	struct zerocopy_pool zp = { .threshold = 1 };
	struct str out;

	(void)st;
	SCRIPT(.is_client = 1);
	assert_int_equal(open_conn(&script), 0);
	assert_false(conn_can(&c, XPRT_PEEK));
	assert_false(conn_can(&c, XPRT_MORE));
	assert_false(splice_can(&c, &c));
	assert_false(zerocopy_may(&zp, &c));
	conn_low_water(&c, 5);
	assert_int_equal(ledger_sum(&sys.ledger, SYS_CALL_setsockopt), 0);
	assert_false(conn_ignores_few(&c));
	assert_int_equal(conn_query(&c, XPRT_QUERY_NAME, &out), 0);
	assert_true(str_is(out, STR("scripted")));
	assert_int_equal(conn_query(&c, XPRT_QUERY_CIPHER, &out), -ERR_UNKNOWN);
	conn_close(&c);
	assert_int_equal(script.made, 1);
	assert_int_equal(script.live, 0);
}

static void
a_transport_that_cannot_be_made_leaves_the_fd(void **st)
{
	int fd = 3;

	(void)st;
	SCRIPT(.refuses = 1);
	assert_int_equal(open_conn(&script), -ERR_NOMEM);
	assert_false(conn_is_open(&c));
	assert_int_equal(loop_fds(loop), 0);
	while (sys_close(&sys, fd) < 0)
		fd++;
}

/* --- reading and writing --- */

static void
a_handshake_is_part_of_the_first_write(void **st)
{
	size_t put;

	(void)st;
	SCRIPT(.is_client = 1);
	assert_int_equal(open_conn(&script), 0);
	assert_int_equal(conn_send(&c, "hello", 5, 0, &put), IO_AGAIN);
	assert_int_equal(put, 0);
	/* The transport can write only after it can read. */
	conn_want(&c, EV_W);
	assert_false(conn_is_ready(&c, DIR_W));
	turn();
	assert_int_equal(seen & EV_RW, 0);
	peer_reads("", -EAGAIN);
	turn();
	assert_int_equal(seen & EV_RW, EV_RW);
	assert_int_equal(conn_send(&c, "hello", 5, 0, &put), IO_OK);
	assert_int_equal(put, 5);
	assert_int_equal(script.up, 1);
	peer_reads("hello", -EAGAIN);
}

static void
the_wire_differs_from_the_written_bytes(void **st)
{
	char raw[64];
	size_t put;
	long n;

	(void)st;
	SCRIPT(.is_client = 1);
	assert_int_equal(open_conn(&script), 0);
	write_all("x", 1);
	peer_reads("x", -EAGAIN);
	assert_int_equal(conn_send(&c, "hello", 5, 0, &put), IO_OK);
	n = fake_peer_recv(peer, raw, sizeof(raw));
	assert_int_equal(n, 3 + 5);
	assert_memory_not_equal(raw + 3, "hello", 5);
}

/* However the bytes are split on the socket, and however little is read at a time. */
static void
records_are_cut_anywhere(void **st)
{
	static const char *const say[] = { "one", "", "two and more", "3" };

	(void)st;
	for (size_t cut = 1; cut <= 24; cut++)
		for (size_t len = 1; len <= 16; len += 5) {
			char all[64] = "", buf[16];
			size_t got;

			SCRIPT(.read_max = cut);

			assert_int_equal(open_conn(&script), 0);
			while (script.up == 0) {
				conn_want(&c, EV_R);
				(void)fake_wire_flush(&wire, peer);
				turn();
				if (conn_is_ready(&c, DIR_R))
					assert_int_equal(conn_recv(&c, buf, len, &got), IO_AGAIN);
				(void)fake_wire_recv(&wire, peer, buf, 0);
			}
			for (size_t i = 0; i < ARRAY_LEN(say); i++)
				peer_says(say[i]);
			assert_true(fake_wire_end(&wire, peer));
			while (read_some(buf, len, &got) == IO_OK)
				strncat(all, buf, got);
			assert_string_equal(all, "onetwo and more3");
			assert_true(c.eof);
			assert_int_equal(c.err, 0);
			assert_int_equal(script.ends_heard, 1);
			conn_close(&c);
			fake_peer_close(peer);
		}
}

/* Bytes in the transport's memory count as an event: the handler is called, and the loop does not
 * wait. */
static void
held_bytes_are_readable(void **st)
{
	uint64_t before;
	char buf[4];
	size_t got;

	(void)st;
	SCRIPT(.is_client = 1);
	assert_int_equal(open_conn(&script), 0);
	write_all("x", 1);
	peer_reads("x", -EAGAIN);
	peer_says("abcdefgh");
	assert_int_equal(read_some(buf, 4, &got), IO_OK);
	assert_int_equal(got, 4);
	assert_int_equal(script.held, 1);
	/* Nothing is left on the socket. */
	assert_int_equal(fake_fd_unread(k, c.fd), 0);
	assert_true(conn_is_ready(&c, DIR_R));
	conn_want(&c, EV_R);
	seen = 0;
	before = fake_now(k);
	turn();
	assert_int_equal(seen & EV_R, EV_R);
	assert_int_equal(fake_now(k), before);
	assert_int_equal(conn_recv(&c, buf, 4, &got), IO_OK);
	assert_int_equal(got, 4);
	/* Nothing is left. The event may have been the socket's, so it is read once, and then not
	 * again before it reports another one. */
	assert_int_equal(conn_recv(&c, buf, 4, &got), IO_AGAIN);
	assert_false(conn_is_ready(&c, DIR_R));
	calls = 0;
	turn();
	assert_int_equal(calls, 0);
	peer_says("i");
	turn();
	assert_int_equal(conn_recv(&c, buf, 4, &got), IO_OK);
	assert_int_equal(got, 1);
}

/* Fills the socket; returns how many bytes of that letter were taken. */
static size_t
fill_socket(char *big, size_t len)
{
	size_t n = 0, put;

	memset(big, 'b', len);
	while (conn_send(&c, big, len, 0, &put) == IO_OK)
		n += put;
	return n;
}

static void
a_transport_can_write_while_it_reads(void **st)
{
	char big[1000], buf[64];
	size_t got;

	(void)st;
	SCRIPT(.is_client = 1);
	assert_int_equal(open_conn(&script), 0);
	write_all("x", 1);
	peer_reads("x", -EAGAIN);
	wire.update_every = 1;
	(void)fill_socket(big, sizeof(big));
	peer_says("answer");
	conn_want(&c, EV_R);
	turn();
	assert_true(conn_is_ready(&c, DIR_R));
	assert_int_equal(conn_recv(&c, buf, sizeof(buf), &got), IO_AGAIN);
	assert_int_equal(script.read_waited_to_write, 1);
	/* Reading is wanted, and the transport waits until it can write. */
	assert_false(conn_is_ready(&c, DIR_R));
	seen = 0;
	turn();
	assert_int_equal(seen & EV_R, 0);
	while (fake_wire_recv(&wire, peer, buf, sizeof(buf)) > 0)
		;
	turn();
	assert_int_equal(seen & EV_R, EV_R);
	assert_int_equal(conn_recv(&c, buf, sizeof(buf), &got), IO_OK);
	assert_memory_equal(buf, "answer", got);
}

static void
a_transport_can_read_while_it_writes(void **st)
{
	size_t put;

	(void)st;
	SCRIPT(.is_client = 1);
	assert_int_equal(open_conn(&script), 0);
	write_all("w", 1);
	peer_reads("w", -EAGAIN);
	script.ask_every = 1;
	assert_int_equal(conn_send(&c, "x", 1, 0, &put), IO_OK);
	assert_int_equal(conn_send(&c, "y", 1, 0, &put), IO_AGAIN);
	assert_true(script.write_waited_to_read > 0);
	conn_want(&c, EV_W);
	assert_false(conn_is_ready(&c, DIR_W));
	seen = 0;
	turn();
	assert_int_equal(seen & EV_W, 0);
	peer_reads("x", -EAGAIN);
	turn();
	assert_int_equal(seen & EV_W, EV_W);
	assert_int_equal(conn_send(&c, "y", 1, 0, &put), IO_OK);
	peer_reads("y", -EAGAIN);
}

/* Data before the answer belongs to the reader; the writer waits until it is read, without
 * spinning. */
static void
a_writer_waits_for_the_reader(void **st)
{
	char buf[8];
	size_t put, got;

	(void)st;
	SCRIPT(.is_client = 1);
	assert_int_equal(open_conn(&script), 0);
	write_all("w", 1);
	peer_reads("w", -EAGAIN);
	script.ask_every = 1;
	assert_int_equal(conn_send(&c, "x", 1, 0, &put), IO_OK);
	peer_says("z");
	peer_reads("x", -EAGAIN);
	assert_int_equal(conn_send(&c, "y", 1, 0, &put), IO_AGAIN);
	conn_want(&c, EV_W);
	assert_false(conn_is_ready(&c, DIR_W));
	assert_true(conn_is_ready(&c, DIR_R));
	turn();
	calls = 0;
	turn();
	assert_int_equal(calls, 0);
	conn_want(&c, EV_RW);
	turn();
	assert_int_equal(conn_recv(&c, buf, sizeof(buf), &got), IO_OK);
	assert_int_equal(got, 1);
	assert_int_equal(conn_recv(&c, buf, sizeof(buf), &got), IO_AGAIN);
	turn();
	assert_int_equal(conn_send(&c, "y", 1, 0, &put), IO_OK);
}

/* --- ends --- */

static void
the_closing_message_precedes_the_fin(void **st)
{

	(void)st;
	SCRIPT(.is_client = 1);
	assert_int_equal(open_conn(&script), 0);
	write_all("x", 1);
	conn_shut(&c);
	conn_shut(&c);
	assert_int_equal(script.ends_said, 1);
	assert_int_equal(ledger_sum(&sys.ledger, SYS_CALL_shutdown), 1);
	peer_reads("x", 0);
	conn_close(&c);
	assert_int_equal(script.ends_said, 1);
}

static void
a_closing_message_without_room_is_sent_later(void **st)
{
	char big[1000], all[20000];
	size_t n, r;

	(void)st;
	SCRIPT(.is_client = 1, .record = 997);
	assert_int_equal(open_conn(&script), 0);
	write_all("x", 1);
	peer_reads("x", -EAGAIN);
	n = fill_socket(big, sizeof(big));
	conn_shut(&c);
	assert_int_equal(ledger_sum(&sys.ledger, SYS_CALL_shutdown), 0);
	conn_want(&c, 0);
	r = 0;
	for (int i = 0; i < 200; i++) {
		long got = fake_wire_recv(&wire, peer, all + r, sizeof(all) - r);

		if (got == 0)
			break;
		if (got > 0) {
			r += (size_t)got;
			continue;
		}
		assert_int_equal(got, -EAGAIN);
		turn();
		conn_want(&c, 0);
	}
	/* The record whose user was not informed was sent, too. */
	assert_in_range(r, n, n + 997);
	assert_int_equal(ledger_sum(&sys.ledger, SYS_CALL_shutdown), 1);
}

static void
a_close_sends_the_closing_message_but_a_reset_does_not(void **st)
{
	(void)st;
	for (int how = 0; how < 3; how++) {
		SCRIPT(.is_client = 1);
		assert_int_equal(open_conn(&script), 0);
		write_all("x", 1);
		if (how == 1)
			conn_reset_on_close(&c);
		if (how == 2)
			conn_silent_drop_on_close(&c);
		if (how == 0)
			conn_close_late(&c);
		else
			conn_close(&c);
		assert_int_equal(script.ends_said, how == 0);
		assert_int_equal(script.live, 0);
		turn();
	}
}

/* A FIN without a closing message is a truncated stream, and the error is final. */
static void
a_fin_without_a_closing_message_is_an_error(void **st)
{
	char buf[8];
	size_t got;

	(void)st;
	SCRIPT(.is_client = 1);
	assert_int_equal(open_conn(&script), 0);
	write_all("x", 1);
	peer_reads("x", -EAGAIN);
	peer_says("y");
	fake_peer_shut(peer);
	assert_int_equal(read_some(buf, sizeof(buf), &got), IO_OK);
	assert_int_equal(read_some(buf, sizeof(buf), &got), IO_ERR);
	assert_int_equal(c.err, ECONNABORTED);
	assert_int_equal(conn_recv(&c, buf, sizeof(buf), &got), IO_ERR);
}

/* --- owners --- */

static void
on_other(void *owner, int fd, uint32_t ev)
{
	(void)fd;
	*(uint32_t *)owner |= ev;
}

static void
events_go_to_the_new_owner(void **st)
{
	uint32_t mine = 0;

	(void)st;
	SCRIPT(.is_client = 1);
	assert_int_equal(open_conn(&script), 0);
	write_all("x", 1);
	peer_reads("x", -EAGAIN);
	conn_set_owner(&c, on_other, &mine);
	conn_want(&c, EV_R);
	seen = 0;
	peer_says("y");
	turn();
	assert_int_equal(seen, 0);
	assert_int_equal(mine & EV_R, EV_R);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(the_socket_can_do_everything),
		CASE(a_transport_has_the_capabilities_that_it_declares),
		CASE(a_transport_that_cannot_be_made_leaves_the_fd),
		CASE(a_handshake_is_part_of_the_first_write),
		CASE(the_wire_differs_from_the_written_bytes),
		CASE(records_are_cut_anywhere),
		CASE(held_bytes_are_readable),
		cmocka_unit_test_setup_teardown(
			a_transport_can_write_while_it_reads, setup_small, teardown),
		CASE(a_transport_can_read_while_it_writes),
		CASE(a_writer_waits_for_the_reader),
		CASE(the_closing_message_precedes_the_fin),
		cmocka_unit_test_setup_teardown(
			a_closing_message_without_room_is_sent_later, setup_small, teardown),
		CASE(a_close_sends_the_closing_message_but_a_reset_does_not),
		CASE(a_fin_without_a_closing_message_is_an_error),
		CASE(events_go_to_the_new_owner),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
