/* The socket of a connection, on the worker that owns it. A read or write is at most one call, and
 * its result is passed to the loop at once. A transport (net/xprt.h) uses the same functions for
 * its socket. */
#define _GNU_SOURCE
#include "net/conn.h"

#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/sbuf.h"
#include "event/profile.h"
#include "net/conn_stream.h"

#define CONN_SENDS_MAX 2
/* Reads of conn_discard() in one turn. */
#define DISCARD_READS 16
#define DISCARD_SIZE 4096

void
conn_init(struct conn *c)
{
	memset(c, 0, sizeof(*c));
	c->fd = -1;
}

void
conn_attach(struct conn *c, struct loop *l, int fd)
{
	c->loop = l;
	c->fd = fd;
}

int
conn_open(struct conn *c, struct loop *l, int fd, loop_fd_fn *fn, void *owner, enum conn_kind kind)
{
	int r = loop_add(l, fd, LOOP_CONN, fn, owner);

	if (r < 0)
		return r;
	conn_init(c);
	conn_attach(c, l, fd);
	c->nodelay = kind != CONN_TCP;
	c->is_unix = kind == CONN_UNIX;
	return 0;
}

static struct sys *
sys_of(const struct conn *c)
{
	return loop_sys(c->loop);
}

void
conn_failed(struct conn *c, long r)
{
	if (!c->err)
		c->err = (int)-r;
}

static enum io_result
io_failed(struct conn *c, long r)
{
	conn_failed(c, r);
	return IO_ERR;
}

/*
 * If a splice() sends in several batches and a later one meets a reset, it returns the short count
 * and the error is lost: recv() then reports EOF. The TCP state shows the reset.
 */
static int
state_is_reset(const struct conn *c)
{
	struct tcp_info info = { .tcpi_state = 0 };
	socklen_t len = sizeof(info);

	return c->cut && !c->shut &&
		sys_getsockopt(sys_of(c), c->fd, IPPROTO_TCP, TCP_INFO, &info, &len) >= 0 &&
		info.tcpi_state == TCP_CLOSE;
}

/* Handles a read that brought no bytes but the result r. It is a function of its own so that reads
 * that bring bytes do not pay for its stack. */
one_copy static enum io_result
read_nothing(struct conn *c, uint8_t *ended, long r)
{
	/* A failed send has consumed the error: EAGAIN or EOF means that error. */
	if (c->err)
		return IO_ERR;
	if (r == -EAGAIN) {
		loop_again(c->loop, c->fd, DIR_R);
		return IO_AGAIN;
	}
	if (r < 0)
		return io_failed(c, r);
	if (c->late_err)
		return io_failed(c, -c->late_err);
	if (state_is_reset(c))
		return io_failed(c, -ECONNRESET);
	loop_progress(c->loop, c->fd);
	*ended = 1;
	return IO_EOF;
}

/* ended: the peer's FIN was seen. */
static inline enum io_result
sock_read(struct conn *c, uint8_t *ended, void *buf, size_t len, int flags, size_t *got)
{
	long r;

	*got = 0;
	if (*ended)
		return c->err ? IO_ERR : IO_EOF;
	r = sys_recvfrom(sys_of(c), c->fd, buf, len, flags);
	if (unlikely(r <= 0))
		return read_nothing(c, ended, r);
	*got = (size_t)r;
	return IO_OK;
}

/*
 * Handles a short read. If the peer's FIN was seen before, the rest is EOF. After an error no
 * further event comes, and only another read shows which error. With urgent data the read may have
 * stopped there, and more may follow.
 */
static inline void
note_short_read(struct conn *c, uint8_t *ended)
{
	unsigned int seen = loop_seen(c->loop, c->fd) & (EV_RDHUP | EV_ERR | EV_URGENT);

	if (c->is_unix || c->err || c->late_err)
		return;
	if (seen == EV_RDHUP)
		*ended = 1;
	else if (!(seen & (EV_ERR | EV_URGENT)))
		loop_again(c->loop, c->fd, DIR_R);
}

static inline enum io_result
sock_recv(struct conn *c, uint8_t *ended, void *buf, size_t len, size_t *got)
{
	enum io_result r = sock_read(c, ended, buf, len, 0, got);

	if (r != IO_OK)
		return r;
	loop_progress(c->loop, c->fd);
	if (*got < len)
		note_short_read(c, ended);
	return IO_OK;
}

