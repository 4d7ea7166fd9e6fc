/* Bytes between a socket and a pipe, on the connection's worker. A pipe is filled only when it is
 * empty, so that EAGAIN can only be about the socket. */
#define _GNU_SOURCE
#include "net/splice.h"

#include <errno.h>
#include <fcntl.h>

int
splice_can(const struct conn *a, const struct conn *b)
{
	return conn_can(a, XPRT_SPLICE) && conn_can(b, XPRT_SPLICE);
}

/* True for errors of the call itself, not of the connection. */
static int
is_refusal(long r)
{
	return r == -EINVAL || r == -ENOMEM || r == -ENOSYS || r == -EOPNOTSUPP || r == -EPERM ||
		r == -EACCES;
}

/*
 * Before urgent data splice() returns EAGAIN for ever, and zero if a FIN follows it, with bytes
 * unread: a truncated stream would look complete. If there is urgent data, or the poller does not
 * report it, recv() decides, which also distinguishes an error from EOF.
 */
static int
is_trusted(const struct conn *c)
{
	return loop_has_errors(c->loop) &&
		!(loop_seen(c->loop, c->fd) & (EV_URGENT | EV_ERR));
}

enum splice_result
splice_in(struct conn *c, struct pipe *p, size_t len, size_t *got)
{
	long r;

	assert(p->bytes == 0);
	*got = 0;
	if (c->eof || c->err)
		return SPLICE_ASK;
	r = sys_splice(loop_sys(c->loop), c->fd, p->wr, len, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
	if (r > 0) {
		loop_progress(c->loop, c->fd);
		p->bytes = *got = (size_t)r;
		return SPLICE_OK;
	}
	if (r == -EAGAIN && is_trusted(c)) {
		loop_again(c->loop, c->fd, DIR_R);
		return SPLICE_AGAIN;
	}
	if (r == 0 || r == -EAGAIN)
		return SPLICE_ASK;
	if (is_refusal(r))
		return SPLICE_CANNOT;
	conn_failed(c, r);
	return SPLICE_ERR;
}

enum splice_result
splice_out(struct conn *c, struct pipe *p, int more, size_t *put)
{
	unsigned int flags = SPLICE_F_MOVE | SPLICE_F_NONBLOCK | (more ? SPLICE_F_MORE : 0);
	size_t len = p->bytes;
	long r;

	assert(len > 0);
	*put = 0;
	if (c->err)
		return SPLICE_ERR;
	conn_will_send(c);
	/* Not more than the available bytes: otherwise the kernel would delay the last part. */
	r = sys_splice(loop_sys(c->loop), p->rd, c->fd, len, flags);
	if (r == -EAGAIN) {
		loop_again(c->loop, c->fd, DIR_W);
		return SPLICE_AGAIN;
	}
	if (r == 0 || is_refusal(r))
		return SPLICE_CANNOT;
	if (r < 0) {
		conn_failed(c, r);
		return SPLICE_ERR;
	}
	c->held = more != 0;
	conn_sent(c, (size_t)r, len);
	*put = (size_t)r;
	p->bytes -= *put;
	/* The socket was full, or it failed: the short count has consumed the error. */
	if (*put < len)
		c->cut = 1;
	return SPLICE_OK;
}
