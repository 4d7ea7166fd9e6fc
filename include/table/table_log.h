/*
 * The log of a table's changes, from which they are sent to other processes. Any worker changes an
 * entry: it joins the list of its shard, once until it is collected. The first worker collects the
 * lists, which gives each change a number. The log has room for a bounded number of them; a reader
 * that is behind its start has missed some. First worker only.
 */
#ifndef TACIT_TABLE_TABLE_LOG_H
#define TACIT_TABLE_TABLE_LOG_H

#include "table/table.h"

/* Collects up to `most` changes. Returns how many it has: as many as that if there may be more. */
unsigned int table_log_collect(struct table *t, unsigned int most, const struct table_caller *by);
/* The numbers of the oldest change that the log has, and of the next one: from 1. */
uint64_t table_log_first(const struct table *t);
uint64_t table_log_end(const struct table *t);
/* The entry of a change, with a reference. NULL: it has expired or was removed, a peer's values
 * have replaced the change, or a later one has a number of its own. */
struct table_entry *table_log_entry(struct table *t, uint64_t n, const struct table_caller *by)
	must_check;
/* True if an entry has changed here since a peer has sent all its values. */
int table_log_has(const struct table *t, const struct table_entry *e);
/* True if the last such change has number n or a later one, or none yet. */
int table_log_has_since(const struct table *t, const struct table_entry *e, uint64_t n);

#endif
