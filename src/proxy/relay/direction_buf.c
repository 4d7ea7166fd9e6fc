/* The buffer of a direction: taken when the sink refuses bytes, given back as soon as it is
 * empty. */
#include "proxy/relay/direction.h"

#include <string.h>

#include "base/counter.h"
#include "proxy/model/memory.h"
#include "proxy/relay/bulk.h"

const struct relay_ops relay_plain = { 0 };

void
direction_init(struct direction *d)
{
	memset(d, 0, sizeof(*d));
	d->ops = &relay_plain;
}

static void
give_back(struct engine *e, struct direction *d)
{
	if (d->is_big)
		bulk_buf_put(e, d->buf);
	else if (d->is_wide)
		pool_put(&e->wide_pool, d->buf);
	else
		zerocopy_release(&e->zerocopy, &d->pin, d->buf);
	d->is_big = d->is_wide = 0;
}

/* Bytes that fit into the direction's buffer. */
static uint32_t
buf_capacity(const struct engine *e, const struct direction *d)
{
	if (d->is_big)
		return e->bulk.bufsize;
	return d->is_wide ? WIDE_BUFS * e->bufsize : e->bufsize;
}

void
direction_buf_free(struct engine *e, struct direction *d)
{
	give_back(e, d);
	d->buf = NULL;
	d->keeps_buf = 0;
	d->head = d->tail = d->lookahead = 0;
	memory_watch(e);
}

void
direction_buf_free_if_empty(struct engine *e, struct direction *d)
{
	if (!d->lookahead && !d->keeps_buf)
		direction_buf_free(e, d);
}

void
direction_discard_pending(struct engine *e, struct direction *d)
{
	d->left_in_kernel = 0;
	d->head = d->tail;
	direction_pipe_drop(e, d);
}

void
direction_fini(struct engine *e, struct direction *d)
{
	bulk_leave(d);
	direction_discard_pending(e, d);
	if (d->buf)
		direction_buf_free(e, d);
}

int
direction_has_room(const struct engine *e, const struct direction *d)
{
	return !d->left_in_kernel && (!d->buf || d->tail + d->lookahead < e->bufsize);
}

int
direction_buf_get(struct engine *e, struct direction *d)
{
	/* The kernel may still send from it. */
	if (d->buf && d->pin)
		direction_buf_free_if_empty(e, d);
	if (d->buf)
		return 0;
	d->buf = pool_get(&e->buf_pool);
	memory_watch(e);
	return d->buf ? 0 : -1;
}

void
direction_buf_append(struct engine *e, struct direction *d, const char *p, size_t n)
{
	if (!d->buf && n > e->bufsize) {
		d->buf = bulk_buf(e);
		d->is_big = 1;
	} else if (!d->buf) {
		d->buf = pool_get(&e->buf_pool);
		assert(d->buf);
		memory_watch(e);
	}
	assert(d->tail + n <= buf_capacity(e, d));
	memcpy(d->buf + d->tail, p, n);
	d->tail += (uint32_t)n;
}

/* Replaces the buffer: bytes [0, from) are copied to the same place, n bytes behind them to
 * `to`. */
static void
take_other(struct engine *e, struct direction *d, char *buf, uint32_t from, uint32_t to, size_t n)
{
	memcpy(buf, d->buf, from);
	memcpy(buf + to, d->buf + from, n);
	give_back(e, d);
	d->buf = buf;
}

int
direction_make_room(struct engine *e, struct direction *d, uint32_t from, uint32_t to)
{
	size_t n = d->tail + d->lookahead - from;
	char *wide;

	assert(from <= to && to <= e->bufsize && from <= d->tail && !d->pin);
	if (to + n <= buf_capacity(e, d)) {
		memmove(d->buf + to, d->buf + from, n);
	} else {
		wide = memory_reserve(e, &e->wide_pool) ? pool_get(&e->wide_pool) : NULL;
		if (!wide)
			return -1;
		assert(to + n <= e->wide_pool.size);
		take_other(e, d, wide, from, to, n);
		d->is_wide = 1;
		memory_watch(e);
	}
	if (d->head >= from)
		d->head += to - from;
	d->tail += to - from;
	return 0;
}

void
direction_move_lookahead(struct engine *e, struct direction *d, uint32_t at)
{
	char *buf = d->is_wide && memory_reserve_buffer(e) ? pool_get(&e->buf_pool) : NULL;

	assert(d->head == d->tail && at + d->lookahead <= e->bufsize);
	if (buf) {
		memcpy(buf + at, d->buf + d->tail, d->lookahead);
		give_back(e, d);
		d->buf = buf;
		memory_watch(e);
	} else {
		memmove(d->buf + at, d->buf + d->tail, d->lookahead);
	}
	d->head = d->tail = at;
}

int
direction_reserve_room(struct engine *e, const struct direction *d)
{
	if (d->buf || memory_reserve_buffer(e))
		return 1;
	counter_add(&e->buf_waits, 1);
	return 0;
}

void
direction_wait_for_buffer(struct stream *s, int side)
{
	counter_add(&s->engine->buf_waits, 1);
	s->dir[side].waits_for_buffer = 1;
	s->wake_ms = stream_now_ms(s) + DIRECTION_BUFFER_WAIT_MS;
}
