/*
 * A lock for what is looked at often and changed seldom: any number may look, or one may change.
 * Who finds it taken looks at it until it is free, and after a while gives the CPU away, through
 * the worker's sys, so that the ledger knows. Who wants to change keeps those off who come after
 * him, and waits for those who look already. Under it nobody takes another lock, nor this one
 * twice. All zero is a free lock.
 */
#ifndef TACIT_BASE_SHARED_LOCK_H
#define TACIT_BASE_SHARED_LOCK_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/sys.h"

/* The bit of who changes, or waits to; the others count those who look. */
#define SHARED_LOCK_ALONE 0x80000000u

struct shared_lock {
	uint32_t state;
};

_Static_assert(__atomic_always_lock_free(sizeof(uint32_t), 0), "a lock made of locks");

/* What shared_lock_look() does after its first try. */
void shared_lock_wait(struct shared_lock *l, struct sys *sys);

/* Until shared_lock_looked() nothing changes. */
static inline void
shared_lock_look(struct shared_lock *l, struct sys *sys)
{
	if (unlikely(__atomic_fetch_add(&l->state, 1u, __ATOMIC_ACQUIRE) & SHARED_LOCK_ALONE))
		shared_lock_wait(l, sys);
}

static inline void
shared_lock_looked(struct shared_lock *l)
{
	assert(__atomic_load_n(&l->state, __ATOMIC_RELAXED) & ~SHARED_LOCK_ALONE);
	__atomic_fetch_sub(&l->state, 1u, __ATOMIC_RELEASE);
}

/* Until shared_lock_drop() nobody else looks or changes. */
void shared_lock_take(struct shared_lock *l, struct sys *sys);
void shared_lock_drop(struct shared_lock *l);

#endif
