/* Memory of a direction: the buffer, given back as soon as it is empty, the pipe of the worker's
 * pool, and larger buffers of bulk transfers, which share the bytes of a turn; one that waits for
 * its turn is in a list and has no interest in its descriptors. */
#include "proxy/relay/direction.h"

#include <string.h>

#include "base/counter.h"
#include "proxy/model/memory.h"
#include "event/profile.h"
#include "base/err.h"
#include "base/mem.h"

/* --- bulk transfers --- */

/* A bulk transfer that was drained this many times in a row with less than a buffer in between is
 * none any more. */
#define SHORT_BURSTS_MAX 4
/* After this time with bulk transfers only, they get this multiple of tune.bulk.turn per turn. */
#define ALONE_MS 50
#define ALONE_SHARE 8
/* Maximum big buffers of a worker, used and kept: a bulk transfer without one is read in small
 * pieces. */
#define BUFS_MAX 64
#define BUFS_KEPT 4

static void on_turn(struct task *t);

void
bulk_init(struct engine *e)
{
	e->bulk.after = BULK_AFTER_DEFAULT;
	list_init(&e->bulk.waiting);
	task_init(&e->bulk.task, on_turn);
}

int
engine_allow_bulk(
	struct engine *e, unsigned int after, unsigned int bufsize, unsigned int per_turn)
{
	char *scratch;

	e->bulk.after = after;
	e->bulk.per_turn = per_turn;
	if (bufsize <= e->bufsize)
		return 0;
	scratch = mem_alloc(bufsize);
	if (!scratch)
		return -ERR_NOMEM;
	mem_free(e->scratch);
	e->scratch = scratch;
	e->bulk.bufsize = bufsize;
	pool_init(&e->bulk.bufs, "stream", bufsize, BUFS_KEPT);
	return 0;
}

void
bulk_fini(struct engine *e)
{
	assert(list_is_empty(&e->bulk.waiting));
	task_cancel(&e->bulk.task);
	if (e->bulk.bufsize)
		pool_fini(&e->bulk.bufs);
}

/* --- detection --- */

unsigned int
bulk_splice_option(int side)
{
	return side == CLIENT ? OPT_SPLICE_REQUEST : OPT_SPLICE_RESPONSE;
}

/* True if the option that splices the direction is set, whatever it carries. */
static int
splice_is_forced(const struct stream *s, int side)
{
	return (proxy_splice(s->sess->fe, s->be) & bulk_splice_option(side)) != 0;
}

void
bulk_drained(const struct engine *e, struct direction *d)
{
	d->short_bursts = d->burst < e->bufsize ? (uint8_t)(d->short_bursts + 1) : 0;
	if (d->short_bursts >= SHORT_BURSTS_MAX)
		d->is_bulk = d->short_bursts = 0;
	d->burst = 0;
}

void
bulk_note(struct stream *s, int side, size_t got, size_t asked)
{
	struct direction *d = &s->dir[side];

	d->burst = (uint32_t)MIN((uint64_t)d->burst + got, UINT32_MAX);
	if (got < asked)
		bulk_drained(s->engine, d);
	else if (d->burst >= s->engine->bulk.after || splice_is_forced(s, side))
		d->is_bulk = 1;
}

void
bulk_expect(struct stream *s, int side, uint64_t n)
{
	const struct engine *e = s->engine;
	uint64_t enough = splice_is_forced(s, side) ? e->bufsize : e->bulk.after;

	if (n >= MAX(enough, e->bufsize))
		s->dir[side].is_bulk = 1;
}

/* --- bigger pieces --- */

static uint64_t
whole_turn(const struct engine *e)
{
	const struct bulk_shared *st = &e->bulk;
	uint64_t quiet_ms = loop_now_ms(e->loop) - st->others_ms;

	return (uint64_t)st->per_turn * (quiet_ms < ALONE_MS ? 1 : ALONE_SHARE);
}

size_t
bulk_reach(struct engine *e, const struct direction *d)
{
	uint64_t most;

	if (!d->is_bulk || d->buf || !e->bulk.bufsize)
		return e->bufsize;
	if (e->bulk.bufs.live >= BUFS_MAX || !memory_reserve(e, &e->bulk.bufs))
		return e->bufsize;
	if (!e->bulk.per_turn)
		return e->bulk.bufsize;
	/* A turn ends with the read that uses up its bytes. */
	most = MAX(2 * whole_turn(e), e->bufsize);
	return (size_t)MIN(most, e->bulk.bufsize);
}

/* A larger buffer, once bulk_reach() exceeds tune.bufsize. */
static char *
bulk_buf(struct engine *e)
{
	char *buf = pool_get(&e->bulk.bufs);

	assert(buf);
	memory_watch(e);
	return buf;
}

