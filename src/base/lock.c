#include "base/lock.h"

#include <pthread.h>

#include "base/atomic.h"

/* Looks before the CPU is given away: some microseconds, many times what is done under a lock. */
#define SPINS 100

#ifdef TACIT_MAGIC
static unsigned long
self(void)
{
	return (unsigned long)pthread_self();
}
#endif

void
lock_wait(struct lock *l, struct sys *sys)
{
	unsigned int spins = 0, yields = 0;

#ifdef TACIT_MAGIC
	assert(atomic_read(&l->owner) != self());
#endif
	do {
		/* Only looking leaves the cache line with who holds the lock. */
		while (atomic_read(&l->taken)) {
			if (++spins % SPINS) {
				cpu_relax();
				continue;
			}
			yields++;
			(void)sys_sched_yield(sys);
		}
	} while (__atomic_exchange_n(&l->taken, 1u, __ATOMIC_ACQUIRE));
	l->contended++;
	l->yields += yields;
}

#ifdef TACIT_MAGIC
void
lock_note_taken(struct lock *l)
{
	assert(l->owner == 0);
	atomic_write(&l->owner, self());
}

void
lock_note_dropped(struct lock *l)
{
	assert(l->owner == self());
	atomic_write(&l->owner, 0ul);
}
#endif
