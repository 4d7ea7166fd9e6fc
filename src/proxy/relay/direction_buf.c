/* The buffer of a direction: taken when the sink refuses bytes, given back as soon as it is
 * empty. */
#include "proxy/relay/direction.h"

#include <string.h>

#include "base/counter.h"
#include "proxy/model/memory.h"
#include "proxy/relay/bulk.h"

const struct relay_ops relay_plain = { 0 };

void
direction_init(struct direction *h)
{
	memset(h, 0, sizeof(*h));
	h->ops = &relay_plain;
}

static void
give_back(struct engine *e, struct direction *h)
{
	if (h->is_big)
		bulk_buf_put(e, h->buf);
	else if (h->is_wide)
		pool_put(&e->wide_pool, h->buf);
	else
		zerocopy_release(&e->zerocopy, &h->pin, h->buf);
	h->is_big = h->is_wide = 0;
}

/* Bytes that fit into the direction's buffer. */
static uint32_t
buf_capacity(const struct engine *e, const struct direction *h)
{
	if (h->is_big)
		return e->bulk.bufsize;
	return h->is_wide ? WIDE_BUFS * e->bufsize : e->bufsize;
}

void
direction_buf_free(struct engine *e, struct direction *h)
{
	give_back(e, h);
	h->buf = NULL;
	h->resend = 0;
	h->head = h->tail = h->lookahead = 0;
	memory_watch(e);
}

void
direction_buf_free_if_empty(struct engine *e, struct direction *h)
{
	if (!h->lookahead && !h->resend)
		direction_buf_free(e, h);
}

void
direction_discard_pending(struct engine *e, struct direction *h)
{
	h->left_in_kernel = 0;
	h->head = h->tail;
	direction_pipe_drop(e, h);
}

void
direction_fini(struct engine *e, struct direction *h)
{
	bulk_leave(h);
	direction_discard_pending(e, h);
	if (h->buf)
		direction_buf_free(e, h);
}

int
direction_has_room(const struct engine *e, const struct direction *h)
{
	return !h->left_in_kernel && (!h->buf || h->tail + h->lookahead < e->bufsize);
}

int
direction_buf_get(struct engine *e, struct direction *h)
{
	/* The kernel may still send from it. */
	if (h->buf && h->pin)
		direction_buf_free_if_empty(e, h);
	if (h->buf)
		return 0;
	h->buf = pool_get(&e->buf_pool);
	memory_watch(e);
	return h->buf ? 0 : -1;
}

void
direction_buf_append(struct engine *e, struct direction *h, const char *p, size_t n)
{
	if (!h->buf && n > e->bufsize) {
		h->buf = bulk_buf(e);
		h->is_big = 1;
	} else if (!h->buf) {
		h->buf = pool_get(&e->buf_pool);
		assert(h->buf);
		memory_watch(e);
	}
	assert(h->tail + n <= buf_capacity(e, h));
	memcpy(h->buf + h->tail, p, n);
	h->tail += (uint32_t)n;
}

/* Replaces the buffer: bytes [0, from) are copied to the same place, n bytes behind them to
 * `to`. */
static void
take_other(struct engine *e, struct direction *h, char *buf, uint32_t from, uint32_t to, size_t n)
{
	memcpy(buf, h->buf, from);
	memcpy(buf + to, h->buf + from, n);
	give_back(e, h);
	h->buf = buf;
}

int
direction_make_room(struct engine *e, struct direction *h, uint32_t from, uint32_t to)
{
	size_t n = h->tail + h->lookahead - from;
	char *wide;

	assert(from <= to && to <= e->bufsize && from <= h->tail && !h->pin);
	if (to + n <= buf_capacity(e, h)) {
		memmove(h->buf + to, h->buf + from, n);
	} else {
		wide = memory_reserve(e, &e->wide_pool) ? pool_get(&e->wide_pool) : NULL;
		if (!wide)
			return -1;
		assert(to + n <= e->wide_pool.size);
		take_other(e, h, wide, from, to, n);
		h->is_wide = 1;
		memory_watch(e);
	}
	if (h->head >= from)
		h->head += to - from;
	h->tail += to - from;
	return 0;
}

void
direction_move_lookahead(struct engine *e, struct direction *h, uint32_t at)
{
	char *buf = h->is_wide && memory_reserve_buffer(e) ? pool_get(&e->buf_pool) : NULL;

	assert(h->head == h->tail && at + h->lookahead <= e->bufsize);
	if (buf) {
		memcpy(buf + at, h->buf + h->tail, h->lookahead);
		give_back(e, h);
		h->buf = buf;
		memory_watch(e);
	} else {
		memmove(h->buf + at, h->buf + h->tail, h->lookahead);
	}
	h->head = h->tail = at;
}

int
direction_reserve_room(struct engine *e, const struct direction *h)
{
	if (h->buf || memory_reserve_buffer(e))
		return 1;
	counter_add(&e->buf_waits, 1);
	return 0;
}

void
direction_wait_for_buffer(struct session *s, int side)
{
	counter_add(&s->engine->buf_waits, 1);
	s->dir[side].waits_for_buffer = 1;
	s->wake_ms = session_now_ms(s) + DIRECTION_BUFFER_WAIT_MS;
}
