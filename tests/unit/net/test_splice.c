/* Splicing on the real kernel: what the results of splice() mean, and what they do not. */
#include "unit/net/net_rig.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>

#include "net/splice.h"

#define BIG 1000000

static struct conn src, sink;
static int from, to; /* the peers: from -> src -> pipe -> sink -> to */
static struct pipe_pool pp;
static struct pipe *p;
static uint32_t seen;

static void
on_fd(void *owner, int fd, uint32_t ev)
{
	(void)owner;
	if (fd == src.fd)
		seen |= ev;
}

static void
open_on(const struct poller_ops *poller)
{
	struct loop_config cfg = { .poller = poller, .mode = INTEREST_MERGED, .max_fd = MAX_FD,
				   .max_events = 16, .lazy = 1 };
	int reason = 0, a[2], b[2];

	sys_init(&rig_sys, &sys_linux, NULL);
	rig_loop = loop_new(&rig_sys, &cfg, &reason);
	assert_non_null(rig_loop);
	rig_tcp_pair(a);
	rig_tcp_pair(b);
	from = a[0];
	to = b[0];
	seen = 0;
	assert_int_equal(conn_open(&src, rig_loop, a[1], on_fd, NULL, CONN_TCP), 0);
	assert_int_equal(conn_open(&sink, rig_loop, b[1], on_fd, NULL, CONN_TCP), 0);
	pipe_pool_init(&pp, &rig_sys, 1, 0);
	p = pipe_get(&pp, 0);
	assert_non_null(p);
}

static int
setup(void **st)
{
	(void)st;
	open_on(&poller_epoll);
	return 0;
}

static int
teardown(void **st)
{
	(void)st;
	pipe_drop(&pp, p);
	pipe_pool_fini(&pp);
	conn_close(&src);
	conn_close(&sink);
	if (from >= 0)
		close(from);
	if (to >= 0)
		close(to);
	rig_close();
	return 0;
}

/* Waits until the loop has reported these bits of the source. */
static void
await(uint32_t bits)
{
	loop_want(rig_loop, src.fd, EV_R);
	loop_again(rig_loop, src.fd, DIR_R);
	while ((seen & bits) != bits)
		rig_turn(PATIENCE_MS);
}

