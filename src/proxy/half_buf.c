/* The buffer of a half: taken when the sink refuses bytes, given back as soon as it is empty. */
#include "half.h"

#include <string.h>

#include "proxy/memory.h"
#include "stream.h"

void
half_init(struct half *h)
{
	memset(h, 0, sizeof(*h));
}

void
half_drop_buf(struct engine *e, struct half *h)
{
	if (h->is_big)
		stream_buf_put(e, h->buf);
	else
		zerocopy_release(&e->zerocopy, &h->pin, h->buf);
	h->buf = NULL;
	h->is_big = h->resend = 0;
	h->head = h->tail = h->ahead = 0;
	memory_watch(e);
}

void
half_release_buf(struct engine *e, struct half *h)
{
	if (!h->ahead && !h->resend)
		half_drop_buf(e, h);
}

void
half_discard(struct engine *e, struct half *h)
{
	h->stuck = 0;
	h->head = h->tail;
	half_drop_pipe(e, h);
}

void
half_fini(struct engine *e, struct half *h)
{
	stream_leave(h);
	half_discard(e, h);
	if (h->buf)
		half_drop_buf(e, h);
}

int
half_has_room(const struct engine *e, const struct half *h)
{
	return !h->stuck && (!h->buf || h->tail + h->ahead < e->bufsize);
}

int
half_take_buf(struct engine *e, struct half *h)
{
	/* The kernel may still send from it. */
	if (h->buf && h->pin)
		half_release_buf(e, h);
	if (h->buf)
		return 0;
	h->buf = pool_get(&e->buf_pool);
	memory_watch(e);
	return h->buf ? 0 : -1;
}

void
half_keep(struct engine *e, struct half *h, const char *p, size_t n)
{
	if (!h->buf && n > e->bufsize) {
		h->buf = stream_buf(e);
		h->is_big = 1;
	} else if (!h->buf) {
		h->buf = pool_get(&e->buf_pool);
		assert(h->buf);
		memory_watch(e);
	}
	assert(h->tail + n <= (h->is_big ? e->streams.bufsize : e->bufsize));
	memcpy(h->buf + h->tail, p, n);
	h->tail += (uint32_t)n;
}

int
half_can_keep(struct engine *e, const struct half *h)
{
	if (h->buf || memory_has_buffer(e))
		return 1;
	e->buf_waits++;
	return 0;
}