void
conn_expect_end(struct conn *c)
{
	c->expects_end = !c->xprt;
}

/* True if the end of the stream is worth asking for, and the answer can be trusted. */
static int
asks_for_end(const struct conn *c, size_t len)
{
	return len > 1 && !c->eof && !c->err && !c->cut && !loop_seen(c->loop, c->fd);
}

/*
 * Two reads in one call: the bytes, and what is behind them: the end, nothing yet, or a byte more.
 * The call takes an error before the bytes that came before it: those are still there. One that
 * comes between its reads stays with the socket, and is reported as soon as that is registered.
 */
one_copy static enum io_result
sock_recv_with_end(struct conn *c, char *buf, size_t len, size_t *got)
{
	struct iovec first = { buf, len - 1 }, second = { buf + len - 1, 1 };
	struct mmsghdr v[2] = { { .msg_hdr = { .msg_iov = &first, .msg_iovlen = 1 } },
		{ .msg_hdr = { .msg_iov = &second, .msg_iovlen = 1 } } };
	long n = sys_recvmmsg(sys_of(c), c->fd, v, ARRAY_LEN(v), MSG_DONTWAIT);

	*got = 0;
	if (n < 0 && n != -EAGAIN) {
		c->late_err = (int)-n;
		return sock_recv(c, &c->eof, buf, len, got);
	}
	if (n < (long)ARRAY_LEN(v))
		loop_again(c->loop, c->fd, DIR_R);
	if (n == -EAGAIN)
		return IO_AGAIN;
	loop_progress(c->loop, c->fd);
	*got = v[0].msg_len;
	if (n == (long)ARRAY_LEN(v)) {
		if (v[1].msg_len)
			buf[(*got)++] = buf[len - 1];
		else
			c->eof = 1;
	}
	return *got ? IO_OK : IO_EOF;
}

static inline __attribute__((always_inline)) enum io_result
recv_any(struct conn *c, void *buf, size_t len, size_t *got)
{
	if (unlikely(c->xprt))
		return conn_xprt_recv(c, buf, len, got);
	if (c->expects_end) {
		int asks = asks_for_end(c, len);

		c->expects_end = 0;
		if (asks)
			return sock_recv_with_end(c, buf, len, got);
	}
	return sock_recv(c, &c->eof, buf, len, got);
}

static one_copy enum io_result
recv_profiled(struct conn *c, void *buf, size_t len, size_t *got)
{
	struct profile *p = loop_timers(c->loop)->profile;
	uint64_t began = profile_begin(p);
	enum io_result r = recv_any(c, buf, len, got);

	profile_end(p, (profile_fn *)conn_recv, began, began);
	return r;
}

enum io_result
conn_recv(struct conn *c, void *buf, size_t len, size_t *got)
{
	if (unlikely(profile_is_on(loop_timers(c->loop)->profile)))
		return recv_profiled(c, buf, len, got);
	return recv_any(c, buf, len, got);
}
PROFILE_NAME(conn_recv, read)

enum io_result
conn_sock_recv(struct conn *c, void *buf, size_t len, size_t *got)
{
	enum io_result r = sock_recv(c, &c->xprt->ended, buf, len, got);

	c->xprt->drained = !loop_is_ready(c->loop, c->fd, DIR_R);
	return r;
}

enum io_result
conn_peek(struct conn *c, void *buf, size_t len, size_t *got)
{
	assert(conn_can(c, XPRT_PEEK));
	return sock_read(c, &c->eof, buf, len, MSG_PEEK, got);
}

enum io_result
conn_take(struct conn *c, void *buf, size_t n, int drained)
{
	while (n > 0) {
		long r = sys_recvfrom(sys_of(c), c->fd, buf, n, 0);

		/* These bytes were forwarded already and must not be forwarded again. */
		if (r <= 0)
			return io_failed(c, r < 0 && r != -EAGAIN ? r : -ENOBUFS);
		n -= (size_t)r;
	}
	loop_progress(c->loop, c->fd);
	if (drained)
		note_short_read(c, &c->eof);
	return IO_OK;
}

