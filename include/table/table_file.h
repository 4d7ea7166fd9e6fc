/*
 * Entries of tables in a memory file (base/memfile.h): chunks of slots lie there from the start, so
 * an entry outlives its process without being moved. The next process copies them before it serves.
 * Main thread, before others run; the previous process may be hostile, and may write on.
 */
#ifndef TACIT_TABLE_TABLE_FILE_H
#define TACIT_TABLE_TABLE_FILE_H

#include "base/memfile.h"
#include "table/table.h"

/* Changes with the form of the records. */
uint32_t table_file_layout(void);
/* The most that the records of this table take. */
size_t table_file_room(const struct table *t);
/* The table's chunks are made in this file from now on: there may be none yet. The file must
 * outlive the table. 0 or -ERR_FULL. */
int table_file_place(struct table *t, struct memfile *f) must_check;

enum table_restored {
	TABLE_NOT_THERE,        /* the file has no table of this name */
	TABLE_RESTORED,
	TABLE_IS_OTHER,         /* it had keys of another type or length */
	TABLE_IS_DAMAGED
};

/* Copies the entries that have not expired. Values that both store are copied, rates with the same
 * period, and no conn_cur. *n: how many. Without memory, or if the table is full, the rest is left
 * out. */
enum table_restored table_file_restore(struct table *t, const struct memfile_view *v,
	const struct table_caller *by, unsigned int *n);

/* conn_cur of previous processes that have not ended: it is added to that of the own entries until
 * the connections there have ended. */
struct table_drain {
	struct table *t;
	struct table_drained {
		struct table_entry *e;               /* with a reference */
		const _Atomic uint32_t *cur, *prev;  /* there */
		uint32_t seen;                       /* what was added */
	} *v;
	unsigned int n, room;
};

/* Adds the connections of the process whose file this is. The view must stay open until
 * table_drain_fini(). 0, or -ERR_NOMEM: some are not counted. */
int table_drain_add(struct table_drain *d, struct table *t, const struct memfile_view *v,
	const struct table_caller *by);
/* Adds what has changed. Returns how many entries have connections there. */
unsigned int table_drain_update(struct table_drain *d);
/* Subtracts what is left, and gives the references back. */
void table_drain_fini(struct table_drain *d);

#endif
