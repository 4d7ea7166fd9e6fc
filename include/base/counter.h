/*
 * Numbers that one thread writes and any thread may read, `_Atomic` by type. A read value is
 * complete but not ordered with any other. Only the owner writes, so a change is a load and a store
 * without a locked instruction. `p` is a pointer to a number of any size.
 */
#ifndef TACIT_BASE_COUNTER_H
#define TACIT_BASE_COUNTER_H

#include <stdatomic.h>

#define counter_read(p) atomic_load_explicit((p), memory_order_relaxed)
#define counter_set(p, v) atomic_store_explicit((p), (v), memory_order_relaxed)
#define counter_add(p, n) counter_set((p), counter_read(p) + (n))
#define counter_sub(p, n) counter_set((p), counter_read(p) - (n))
/* Raises it to v if it is lower. */
#define counter_max(p, v)                          \
	do {                                       \
		if (counter_read(p) < (v))         \
			counter_set((p), (v));     \
	} while (0)

#endif
