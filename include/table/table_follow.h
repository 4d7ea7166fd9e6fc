/*
 * The tables of previous processes. At the start of the next one its entries are copied, then what
 * that process counts before it ends is added here, in repeated passes over its chunks: each number
 * is compared with the one that the last pass saw. Counters and rates are added to, tags and
 * servers replaced. First worker; the previous process may be hostile, and may write on.
 */
#ifndef TACIT_TABLE_TABLE_FOLLOW_H
#define TACIT_TABLE_TABLE_FOLLOW_H

#include "base/memfile.h"
#include "table/table.h"

enum table_restored {
	TABLE_NOT_THERE,        /* the file has no table of this name */
	TABLE_RESTORED,
	TABLE_IS_OTHER,         /* it had keys of another type or length */
	TABLE_IS_DAMAGED
};

/* The name of a mark: 1 if the process had all entries of its peers. */
#define TABLE_MARK_COMPLETE ""

struct table_follow;

/* Copies the entries that have not expired, with the numbers of their changes: what its peers have
 * been sent is not logged again, what the process counts meanwhile is. Values that both store are
 * copied, rates with the same period, and no conn_cur. *n: how many. A lesson of a peer
 * replaces none of them if the mark TABLE_MARK_COMPLETE is 1 there. Without memory, or if the table
 * is full, the rest is left out. follow NULL: the process has ended; else *follow continues, NULL
 * if memory is out. The view must stay open until it is freed, with its names. */
enum table_restored table_follow_restore(struct table *t, const struct memfile_view *v,
	const struct table_caller *by, unsigned int *n, struct table_follow **follow);
/* True if that was done: entries of the previous process have been copied. */
int table_is_restored(const struct table *t);
/* A mark of the table there (table/table_file.h). 0: it has none of this name. */
uint64_t table_follow_mark(const struct table *t, const struct memfile_view *v, const char *reader);
/* Follows nothing but the connections of a process, while another process adds its counts. NULL: it
 * has no such table, or memory is out. */
struct table_follow *table_follow_connections(struct table *t, const struct memfile_view *v,
	const struct table_caller *by);
/* Follows what it counts from now on, too: that other process has ended. */
void table_follow_count(struct table_follow *f);
/* Compares up to `most` slots, at least those of a chunk. 1: there are more in this pass. */
int table_follow_step(struct table_follow *f, unsigned int most, const struct table_caller *by);
/* The same of a process that has ended. 0: all that it has counted was added. */
int table_follow_rest(struct table_follow *f, unsigned int most, const struct table_caller *by);
/* True if the last pass has found no change and no connections. */
int table_follow_is_idle(const struct table_follow *f);
/* Begins to free it: up to so many chunks, with their connections that are left, which are
 * subtracted. 1: there are more. by NULL: the change is not logged. */
int table_follow_shrink(struct table_follow *f, unsigned int most, const struct table_caller *by);
/* Frees it with all chunks, as table_follow_shrink(). NULL is allowed. */
void table_follow_free(struct table_follow *f, const struct table_caller *by);

#endif
