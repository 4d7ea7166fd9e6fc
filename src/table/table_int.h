/*
 * The inside of a table. Shards by the upper bits of a key's hash; in each an index, which is a
 * linear hash table (Litwin, Linear hashing, 1980): it grows by one chain at an insertion, so that
 * the lock is never held while all entries are moved. Slots lie in chunks, each an allocation with
 * as many heads of chains as slots.
 */
#ifndef TACIT_TABLE_TABLE_INT_H
#define TACIT_TABLE_TABLE_INT_H

#include <stdatomic.h>

#include "base/keyhash.h"
#include "base/lock.h"
#include "table/table.h"

struct memfile;

/* entry.refs: the references, and */
#define ENTRY_LIVE 0x80000000u    /* it is in the table */
#define ENTRY_TOUCHED 0x40000000u /* since it was appended to the FIFO */
#define ENTRY_REFS 0x3fffffffu

/* Links of chains: the slot's number + 1, and bits of the hash above. 0: the end. */
#define LINK_SLOT 0x03ffffffu
#define LINK_TAG_SHIFT 26
#define SHARD_SLOTS_MAX (LINK_SLOT - 1)

/* The head of a slot. The values of data.tbl.h and the key follow. */
struct table_entry {
	_Atomic uint32_t expire;  /* low half of the clock; without expiry, when it was touched */
	_Atomic uint32_t refs;
	uint32_t chain;           /* the next one of its chain: a link */
	uint32_t next, prev;      /* slot + 1 in the FIFO; next: in the list of free ones, too */
};

/* Three numbers, as HAProxy's freq_ctr. */
struct table_rate {
	_Atomic uint32_t tick;    /* when the current period began */
	_Atomic uint32_t curr, prev;
};

/* The dictionary's places: TABLE_NAMES_FIRST of them, as many again, then twice as many, ... */
#define TABLE_NAMES_FIRST 64u
#define TABLE_NAME_LEVELS 16

struct table_shard {
	cacheline_aligned struct lock lock;
	uint32_t used;
	uint32_t fresh;           /* slots from here on were never used */
	uint32_t heads;           /* of chains */
	uint32_t free;            /* slot + 1 */
	uint32_t head, tail;      /* of the FIFO: slot + 1 */
	uint32_t chunks, chunk_room;
	char **chunk;
};

struct table {
	struct table_conf conf;
	char *name;
	struct keyhash hash;
	uint32_t n_shards, shard_bits;
	uint32_t chunk_bits;      /* slots of a chunk: 1 << chunk_bits */
	uint32_t stride;          /* of a slot */
	uint16_t at[TABLE_DATA_TYPES]; /* of the values in a slot; 0: not stored */
	uint32_t key_at;
	uint32_t prev_at;         /* the part of conn_cur that previous processes have; 0: none */
	uint32_t sweep_next;      /* the shard: of the sweeper alone */
	_Atomic uint32_t used;    /* at most conf.size */
	_Atomic uint32_t victim;  /* the shard that gives a slot when the own has none to give */
	_Atomic uint64_t bytes;
	struct lock names_lock;
	uint32_t n_names;         /* the dictionary: SERVER_KEY is a place in it + 1 */
	char *_Atomic *_Atomic names[TABLE_NAME_LEVELS];
	struct memfile *file;     /* where chunks lie; NULL: in memory of their own */
	const char *file_start, *file_end; /* its mapping, which may be gone before the table */
	struct table_shard *shard;
};

/* The bytes of a value. */
static inline uint32_t
table_value_size(enum table_kind kind)
{
	switch (kind) {
	case TABLE_KIND_U64:
		return sizeof(uint64_t);
	case TABLE_KIND_RATE:
		return sizeof(struct table_rate);
	case TABLE_KIND_U32:
	case TABLE_KIND_NAME:
		break;
	}
	return sizeof(uint32_t);
}

/* --- table_value.c --- */

/* Counts n events of a rate, which are not divided by brates-factor. */
void table_count(struct table *t, struct table_entry *e, enum table_data type,
	unsigned int element, const struct table_caller *by, uint32_t n);

/* --- table.c --- */

/* Frees a chunk that is not in the file. */
void table_chunk_free(struct table *t, char *chunk);

/* --- table_entry.c --- */

/* The shard of a hash. */
static inline struct table_shard *
table_shard_of(const struct table *t, uint64_t hash)
{
	return &t->shard[t->shard_bits ? hash >> (64 - t->shard_bits) : 0];
}

/* The entry of a slot number. */
static inline struct table_entry *
table_slot(const struct table *t, const struct table_shard *sh, uint32_t slot)
{
	char *chunk = sh->chunk[slot >> t->chunk_bits];
	uint32_t in = slot & ((1u << t->chunk_bits) - 1);

	return (struct table_entry *)(void *)(chunk + ((size_t)4 << t->chunk_bits) +
		(size_t)in * t->stride);
}

/* The bytes of a chunk. */
static inline size_t
table_chunk_bytes(const struct table *t)
{
	return ((size_t)4 + t->stride) << t->chunk_bits;
}

/* The hash of the key that an entry has. */
uint64_t table_entry_hash(const struct table *t, const struct table_entry *e);

#endif
