/* Bulk transfers share the bytes that a worker forwards in one turn. On the session's worker;
 * a direction that has to wait is in a list and has no interest in its descriptors. */
#include "proxy/relay/bulk.h"

#include "base/counter.h"
#include "base/err.h"
#include "base/mem.h"
#include "event/profile.h"
#include "proxy/relay/direction.h"
#include "proxy/model/memory.h"

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

char *
bulk_buf(struct engine *e)
{
	char *buf = pool_get(&e->bulk.bufs);

	assert(buf);
	memory_watch(e);
	return buf;
}

void
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
		return (uint64_t)e->max_reads * e->bufsize;
	if (st->turn != turn) {
		st->turn = turn;
		st->left = whole_turn(e);
	}
	return st->left;
}

void
bulk_used(struct engine *e, uint64_t n)
{
	e->bulk.left -= MIN(n, e->bulk.left);
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
		e->on_bulk_turn(container_of(d - side, struct stream, dir[0]), side);
	}
	if (!list_is_empty(&e->bulk.waiting))
		loop_post_next(e->loop, t);
}
PROFILE_NAME(on_turn, bulk_turn)
