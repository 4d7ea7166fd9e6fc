/*
 * The inside of a table. Shards by the upper bits of a key's hash; in each an index, which is a
 * linear hash table (Litwin, Linear hashing, 1980): it grows by one chain at an insertion, so that
 * the lock is never held while all entries are moved. Slots lie in chunks, each an allocation with
 * as many heads of chains as slots.
 */
#ifndef TACIT_TABLE_TABLE_INT_H
#define TACIT_TABLE_TABLE_INT_H

#include <stdatomic.h>
#include <string.h>

#include "base/age.h"
#include "base/keyhash.h"
#include "base/lock.h"
#include "table/table.h"

struct memfile;

/* entry.refs: the references, and */
#define ENTRY_LIVE 0x80000000u    /* it is in the table */
#define ENTRY_TOUCHED 0x40000000u /* since it was appended to the FIFO */
#define ENTRY_SENT 0x20000000u    /* by a peer that did not teach it, since it was made */
#define ENTRY_REFS 0x1fffffffu

/* Links of chains: the slot's number + 1, and bits of the hash above. 0: the end. */
#define LINK_SLOT 0x03ffffffu
#define LINK_TAG_SHIFT 26
#define SHARD_SLOTS_MAX (LINK_SLOT - 1)

/* entry.prev */
#define PREV_SLOT LINK_SLOT
#define PREV_SHARD_SHIFT LINK_TAG_SHIFT

/* The head of a slot. The values of data.tbl.h and the key follow. */
struct table_entry {
	_Atomic uint32_t expire;  /* low half of the clock; without expiry, when it was touched */
	_Atomic uint32_t refs;
	uint32_t chain;           /* the next one of its chain: a link */
	uint32_t next;            /* slot + 1 in the FIFO, and in the list of free ones */
	_Atomic uint32_t prev;    /* the same in the FIFO; above it the number of the shard */
};

/* Three numbers, as HAProxy's freq_ctr. */
struct table_rate {
	_Atomic uint32_t tick;    /* when the current period began; 0: none has */
	_Atomic uint32_t curr, prev;
};

/* The dictionary's places: TABLE_NAMES_FIRST of them, as many again, then twice as many, ... */
#define TABLE_NAMES_FIRST 64u
#define TABLE_NAME_LEVELS 16
/* Its chains, by the upper bits of the hash: 1 << TABLE_NAME_CHAIN_BITS. */
#define TABLE_NAME_CHAIN_BITS 9

struct table_name {
	char *_Atomic text;
	uint32_t next;            /* of its chain: a place + 1 */
};

struct table_shard {
	cacheline_aligned struct lock lock;
	uint32_t used;
	uint32_t fresh;           /* slots from here on were never used */
	uint32_t heads;           /* of chains */
	uint32_t free;            /* slot + 1 */
	uint32_t head, tail;      /* of the FIFO: slot + 1 */
	uint32_t changed, changed_last; /* entries with changes that were not collected: slot + 1 */
	uint32_t chunks, chunk_room;
	char **chunk;
};

/* Changes in the order in which they were collected: the one with number n is at[n & mask], the
 * shard and the slot in it. Of the first worker, but for `news`. */
struct table_log {
	_Atomic int *news;        /* set to 1 when there is something to collect and it is 0 */
	uint64_t first;           /* the first one that this process has collected */
	uint64_t end;             /* the number of the next one */
	_Atomic uint64_t *saved_end; /* in the file; NULL: there is none */
	uint32_t mask;
	uint32_t at[];
};

/* A peer whose counts are added. The first worker writes it. */
struct table_part {
	_Atomic uint64_t until_ms; /* its connections count until then */
	_Atomic uint32_t begun;    /* how often its process has begun; never 0 */
};

/* The members that an event reads come first, in four cache lines. */
struct table {
	cacheline_aligned struct table_shard *shard;
	struct table_log *log;    /* of changes; NULL: they are not logged */
	struct keyhash hash;
	uint32_t n_shards, shard_bits;
	uint32_t chunk_bits;      /* slots of a chunk: 1 << chunk_bits */
	uint32_t stride;          /* of a slot */
	uint32_t key_at, key_end; /* zeros follow a key up to its end */
	uint32_t n_parts;         /* 0: the table does not add up */
	uint32_t stores;          /* bit n: data type n */
	uint16_t at[TABLE_DATA_TYPES]; /* of the values in a slot; 0: not stored */
	uint32_t link_at;         /* of the list of changed entries; 0: changes are not logged */
	uint32_t prev_at;         /* the part of conn_cur that previous processes have; 0: none */
	struct table_conf conf;
	char *name;
	uint32_t sweep_next;      /* the shard, */
	uint32_t sweep_left;      /* and its entries to be examined; 0: all. Of the sweeper alone */
	_Atomic uint32_t used;    /* at most conf.size */
	_Atomic uint32_t victim;  /* the shard that gives a slot when the own has none to give */
	_Atomic uint64_t bytes;
	struct lock names_lock;
	uint32_t n_names;         /* the dictionary: SERVER_KEY is a place in it + 1 */
	struct table_name *_Atomic names[TABLE_NAME_LEVELS];
	uint32_t name_chain[1u << TABLE_NAME_CHAIN_BITS]; /* a place + 1 */
	struct memfile *file;     /* where chunks lie; NULL: in memory of their own */
	const char *file_start, *file_end; /* its mapping, which may be gone before the table */
	int is_restored;          /* its entries are those of the previous process */
	uint32_t parts_at, part_size; /* counts of peers: each has the form of the own values */
	uint64_t parts_names;     /* of their peers */
	struct table_part *part;
	char *write_name;         /* conf.write_to, or NULL */
	struct table *write_to;   /* which gets tags and servers that peers send; NULL: none */
};

