/*
 * Macros for data that several workers read and write without a lock, over C11's <stdatomic.h>.
 *
 * Most of these are counters that one worker writes and others only read (those that are _Atomic
 * by type: base/counter.h). The objects here are plain integers, so that their owner uses them like
 * any other variable and needs no fence. Every other thread uses these macros, which treat the
 * object as the _Atomic one of its type. For integers of up to eight bytes both have the same size
 * and layout (asserted below).
 *
 * Plain loads and stores are relaxed: each value is complete but not ordered with any other.
 * Read-modify-write operations are sequentially consistent, so that "set my bit, then read the
 * count" and "change the count, then read the bits" cannot miss each other.
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

/* Sequentially consistent. */
#define atomic_look(p) atomic_load(ATOMIC_OF(p))
/* The new value; n is evaluated twice. */
#define atomic_add(p, n) (atomic_fetch_add(ATOMIC_OF(p), (n)) + (n))
#define atomic_sub(p, n) (atomic_fetch_sub(ATOMIC_OF(p), (n)) - (n))
/* The old value. */
#define atomic_or(p, bits)  atomic_fetch_or(ATOMIC_OF(p), (bits))
#define atomic_and(p, bits) atomic_fetch_and(ATOMIC_OF(p), (bits))
#define atomic_swap(p, v)   atomic_exchange(ATOMIC_OF(p), (v))
/* Stores v in *p if *p equals *was, else loads *p into *was. Returns whether it stored. May fail
 * spuriously. */
#define atomic_replace(p, was, v)                                                          \
	atomic_compare_exchange_weak_explicit(                                             \
		ATOMIC_OF(p), (was), (v), memory_order_seq_cst, memory_order_relaxed)

#endif
