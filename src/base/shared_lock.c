/* The slow paths of the readers-writer spin lock, run by any worker. A reader that waits is not
 * counted in `state`, so a writer waits only for readers that are inside. */
#include "base/shared_lock.h"

/* Spins before the CPU is yielded. */
#define SPINS 100

static void
wait_a_little(unsigned int *spins, struct sys *sys)
{
	if (++*spins % SPINS)
		cpu_relax();
	else
		(void)sys_sched_yield(sys);
}

void
shared_lock_wait(struct shared_lock *l, struct sys *sys)
{
	unsigned int spins = 0;

	do {
		/* The writer waits until no reader is counted. */
		(void)atomic_fetch_sub_explicit(&l->state, 1u, memory_order_release);
		while (atomic_load_explicit(&l->state, memory_order_relaxed) & SHARED_LOCK_ALONE)
			wait_a_little(&spins, sys);
	} while (atomic_fetch_add_explicit(&l->state, 1u, memory_order_acquire) &
		SHARED_LOCK_ALONE);
}

void
shared_lock_take(struct shared_lock *l, struct sys *sys)
{
	unsigned int spins = 0;

	while (atomic_fetch_or_explicit(&l->state, SHARED_LOCK_ALONE, memory_order_acquire) &
		SHARED_LOCK_ALONE)
		while (atomic_load_explicit(&l->state, memory_order_relaxed) & SHARED_LOCK_ALONE)
			wait_a_little(&spins, sys);
	while (atomic_load_explicit(&l->state, memory_order_acquire) != SHARED_LOCK_ALONE)
		wait_a_little(&spins, sys);
}

void
shared_lock_drop(struct shared_lock *l)
{
	uint32_t was = atomic_fetch_and_explicit(
		&l->state, ~SHARED_LOCK_ALONE, memory_order_release);

	assert(was & SHARED_LOCK_ALONE);
	(void)was;
}
