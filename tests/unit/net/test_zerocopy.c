/*
 * Zero-copy sends on the fake kernel, which reads the sender's memory as late as possible: a buffer
 * that is reused too early changes what the peer receives.
 */
#include "unit/net/net_rig.h"

#include <stdlib.h>
#include <sys/mman.h>

#include <linux/errqueue.h>

#include "fake/kernel.h"
#include "net/zerocopy.h"

#define PORT 2000
#define BUF 8192u
#define THRESHOLD 4096u
#define ROOM 65536u

static struct fake *k;
static struct pool bufs;
static struct zerocopy_pool zp;
static struct conn c;
static struct fake_sock *origin, *peer;
static uint32_t seen;
static unsigned int n_events;

static void
on_fd(void *owner, int fd, uint32_t ev)
{
	(void)owner;
	(void)fd;
	seen |= ev;
	n_events++;
}

static void
open_conn(void)
{
	struct addr to = rig_any();
	long fd = sys_socket(&rig_sys, AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

	addr_set_port(&to, PORT);
	assert_int_equal(sys_connect(&rig_sys, (int)fd, &to.u.sa, to.len), -EINPROGRESS);
	peer = fake_origin_accept(origin);
	assert_non_null(peer);
	assert_int_equal(conn_open(&c, rig_loop, (int)fd, on_fd, NULL, CONN_TCP_NODELAY), 0);
	/* Its owner waits for bytes. */
	loop_want(rig_loop, c.fd, EV_R);
	loop_again(rig_loop, c.fd, DIR_R);
	rig_turn(0);
	seen = n_events = 0;
}

static void
open_with(const struct fake_zc_conf *conf, const struct poller_ops *poller)
{
	struct loop_config lc = { .poller = poller, .mode = INTEREST_EDGE, .max_fd = MAX_FD,
				  .max_events = 16, .lazy = 1 };
	int reason;

	k = fake_new();
	fake_zerocopy(k, conf);
	fake_set_buffers(k, ROOM, ROOM);
	sys_init(&rig_sys, &sys_fake, k);
	rig_loop = loop_new(&rig_sys, &lc, &reason);
	assert_non_null(rig_loop);
	pool_init_aligned(&bufs, "buffer", BUF, ZEROCOPY_ALIGN, 64);
	zerocopy_init(&zp, &rig_sys, &bufs);
	zp.threshold = THRESHOLD;
	zp.max = 64 * BUF;
	zp.first = conf->first;
	origin = fake_origin(k, PORT, 8);
	open_conn();
}

static int
setup(void **st)
{
	static const struct fake_zc_conf plain;

	(void)st;
	open_with(&plain, &poller_epoll);
	return 0;
}

static int
teardown(void **st)
{
	(void)st;
	zerocopy_close(&zp, &c);
	conn_close(&c);
	zerocopy_fini(&zp);
	assert_int_equal(bufs.live, 0);
	pool_fini(&bufs);
	rig_close();
	fake_free(&k);
	return 0;
}

static void
reopen(const struct fake_zc_conf *conf)
{
	teardown(NULL);
	open_with(conf, &poller_epoll);
}

/* Sends one buffer filled with this byte and releases it. Returns how much the kernel took. */
static size_t
send_one(char byte, size_t len)
{
	struct zerocopy_pin *pin = NULL;
	char *buf = pool_get(&bufs);
	size_t put;

	assert_non_null(buf);
	memset(buf, byte, BUF);
	(void)zerocopy_send(&zp, &c, &pin, buf, buf, len, 0, &put);
	zerocopy_release(&zp, &pin, buf);
	return put;
}

/* Writes to the free memory of the pool, as its next user would. */
static void
scribble(void)
{
	void *got[64];
	unsigned int n = 0;

	while (n < ARRAY_LEN(got) && bufs.kept) {
		got[n] = pool_get(&bufs);
		memset(got[n++], '#', BUF);
	}
	while (n)
		pool_put(&bufs, got[--n]);
}

/* The peer reads `len` bytes, all of this value. */
static void
peer_reads(char byte, size_t len)
{
	char got[1024];

	while (len) {
		long r = fake_peer_recv(peer, got, MIN(len, sizeof(got)));

		assert_true(r > 0);
		for (long i = 0; i < r; i++)
			assert_int_equal(got[i], byte);
		len -= (size_t)r;
	}
}

/* Fills the peer's buffer with copied bytes: what follows stays in our buffer. */
static void
fill_peer(void)
{
	size_t put;
	char *fill = calloc(1, ROOM);

	assert_int_equal(conn_send(&c, fill, ROOM, 0, &put), IO_OK);
	assert_int_equal(put, ROOM);
	free(fill);
}

static uint64_t
calls(enum sys_call call)
{
	return ledger_sum(&rig_sys.ledger, call);
}

static void
few_bytes_are_copied(void **st)
{
	(void)st;
	assert_int_equal(send_one('a', THRESHOLD - 1), THRESHOLD - 1);
	assert_null(c.zerocopy);
	assert_int_equal(calls(SYS_CALL_setsockopt), 0);
	assert_int_equal(bufs.live, 0);
	peer_reads('a', THRESHOLD - 1);
	/* Zero disables it. */
	zp.threshold = 0;
	assert_false(zerocopy_may(&zp, &c));
	assert_int_equal(send_one('b', BUF), BUF);
	assert_null(c.zerocopy);
	peer_reads('b', BUF);
}

/* A buffer is not written to before the kernel has acknowledged it. */
static void
a_buffer_is_pinned_until_it_is_acknowledged(void **st)
{
	(void)st;
	fill_peer();
	assert_int_equal(send_one('a', BUF), BUF);
	assert_int_equal(zp.pinned, BUF);
	assert_int_equal(zp.bytes, BUF);
	assert_int_equal(bufs.live, 1);
	scribble();
	rig_turn(0);
	assert_int_equal(seen & EV_ERR, 0);
	peer_reads(0, ROOM);
	rig_turn(0);
	assert_true(seen & EV_ERR);
	/* There is nothing to read and no error: neither direction is tried. */
	assert_int_equal(seen & EV_R, 0);
	assert_int_equal(loop_seen(rig_loop, c.fd) & EV_ERR, 0);
	assert_false(loop_is_ready(rig_loop, c.fd, DIR_R));
	assert_int_equal(bufs.live, 1);
	assert_int_equal(zerocopy_reap(&zp, &c), 1);
	assert_int_equal(zp.pinned, 0);
	assert_int_equal(bufs.live, 0);
	scribble();
	peer_reads('a', BUF);
	/* SO_ZEROCOPY is set once, and the end of the error queue is not probed. */
	assert_int_equal(calls(SYS_CALL_setsockopt), 1);
	assert_int_equal(calls(SYS_CALL_recvmmsg), 1);
	assert_int_equal(calls(SYS_CALL_madvise), 0);
}

static void
send_many_and_read(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		/* The peer determines how much is taken; the rest is sent later. */
		assert_int_equal(send_one((char)('a' + i % 26), BUF), BUF);
		scribble();
		if (i % 3 == 2) {
			for (unsigned int j = i - 2; j <= i; j++)
				peer_reads((char)('a' + j % 26), BUF);
			rig_turn(0);
			(void)zerocopy_reap(&zp, &c);
		}
	}
}

