/* Counts that workers share, without a lock. gate.h explains why no worker stays stopped. */
#include "base/gate.h"

/* Called between two steps that another worker may interleave with: tests wait there. */
#ifndef GATE_STEP
#define GATE_STEP() ((void)0)
#endif

int
gate_enter(struct gate *g, unsigned int max)
{
	uint64_t n = atomic_read(&g->n);

	if (!max) {
		(void)atomic_add(&g->n, GATE_TRIED);
		return 1;
	}
	do {
		if ((uint32_t)n >= max)
			return 0;
	} while (!atomic_replace(&g->n, &n, n + GATE_TRIED));
	return 1;
}

uint64_t
gate_leave(struct gate *g, uint64_t place, unsigned int max)
{
	uint32_t n = (uint32_t)atomic_sub(&g->n, place);

	assert(n != UINT32_MAX);
	GATE_STEP();
	if (n >= max || !atomic_look(&g->held))
		return 0;
	GATE_STEP();
	return atomic_swap(&g->held, UINT64_C(0));
}

int
gate_hold(struct gate *g, unsigned int max, unsigned int worker)
{
	uint64_t bit = UINT64_C(1) << worker;

	assert(worker < GATE_WORKERS_MAX);
	GATE_STEP();
	(void)atomic_or(&g->held, bit);
	GATE_STEP();
	if ((uint32_t)atomic_look(&g->n) >= max)
		return 1;
	GATE_STEP();
	(void)atomic_and(&g->held, ~bit);
	return 0;
}
