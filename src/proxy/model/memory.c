/* The bounds on a worker's memory. On that worker; the sum is that of its pools and of the
 * bytes in its pipes, and an estimate of what TLS takes. */
#include "proxy/model/memory.h"

#include "base/counter.h"
#include "tls/tls_counts.h"

/* Fractions of the limit: reserved for existing sessions when new ones have to wait, to be free
 * again before new ones are admitted, and kept for reuse. */
#define RESERVE 4
#define SLACK 16
#define KEEP 8

uint64_t
memory_live(const struct engine *e)
{
	return (uint64_t)e->session_pool.live * e->session_pool.size +
		(uint64_t)e->substream_pool.live * e->substream_pool.size +
		(uint64_t)e->buf_pool.live * e->buf_pool.size +
		(uint64_t)e->wide_pool.live * e->wide_pool.size +
		(uint64_t)e->idle.pool.live * e->idle.pool.size +
		(uint64_t)e->txn_pool.live * e->txn_pool.size +
		(uint64_t)e->capture_pool.live * e->capture_pool.size +
		(uint64_t)e->addr_override_pool.live * e->addr_override_pool.size +
		(uint64_t)e->extras_pool.live * e->extras_pool.size +
		(uint64_t)e->tracked_pool.live * e->tracked_pool.size +
		(uint64_t)e->bulk.bufs.live * e->bulk.bufs.size + e->pipes.bytes +
		(e->tls ? tls_io_memory(e->tls) : 0);
}

uint64_t
memory_used(const struct engine *e)
{
	return memory_live(e) + (uint64_t)e->session_pool.kept * e->session_pool.size +
		(uint64_t)e->substream_pool.kept * e->substream_pool.size +
		(uint64_t)e->buf_pool.kept * e->buf_pool.size +
		(uint64_t)e->wide_pool.kept * e->wide_pool.size +
		(uint64_t)e->idle.pool.kept * e->idle.pool.size +
		(uint64_t)e->txn_pool.kept * e->txn_pool.size +
		(uint64_t)e->capture_pool.kept * e->capture_pool.size +
		(uint64_t)e->addr_override_pool.kept * e->addr_override_pool.size +
		(uint64_t)e->extras_pool.kept * e->extras_pool.size +
		(uint64_t)e->tracked_pool.kept * e->tracked_pool.size +
		(uint64_t)e->bulk.bufs.kept * e->bulk.bufs.size;
}

/* Number of objects of one pool that may be kept. */
static void
keep_less(struct pool *p, uint64_t bytes)
{
	uint64_t n = p->size ? bytes / p->size : 0;

	if (n < p->keep_max)
		p->keep_max = (unsigned int)n;
}

void
memory_bound(struct engine *e, uint64_t max)
{
	e->max_memory = max;
	if (!max)
		return;
	keep_less(&e->session_pool, max / KEEP / 2);
	keep_less(&e->substream_pool, max / KEEP / 2);
	keep_less(&e->buf_pool, max / KEEP);
	keep_less(&e->wide_pool, max / KEEP / 2);
	keep_less(&e->idle.pool, max / KEEP / 2);
	keep_less(&e->txn_pool, max / KEEP / 2);
	keep_less(&e->capture_pool, max / KEEP / 2);
	keep_less(&e->addr_override_pool, max / KEEP / 2);
	keep_less(&e->extras_pool, max / KEEP / 2);
	keep_less(&e->tracked_pool, max / KEEP / 2);
	keep_less(&e->bulk.bufs, max / KEEP);
}

int
memory_reserve_more(struct engine *e, struct pool *p)
{
	if (e->max_memory && memory_used(e) + p->size > e->max_memory)
		return 0;
	return pool_reserve(p) == 0;
}

int
memory_fits_request(const struct engine *e, unsigned int buffers)
{
	uint64_t kept, more;

	if (!e->max_memory)
		return 1;
	kept = (uint64_t)e->txn_pool.kept * e->txn_pool.size +
		(uint64_t)e->buf_pool.kept * e->buf_pool.size;
	more = e->txn_pool.size + ((uint64_t)e->txn_pool.live + buffers) * e->buf_pool.size;
	return memory_used(e) - kept + more <= e->max_memory;
}

int
memory_reserve_client_buffer(const struct stream *s)
{
	struct engine *e = s->engine;

	if (!memory_reserve_buffer(e))
		return 0;
	return !(s->is_http || s->sess->fe->may_upgrade) ||
		(!e->txn_pool.live && !e->buf_pool.live) || memory_fits_request(e, 3);
}

/* Above it new sessions wait. */
static uint64_t
memory_enough(const struct engine *e)
{
	uint64_t most = e->max_memory - e->max_memory / RESERVE;

	return e->memory_tight ? most - e->max_memory / SLACK : most;
}

uint64_t
memory_room(const struct engine *e)
{
	uint64_t most, used;

	if (!e->max_memory)
		return UINT64_MAX;
	most = memory_enough(e);
	used = memory_used(e);
	return used < most ? most - used : 0;
}

void
memory_weigh(struct engine *e)
{
	int tight = 0;

	/* Without sessions nothing will be returned, so waiting would be endless. A session without
	 * memory would be rejected after accept. */
	if (e->n_sessions)
		tight = (e->max_memory && memory_used(e) > memory_enough(e)) ||
			pool_reserve(&e->session_pool) < 0;
	if (tight == e->memory_tight)
		return;
	e->memory_tight = tight;
	counter_add(&e->memory_holds, (uint64_t)tight);
	if (e->on_memory)
		e->on_memory(e);
}
