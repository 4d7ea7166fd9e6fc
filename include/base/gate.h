/*
 * A limited count that several workers share. A worker that finds it full stops its listeners and
 * sets its bit. A worker that decrements the count takes the bits and makes their workers continue.
 * All zero is an empty gate.
 *
 * No worker is forgotten. A stopping worker sets its bit and then reads the count; a leaving one
 * lowers the count and then reads the bits. All four accesses are sequentially consistent
 * (base/atomic.h). Either the first worker sees the lower count and continues by itself, or its bit
 * was set before the second read the bits. Both may happen: to continue twice is harmless.
 */
#ifndef TACIT_BASE_GATE_H
#define TACIT_BASE_GATE_H

#include <stdint.h>

#include "base/atomic.h"
#include "base/compiler.h"

#define GATE_WORKERS_MAX 64

/* A worker takes a place before it calls accept. The place is tried until the accept has found a
 * client, and kept afterwards. */
#define GATE_KEPT  UINT64_C(1)
#define GATE_TRIED (UINT64_C(1) << 32 | GATE_KEPT)

struct gate {
	uint64_t n;    /* low 32 bits: places taken; high 32 bits: those of them that are tried */
	uint64_t held; /* workers that stopped because it was full, one bit each */
};

/* The places taken, kept and tried. */
static inline unsigned int
gate_taken(const struct gate *g)
{
	return (uint32_t)atomic_read(&g->n);
}

/* The places kept: what users see. */
static inline unsigned int
gate_count(const struct gate *g)
{
	uint64_t n = atomic_read(&g->n);

	return (uint32_t)n - (uint32_t)(n >> 32);
}

/* Takes a place, which is tried, unless max are taken: returns 1 if it did. max 0: no limit. */
int gate_enter(struct gate *g, unsigned int max) must_check;
/* True if gate_enter() would fail now. Saves the attempt. */
static inline int
gate_is_full(const struct gate *g, unsigned int max)
{
	return max && gate_taken(g) >= max;
}

/* Keeps a tried place. */
static inline void
gate_keep(struct gate *g)
{
	(void)atomic_sub(&g->n, GATE_TRIED - GATE_KEPT);
}

/* Gives back a place: GATE_KEPT or GATE_TRIED. Returns the workers that have to continue now, one
 * bit each; a worker may find the gate full again. */
uint64_t gate_leave(struct gate *g, uint64_t place, unsigned int max) must_check;
/* Registers `worker` as stopped: 1 when it will be woken, 0 when it has to continue at once. */
int gate_hold(struct gate *g, unsigned int max, unsigned int worker) must_check;

#endif
