/* The own memory file: chunks of slots, and names of the dictionary. */
#include "table/table_file.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "table_int.h"
#include "table_saved.h"

/* Changes with the meaning of the members. */
#define TABLE_FORM 3u
#define NAMES_ROOM 1024
/* Bytes of a reader's name. */
#define MARK_NAME_MAX 255u

_Static_assert(RECORD_MARK < TABLE_FILE_KINDS, "kinds of the caller are others");
_Static_assert(TABLE_FILE_KINDS < MEMFILE_KINDS, "they can be found");

uint32_t
table_file_layout(void)
{
	const size_t size[] = { TABLE_FORM, sizeof(struct table_entry), sizeof(struct table_rate),
		sizeof(struct table_saved), TABLE_DATA_TYPES };

	return hash_crc32c(0, size, sizeof(size));
}

size_t
table_file_marks_room(const struct table *t, unsigned int n)
{
	char key[TABLE_RECORD_KEY_MAX];

	table_mark_key(t, key, "");
	return n * (memfile_record_size(key, "", sizeof(uint64_t)) + MARK_NAME_MAX);
}

_Atomic uint64_t *
table_file_mark(struct table *t, const char *reader)
{
	char key[TABLE_RECORD_KEY_MAX];

	assert(strlen(reader) <= MARK_NAME_MAX);
	table_mark_key(t, key, reader);
	return t->file ? memfile_add(t->file, RECORD_MARK, key, "", sizeof(uint64_t)) : NULL;
}

size_t
table_file_room(const struct table *t)
{
	char key[TABLE_RECORD_KEY_MAX];
	uint64_t slots = (uint64_t)t->conf.size + t->conf.size / 8, chunks, names;

	table_record_key(t, key, 'c', UINT32_MAX, UINT32_MAX);
	/* A shard may have more than its part, and its last chunk is not full. */
	chunks = (slots >> t->chunk_bits) + 4u * t->n_shards;
	names = t->at[TABLE_SERVER_KEY] ? NAMES_ROOM : 0;
	return memfile_record_size(key, "", sizeof(struct table_saved)) +
		chunks * memfile_record_size(key, "", table_chunk_bytes(t)) +
		names * memfile_record_size(key, "", TABLE_RECORD_KEY_MAX);
}

int
table_file_place(struct table *t, struct memfile *f)
{
	struct table_saved *s = memfile_add(f, RECORD_TABLE, t->name, "", sizeof(*s));

	if (!s)
		return -ERR_FULL;
	s->type = t->conf.type;
	s->key_len = t->conf.key_len;
	s->key_at = t->key_at;
	s->stride = t->stride;
	s->chunk_bits = t->chunk_bits;
	s->expire_ms = t->conf.expire_ms;
	s->prev_at = t->prev_at;
	s->parts_at = t->parts_at;
	s->part_size = t->part_size;
	s->n_parts = t->n_parts;
	s->parts_names = t->parts_names;
	s->link_at = t->link_at;
	s->brates_factor = t->conf.brates_factor;
	if (t->log) {
		atomic_store_explicit(&s->log_end, t->log->end, memory_order_relaxed);
		t->log->saved_end = &s->log_end;
	}
	for (unsigned int i = 0; i < TABLE_DATA_TYPES; i++) {
		s->data[i].at = t->at[i];
		s->data[i].n = t->conf.store[i].n;
		s->data[i].period_ms = t->conf.store[i].period_ms;
	}
	t->file = f;
	t->file_start = f->map;
	t->file_end = f->map + f->size;
	return 0;
}
