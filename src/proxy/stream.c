#include "stream.h"

#include "base/err.h"
#include "base/mem.h"
#include "half.h"
#include "proxy/memory.h"

/* Drained so often in a row with less than a buffer in between, a stream is none any more. */
#define LULLS_MAX 4
/* Nobody but streams has said anything for so long: they have the worker to themselves, and so many
 * times tune.stream.turn of a turn. */
#define ALONE_MS 50
#define ALONE_SHARE 8
/* Big buffers of a worker, in use and kept: a stream without one is read in small pieces. */
#define BUFS_MAX 64
#define BUFS_KEPT 4

static void on_turn(struct task *t);

void
stream_init(struct engine *e)
{
	e->streams.after = STREAM_AFTER_DEFAULT;
	list_init(&e->streams.waiting);
	task_init(&e->streams.task, on_turn);
}

int
engine_allow_streams(
	struct engine *e, unsigned int after, unsigned int bufsize, unsigned int per_turn)
{
	char *scratch;

	e->streams.after = after;
	e->streams.per_turn = per_turn;
	if (bufsize <= e->bufsize)
		return 0;
	scratch = mem_alloc(bufsize);
	if (!scratch)
		return -ERR_NOMEM;
	mem_free(e->scratch);
	e->scratch = scratch;
	e->streams.bufsize = bufsize;
	pool_init(&e->streams.bufs, "stream", bufsize, BUFS_KEPT);
	return 0;
}

void
stream_fini(struct engine *e)
{
	assert(list_is_empty(&e->streams.waiting));
	task_cancel(&e->streams.task);
	if (e->streams.bufsize)
		pool_fini(&e->streams.bufs);
}

/* --- who is one --- */

void
stream_drained(const struct engine *e, struct half *h)
{
	h->lulls = h->burst < e->bufsize ? (uint8_t)(h->lulls + 1) : 0;
	if (h->lulls >= LULLS_MAX)
		h->streams = h->lulls = 0;
	h->burst = 0;
}

void
stream_note(struct session *s, int side, size_t got, size_t asked)
{
	struct half *h = &s->half[side];

	h->burst = (uint32_t)MIN((uint64_t)h->burst + got, UINT32_MAX);
	if (got < asked)
		stream_drained(s->engine, h);
	else if (h->burst >= s->engine->streams.after || half_is_forced(s, side))
		h->streams = 1;
}

void
stream_expect(struct session *s, int side, uint64_t n)
{
	const struct engine *e = s->engine;
	uint64_t enough = half_is_forced(s, side) ? e->bufsize : e->streams.after;

	if (n >= MAX(enough, e->bufsize))
		s->half[side].streams = 1;
}

/* --- bigger pieces --- */

static uint64_t
whole_turn(const struct engine *e)
{
	const struct streams *st = &e->streams;
	uint64_t quiet_ms = loop_now_ms(e->loop) - st->others_ms;

	return (uint64_t)st->per_turn * (quiet_ms < ALONE_MS ? 1 : ALONE_SHARE);
}

size_t
stream_reach(struct engine *e, const struct half *h)
{
	uint64_t most;

	if (!h->streams || h->buf || !e->streams.bufsize)
		return e->bufsize;
	if (e->streams.bufs.live >= BUFS_MAX || !memory_has(e, &e->streams.bufs))
		return e->bufsize;
	if (!e->streams.per_turn)
		return e->streams.bufsize;
	/* A turn ends with the piece that uses it up. */
	most = MAX(2 * whole_turn(e), e->bufsize);
	return (size_t)MIN(most, e->streams.bufsize);
}

char *
stream_buf(struct engine *e)
{
	char *buf = pool_get(&e->streams.bufs);

	assert(buf);
	memory_watch(e);
	return buf;
}

void
stream_buf_put(struct engine *e, char *buf)
{
	pool_put(&e->streams.bufs, buf);
	memory_watch(e);
}

/* --- turns --- */

uint64_t
stream_turn(struct engine *e)
{
	struct streams *st = &e->streams;
	uint64_t turn = loop_stats(e->loop)->turns;

	if (!st->per_turn)
		return (uint64_t)e->max_reads * e->bufsize;
	if (st->turn != turn) {
		st->turn = turn;
		st->left = whole_turn(e);
	}
	return st->left;
}

void
stream_used(struct engine *e, uint64_t n)
{
	e->streams.left -= MIN(n, e->streams.left);
}

int
stream_has_turn(struct session *s, int side)
{
	struct engine *e = s->engine;
	struct half *h = &s->half[side];

	/* Whoever waits comes first. */
	if (!e->streams.per_turn || (stream_turn(e) && list_is_empty(&e->streams.waiting)))
		return 1;
	if (!h->waits) {
		h->waits = 1;
		e->streams.waits++;
		h->side = (uint8_t)side;
		list_append(&e->streams.waiting, &h->turn_link);
		/* The turn is used up, or others wait, who have seen to it that it comes. */
		loop_post_next(e->loop, &e->streams.task);
	}
	return 0;
}

void
stream_leave(struct half *h)
{
	if (!h->waits)
		return;
	h->waits = 0;
	list_remove(&h->turn_link);
}

/* Everybody else has been served: those who wait go on, one after the other. */
static void
on_turn(struct task *t)
{
	struct engine *e = container_of(t, struct engine, streams.task);

	while (!list_is_empty(&e->streams.waiting) && stream_turn(e)) {
		struct half *h = list_first(&e->streams.waiting, struct half, turn_link);
		int side = h->side;

		stream_leave(h);
		session_go_on(container_of(h - side, struct session, half[0]), side);
	}
	if (!list_is_empty(&e->streams.waiting))
		loop_post_next(e->loop, t);
}