one_copy static void
set_nodelay(struct conn *c)
{
	int on = 1;

	c->nodelay = 1;
	(void)sys_setsockopt(sys_of(c), c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

/*
 * Nagle's algorithm delays a segment only while an earlier one is unacknowledged, so the first send
 * of a connection does not need TCP_NODELAY: many connections never make a second one.
 */
void
conn_will_send(struct conn *c)
{
	if (!c->nodelay && c->sends)
		set_nodelay(c);
}

void
conn_push(struct conn *c)
{
	int on = 1;

	/* The option sends it, also when it was set before (tcp(7)). */
	if (c->held && !c->is_unix && !c->err)
		(void)sys_setsockopt(sys_of(c), c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

void
conn_sent(struct conn *c, size_t put, size_t len)
{
	loop_progress(c->loop, c->fd);
	c->sent += put;
	if (c->sends < CONN_SENDS_MAX)
		c->sends++;
	if (put < len)
		loop_again(c->loop, c->fd, DIR_W);
}

static inline long
send_once(struct conn *c, const void *buf, size_t len, int flags)
{
	conn_will_send(c);
	if (unlikely(c->owes_preface))
		return conn_preface_send(c, buf, len, flags);
	return sys_sendto(sys_of(c), c->fd, buf, len, flags | MSG_NOSIGNAL);
}

/* The result of a send of len bytes: r of them, or -errno. */
static inline enum io_result
note_sent(struct conn *c, long r, size_t len, int more, size_t *put)
{
	if (r == -EAGAIN) {
		loop_again(c->loop, c->fd, DIR_W);
		return IO_AGAIN;
	}
	if (r < 0)
		return io_failed(c, r);
	*put = (size_t)r;
	c->held = more != 0;
	conn_sent(c, *put, len);
	return IO_OK;
}

static inline enum io_result
sock_send(struct conn *c, const void *buf, size_t len, int more, size_t *put)
{
	*put = 0;
	if (c->err)
		return IO_ERR;
	return note_sent(c, send_once(c, buf, len, more ? MSG_MORE : 0), len, more, put);
}

static inline __attribute__((always_inline)) enum io_result
send_any(struct conn *c, const void *buf, size_t len, int more, size_t *put)
{
	if (unlikely(c->xprt))
		return conn_xprt_send(c, buf, len, more, put);
	return sock_send(c, buf, len, more, put);
}

static one_copy enum io_result
send_profiled(struct conn *c, const void *buf, size_t len, int more, size_t *put)
{
	struct profile *p = loop_timers(c->loop)->profile;
	uint64_t began = profile_begin(p);
	enum io_result r = send_any(c, buf, len, more, put);

	profile_end(p, (profile_fn *)conn_send, began, began);
	return r;
}

enum io_result
conn_send(struct conn *c, const void *buf, size_t len, int more, size_t *put)
{
	if (unlikely(profile_is_on(loop_timers(c->loop)->profile)))
		return send_profiled(c, buf, len, more, put);
	return send_any(c, buf, len, more, put);
}
PROFILE_NAME(conn_send, write)

enum io_result
conn_sock_send(struct conn *c, const void *buf, size_t len, int more, size_t *put)
{
	return sock_send(c, buf, len, more, put);
}

enum io_result
conn_send_sbuf(struct conn *c, struct sbuf *out, size_t *sent)
{
	size_t put;

	while (*sent < out->len) {
		if (!conn_is_ready(c, DIR_W))
			return IO_AGAIN;
		switch (conn_send(c, out->p + *sent, out->len - *sent, 0, &put)) {
		case IO_OK:
			*sent += put;
			break;
		case IO_AGAIN:
			return IO_AGAIN;
		case IO_EOF:
		case IO_ERR:
		default:
			return IO_ERR;
		}
	}
	sbuf_reset(out);
	*sent = 0;
	return IO_OK;
}

enum io_result
conn_send_in_place(
	struct conn *c, const void *buf, size_t len, int more, size_t *put, int *in_place)
{
	int flags = more ? MSG_MORE : 0;
	long r;

	assert(conn_can(c, XPRT_ZEROCOPY));
	*put = 0;
	*in_place = !c->owes_preface;
	if (c->err)
		return IO_ERR;
	r = send_once(c, buf, len, MSG_ZEROCOPY | flags);
	if (r == -ENOBUFS && *in_place) {
		*in_place = 0;
		r = send_once(c, buf, len, flags);
	}
	return note_sent(c, r, len, more, put);
}

void
conn_set_low_water(struct conn *c, unsigned int bytes)
{
	int n = (int)bytes;

	assert(bytes && bytes <= UINT8_MAX);
	if (!conn_is_open(c) || !conn_can(c, XPRT_LOW_WATER))
		return;
	c->low_water = (uint8_t)bytes;
	(void)sys_setsockopt(sys_of(c), c->fd, SOL_SOCKET, SO_RCVLOWAT, &n, sizeof(n));
}

void
conn_shut(struct conn *c)
{
	if (c->shut || c->err)
		return;
	/* The socket is connected and has sent nothing yet: there is room for it. */
	if (unlikely(c->owes_preface))
		(void)conn_send_preface(c);
	c->shut = 1;
	if (unlikely(c->xprt))
		conn_xprt_shut(c);
	else
		(void)sys_shutdown(sys_of(c), c->fd, SHUT_WR);
}

void
conn_end(struct conn *c, void *scratch, size_t size)
{
	size_t got;

	if (c->eof || c->err)
		return;
	conn_shut(c);
	if (conn_is_ready(c, DIR_R))
		(void)conn_recv(c, scratch, size, &got);
}

int
conn_discard(struct conn *c)
{
	char ignored[DISCARD_SIZE];
	enum io_result r = IO_OK;
	size_t got;

	for (int i = 0; i < DISCARD_READS && r == IO_OK && conn_is_ready(c, DIR_R); i++)
		r = conn_recv(c, ignored, sizeof(ignored), &got);
	return c->eof || r == IO_EOF || r == IO_ERR;
}

int
conn_is_dead(const struct conn *c)
{
	return c->err && c->err != ENOMEM && c->err != ENOBUFS;
}

void
conn_reset_on_close(struct conn *c)
{
	struct linger lg = { .l_onoff = 1, .l_linger = 0 };

	if (unlikely(c->xprt))
		conn_xprt_silence(c);
	if (likely(c->fd >= 0))
		(void)sys_setsockopt(sys_of(c), c->fd, SOL_SOCKET, SO_LINGER, &lg, sizeof(lg));
}

unsigned int
conn_polled(const struct conn *c)
{
	struct interest in;
	void *owner;

	return c->fd < 0 || loop_peek(c->loop, c->fd, &in, &owner) < 0 ? 0 : in.polled;
}

unsigned int
conn_unsent(struct conn *c)
{
	int n = 0;

	if (c->fd < 0 || sys_ioctl(sys_of(c), c->fd, SIOCOUTQ, &n) < 0 || n < 0)
		return 0;
	return (unsigned int)n;
}

int
conn_take_error(struct conn *c)
{
	int e = 0;
	socklen_t len = sizeof(e);
	long r = 0;

	if (likely(c->fd >= 0))
		r = sys_getsockopt(sys_of(c), c->fd, SOL_SOCKET, SO_ERROR, &e, &len);
	else
		e = conn_stream_of(c)->err;
	if (r < 0)
		e = (int)-r;
	if (e && !c->err)
		c->err = e;
	return e;
}

static void
conn_xprt_close(struct conn *c)
{
	struct xprt *x = c->xprt;

	if (x->is_up && !c->err && !x->is_silent && (!c->shut || x->shutting))
		(void)x->ops->shutdown(c);
	if (c->fd < 0)
		task_cancel(&conn_stream_of(c)->task);
	x->ops->close(c);
	c->xprt = NULL;
}

/* Frees all but the descriptor, which is returned; -1: it is closed. */
static inline int
release_conn(struct conn *c)
{
	int fd = c->fd;

	if (!conn_is_open(c))
		return -1;
	assert(!c->zerocopy);
	if (unlikely(c->preface))
		conn_preface_drop(c);
	if (unlikely(c->xprt))
		conn_xprt_close(c);
	c->fd = -1;
	return fd;
}

void
conn_close(struct conn *c)
{
	int fd = release_conn(c);

	if (fd < 0)
		return;
	loop_forget(c->loop, fd);
	(void)sys_close(sys_of(c), fd);
}

void
conn_close_late(struct conn *c)
{
	int fd = release_conn(c);

	if (fd >= 0)
		loop_close(c->loop, fd);
}

int
conn_take_fd(struct conn *c)
{
	int fd = c->fd;

	assert(conn_is_open(c) && !c->preface && !c->xprt && !c->zerocopy);
	loop_detach(c->loop, fd);
	c->fd = -1;
	return fd;
}