static void
bulk_buf_put(struct engine *e, char *buf)
{
	pool_put(&e->bulk.bufs, buf);
	memory_watch(e);
}

/* --- turns --- */

uint64_t
bulk_turn(struct engine *e)
{
	struct bulk_shared *st = &e->bulk;
	uint64_t turn = loop_stats(e->loop)->turns;

	if (!st->per_turn)
		return (uint64_t)e->limits.max_reads * e->bufsize;
	if (st->turn != turn) {
		st->turn = turn;
		st->left = whole_turn(e);
	}
	return st->left;
}

int
bulk_take_turn(struct stream *s, int side)
{
	struct engine *e = s->engine;
	struct direction *d = &s->dir[side];

	/* Waiting transfers come first. */
	if (!e->bulk.per_turn || (bulk_turn(e) && list_is_empty(&e->bulk.waiting)))
		return 1;
	if (!d->waits) {
		d->waits = 1;
		counter_add(&e->bulk.waits, 1);
		d->side = (uint8_t)side;
		list_append(&e->bulk.waiting, &d->turn_link);
		/* The turn is used up, or others wait. */
		loop_post_next(e->loop, &e->bulk.task);
	}
	return 0;
}

/* All other sessions have been served: the waiting transfers continue, one after the other. */
static void
on_turn(struct task *t)
{
	struct engine *e = container_of(t, struct engine, bulk.task);

	while (!list_is_empty(&e->bulk.waiting) && bulk_turn(e)) {
		struct direction *d = list_first(&e->bulk.waiting, struct direction, turn_link);
		int side = d->side;

		bulk_leave(d);
		e->hooks.on_bulk_turn(container_of(d - side, struct stream, dir[0]), side);
	}
	if (!list_is_empty(&e->bulk.waiting))
		loop_post_next(e->loop, t);
}
PROFILE_NAME(on_turn, bulk_turn)

/* --- the pipe --- */

/* Idle time after which surplus pipes are closed. */
#define PIPES_IDLE_MS 500

static void
on_pipe_timer(struct timer *t)
{
	struct engine *e = container_of(t, struct engine, pipe_timer);

	if (!pipe_pool_trim(&e->pipes))
		return;
	/* The heap had room a moment ago. */
	(void)!timer_set(loop_timers(e->loop), t, loop_now_ms(e->loop) + PIPES_IDLE_MS);
}
PROFILE_NAME(on_pipe_timer, pipe_timer)

void
engine_splice_init(struct engine *e)
{
	pipe_pool_init(&e->pipes, e->sys, 0, 0);
	timer_init(&e->pipe_timer, on_pipe_timer);
}

void
engine_splice_fini(struct engine *e)
{
	timer_stop(loop_timers(e->loop), &e->pipe_timer);
	pipe_pool_fini(&e->pipes);
}

void
engine_allow_splice(struct engine *e, unsigned int max_pipes, unsigned int pipe_size)
{
	e->pipes.max = max_pipes;
	e->pipes.size = pipe_size;
}

/* An empty pipe is kept in the pool for the next transfer. */
void
direction_pipe_put(struct engine *e, struct pipe *p)
{
	if (!e->pipe_timer.pos &&
		timer_set(loop_timers(e->loop), &e->pipe_timer,
			loop_now_ms(e->loop) + PIPES_IDLE_MS) < 0)
		pipe_drop(&e->pipes, p);
	else
		pipe_put(&e->pipes, p);
}

/* Closes the pipe, if any, with its contents. */
static void
direction_pipe_drop(struct engine *e, struct direction *d)
{
	if (!d->pipe)
		return;
	counter_sub(&e->pipes.bytes, d->pipe->bytes);
	pipe_drop(&e->pipes, d->pipe);
	d->pipe = NULL;
	memory_watch(e);
}

/* --- the buffer --- */

const struct relay_ops relay_plain = { 0 };

static void
give_back(struct engine *e, struct direction *d)
{
	if (d->is_big)
		bulk_buf_put(e, d->buf);
	else if (d->is_wide)
		pool_put(&e->pools.wide, d->buf);
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
	d->buf = pool_get(&e->pools.buf);
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
		d->buf = pool_get(&e->pools.buf);
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
		wide = memory_reserve(e, &e->pools.wide) ? pool_get(&e->pools.wide) : NULL;
		if (!wide)
			return -1;
		assert(to + n <= e->pools.wide.size);
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
	char *buf = d->is_wide && memory_reserve_buffer(e) ? pool_get(&e->pools.buf) : NULL;

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
	counter_add(&e->stat.buf_waits, 1);
	return 0;
}

void
direction_wait_for_buffer(struct stream *s, int side)
{
	counter_add(&s->engine->stat.buf_waits, 1);
	s->dir[side].waits_for_buffer = 1;
	s->wake_ms = stream_now_ms(s) + DIRECTION_BUFFER_WAIT_MS;
}
