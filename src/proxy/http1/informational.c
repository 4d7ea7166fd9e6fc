/* Informational responses of our own (1xx). On the session's worker; what is not sent at once
 * goes before anything else to the client. */
#include "proxy/http1/informational.h"

#include <string.h>

#include "proxy/relay/direction.h"
#include "base/counter.h"
#include "proxy/model/memory.h"

static int
keep_unsent(struct stream *s, const char *p, size_t n)
{
	struct engine *e = s->engine;
	struct direction *d = &s->dir[SERVER];

	if (!d->buf && (!memory_reserve_buffer(e) || direction_buf_get(e, d) < 0)) {
		counter_add(&e->stat.buf_waits, 1);
		return -1;
	}
	assert(d->tail + n <= e->bufsize);
	memcpy(d->buf + d->tail, p, n);
	d->tail += (uint32_t)n;
	return 0;
}

int
informational_send(struct stream *s, struct str text)
{
	size_t put = 0;

	/* The error is reported to the reading side. */
	if (!direction_buffered(&s->dir[SERVER]) &&
		conn_send(s->conn[CLIENT], text.p, text.len, 0, &put) == IO_ERR)
		return 0;
	if (put == text.len || keep_unsent(s, text.p + put, text.len - put) == 0)
		return 0;
	return put ? -1 : 0;
}

void
informational_flush(struct stream *s)
{
	struct direction *d = &s->dir[SERVER];
	size_t put = 0;

	if (!direction_buffered(d))
		return;
	if (conn_send(s->conn[CLIENT], d->buf + d->head, direction_buffered(d), 0, &put) ==
		IO_ERR) {
		direction_buf_free(s->engine, d);
		return;
	}
	/* The client waited for it, and its timeout starts now. */
	if (put)
		s->last_ms[CLIENT] = stream_now_ms(s);
	d->head += (uint32_t)put;
	if (!direction_buffered(d))
		direction_buf_free(s->engine, d);
}
