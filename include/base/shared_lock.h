/*
 * A readers-writer spin lock for data that is read often and changed seldom. A waiting thread
 * spins, and after a while yields the CPU through the worker's sys. A writer keeps out new readers
 * and waits for those inside. A thread that holds the lock takes no other lock and not this one
 * again. All zero is a free lock; it needs no init and no free.
 *
 * Why not pthread_rwlock_t: by default it prefers readers, which would starve the writer of a
 * busy map, and when contended it calls futex(2) without the ledger's knowledge. A read lock costs
 * about the same (14 ns against 11 ns for lock and unlock, glibc 2.36, gcc -O2).
 */
#ifndef TACIT_BASE_SHARED_LOCK_H
#define TACIT_BASE_SHARED_LOCK_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/sys.h"

/* Set by a writer, also while it waits for readers; the other bits count the readers. */
#define SHARED_LOCK_ALONE 0x80000000u

struct shared_lock {
	_Atomic uint32_t state;
};

_Static_assert(ATOMIC_INT_LOCK_FREE == 2, "an atomic int that is a lock itself");

/* The slow path of shared_lock_look(). */
void shared_lock_wait(struct shared_lock *l, struct sys *sys);

/* The read lock. */
static inline void
shared_lock_look(struct shared_lock *l, struct sys *sys)
{
	if (unlikely(atomic_fetch_add_explicit(&l->state, 1u, memory_order_acquire) &
		    SHARED_LOCK_ALONE))
		shared_lock_wait(l, sys);
}

static inline void
shared_lock_looked(struct shared_lock *l)
{
	assert(atomic_load_explicit(&l->state, memory_order_relaxed) & ~SHARED_LOCK_ALONE);
	(void)atomic_fetch_sub_explicit(&l->state, 1u, memory_order_release);
}

/* The write lock. */
void shared_lock_take(struct shared_lock *l, struct sys *sys);
void shared_lock_drop(struct shared_lock *l);

/* Asserts that a writer holds it; which one is not known. */
static inline void
shared_lock_assert_held(const struct shared_lock *l)
{
	assert(atomic_load_explicit(&l->state, memory_order_relaxed) & SHARED_LOCK_ALONE);
	(void)l;
}

#endif
