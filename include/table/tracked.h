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
};

/* Fills an empty slot with an entry, whose reference it takes over, and counts a connection. */
void tracked_begin(struct tracked *t, struct table *table, struct table_entry *entry,
	const struct table_caller *by);
/* Empties the slot, unless it is empty: the connection is over, and the entry may expire. */
void tracked_end(struct tracked *t, const struct table_caller *by);
/* Adds n to a counter and to its rate, as far as the table has them. */
void tracked_count(const struct tracked *t, enum table_data counter, enum table_data rate,
	const struct table_caller *by, uint64_t n);

#endif
