#include "base/shared_lock.h"

#include "base/atomic.h"

/* Looks before the CPU is given away. */
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
		/* Who changes waits until nobody is counted. */
		__atomic_fetch_sub(&l->state, 1u, __ATOMIC_RELEASE);
		while (atomic_read(&l->state) & SHARED_LOCK_ALONE)
			wait_a_little(&spins, sys);
	} while (__atomic_fetch_add(&l->state, 1u, __ATOMIC_ACQUIRE) & SHARED_LOCK_ALONE);
}

void
shared_lock_take(struct shared_lock *l, struct sys *sys)
{
	unsigned int spins = 0;

	while (__atomic_fetch_or(&l->state, SHARED_LOCK_ALONE, __ATOMIC_ACQUIRE) &
		SHARED_LOCK_ALONE)
		while (atomic_read(&l->state) & SHARED_LOCK_ALONE)
			wait_a_little(&spins, sys);
	while (__atomic_load_n(&l->state, __ATOMIC_ACQUIRE) != SHARED_LOCK_ALONE)
		wait_a_little(&spins, sys);
}

void
shared_lock_drop(struct shared_lock *l)
{
	uint32_t was = __atomic_fetch_and(&l->state, ~SHARED_LOCK_ALONE, __ATOMIC_RELEASE);

	assert(was & SHARED_LOCK_ALONE);
	(void)was;
}
