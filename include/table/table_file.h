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
/* The same of n marks. */
size_t table_file_marks_room(const struct table *t, unsigned int n);
/* A number that the next process finds under this name (table/table_follow.h); a name has at most
 * 255 bytes. NULL: there is no file, or no room in it. */
_Atomic uint64_t *table_file_mark(struct table *t, const char *reader);
/* The table's chunks are made in this file from now on: there may be none yet. The file must
 * outlive the table. 0 or -ERR_FULL. */
int table_file_place(struct table *t, struct memfile *f) must_check;

#endif
