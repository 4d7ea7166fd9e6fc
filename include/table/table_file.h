/*
 * Entries of tables in a memory file (base/memfile.h): chunks of slots lie there from the start, so
 * an entry outlives its process without being moved. Main thread, before others run.
 */
#ifndef TACIT_TABLE_TABLE_FILE_H
#define TACIT_TABLE_TABLE_FILE_H

#include "base/memfile.h"
#include "table/table.h"

/* Records of this kind and above are the caller's. */
#define TABLE_FILE_KINDS 5u

/* Changes with the form of the records. */
uint32_t table_file_layout(void);
/* The most that the records of this table take. */
size_t table_file_room(const struct table *t);
/* The table's chunks are made in this file from now on: there may be none yet. The file must
 * outlive the table. 0 or -ERR_FULL. */
int table_file_place(struct table *t, struct memfile *f) must_check;

#endif
