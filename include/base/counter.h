/*
 * Numbers that one thread changes and any thread may read, `_Atomic` by type: what is read is
 * whole, and says nothing about any other number. Only the owner changes one, so no instruction is
 * locked: a change is a load and a store. `p` is a pointer to a number of any size.
 */
#ifndef TACIT_BASE_COUNTER_H
#define TACIT_BASE_COUNTER_H

#include <stdatomic.h>

#define counter_read(p) atomic_load_explicit((p), memory_order_relaxed)
#define counter_set(p, v) atomic_store_explicit((p), (v), memory_order_relaxed)
#define counter_add(p, n) counter_set((p), counter_read(p) + (n))
#define counter_sub(p, n) counter_set((p), counter_read(p) - (n))
/* It is at least v. */
#define counter_max(p, v)                          \
	do {                                       \
		if (counter_read(p) < (v))         \
			counter_set((p), (v));     \
	} while (0)

#endif
