/*
 * A lock for a few dozen instructions: whoever finds it taken looks at it until it is free, and
 * after a while gives the CPU away, for whoever holds it may have lost his. It calls the kernel
 * through the worker's sys only, so that the ledger knows. Under it nobody makes a system call,
 * logs, allocates or takes another lock. All zero is a free lock.
 */
#ifndef TACIT_BASE_LOCK_H
#define TACIT_BASE_LOCK_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/sys.h"

struct lock {
	unsigned int taken;  /* 0 or 1 */
	uint64_t contended;  /* times somebody had to wait for it */
	uint64_t yields;     /* times he gave the CPU away meanwhile */
#ifdef TACIT_MAGIC
	unsigned long owner; /* the thread that holds it; 0: nobody */
#endif
};

_Static_assert(__atomic_always_lock_free(sizeof(unsigned int), 0), "a lock made of locks");
_Static_assert(sizeof(struct lock) < CACHE_LINE, "what it guards is to start on its line");

/* Waits until it is free and takes it: what lock_take() does after its first try. */
void lock_wait(struct lock *l, struct sys *sys);
/* TACIT_MAGIC: nobody takes it twice, and who gives it back has it. */
void lock_note_taken(struct lock *l);
void lock_note_dropped(struct lock *l);

static inline void
lock_take(struct lock *l, struct sys *sys)
{
	if (unlikely(__atomic_exchange_n(&l->taken, 1u, __ATOMIC_ACQUIRE)))
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
	__atomic_store_n(&l->taken, 0u, __ATOMIC_RELEASE);
}

#endif