static void
acknowledgements_in_order(void **st)
{
	(void)st;
	send_many_and_read(90);
	assert_int_equal(zp.bytes, 90 * BUF);
	assert_int_equal(zp.pinned, 0);
	assert_int_equal(bufs.live, 0);
	/* Acknowledgements are merged: one for three sends. */
	assert_true(calls(SYS_CALL_recvmmsg) <= 30);
}

/* Out of order, with wrapping numbers, with and without the fast path. */
static void
acknowledgements_in_any_order(void **st)
{
	static const struct fake_zc_conf confs[] = {
		{ .shuffle = 1 },
		{ .first = UINT32_MAX - 20 },
		{ .first = UINT32_MAX - 20, .shuffle = 1 },
		{ .first = INT32_MAX - 5u, .shuffle = 1, .late = 5 * FAKE_MS },
	};

	(void)st;
	for (size_t i = 0; i < 2 * ARRAY_LEN(confs); i++) {
		reopen(&confs[i / 2]);
		zp.fast_path = (int)(i % 2);
		send_many_and_read(60);
		rig_turn(10);
		(void)zerocopy_reap(&zp, &c);
		assert_int_equal(zp.bytes, 60 * BUF);
		assert_int_equal(zp.pinned, 0);
		assert_int_equal(bufs.live, 0);
	}
}

