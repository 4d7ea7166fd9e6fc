/* Tables as a whole: how a slot is laid out, what is found and made, references, walks. */
#include "table/table.h"

#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "table_int.h"

#define SHARDS_MAX 64u
/* Entries of a shard, on average, at least: a small table has one. */
#define SHARD_ENTRIES 64u
/* Chunks of a full shard. */
#define CHUNKS 64u
/* Places in the log of changes. */
#define LOG_MIN 64u
#define LOG_MAX 65536u
#define CHUNK_BITS_MIN 4u
/* Bytes of a slot. */
#define TABLE_STRIDE_MAX UINT16_MAX
#define CHUNK_BITS_MAX 12u
const struct table_data_info table_data_info[TABLE_DATA_TYPES] = {
#define TABLE_DATA(id, name, kind, flags, doc) { name, TABLE_KIND_##kind, flags },
#include "table/data.tbl.h"
#undef TABLE_DATA
};

int
table_data_find(const char *name, size_t len)
{
	for (int i = 0; i < TABLE_DATA_TYPES; i++)
		if (strlen(table_data_info[i].name) == len &&
			memcmp(table_data_info[i].name, name, len) == 0)
			return i;
	return -1;
}

const char *
table_type_name(enum table_type type)
{
	static const char *const names[TABLE_TYPES] = {
		[TABLE_INTEGER] = "integer",
		[TABLE_IPV4] = "ip",
		[TABLE_IPV6] = "ipv6",
		[TABLE_STRING] = "string",
		[TABLE_BINARY] = "binary",
	};

	return names[type];
}

/* --- layout --- */

/* Places the counts of peers behind all else: each as the own values lie behind the head. */
static void
lay_out_parts(struct table *t, unsigned int wide)
{
	uint32_t head = sizeof(struct table_entry), mask = wide ? 7 : 3;

	if (!t->n_parts)
		return;
	t->parts_at = ((t->stride - head + mask) & ~mask) + head;
	t->part_size = (t->key_at - head + mask) & ~mask;
	t->stride = (t->parts_at + t->n_parts * t->part_size + mask) & ~mask;
}

/* Places the values in a slot, those of 64 bits last, then the key. */
static void
lay_out(struct table *t)
{
	uint32_t at = sizeof(struct table_entry);
	unsigned int wide = 0;

	t->prev_at = t->conf.store[TABLE_CONN_CUR].n ? at : 0;
	at += t->prev_at ? sizeof(uint32_t) : 0;
	for (unsigned int pass = 0; pass < 2; pass++) {
		if (pass && wide)
			at = (at + 7) & ~7u;
		for (unsigned int i = 0; i < TABLE_DATA_TYPES; i++) {
			enum table_kind kind = table_data_info[i].kind;
			unsigned int is_wide = kind == TABLE_KIND_U64;

			if (!t->conf.store[i].n || is_wide != pass) {
				wide += is_wide && t->conf.store[i].n;
				continue;
			}
			t->at[i] = (uint16_t)at;
			t->stores |= 1u << i;
			at += table_value_size(kind) * t->conf.store[i].n;
		}
	}
	t->key_at = at;
	at += t->conf.key_len + (t->conf.type == TABLE_STRING);
	t->link_at = t->log ? (at + 3) & ~3u : 0;
	at = t->log ? t->link_at + sizeof(uint32_t) : at;
	t->stride = wide ? (at + 7) & ~7u : (at + 3) & ~3u;
	t->key_end = t->log ? t->link_at : t->stride;
	lay_out_parts(t, wide);
}

static void
choose_sizes(struct table *t)
{
	uint32_t each;

	t->n_shards = 1;
	while (t->n_shards < SHARDS_MAX && t->conf.size / (t->n_shards * 2) >= SHARD_ENTRIES) {
		t->n_shards *= 2;
		t->shard_bits++;
	}
	each = t->conf.size / t->n_shards;
	t->chunk_bits = CHUNK_BITS_MIN;
	while (t->chunk_bits < CHUNK_BITS_MAX && each >> t->chunk_bits >= CHUNKS)
		t->chunk_bits++;
}

