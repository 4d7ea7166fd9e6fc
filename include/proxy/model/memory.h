/*
 * How much memory the sessions of a worker may take (tune.memory, -m): themselves, their buffers,
 * and the bytes in their pipes. Near the bound new sessions wait in the kernel's backlog, and
 * nothing more goes into a pipe; at it no more buffers are made, and a direction without one leaves
 * in the kernel what its sink does not take (direction.c): it goes on, at the price of calls.
 */
#ifndef TACIT_PROXY_MODEL_MEMORY_H
#define TACIT_PROXY_MODEL_MEMORY_H

#include "proxy/model/session.h"

/* The least that is worth a bound: so many buffers must fit, with the sessions that use them. */
#define MEMORY_MIN_BUFFERS 8u

/* Bounds the pools of an engine that is new; 0: no bound. */
void memory_bound(struct engine *e, uint64_t max);
/* Bytes of its sessions, buffers and pipes; memory_used() with those kept for reuse. */
uint64_t memory_live(const struct engine *e);
uint64_t memory_used(const struct engine *e);
/* Bytes that may be taken before new sessions have to wait; UINT64_MAX without a bound. */
uint64_t memory_room(const struct engine *e);
/* Makes sure that the next pool_get() of this pool succeeds: 1, or 0 at the bound or without
 * memory. */
int memory_reserve(struct engine *e, struct pool *p);
/*
 * Is there room for one more request, so many buffers for it, and one for the response to each that
 * is at work? What the pools keep for reuse is room.
 */
int memory_fits_request(const struct engine *e, unsigned int buffers);
/* The same for a buffer. */
int memory_reserve_buffer(struct engine *e);
/* After each session and buffer that was taken or given back, and when the bytes in pipes change:
 * sets e->memory_tight and tells the owner when it changes. */
void memory_watch(struct engine *e);

#endif
