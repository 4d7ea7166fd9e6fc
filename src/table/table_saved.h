/* The records of a table in a memory file. */
#ifndef TACIT_TABLE_TABLE_SAVED_H
#define TACIT_TABLE_TABLE_SAVED_H

#include <stdio.h>

#include "table/table.h"

#define TABLE_RECORD_KEY_MAX 1024

/* Kinds of records: the table; a chunk; a name of the dictionary; a number of a reader of the log.
 */
enum { RECORD_TABLE = 1, RECORD_CHUNK, RECORD_NAME, RECORD_MARK };

/* The payload of RECORD_TABLE. */
struct table_saved {
	uint32_t type, key_len, key_at, stride, chunk_bits, expire_ms, prev_at;
	uint32_t parts_at, part_size, n_parts;
	uint32_t link_at;
	uint32_t brates_factor;
	uint64_t parts_names;
	_Atomic uint64_t log_end; /* 0: changes are not logged */
	struct {
		uint32_t at, n, period_ms;
	} data[TABLE_DATA_TYPES];
};

/* "name\n<kind><a>.<b>": the key of a chunk ('c', shard, number) or of a name ('n', number, 0). */
static inline void
table_record_key(const struct table *t, char key[TABLE_RECORD_KEY_MAX], char kind, uint32_t a,
	uint32_t b)
{
	(void)snprintf(key, TABLE_RECORD_KEY_MAX, "%s\n%c%u.%u", table_name(t), kind, a, b);
}

/* The key of a mark. */
static inline void
table_mark_key(const struct table *t, char key[TABLE_RECORD_KEY_MAX], const char *reader)
{
	(void)snprintf(key, TABLE_RECORD_KEY_MAX, "%s\n%s", table_name(t), reader);
}

#endif