static void
send_some(const char *text)
{
	assert_int_equal(send(from, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

static size_t
read_some(char *buf, size_t len)
{
	struct pollfd pfd = { .fd = to, .events = POLLIN };
	ssize_t n;

	assert_int_equal(poll(&pfd, 1, 60000), 1);
	n = recv(to, buf, len, 0);
	assert_true(n >= 0);
	return (size_t)n;
}

static void
bytes_go_through(void **st)
{
	char buf[16];
	size_t n;

	(void)st;
	send_some("hello");
	await(EV_R);
	assert_int_equal(splice_in(&src, p, 1000, &n), SPLICE_OK);
	assert_int_equal(n, 5);
	assert_int_equal(p->bytes, 5);
	/* A short count does not mean that the source is drained. */
	assert_true(loop_is_ready(rig_loop, src.fd, DIR_R));
	assert_int_equal(splice_out(&sink, p, 0, &n), SPLICE_OK);
	assert_int_equal(n, 5);
	assert_int_equal(p->bytes, 0);
	assert_int_equal(read_some(buf, sizeof(buf)), 5);
	assert_memory_equal(buf, "hello", 5);
	assert_int_equal(splice_in(&src, p, 1000, &n), SPLICE_AGAIN);
	assert_false(loop_is_ready(rig_loop, src.fd, DIR_R));
	assert_int_equal(src.err | sink.err, 0);
}

/* The kernel holds back bytes behind which more was announced: they are sent when a session waits
 * for their delivery. */
static void
announced_bytes_are_pushed(void **st)
{
	int unsent = -1;
	size_t n;

	(void)st;
	send_some("hello");
	await(EV_R);
	assert_int_equal(splice_in(&src, p, 1000, &n), SPLICE_OK);
	assert_int_equal(splice_out(&sink, p, 1, &n), SPLICE_OK);
	conn_push(&sink);
	assert_int_equal(ioctl(sink.fd, SIOCOUTQNSD, &unsent), 0);
	assert_int_equal(unsent, 0);
}

/* Zero may have several causes: recv() decides, and nothing is lost behind urgent data. */
static void
zero_is_not_taken_for_the_end(void **st)
{
	char buf[16];
	size_t n;

	(void)st;
	send_some("abc");
	assert_int_equal(send(from, "!", 1, MSG_OOB), 1);
	send_some("def");
	assert_int_equal(shutdown(from, SHUT_WR), 0);
	await(EV_R | EV_RDHUP);
	assert_int_equal(splice_in(&src, p, 1000, &n), SPLICE_OK);
	assert_int_equal(n, 3);
	assert_int_equal(splice_out(&sink, p, 0, &n), SPLICE_OK);
	/* splice() returns 0 here. */
	assert_int_equal(splice_in(&src, p, 1000, &n), SPLICE_ASK);
	assert_false(src.eof);
	assert_int_equal(conn_recv(&src, buf, sizeof(buf), &n), IO_OK);
	assert_int_equal(n, 3);
	assert_memory_equal(buf, "def", 3);
}

static void
eagain_before_urgent_data_is_verified(void **st)
{
	char buf[16];
	size_t n;

	(void)st;
	send_some("abc");
	assert_int_equal(send(from, "!", 1, MSG_OOB), 1);
	send_some("def");
	await(EV_R | EV_URGENT);
	assert_int_equal(splice_in(&src, p, 1000, &n), SPLICE_OK);
	assert_int_equal(n, 3);
	assert_int_equal(splice_out(&sink, p, 0, &n), SPLICE_OK);
	assert_int_equal(splice_in(&src, p, 1000, &n), SPLICE_ASK);
	assert_true(loop_is_ready(rig_loop, src.fd, DIR_R));
	assert_int_equal(conn_recv(&src, buf, sizeof(buf), &n), IO_OK);
	assert_memory_equal(buf, "def", 3);
}

/* Without a report of urgent data, EAGAIN may be caused by it, and events would repeat without
 * end. */
static void
eagain_is_verified_on_a_poller_without_pri(void **st)
{
	size_t n;

	(void)st;
	(void)teardown(st);
	open_on(poller_find("ev:poll"));
	assert_false(loop_has_errors(rig_loop));
	send_some("abc");
	await(EV_R);
	assert_int_equal(splice_in(&src, p, 1000, &n), SPLICE_OK);
	assert_int_equal(splice_out(&sink, p, 0, &n), SPLICE_OK);
	assert_int_equal(splice_in(&src, p, 1000, &n), SPLICE_ASK);
}

static void
the_end_is_left_to_recv(void **st)
{
	char buf[16];
	size_t n;

	(void)st;
	assert_int_equal(shutdown(from, SHUT_WR), 0);
	await(EV_R | EV_RDHUP);
	assert_int_equal(splice_in(&src, p, 1000, &n), SPLICE_ASK);
	assert_int_equal(conn_recv(&src, buf, sizeof(buf), &n), IO_EOF);
	/* The end is known now. */
	assert_int_equal(splice_in(&src, p, 1000, &n), SPLICE_ASK);
	assert_int_equal(rig_calls(SYS_CALL_splice), 1);
}

static void
reset(int *fd)
{
	struct linger lg = { .l_onoff = 1, .l_linger = 0 };

	assert_int_equal(setsockopt(*fd, SOL_SOCKET, SO_LINGER, &lg, sizeof(lg)), 0);
	close(*fd);
	*fd = -1;
}

static void
a_reset_is_reported_after_the_data(void **st)
{
	size_t n;

	(void)st;
	send_some("hello");
	reset(&from);
	await(EV_R);
	assert_int_equal(splice_in(&src, p, 1000, &n), SPLICE_OK);
	assert_int_equal(n, 5);
	assert_int_equal(splice_out(&sink, p, 0, &n), SPLICE_OK);
	assert_int_equal(splice_in(&src, p, 1000, &n), SPLICE_ERR);
	assert_int_equal(src.err, ECONNRESET);
}

static void
a_sink_that_is_gone_is_an_error(void **st)
{
	size_t n;

	(void)st;
	reset(&to);
	send_some("hello");
	await(EV_R);
	assert_int_equal(splice_in(&src, p, 1000, &n), SPLICE_OK);
	assert_int_equal(splice_out(&sink, p, 0, &n), SPLICE_ERR);
	assert_true(conn_is_dead(&sink));
	assert_int_equal(p->bytes, 5);
	/* The result stays the same without another call. */
	assert_int_equal(splice_out(&sink, p, 0, &n), SPLICE_ERR);
	assert_int_equal(rig_calls(SYS_CALL_splice), 2);
}

/* All data through a slow sink: short counts, EAGAIN, everything in order. */
static void
a_full_sink_blocks_writing(void **st)
{
	static char data[BIG], got[BIG];
	size_t sent = 0, taken = 0, in = 0, n;
	int again = 0;

	(void)st;
	for (size_t i = 0; i < BIG; i++)
		data[i] = (char)(i * 31 + i / 257);
	while (taken < BIG) {
		ssize_t r = send(from, data + sent, BIG - sent, MSG_DONTWAIT);

		sent += r > 0 ? (size_t)r : 0;
		if (!p->bytes && splice_in(&src, p, BIG, &n) == SPLICE_OK)
			in += n;
		while (p->bytes) {
			enum splice_result res = splice_out(&sink, p, 0, &n);

			if (res == SPLICE_AGAIN) {
				assert_false(loop_is_ready(rig_loop, sink.fd, DIR_W));
				again++;
				break;
			}
			assert_int_equal(res, SPLICE_OK);
		}
		/* Reads only when nothing else can be done. */
		if (again && (p->bytes || in == BIG)) {
			r = recv(to, got + taken, BIG - taken, MSG_DONTWAIT);
			taken += r > 0 ? (size_t)r : 0;
		} else if (in == BIG) {
			taken += read_some(got + taken, BIG - taken);
		}
	}
	assert_int_equal(in, BIG);
	assert_memory_equal(got, data, BIG);
}

/* TCP_NODELAY is set before the second send, whether it is copied or spliced. */
static void
nodelay_is_set_before_the_second_send(void **st)
{
	size_t n;

	(void)st;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(rig_opt(sink.fd, IPPROTO_TCP, TCP_NODELAY), 0);
		send_some("x");
		seen = 0;
		await(EV_R);
		assert_int_equal(splice_in(&src, p, 10, &n), SPLICE_OK);
		assert_int_equal(splice_out(&sink, p, 0, &n), SPLICE_OK);
	}
	assert_int_equal(rig_opt(sink.fd, IPPROTO_TCP, TCP_NODELAY), 1);
}

/* The ends of the pipe are closed: an error of the call, not of either connection. */
static void
a_failed_splice_is_no_error_of_the_connection(void **st)
{
	struct pipe bad = { .rd = from, .wr = from };
	size_t n;

	(void)st;
	send_some("x");
	await(EV_R);
	assert_int_equal(splice_in(&src, &bad, 10, &n), SPLICE_CANNOT);
	bad.bytes = 1;
	assert_int_equal(splice_out(&sink, &bad, 0, &n), SPLICE_CANNOT);
	assert_int_equal(src.err | sink.err, 0);
	assert_int_equal(splice_in(&src, p, 10, &n), SPLICE_OK);
}

static void
only_tcp_is_spliced(void **st)
{
	(void)st;
	assert_true(splice_can(&src, &sink));
	src.is_unix = 1;
	assert_false(splice_can(&src, &sink));
	assert_false(splice_can(&sink, &src));
}


int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(bytes_go_through),
		CASE(announced_bytes_are_pushed),
		CASE(zero_is_not_taken_for_the_end),
		CASE(eagain_before_urgent_data_is_verified),
		CASE(eagain_is_verified_on_a_poller_without_pri),
		CASE(the_end_is_left_to_recv),
		CASE(a_reset_is_reported_after_the_data),
		CASE(a_sink_that_is_gone_is_an_error),
		CASE(a_full_sink_blocks_writing),
		CASE(nodelay_is_set_before_the_second_send),
		CASE(a_failed_splice_is_no_error_of_the_connection),
		CASE(only_tcp_is_spliced),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
