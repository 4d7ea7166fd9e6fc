/*
 * Entries that rules `track-sc` keep, each in a numbered slot. Its counters are
 * added to when something happens to the connection or request that it stands for.
 */
#ifndef TACIT_TABLE_TRACKED_H
#define TACIT_TABLE_TRACKED_H

#include "table/table.h"

struct tracked {
	struct table *table;       /* NULL: the slot is empty */
	struct table_entry *entry; /* with a reference */
	uint32_t stores;           /* bit n: the table stores data type n */
};

/* Fills an empty slot with an entry, whose reference it takes over, and counts a connection. */
void tracked_begin(struct tracked *t, struct table *table, struct table_entry *entry,
	const struct table_caller *by);
/* Empties the slot, unless it is empty: the connection is over, and the entry may expire. */
void tracked_end(struct tracked *t, const struct table_caller *by);
_Static_assert(TABLE_DATA_TYPES <= 32, "a bit for each type");

/* True if the slot is not empty and its table stores one of them: most store few of what may
 * happen. */
static inline int
tracked_stores(const struct tracked *t, enum table_data counter, enum table_data rate)
{
	return (t->stores >> counter | t->stores >> rate) & 1;
}

/* Has the CPU load the slot's entry, if it is not empty: it is about to be counted in or to end,
 * and was used before the last wait. */
static inline void
tracked_prefetch(const struct tracked *t)
{
	__builtin_prefetch(t->entry, 1);
}

/* Adds n to a counter and to its rate, as far as the table has them. */
void tracked_count(const struct tracked *t, enum table_data counter, enum table_data rate,
	const struct table_caller *by, uint64_t n);

#endif