static void
zerocopy_is_disabled_when_the_kernel_copies(void **st)
{
	static const struct fake_zc_conf copied = { .copied = 1 };

	(void)st;
	reopen(&copied);
	assert_int_equal(send_one('a', BUF), BUF);
	rig_turn(0);
	assert_int_equal(zerocopy_reap(&zp, &c), 1);
	assert_int_equal(zp.copied, 1);
	assert_int_equal(zp.pinned, 0);
	assert_false(zerocopy_may(&zp, &c));
	assert_int_equal(send_one('b', BUF), BUF);
	assert_int_equal(zp.bytes, BUF);
	peer_reads('a', BUF);
	peer_reads('b', BUF);
}

static void
an_unsupported_kernel_is_probed_once(void **st)
{
	static const struct fake_zc_conf refused = { .refused = 1 };

	(void)st;
	reopen(&refused);
	assert_true(zerocopy_may(&zp, &c));
	assert_int_equal(send_one('a', BUF), BUF);
	assert_int_equal(send_one('a', BUF), BUF);
	assert_false(zerocopy_may(&zp, &c));
	assert_int_equal(calls(SYS_CALL_setsockopt), 1);
	assert_int_equal(zp.bytes, 0);
	peer_reads('a', (size_t)2 * BUF);
}

/* ENOBUFS: this send is copied, and so are the next ones until an acknowledgement arrives. */
static void
without_room_in_the_kernel_it_is_copied(void **st)
{
	static const struct fake_zc_conf tight = { .limit = 2 };

	(void)st;
	reopen(&tight);
	fill_peer();
	for (int i = 0; i < 5; i++)
		assert_int_equal(send_one((char)('a' + i), BUF), BUF);
	assert_int_equal(zp.refused, 1);
	assert_int_equal(zp.bytes, 2 * BUF);
	assert_int_equal(zp.pinned, 2 * BUF);
	scribble();
	peer_reads(0, ROOM);
	rig_turn(0);
	assert_int_equal(zerocopy_reap(&zp, &c), 1);
	for (int i = 0; i < 5; i++)
		peer_reads((char)('a' + i), BUF);
	assert_true(zerocopy_may(&zp, &c));
	assert_int_equal(send_one('z', BUF), BUF);
	assert_int_equal(zp.bytes, 3 * BUF);
	assert_int_equal(zp.refused, 1);
	peer_reads('z', BUF);
}

/* None of ours are outstanding and there is still no room: others use it up, and it is not tried
 * again for each send. */
static void
without_any_room_it_is_given_up(void **st)
{
	(void)st;
	assert_int_equal(send_one('a', BUF), BUF);
	assert_int_equal(zerocopy_reap(&zp, &c), 1);
	fake_fail(k, SYS_CALL_sendto, calls(SYS_CALL_sendto) + 1, ENOBUFS);
	assert_int_equal(send_one('b', BUF), BUF);
	assert_int_equal(zp.refused, 1);
	assert_false(zerocopy_may(&zp, &c));
	assert_int_equal(zp.pinned, 0);
	peer_reads('a', BUF);
	peer_reads('b', BUF);
}

static void
pinned_buffers_are_bounded(void **st)
{
	(void)st;
	zp.max = (uint64_t)3 * BUF;
	fill_peer();
	for (int i = 0; i < 6; i++) {
		assert_int_equal(send_one((char)('a' + i), BUF), BUF);
		assert_true(zp.pinned <= zp.max);
	}
	assert_int_equal(zp.pinned, 3 * BUF);
	assert_int_equal(zp.full, 3);
	scribble();
	peer_reads(0, ROOM);
	for (int i = 0; i < 6; i++)
		peer_reads((char)('a' + i), BUF);
	/* The acknowledgements were not read: at the limit they are read before it gives up. */
	assert_int_equal(send_one('z', BUF), BUF);
	assert_int_equal(zp.full, 3);
	assert_int_equal(zp.pinned, BUF);
	peer_reads('z', BUF);
}

