/*
 * Memory limit of a worker's sessions (tune.memory, -m): the sessions, their buffers, the bytes in
 * their pipes, what HTTP/2 keeps (h2/h2_conn.h), what TLS takes (tls/tls_counts.h), and the
 * compressors of bodies (http/coder.h).
 * Near the limit new sessions wait in the kernel's backlog and nothing is spliced. At the limit no
 * buffers are allocated, and a direction without one leaves unsent data in the kernel
 * (direction.c): it continues, with more system calls.
 */
#ifndef TACIT_PROXY_MODEL_MEMORY_H
#define TACIT_PROXY_MODEL_MEMORY_H

#include "proxy/model/session.h"

/* The smallest useful limit: this many buffers must fit, with the sessions that use them. */
#define MEMORY_MIN_BUFFERS 8u

/* Sets the limit for the pools of a new engine; 0: none. */
void memory_bound(struct engine *e, uint64_t max);
/* A pool of HTTP/2, made later: it counts from now on. */
void memory_count_h2(struct engine *e, unsigned int nth, struct pool *p);
/* Bytes of its sessions, buffers and pipes; memory_used() includes objects kept for reuse. */
uint64_t memory_live(const struct engine *e);
uint64_t memory_used(const struct engine *e);
/* Bytes at which new sessions have to wait; UINT64_MAX without a limit. */
uint64_t memory_room(const struct engine *e);
/* Ensures that the next pool_get() of this pool succeeds: 1, or 0 at the limit or without
 * memory. */
int memory_reserve_more(struct engine *e, struct pool *p);
static inline int
memory_reserve(struct engine *e, struct pool *p)
{
	return likely(p->free != NULL) || memory_reserve_more(e, p);
}

/*
 * True if there is room for one more request with this many buffers, and for a response buffer of
 * each current request. Objects kept for reuse count as room.
 */
int memory_fits_request(const struct engine *e, unsigned int buffers);
/* memory_reserve() for a buffer. */
static inline int
memory_reserve_buffer(struct engine *e)
{
	return memory_reserve(e, &e->pools.buf);
}

/*
 * The same for a client's first data. If it may become an HTTP request it stays in its buffer until
 * there is room for one. These buffers must not block other sessions: besides the room that
 * http_read.c reserves for a request and for all responses, one more stays free.
 */
int memory_reserve_client_buffer(const struct stream *s);
/* Updates e->memory_tight and notifies the owner of a change: called after each session and buffer
 * was taken or returned, and when the bytes in pipes change. */
void memory_weigh(struct engine *e);
static inline void
memory_watch(struct engine *e)
{
	/* Without a bound, most calls change nothing. */
	if (e->limits.max_memory || e->memory_tight || !e->pools.session.free)
		memory_weigh(e);
}

#endif