struct table *
table_new(const char *name, const struct table_conf *conf, const struct keyhash *hash)
{
	struct table *t = mem_zalloc_aligned(CACHE_LINE, sizeof(*t));

	if (!t)
		return NULL;
	t->conf = *conf;
	t->hash = *hash;
	choose_sizes(t);
	lay_out(t);
	t->name = mem_strdup(name);
	if (conf->write_to)
		t->conf.write_to = t->write_name = mem_strdup(conf->write_to);
	t->shard = mem_zalloc_aligned(CACHE_LINE, t->n_shards * sizeof(*t->shard));
	if (t->name && t->shard && !conf->write_to == !t->write_name)
		return t;
	table_free(t);
	return NULL;
}

static void
free_dictionary(struct table *t)
{
	for (unsigned int i = 0; i < TABLE_NAME_LEVELS; i++) {
		struct table_name *level =
			atomic_load_explicit(&t->names[i], memory_order_relaxed);
		unsigned int n = i ? TABLE_NAMES_FIRST << (i - 1) : TABLE_NAMES_FIRST;

		for (unsigned int j = 0; level && j < n; j++)
			mem_free(atomic_load_explicit(&level[j].text, memory_order_relaxed));
		mem_free(level);
	}
}

void
table_chunk_free(struct table *t, char *chunk)
{
	if (chunk < t->file_start || chunk >= t->file_end)
		mem_free(chunk);
}

void
table_free(struct table *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; t->shard && i < t->n_shards; i++) {
		for (uint32_t j = 0; j < t->shard[i].chunks; j++)
			table_chunk_free(t, t->shard[i].chunk[j]);
		mem_free(t->shard[i].chunk);
	}
	free_dictionary(t);
	mem_free(t->part);
	mem_free(t->log);
	mem_free(t->shard);
	mem_free(t->name);
	mem_free(t->write_name);
	mem_free(t);
}

/* 0, or -ERR_FULL: the slots of a table that adds up are too long. */
static int
check_stride(const struct table *t)
{
	return t->n_parts && t->stride > TABLE_STRIDE_MAX ? -ERR_FULL : 0;
}

int
table_want(struct table *t, enum table_data type)
{
	assert(table_used(t) == 0);
	if (!t->conf.store[type].n) {
		t->conf.store[type].n = 1;
		lay_out(t);
	}
	return check_stride(t);
}

int
table_aggregate(struct table *t, unsigned int n, uint64_t names)
{
	assert(table_used(t) == 0);
	t->part = mem_zalloc(MAX(n, 1u) * sizeof(*t->part));
	if (!t->part)
		return -ERR_NOMEM;
	for (unsigned int i = 0; i < n; i++)
		atomic_init(&t->part[i].begun, 1);
	t->n_parts = n;
	t->parts_names = names;
	lay_out(t);
	return check_stride(t);
}

unsigned int
table_parts(const struct table *t)
{
	return t->n_parts;
}

void
table_part_until(struct table *t, unsigned int part, uint64_t ms)
{
	atomic_store_explicit(&t->part[part].until_ms, ms, memory_order_relaxed);
}

void
table_part_begins(struct table *t, unsigned int part)
{
	uint32_t begun = atomic_load_explicit(&t->part[part].begun, memory_order_relaxed) + 1;

	atomic_store_explicit(&t->part[part].begun, begun ? begun : 1, memory_order_relaxed);
}

int
table_write_to(struct table *t, struct table *to)
{
	if (t == to || t->conf.type != to->conf.type || t->conf.key_len != to->conf.key_len)
		return -1;
	t->write_to = to;
	return 0;
}

int
table_share(struct table *t, _Atomic int *news)
{
	uint32_t room = LOG_MIN;

	assert(table_used(t) == 0);
	while (room < LOG_MAX && room < t->conf.size)
		room *= 2;
	t->log = mem_zalloc(sizeof(*t->log) + room * sizeof(*t->log->at));
	if (!t->log)
		return -ERR_NOMEM;
	t->log->news = news;
	t->log->first = t->log->end = 1;
	t->log->mask = room - 1;
	lay_out(t);
	return 0;
}

const char *
table_name(const struct table *t)
{
	return t->name;
}

const struct table_conf *
table_conf_of(const struct table *t)
{
	return &t->conf;
}

uint32_t
table_used(const struct table *t)
{
	return atomic_load_explicit(&t->used, memory_order_relaxed);
}

uint32_t
table_avail(const struct table *t)
{
	uint32_t used = table_used(t);

	return used < t->conf.size ? t->conf.size - used : 0;
}

size_t
table_bytes(const struct table *t)
{
	return sizeof(*t) + t->n_shards * sizeof(*t->shard) +
		atomic_load_explicit(&t->bytes, memory_order_relaxed);
}