_Static_assert(offsetof(struct table, conf) + offsetof(struct table_conf, store) +
	TABLE_HTTP_ERR_RATE * sizeof(struct table_store) <= (size_t)4 * CACHE_LINE,
	"what an event reads");

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

/* The place of a peer's value, by that of the own one. */
static inline char *
table_part_value(const struct table *t, char *own, unsigned int part)
{
	return own + t->parts_at - sizeof(struct table_entry) + (size_t)part * t->part_size;
}

/* Its table_part.begun when its connections were received, in the place of prev_at. */
static inline _Atomic uint32_t *
table_part_begun(const struct table *t, const struct table_entry *e, unsigned int part)
{
	return (_Atomic uint32_t *)(void *)table_part_value(
		t, (char *)(uintptr_t)e + t->prev_at, part);
}

/* --- table_value.c --- */

/* Counts n events of a rate, which are not divided by brates-factor. */
void table_count(struct table *t, struct table_entry *e, enum table_data type,
	unsigned int element, const struct table_caller *by, uint32_t n);

/* --- table.c --- */

/* Frees a chunk that is not in the file. */
void table_chunk_free(struct table *t, char *chunk);

/* --- slots --- */

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

/* The slot + 1 of an entry; 0: it is of another shard. */
static inline uint32_t
table_slot_of(const struct table *t, const struct table_shard *sh, const struct table_entry *e)
{
	uintptr_t at = (uintptr_t)e;

	for (uint32_t i = 0; i < sh->chunks; i++) {
		uintptr_t chunk = (uintptr_t)sh->chunk[i];

		if (at >= chunk && at < chunk + table_chunk_bytes(t))
			return (i << t->chunk_bits) + 1 +
				(uint32_t)((at - chunk - ((size_t)4 << t->chunk_bits)) / t->stride);
	}
	return 0;
}

/* The shard of an entry that the caller has a reference of. */
static inline struct table_shard *
table_entry_shard(const struct table *t, const struct table_entry *e)
{
	return &t->shard[atomic_load_explicit(&e->prev, memory_order_relaxed) >> PREV_SHARD_SHIFT];
}

/* The milliseconds until it is due; 0: it is. For tables whose entries expire. */
static inline uint32_t
table_time_left(const struct table *t, const struct table_entry *e, uint32_t now)
{
	uint32_t left = atomic_load_explicit(&e->expire, memory_order_relaxed) - now;

	return left <= t->conf.expire_ms + CLOCK_SKEW_MS ? left : 0;
}

/* True if no time is left to it. */
static inline int
table_is_due(const struct table *t, const struct table_entry *e, uint32_t now)
{
	return t->conf.expire_ms && !table_time_left(t, e, now);
}

/* Another reference, for a holder of one, or under the lock of the shard. */
static inline void
table_add_ref(struct table_entry *e)
{
	(void)atomic_fetch_add_explicit(&e->refs, 1u, memory_order_relaxed);
}

/* The bytes of a stored key without the zeros behind it. */
static inline uint32_t
table_stored_len(const struct table *t, const unsigned char *key)
{
	uint32_t n = t->conf.key_len;

	if (t->conf.type == TABLE_STRING)
		return (uint32_t)strnlen((const char *)key, n);
	if (t->conf.type == TABLE_BINARY)
		while (n && !key[n - 1])
			n--;
	return n;
}

/* --- table_key.c --- */

/* The hash of the key that an entry has. */
uint64_t table_entry_hash(const struct table *t, const struct table_entry *e);

/* The numbers of a rate, which belong together. */
struct table_rate_now {
	uint32_t tick, curr, prev;
};
/* Takes the lock of the entry's shard. */
static inline struct table_rate_now
table_rate_get(const struct table *t, const struct table_entry *e, const struct table_rate *r,
	struct sys *sys)
{
	struct table_shard *sh = table_entry_shard(t, e);
	struct table_rate_now now;

	lock_take(&sh->lock, sys);
	now.tick = atomic_load_explicit(&r->tick, memory_order_relaxed);
	now.curr = atomic_load_explicit(&r->curr, memory_order_relaxed);
	now.prev = atomic_load_explicit(&r->prev, memory_order_relaxed);
	lock_drop(&sh->lock);
	return now;
}

/* --- table_log.c --- */

/* Notes that a peer's values are about to replace what has changed in an entry. */
void table_log_forget(const struct table *t, const struct table_entry *e);
/* An entry is one of a previous process, where its slot had this word. */
void table_log_restore(struct table *t, struct table_entry *e, uint32_t word,
	const struct table_caller *by);
/* Changes are numbered from here on: those before it were made in the previous process. */
void table_log_continue(struct table *t, uint64_t end);
/* Notes that an entry has changed. The caller holds a reference, and no lock. */
void table_log_change(struct table *t, struct table_entry *e, const struct table_caller *by);
static inline void
table_changed(struct table *t, struct table_entry *e, const struct table_caller *by)
{
	if (unlikely(t->log) && !by->is_peer)
		table_log_change(t, e, by);
}

#endif