/* A buffer that is written in parts belongs to its owner until all of it is written. */
static void
a_held_buffer_outlives_its_acknowledgements(void **st)
{
	struct zerocopy_pin *pin = NULL;
	char *buf = pool_get(&bufs);
	size_t put;

	(void)st;
	memset(buf, 'a', BUF);
	assert_int_equal(zerocopy_send(&zp, &c, &pin, buf, buf, THRESHOLD, 0, &put), IO_OK);
	assert_int_equal(put, THRESHOLD);
	assert_non_null(pin);
	assert_int_equal(zerocopy_reap(&zp, &c), 1);
	assert_int_equal(zp.pinned, 0);
	assert_int_equal(bufs.live, 1);
	scribble();
	assert_int_equal(zerocopy_send(&zp, &c, &pin, buf, buf + THRESHOLD, THRESHOLD, 0, &put),
		IO_OK);
	assert_int_equal(zp.pinned, BUF);
	zerocopy_release(&zp, &pin, buf);
	assert_null(pin);
	assert_int_equal(bufs.live, 1);
	assert_int_equal(zerocopy_reap(&zp, &c), 1);
	assert_int_equal(bufs.live, 0);
	peer_reads('a', BUF);
}

/* After close() there are no acknowledgements: the kernel keeps its pages, the buffer gets new
 * ones. */
static void
a_closed_connection_gives_its_buffers_up(void **st)
{
	(void)st;
	fill_peer();
	for (int i = 0; i < 3; i++)
		assert_int_equal(send_one((char)('a' + i), BUF), BUF);
	zerocopy_close(&zp, &c);
	conn_close(&c);
	assert_int_equal(calls(SYS_CALL_madvise), 3);
	assert_int_equal(zp.pinned, 0);
	assert_int_equal(bufs.live, 0);
	scribble();
	peer_reads(0, ROOM);
	for (int i = 0; i < 3; i++)
		peer_reads((char)('a' + i), BUF);
}

/* Available acknowledgements are read first: those buffers need no call. */
static void
a_close_reads_the_last_acknowledgements(void **st)
{
	(void)st;
	assert_int_equal(send_one('a', BUF), BUF);
	peer_reads('a', BUF);
	assert_int_equal(zp.pinned, BUF);
	zerocopy_close(&zp, &c);
	assert_int_equal(calls(SYS_CALL_madvise), 0);
	assert_int_equal(bufs.live, 0);
}

/* Memory that cannot be given up is not used again. */
static void
memory_that_cannot_be_given_up_is_lost(void **st)
{
	char *buf;

	(void)st;
	fill_peer();
	assert_int_equal(send_one('a', BUF), BUF);
	fake_fail(k, SYS_CALL_madvise, 1, EINVAL);
	zerocopy_close(&zp, &c);
	conn_close(&c);
	assert_int_equal(zp.pinned, BUF);
	assert_int_equal(bufs.live, 1);
	buf = pool_get(&bufs);
	memset(buf, '#', BUF);
	pool_put(&bufs, buf);
	peer_reads(0, ROOM);
	peer_reads('a', BUF);
	/* The buffer is freed only at the end (teardown). */
}

/* The entry of the error queue has another origin: it releases no buffer. */
static long
odd_answer(void *ctx, int fd, struct mmsghdr *v, unsigned int n, int flags)
{
	long r = sys_fake.recvmmsg(ctx, fd, v, n, flags);
	struct sock_extended_err e;

	if (r > 0) {
		unsigned char *data = CMSG_DATA((struct cmsghdr *)v[0].msg_hdr.msg_control);

		memcpy(&e, data, sizeof(e));
		e.ee_origin = SO_EE_ORIGIN_ICMP;
		memcpy(data, &e, sizeof(e));
	}
	return r;
}

static void
other_entries_of_the_error_queue_are_ignored(void **st)
{
	struct sys_ops ops = sys_fake;

	(void)st;
	ops.recvmmsg = odd_answer;
	rig_sys.ops = &ops;
	assert_int_equal(send_one('a', BUF), BUF);
	assert_int_equal(zerocopy_reap(&zp, &c), 0);
	assert_int_equal(zp.pinned, BUF);
	rig_sys.ops = &sys_fake;
	assert_int_equal(zerocopy_reap(&zp, &c), 0);
	peer_reads('a', BUF);
}

