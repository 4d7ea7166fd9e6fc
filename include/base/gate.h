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

struct gate {
	unsigned int n;  /* current count */
	uint64_t held;   /* workers that stopped because it was full, one bit each */
};

/* Increments the count unless it is max: returns 1 if it did. max 0: no limit. */
int gate_enter(struct gate *g, unsigned int max) must_check;
/* True if gate_enter() would fail now. Saves the attempt. */
static inline int
gate_is_full(const struct gate *g, unsigned int max)
{
	return max && atomic_read(&g->n) >= max;
}

/* Decrements the count. Returns the workers that have to continue now, one bit each; a worker may
 * find the gate full again. */
uint64_t gate_leave(struct gate *g, unsigned int max) must_check;
/* Registers `worker` as stopped: 1 when it will be woken, 0 when it has to continue at once. */
int gate_hold(struct gate *g, unsigned int max, unsigned int worker) must_check;

#endif
