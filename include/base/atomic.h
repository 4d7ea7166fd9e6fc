/*
 * What several workers read and write without a lock. Reads and writes alone are relaxed: each
 * value is whole, nothing is said about any other. What changes a value is sequentially consistent:
 * "I set my bit, then look at the count" against "I change the count, then look at the bits" cannot
 * miss each other.
 */
#ifndef TACIT_BASE_ATOMIC_H
#define TACIT_BASE_ATOMIC_H

/* Relaxed. */
#define atomic_read(p) __atomic_load_n((p), __ATOMIC_RELAXED)
#define atomic_write(p, v) __atomic_store_n((p), (v), __ATOMIC_RELAXED)

/* In the one order that all workers see. */
#define atomic_look(p) __atomic_load_n((p), __ATOMIC_SEQ_CST)
/* The new value. */
#define atomic_add(p, n) __atomic_add_fetch((p), (n), __ATOMIC_SEQ_CST)
#define atomic_sub(p, n) __atomic_sub_fetch((p), (n), __ATOMIC_SEQ_CST)
/* The old value. */
#define atomic_or(p, bits) __atomic_fetch_or((p), (bits), __ATOMIC_SEQ_CST)
#define atomic_and(p, bits) __atomic_fetch_and((p), (bits), __ATOMIC_SEQ_CST)
#define atomic_swap(p, v) __atomic_exchange_n((p), (v), __ATOMIC_SEQ_CST)
/* Whether *p was *was and is v now; *was becomes what was found. May fail for no reason. */
#define atomic_replace(p, was, v)                                                          \
	__atomic_compare_exchange_n((p), (was), (v), 1, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)

#endif
