/*
 * A count with a bound that several workers share. A worker that finds it full stops what would
 * enter (its listeners) and sets its bit. A worker that leaves below the bound takes the bits and
 * makes their owners go on. All zero is an empty gate.
 *
 * No worker is forgotten. One that stops sets its bit and then reads the count; one that leaves
 * lowers the count and then reads the bits; all four accesses are in one order (base/atomic.h).
 * Either the first sees the lower count and goes on by itself, or its bit was set before the second
 * read the bits, and the second takes it. Both may happen: going on twice does no harm.
 */
#ifndef TACIT_BASE_GATE_H
#define TACIT_BASE_GATE_H

#include <stdint.h>

#include "base/atomic.h"
#include "base/compiler.h"

#define GATE_WORKERS_MAX 64

struct gate {
	unsigned int n;  /* inside */
	uint64_t held;   /* workers that stopped because it was full, a bit each */
};

/* One more, unless there are max: 1 when it is in. max 0: no bound. */
int gate_enter(struct gate *g, unsigned int max) must_check;
/* Not to be called when gate_enter() fails next, but when it would: saves the try. */
static inline int
gate_is_full(const struct gate *g, unsigned int max)
{
	return max && atomic_read(&g->n) >= max;
}

/* One less: the workers that have to go on now (each maybe in vain), a bit each. */
uint64_t gate_leave(struct gate *g, unsigned int max) must_check;
/* `worker` has stopped: 1 when it will be told to go on, 0 when it has to go on at once. */
int gate_hold(struct gate *g, unsigned int max, unsigned int worker) must_check;

#endif