/* A reset is an ordinary error, with acknowledgements beside it or not. */
static void
a_reset_is_distinguished_from_acknowledgements(void **st)
{
	(void)st;
	fill_peer();
	assert_int_equal(send_one('a', BUF), BUF);
	fake_peer_reset(peer);
	rig_turn(0);
	assert_true(seen & EV_ERR);
	assert_true(seen & EV_HUP);
	assert_int_equal(zerocopy_reap(&zp, &c), 1);
	assert_int_equal(bufs.live, 0);
	assert_int_equal(conn_take_error(&c), ECONNRESET);
}

/* Without separate error events acknowledgements would not be noticed. */
static void
a_poller_without_error_events_disables_it(void **st)
{
	static struct poller_ops blind;

	(void)st;
	teardown(NULL);
	blind = poller_epoll;
	blind.has_errors = 0;
	open_with(&(struct fake_zc_conf){ 0 }, &blind);
	assert_false(zerocopy_may(&zp, &c));
	assert_int_equal(send_one('a', BUF), BUF);
	assert_null(c.zerocopy);
	peer_reads('a', BUF);
}

/* On loopback the data is copied at the last moment: the same rules hold there. */
static void
the_real_kernel_does_the_same(void **st)
{
	static char got[1 << 16];
	char *buf, *fill = calloc(1, 1 << 16);
	struct zerocopy_pin *pin = NULL;
	size_t put, sum = 0, a = 0;
	int fd[2], small = 4096;
	ssize_t r;

	(void)st;
	teardown(NULL);
	rig_open(INTEREST_EDGE);
	pool_init_aligned(&bufs, "buffer", BUF, ZEROCOPY_ALIGN, 64);
	zerocopy_init(&zp, &rig_sys, &bufs);
	zp.threshold = THRESHOLD;
	zp.max = 64 * BUF;
	rig_tcp_pair(fd);
	assert_int_equal(setsockopt(fd[0], SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)), 0);
	assert_int_equal(conn_open(&c, rig_loop, fd[1], on_fd, NULL, CONN_TCP_NODELAY), 0);
	assert_int_equal(conn_send(&c, fill, 1 << 16, 0, &put), IO_OK);
	sum = put;
	buf = pool_get(&bufs);
	memset(buf, 'a', BUF);
	assert_int_equal(zerocopy_send(&zp, &c, &pin, buf, buf, BUF, 0, &put), IO_OK);
	assert_non_null(pin);
	sum += put;
	zerocopy_release(&zp, &pin, buf);
	zerocopy_close(&zp, &c);
	conn_close(&c);
	assert_int_equal(rig_calls(SYS_CALL_madvise), 1);
	scribble();
	while (sum) {
		struct pollfd p = { .fd = fd[0], .events = POLLIN };

		assert_int_equal(poll(&p, 1, 60000), 1);
		r = read(fd[0], got, sizeof(got));
		assert_true(r > 0);
		for (ssize_t i = 0; i < r; i++) {
			assert_true(got[i] == 0 || got[i] == 'a');
			a += got[i] == 'a';
		}
		sum -= (size_t)r;
	}
	assert_int_equal(a, put);
	close(fd[0]);
	free(fill);
	zerocopy_fini(&zp);
	pool_fini(&bufs);
	rig_close();
	setup(NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(few_bytes_are_copied),
		CASE(a_buffer_is_pinned_until_it_is_acknowledged),
		CASE(acknowledgements_in_order),
		CASE(acknowledgements_in_any_order),
		CASE(zerocopy_is_disabled_when_the_kernel_copies),
		CASE(an_unsupported_kernel_is_probed_once),
		CASE(without_room_in_the_kernel_it_is_copied),
		CASE(without_any_room_it_is_given_up),
		CASE(pinned_buffers_are_bounded),
		CASE(a_held_buffer_outlives_its_acknowledgements),
		CASE(a_closed_connection_gives_its_buffers_up),
		CASE(a_close_reads_the_last_acknowledgements),
		CASE(memory_that_cannot_be_given_up_is_lost),
		CASE(other_entries_of_the_error_queue_are_ignored),
		CASE(a_reset_is_distinguished_from_acknowledgements),
		CASE(a_poller_without_error_events_disables_it),
		CASE(the_real_kernel_does_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
