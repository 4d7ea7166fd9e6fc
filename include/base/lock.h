/*
 * A spin lock for a critical section of a few dozen instructions. A thread that finds it taken
 * spins, and after a while yields the CPU, since the holder may have been preempted. A thread that
 * holds it makes no system call, does not log or allocate, and takes no other lock. All zero is a
 * free lock; it needs no init and no free.
 *
 * Why not pthread_mutex_t: a session takes such a lock several times, and an uncontended mutex
 * costs twice as much (14 ns against 7 ns for one take and drop, glibc 2.36, gcc -O2). A contended
 * mutex also calls futex(2) behind the ledger; this lock yields through the worker's sys, which
 * counts the call.
 */
#ifndef TACIT_BASE_LOCK_H
#define TACIT_BASE_LOCK_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/sys.h"

struct lock {
	atomic_uint taken;  /* 0 or 1 */
	uint64_t contended; /* number of times that a thread had to wait */
	uint64_t yields;    /* number of times that a waiting thread yielded the CPU */
#ifdef TACIT_MAGIC
	atomic_ulong owner; /* the thread that holds it; 0: none */
#endif
};

_Static_assert(ATOMIC_INT_LOCK_FREE == 2, "an atomic int that is a lock itself");
_Static_assert(sizeof(struct lock) < CACHE_LINE, "the data it guards starts on the same line");

/* Waits until it is free and takes it: the slow path of lock_take(). */
void lock_wait(struct lock *l, struct sys *sys);
/* With TACIT_MAGIC: they assert that no thread takes it twice or drops one it does not hold. */
void lock_note_taken(struct lock *l);
void lock_note_dropped(struct lock *l);

/* With TACIT_MAGIC: asserts that this thread holds it. Functions whose caller has to hold a lock
 * are called NAME_locked() and begin with this. */
#ifdef TACIT_MAGIC
void lock_assert_held(const struct lock *l);
#else
static inline void
lock_assert_held(const struct lock *l)
{
	(void)l;
}
#endif

static inline void
lock_take(struct lock *l, struct sys *sys)
{
	if (unlikely(atomic_exchange_explicit(&l->taken, 1u, memory_order_acquire)))
		lock_wait(l, sys);
#ifdef TACIT_MAGIC
	lock_note_taken(l);
#endif
}

static inline void
lock_drop(struct lock *l)
{
#ifdef TACIT_MAGIC
	lock_note_dropped(l);
#endif
	atomic_store_explicit(&l->taken, 0u, memory_order_release);
}

#endif
