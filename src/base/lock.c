/* The slow path of the spin lock, run by any worker. It writes `taken` only after it saw 0. */
#include "base/lock.h"

#include <pthread.h>

/* Number of spins before the CPU is yielded: some microseconds, many times a critical section. */
#define SPINS 100

#ifdef TACIT_MAGIC
static unsigned long
this_thread(void)
{
	return (unsigned long)pthread_self();
}
#endif

void
lock_wait(struct lock *l, struct sys *sys)
{
	unsigned int spins = 0, yields = 0;

#ifdef TACIT_MAGIC
	assert(atomic_load_explicit(&l->owner, memory_order_relaxed) != this_thread());
#endif
	do {
		/* Reading only keeps the cache line with the holder. */
		while (atomic_load_explicit(&l->taken, memory_order_relaxed)) {
			if (++spins % SPINS) {
				cpu_relax();
				continue;
			}
			yields++;
			(void)sys_sched_yield(sys);
		}
	} while (atomic_exchange_explicit(&l->taken, 1u, memory_order_acquire));
	l->contended++;
	l->yields += yields;
}

#ifdef TACIT_MAGIC
void
lock_note_taken(struct lock *l)
{
	assert(atomic_load_explicit(&l->owner, memory_order_relaxed) == 0);
	atomic_store_explicit(&l->owner, this_thread(), memory_order_relaxed);
}

void
lock_note_dropped(struct lock *l)
{
	assert(atomic_load_explicit(&l->owner, memory_order_relaxed) == this_thread());
	atomic_store_explicit(&l->owner, 0ul, memory_order_relaxed);
}

void
lock_assert_held(const struct lock *l)
{
	assert(atomic_load_explicit(&l->owner, memory_order_relaxed) == this_thread());
}
#endif
