/*
 * What several workers read and write without a lock, over C11's <stdatomic.h>.
 *
 * Most of it are counters that one worker writes and others only read (those that are _Atomic by
 * type: base/counter.h). They are plain integers, so that their owner uses them as any other
 * variable and pays for no fence; every other thread goes through these macros, which treat the
 * object as the _Atomic one of its type. For integers of up to eight bytes the two have the same
 * size and layout (asserted below).
 *
 * Loads and stores alone are relaxed: each value is whole, nothing is said about any other. What
 * changes a value is sequentially consistent: "I set my bit, then look at the count" against "I
 * change the count, then look at the bits" cannot miss each other.
 */
#ifndef TACIT_BASE_ATOMIC_H
#define TACIT_BASE_ATOMIC_H

#include <stdatomic.h>
#include <stdint.h>

_Static_assert(sizeof(_Atomic uint64_t) == sizeof(uint64_t) && ATOMIC_LLONG_LOCK_FREE == 2,
	"a 64-bit counter is not lock-free here");
_Static_assert(sizeof(_Atomic uint32_t) == sizeof(uint32_t) && ATOMIC_INT_LOCK_FREE == 2,
	"a 32-bit counter is not lock-free here");

/* The same object, seen as atomic. */
#define ATOMIC_OF(p) ((_Atomic __typeof__(*(p)) *)(p))

/* Relaxed. */
#define atomic_read(p)     atomic_load_explicit(ATOMIC_OF(p), memory_order_relaxed)
#define atomic_write(p, v) atomic_store_explicit(ATOMIC_OF(p), (v), memory_order_relaxed)

/* In the one order that all workers see. */
#define atomic_look(p) atomic_load(ATOMIC_OF(p))
/* The new value; n is evaluated twice. */
#define atomic_add(p, n) (atomic_fetch_add(ATOMIC_OF(p), (n)) + (n))
#define atomic_sub(p, n) (atomic_fetch_sub(ATOMIC_OF(p), (n)) - (n))
/* The old value. */
#define atomic_or(p, bits)  atomic_fetch_or(ATOMIC_OF(p), (bits))
#define atomic_and(p, bits) atomic_fetch_and(ATOMIC_OF(p), (bits))
#define atomic_swap(p, v)   atomic_exchange(ATOMIC_OF(p), (v))
/* Whether *p was *was and is v now; *was becomes what was found. May fail for no reason. */
#define atomic_replace(p, was, v)                                                          \
	atomic_compare_exchange_weak_explicit(                                             \
		ATOMIC_OF(p), (was), (v), memory_order_seq_cst, memory_order_relaxed)

#endif
