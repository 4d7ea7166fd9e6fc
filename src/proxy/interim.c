#include "interim.h"

#include <string.h>

#include "half.h"
#include "proxy/memory.h"

static int
keep(struct session *s, const char *p, size_t n)
{
	struct engine *e = s->engine;
	struct half *h = &s->half[SERVER];

	if (!h->buf && (!memory_has_buffer(e) || half_take_buf(e, h) < 0)) {
		e->buf_waits++;
		return -1;
	}
	assert(h->tail + n <= e->bufsize);
	memcpy(h->buf + h->tail, p, n);
	h->tail += (uint32_t)n;
	return 0;
}

int
interim_say(struct session *s, struct str text)
{
	size_t put = 0;

	/* An error is told to whoever reads from it. */
	if (!half_buffered(&s->half[SERVER]) &&
		conn_send(&s->conn[CLIENT], text.p, text.len, 0, &put) == IO_ERR)
		return 0;
	if (put == text.len || keep(s, text.p + put, text.len - put) == 0)
		return 0;
	return put ? -1 : 0;
}

void
interim_flush(struct session *s)
{
	struct half *h = &s->half[SERVER];
	size_t put = 0;

	if (!half_buffered(h))
		return;
	if (conn_send(&s->conn[CLIENT], h->buf + h->head, half_buffered(h), 0, &put) == IO_ERR) {
		half_drop_buf(s->engine, h);
		return;
	}
	/* It waited for that, and has its whole time from now on. */
	if (put)
		s->last_ms[CLIENT] = loop_now_ms(s->engine->loop);
	h->head += (uint32_t)put;
	if (!half_buffered(h))
		half_drop_buf(s->engine, h);
}
