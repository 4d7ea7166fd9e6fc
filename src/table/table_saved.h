/* The records of a table in a memory file. */
#ifndef TACIT_TABLE_TABLE_SAVED_H
#define TACIT_TABLE_TABLE_SAVED_H

#include <stdio.h>

#include "table/table.h"

#define TABLE_RECORD_KEY_MAX 1024

/* Kinds of records: the table; a chunk; a name of the dictionary. */
enum { RECORD_TABLE = 1, RECORD_CHUNK, RECORD_NAME };

/* The payload of RECORD_TABLE. */
struct table_saved {
	uint32_t type, key_len, key_at, stride, chunk_bits, expire_ms, prev_at;
	uint32_t parts_at, part_size, n_parts;
	uint64_t parts_names;
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

#endif
