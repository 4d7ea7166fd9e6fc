/* Connections with a transport, on the worker that owns them. Between two calls the loop believes
 * the socket readable if the transport holds bytes, and watches what want() returns for the user's
 * directions. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/err.h"
#include "base/mem.h"
#include "event/profile.h"
#include "net/conn_stream.h"

static unsigned int
sock_needs(const struct xprt *x)
{
	unsigned int dirs = 0;

	if (x->wanted & EV_R)
		dirs |= x->ops->want(x, EV_R);
	if ((x->wanted & EV_W) || x->shutting)
		dirs |= x->ops->want(x, EV_W);
	return dirs;
}

/* Bytes were moved. */
static void
note_progress(struct conn *c)
{
	if (likely(c->fd >= 0))
		loop_progress(c->loop, c->fd);
	else
		conn_stream_progress(conn_stream_of(c));
}

/* Updates the loop after an operation of the transport. */
static void
notify_loop(struct conn *c)
{
	const struct xprt *x = c->xprt;

	if (unlikely(c->fd < 0))
		return;
	loop_hold(c->loop, c->fd, x->holds);
	if (!x->holds && x->drained && !x->ended && loop_is_ready(c->loop, c->fd, DIR_R))
		loop_again(c->loop, c->fd, DIR_R);
	loop_want(c->loop, c->fd, sock_needs(x));
}

/* Translates the socket's event into one of the user's data. */
static void
on_sock(void *owner, int fd, uint32_t ev)
{
	struct xprt *x = owner;
	uint32_t out = ev & ~EV_RW;

	/* New data has arrived after what was read. */
	if (ev & EV_R)
		x->drained = 0;
	if (ev & x->ops->want(x, EV_R))
		out |= EV_R;
	if (ev & x->ops->want(x, EV_W))
		out |= EV_W;
	x->fn(x->owner, fd, out);
}
PROFILE_NAME(on_sock, transport_io)

int
conn_begin_xprt(struct conn *c, loop_fd_fn *fn, void *owner, const struct xprt_maker *m)
{
	int r = 0;

	c->xprt = m->make(m, c, &r);
	if (!c->xprt)
		return r;
	c->xprt->fn = fn;
	c->xprt->owner = owner;
	loop_set_owner(c->loop, c->fd, on_sock, c->xprt);
	return 0;
}

int
conn_open_over(struct conn *c, struct loop *l, int fd, loop_fd_fn *fn, void *owner,
	enum conn_kind kind, const struct xprt_maker *m)
{
	int r = conn_open(c, l, fd, fn, owner, kind);

	if (r < 0)
		return r;
	r = conn_begin_xprt(c, fn, owner, m);
	if (r < 0) {
		loop_forget(l, fd);
		conn_init(c);
	}
	return r;
}

void
conn_set_owner(struct conn *c, loop_fd_fn *fn, void *owner)
{
	if (likely(!c->xprt)) {
		loop_set_owner(c->loop, c->fd, fn, owner);
		return;
	}
	c->xprt->fn = fn;
	c->xprt->owner = owner;
	note_progress(c);
}

int
conn_set_name(struct conn *c, const char *name)
{
	return c->xprt && c->xprt->ops->set_name ? c->xprt->ops->set_name(c, name) : -ERR_UNKNOWN;
}

int
conn_query(const struct conn *c, enum xprt_query what, struct str *out)
{
	return c->xprt ? c->xprt->ops->query(c, what, out) : -ERR_UNKNOWN;
}

int
conn_xprt_can(const struct conn *c, unsigned int cap)
{
	return (cap & c->xprt->ops->caps & (c->is_unix ? XPRT_CAPS_UNIX : XPRT_CAPS_TCP)) != 0;
}

void
conn_xprt_presume_ready(struct conn *c, enum dir d)
{
	if (d == DIR_R)
		c->xprt->drained = 0;
	loop_presume_ready(c->loop, c->fd, d);
}

int
conn_xprt_is_ready(const struct conn *c, enum dir d)
{
	unsigned int needs, dir = d == DIR_R ? EV_R : EV_W;

	if (unlikely(c->fd < 0))
		return (conn_stream_of(c)->ready & dir) != 0;
	needs = c->xprt->ops->want(c->xprt, dir);
	return ((needs & EV_R) && loop_is_ready(c->loop, c->fd, DIR_R)) ||
		((needs & EV_W) && loop_is_ready(c->loop, c->fd, DIR_W));
}

/* IO_OK: the handshake is complete. */
static enum io_result
go_up(struct conn *c)
{
	enum io_result r;

	if (likely(c->xprt->is_up))
		return IO_OK;
	r = c->xprt->ops->step(c);
	c->xprt->is_up = r == IO_OK;
	return r;
}

enum io_result
conn_handshake(struct conn *c)
{
	enum io_result r;

	if (!c->xprt)
		return c->err ? IO_ERR : IO_OK;
	r = go_up(c);
	if (r == IO_OK)
		note_progress(c);
	notify_loop(c);
	return r;
}

enum io_result
conn_xprt_recv(struct conn *c, void *buf, size_t len, size_t *got)
{
	enum io_result r;

	*got = 0;
	if (c->eof)
		return c->err ? IO_ERR : IO_EOF;
	r = go_up(c);
	if (r == IO_OK)
		r = c->xprt->ops->recv(c, buf, len, got);
	if (r == IO_EOF)
		c->eof = 1;
	if (r == IO_OK)
		note_progress(c);
	notify_loop(c);
	return r;
}

