/* The bounds on a worker's memory. On that worker; the sum is that of its pools and of the
 * bytes in its pipes, and estimates of what TLS and compressors of bodies take. */
#include "proxy/model/memory.h"

#include "base/counter.h"
#include "proxy/model/compression.h"
#include "tls/tls_counts.h"

/* Fractions of the limit: reserved for existing sessions when new ones have to wait, to be free
 * again before new ones are admitted, and kept for reuse. */
#define RESERVE 4
#define SLACK 16
#define KEEP 8

/* Bytes of HTTP/2: of its pools (streams, and what waits of bodies, heads and output), and of the
 * tables of HPACK. */
static uint64_t
h2_memory(const struct engine *e, int with_kept)
{
	const _Atomic size_t *bytes = atomic_load_explicit(&e->h2_bytes, memory_order_acquire);
	uint64_t n;

	if (likely(!bytes))
		return 0;
	n = counter_read(bytes);
	for (int i = 0; i < ENGINE_H2_POOLS; i++) {
		const struct pool *p = e->h2_pools[i];

		n += ((uint64_t)p->live + (with_kept ? p->kept : 0)) * p->size;
	}
	return n;
}

uint64_t
memory_live(const struct engine *e)
{
	return h2_memory(e, 0) + (uint64_t)e->pools.session.live * e->pools.session.size +
		(uint64_t)e->pools.substream.live * e->pools.substream.size +
		(uint64_t)e->pools.buf.live * e->pools.buf.size +
		(uint64_t)e->pools.wide.live * e->pools.wide.size +
		(uint64_t)e->idle.pool.live * e->idle.pool.size +
		(uint64_t)e->pools.txn.live * e->pools.txn.size +
		(uint64_t)e->pools.capture.live * e->pools.capture.size +
		(uint64_t)e->pools.addr_override.live * e->pools.addr_override.size +
		(uint64_t)e->pools.extras.live * e->pools.extras.size +
		(uint64_t)e->pools.tracked.live * e->pools.tracked.size +
		(uint64_t)e->bulk.bufs.live * e->bulk.bufs.size + e->pipes.bytes +
		(e->compression ? counter_read(&e->compression->memory) : 0) +
		(e->tls ? tls_io_memory(e->tls) : 0);
}

uint64_t
memory_used(const struct engine *e)
{
	return memory_live(e) + h2_memory(e, 1) - h2_memory(e, 0) +
		(uint64_t)e->pools.session.kept * e->pools.session.size +
		(uint64_t)e->pools.substream.kept * e->pools.substream.size +
		(uint64_t)e->pools.buf.kept * e->pools.buf.size +
		(uint64_t)e->pools.wide.kept * e->pools.wide.size +
		(uint64_t)e->idle.pool.kept * e->idle.pool.size +
		(uint64_t)e->pools.txn.kept * e->pools.txn.size +
		(uint64_t)e->pools.capture.kept * e->pools.capture.size +
		(uint64_t)e->pools.addr_override.kept * e->pools.addr_override.size +
		(uint64_t)e->pools.extras.kept * e->pools.extras.size +
		(uint64_t)e->pools.tracked.kept * e->pools.tracked.size +
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
	e->limits.max_memory = max;
	if (!max)
		return;
	keep_less(&e->pools.session, max / KEEP / 2);
	keep_less(&e->pools.substream, max / KEEP / 2);
	keep_less(&e->pools.buf, max / KEEP);
	keep_less(&e->pools.wide, max / KEEP / 2);
	keep_less(&e->idle.pool, max / KEEP / 2);
	keep_less(&e->pools.txn, max / KEEP / 2);
	keep_less(&e->pools.capture, max / KEEP / 2);
	keep_less(&e->pools.addr_override, max / KEEP / 2);
	keep_less(&e->pools.extras, max / KEEP / 2);
	keep_less(&e->pools.tracked, max / KEEP / 2);
	keep_less(&e->bulk.bufs, max / KEEP);
}

void
memory_count_h2(struct engine *e, unsigned int nth, struct pool *p)
{
	e->h2_pools[nth] = p;
	if (e->limits.max_memory)
		keep_less(p, e->limits.max_memory / KEEP / 2);
}

int
memory_reserve_more(struct engine *e, struct pool *p)
{
	if (e->limits.max_memory && memory_used(e) + p->size > e->limits.max_memory)
		return 0;
	return pool_reserve(p) == 0;
}

int
memory_fits_request(const struct engine *e, unsigned int buffers)
{
	uint64_t kept, more;

	if (!e->limits.max_memory)
		return 1;
	kept = (uint64_t)e->pools.txn.kept * e->pools.txn.size +
		(uint64_t)e->pools.buf.kept * e->pools.buf.size;
	more = e->pools.txn.size + ((uint64_t)e->pools.txn.live + buffers) * e->pools.buf.size;
	return memory_used(e) - kept + more <= e->limits.max_memory;
}

int
memory_reserve_client_buffer(const struct stream *s)
{
	struct engine *e = s->engine;

	if (!memory_reserve_buffer(e))
		return 0;
	return !(s->is_http || s->sess->fe->may_upgrade) ||
		(!e->pools.txn.live && !e->pools.buf.live) || memory_fits_request(e, 3);
}

/* Above it new sessions wait. */
static uint64_t
memory_enough(const struct engine *e)
{
	uint64_t most = e->limits.max_memory - e->limits.max_memory / RESERVE;

	return e->memory_tight ? most - e->limits.max_memory / SLACK : most;
}

uint64_t
memory_room(const struct engine *e)
{
	uint64_t most, used;

	if (!e->limits.max_memory)
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
		tight = (e->limits.max_memory && memory_used(e) > memory_enough(e)) ||
			pool_reserve(&e->pools.session) < 0;
	if (tight == e->memory_tight)
		return;
	e->memory_tight = tight;
	counter_add(&e->stat.memory_holds, (uint64_t)tight);
	if (e->hooks.on_memory)
		e->hooks.on_memory(e);
}
