/* Structures that the files of src/cache share. */
#ifndef TACIT_CACHE_CACHE_INT_H
#define TACIT_CACHE_CACHE_INT_H

#include <stdatomic.h>

#include "base/lock.h"
#include "cache/cache.h"

#define CACHE_NONE UINT32_MAX
/* Blocks of a record of the memory file. */
#define CACHE_CHUNK_BITS 20
#define CACHE_CHUNKS 4
/* Keys share counters of removals. */
#define CACHE_REMOVALS 1024
/* Chains that are walked under one lock. */
#define CACHE_CHAINS_AT_ONCE 256u
/* Lists of claims, by the hash of their keys. */
#define CACHE_CLAIMS 64
/* After a response was not stored, requests for its key do not wait for this time. */
#define CACHE_REFUSED_MS 1000
#define CACHE_BLOCKS_PER_MB ((1u << 20) / CACHE_BLOCK)

/* In the memory file, of each block. */
struct cache_link {
	uint32_t next;           /* the object continues there */
	/* A number of the complete object whose first block this is. 0: it is none, or has been
	 * removed; its bytes may change from now on. */
	_Atomic uint32_t seal;
};

/* In the memory file, at the start of a first block; the key, the texts of the variant, each with a
 * line feed, the head and the body follow. */
struct cache_object {
	uint64_t body_len, expires_ms, born_ms;
	uint32_t key_len, texts_len, head_len;
	uint32_t by, codings;
	uint32_t reserved;
};

struct cache {
	char *name;
	struct cache_conf conf;
	struct keyhash hash;
	uint32_t n_blocks;
	/* In the memory file. */
	struct cache_link *link;
	char *chunk[CACHE_CHUNKS];
	/* Guarded by the lock. */
	struct lock lock;
	uint64_t *free;          /* a bit for each block */
	uint32_t n_free, cursor; /* where the search begins */
	uint32_t n_busy;         /* blocks of entries with references */
	uint32_t seal;           /* the last one */
	uint32_t removals[CACHE_REMOVALS]; /* of keys, by their hash; all of them count together */
	uint32_t clears;
	struct cache_claim *claim[CACHE_CLAIMS];
	uint64_t refused_ms[CACHE_REMOVALS]; /* until then, by the hash of keys */
	uint32_t n_chains;       /* a power of two */
	struct cache_entry **chain;
	struct list order;
};

static inline char *
cache_block(const struct cache *c, uint32_t block)
{
	return c->chunk[block >> CACHE_CHUNK_BITS] +
		(size_t)(block & ((1u << CACHE_CHUNK_BITS) - 1)) * CACHE_BLOCK;
}

#endif