enum io_result
conn_xprt_send(struct conn *c, const void *buf, size_t len, int more, size_t *put)
{
	enum io_result r;

	*put = 0;
	if (c->err)
		return IO_ERR;
	r = go_up(c);
	if (r == IO_OK)
		r = c->xprt->ops->send(c, buf, len, more && conn_can(c, XPRT_MORE), put);
	if (r == IO_EOF) {
		/* The peer has closed: it accepts no more. */
		conn_failed(c, -EPIPE);
		r = IO_ERR;
	}
	if (r == IO_OK)
		note_progress(c);
	notify_loop(c);
	return r;
}

/* Sends the transport's closing message, and then the FIN. */
static void
go_shut(struct conn *c)
{
	struct xprt *x = c->xprt;
	enum io_result r = x->is_up ? x->ops->shutdown(c) : IO_OK;

	x->shutting = r == IO_AGAIN;
	if (!x->shutting && !c->err && c->fd >= 0)
		(void)sys_shutdown(loop_sys(c->loop), c->fd, SHUT_WR);
}

void
conn_xprt_shut(struct conn *c)
{
	go_shut(c);
	notify_loop(c);
}

void
conn_xprt_finish(struct conn *c)
{
	struct xprt *x = c->xprt;

	if (c->err || !x->is_up || (c->shut && !x->shutting))
		return;
	/* Data that has waited is not followed by the close at once. */
	if (x->shutting)
		go_shut(c);
	else
		x->shutting = x->ops->shutdown(c) == IO_AGAIN;
	c->shut = 1;
	notify_loop(c);
}

int
conn_xprt_is_ending(const struct conn *c)
{
	return c->xprt->shutting && !c->err;
}

/* The user wants these directions, EV_R | EV_W: one that is ready is delivered in the next turn, as
 * a descriptor is tried. */
static void
conn_stream_want(struct conn_stream *st, unsigned int dirs)
{
	st->x.wanted = (uint8_t)dirs;
	if (st->ready & dirs)
		loop_post_next(st->loop, &st->task);
}

void
conn_xprt_want(struct conn *c, unsigned int dirs)
{
	if (unlikely(c->fd < 0)) {
		conn_stream_want(conn_stream_of(c), dirs);
		return;
	}
	c->xprt->wanted = (uint8_t)dirs;
	if (c->xprt->shutting && conn_xprt_is_ready(c, DIR_W))
		go_shut(c);
	notify_loop(c);
}

void
conn_xprt_silence(struct conn *c)
{
	c->xprt->is_silent = 1;
}

/* --- prefaces -------------------------------------------------------------------------------- */

/*
 * The bytes that a connection begins with, before the first data. On the worker that owns it;
 * the memory is there until it is closed.
 */

struct conn_preface {
	uint16_t len, sent;
	char bytes[];
};

int
conn_set_preface(struct conn *c, const void *bytes, size_t n)
{
	struct conn_preface *p;

	assert(!c->preface && !c->sends && n && n <= UINT16_MAX);
	p = mem_alloc(sizeof(*p) + n);
	if (!p)
		return -ERR_NOMEM;
	p->len = (uint16_t)n;
	p->sent = 0;
	memcpy(p->bytes, bytes, n);
	c->preface = p;
	c->owes_preface = 1;
	return 0;
}

int
conn_has_preface(const struct conn *c, const void *bytes, size_t n)
{
	return c->preface && c->preface->len == n && memcmp(c->preface->bytes, bytes, n) == 0;
}

void
conn_preface_drop(struct conn *c)
{
	mem_free(c->preface);
	c->preface = NULL;
	c->owes_preface = 0;
}

long
conn_preface_send(struct conn *c, const void *buf, size_t len, int flags)
{
	struct conn_preface *p = c->preface;
	size_t left = (size_t)p->len - p->sent;
	struct iovec iov[2] = { { p->bytes + p->sent, left }, { (void *)(uintptr_t)buf, len } };
	struct msghdr m = { .msg_iov = iov, .msg_iovlen = len ? 2 : 1 };
	long r = sys_sendmsg(loop_sys(c->loop), c->fd, &m, (flags & ~MSG_ZEROCOPY) | MSG_NOSIGNAL);

	if (r < 0)
		return r;
	if ((size_t)r < left) {
		p->sent += (uint16_t)r;
		return -EAGAIN;
	}
	c->owes_preface = 0;
	r -= (long)left;
	/* conn_send() counts only the bytes behind it. */
	if (!r)
		conn_sent(c, 0, 0);
	return r || !len ? r : -EAGAIN;
}

enum io_result
conn_send_preface(struct conn *c)
{
	long r;

	if (!c->owes_preface)
		return IO_OK;
	if (c->err)
		return IO_ERR;
	r = conn_preface_send(c, NULL, 0, 0);
	if (r == -EAGAIN) {
		loop_again(c->loop, c->fd, DIR_W);
		return IO_AGAIN;
	}
	if (r < 0) {
		conn_failed(c, r);
		return IO_ERR;
	}
	return IO_OK;
}
