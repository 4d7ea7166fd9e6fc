/*
 * Entries by their text, of which several may have the same. A table that is full grows a little
 * with each entry that is added then, so that no change waits for all of them.
 */
#ifndef TACIT_RULE_MATCH_PATTERN_TABLE_H
#define TACIT_RULE_MATCH_PATTERN_TABLE_H

#include "rule/match/pattern_entry.h"

struct pattern_table {
	struct keyhash key;            /* of the entries' hashes */
	struct pattern_entry **bucket; /* a list each, by pattern_entry.next */
	uint32_t n_buckets;            /* a power of two, or 0 */
	struct pattern_entry **old;    /* half as many, while the table grows; otherwise NULL */
	uint32_t moved;                /* so many of old are in their two buckets, which before are
					* nothing */
};

void pattern_table_init(struct pattern_table *t, const struct keyhash *key);
/* The entries are their owner's. */
void pattern_table_fini(struct pattern_table *t);
/* Room for one more than the n that are there. 0 or -ERR_NOMEM. */
int pattern_table_reserve(struct pattern_table *t, uint64_t n) must_check;
/* There is room. */
void pattern_table_add(struct pattern_table *t, struct pattern_entry *e);
void pattern_table_remove(struct pattern_table *t, struct pattern_entry *e);
/* One of that text, and another one; in no order. NULL: none. */
struct pattern_entry *pattern_table_find(const struct pattern_table *t, struct str text);
struct pattern_entry *pattern_table_next(const struct pattern_entry *e);

#endif
