/* The bytes that a connection begins with, before the first data. On the worker that owns it; the
 * memory is there until it is closed. */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "net/conn.h"

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
