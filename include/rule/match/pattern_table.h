/*
 * A hash table of entries by text; several may have the same text. A full table is enlarged step by
 * step, with each entry that is added, so that no single change has to wait for all of it.
 */
#ifndef TACIT_RULE_MATCH_PATTERN_TABLE_H
#define TACIT_RULE_MATCH_PATTERN_TABLE_H

#include "rule/match/pattern_entry.h"

struct pattern_table {
	struct keyhash key;            /* of the entries' hashes */
	struct pattern_entry **bucket; /* a list each, by pattern_entry.next */
	uint32_t n_buckets;            /* a power of two, or 0 */
	struct pattern_entry **old;    /* half as many, while the table grows; otherwise NULL */
	uint32_t moved;                /* this many buckets of old have been moved; unmoved new
				        * buckets are unused */
};

void pattern_table_init(struct pattern_table *t, const struct keyhash *key);
/* The entries have another owner. */
void pattern_table_fini(struct pattern_table *t);
/* Reserves room for one entry more than n. 0 or -ERR_NOMEM. */
int pattern_table_reserve(struct pattern_table *t, uint64_t n) must_check;
/* Makes an empty table large enough for n entries. 0 or -ERR_NOMEM. */
int pattern_table_expect(struct pattern_table *t, uint64_t n) must_check;
/* Asks for the memory that adding e will touch, before it is added. */
void pattern_table_prefetch(const struct pattern_table *t, const struct pattern_entry *e);
/* Adds an entry whose id is still the hash of its text. There must be room. */
void pattern_table_add(struct pattern_table *t, struct pattern_entry *e);
void pattern_table_remove(struct pattern_table *t, struct pattern_entry *e);
/* An entry with this text, and the next one, in any order. NULL: none. */
struct pattern_entry *pattern_table_find(const struct pattern_table *t, struct str text);
struct pattern_entry *pattern_table_next(const struct pattern_entry *e);

#endif
