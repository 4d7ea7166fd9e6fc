/*
 * A store of objects in blocks of memory, found by a key: what a section `cache` holds. An object
 * is a head and a body, both only bytes here, and an age. It never changes once it is complete: one
 * that is replaced, removed or too old is not found any more, and its blocks are free when its last
 * reader has released it. Any thread may call these functions; one short lock guards a cache, and
 * bytes are copied and read without it.
 */
#ifndef TACIT_CACHE_CACHE_H
#define TACIT_CACHE_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/keyhash.h"
#include "base/list.h"
#include "base/str.h"

struct cache;
struct memfile;
struct memfile_view;
struct sys;

#define CACHE_BLOCK 1024u
#define CACHE_MEGABYTES_MAX 4095u
/* Longer keys have no objects. */
#define CACHE_KEY_MAX 8192u
#define CACHE_TEXTS_MAX 8192u

struct cache_conf {
	uint32_t megabytes;      /* total-max-size */
	uint64_t max_object;     /* max-object-size: bytes of head, key and body */
	uint32_t max_age_s;      /* max-age */
	uint32_t collapse_ms;    /* collapse */
	uint32_t variants_max;   /* max-secondary-entries; 0: process-vary is off */
};

/* Selects an object besides its key. */
#define CACHE_BY_CODINGS 1u
#define CACHE_BY_TEXT 2u /* and the next bits */
#define CACHE_TEXTS 2

/* Values of a request that select among the objects of a key; or those of an object. It serves
 * requests that have the same texts, and accept all of its codings. */
struct cache_variant {
	uint32_t by;             /* of an object; 0: it serves all requests */
	uint32_t codings;        /* bits */
	struct str text[CACHE_TEXTS]; /* without line feeds */
};

/* The calling thread. */
struct cache_caller {
	struct sys *sys;
	uint64_t now_ms;         /* of the loop (monotonic, the same in a process that follows) */
};

/* Where a reader is in an object. */
struct cache_place {
	uint32_t block, at;
};

struct cache_entry {
	/* Guarded by the cache's lock. */
	struct list order;       /* complete ones, oldest first */
	struct cache_entry *next; /* of the same chain */
	unsigned int refs;
	uint8_t is_linked;       /* it can be found, or is being filled */
	uint8_t is_filling;
	uint8_t is_void;         /* removed while it was filled */
	uint8_t is_touched;      /* found since it became the oldest */
	/* Set by its filler, constant once it is complete. */
	uint64_t hash;
	uint32_t first, last, blocks;
	uint64_t size;           /* bytes of all */
	struct cache_place end;  /* of the filler */
	uint32_t by, codings;    /* of its variant */
	uint64_t texts;          /* hash of its texts */
	uint32_t key_len, texts_len, head_len;
	uint64_t body_len;
	uint64_t expires_ms;
	uint64_t born_ms;        /* age_between() this and now is its age */
};

/* An empty cache, with copies of the arguments; it needs a place (cache_file_place()) before it is
 * used. Freed by cache_free(). NULL without memory. */
struct cache *cache_new(const char *name, const struct cache_conf *conf,
	const struct keyhash *hash) must_check;
/* No entry is referenced any more. NULL is allowed. */
void cache_free(struct cache *c);
/* Constant while the cache lives. */
const char *cache_name(const struct cache *c);
const struct cache_conf *cache_conf_of(const struct cache *c);

/* --- its memory: a memory file (base/memfile.h), which must outlive it --- */

/* Changes with the form of the records. */
uint32_t cache_file_layout(void);
/* The bytes that its records take. */
size_t cache_file_room(const struct cache *c);
/* Places the cache in this file; before that it must not be used. 0, -ERR_FULL or -ERR_NOMEM. */
int cache_file_place(struct cache *c, struct memfile *f) must_check;
/* The heads of previous objects that are usable. */
struct cache_heads {
	size_t longest;
	char *room;              /* for a copy of `longest` bytes */
	int (*is_usable)(const struct cache_heads *heads, struct str head);
};

/* Copies the objects of a cache of this name in the file of a previous process, which may write on
 * and may be hostile; those whose heads are not usable are left out. The number of objects. */
unsigned int cache_restore(struct cache *c, const struct cache_caller *by,
	const struct memfile_view *v, const struct cache_heads *heads);

/* --- finding --- */

/* The last object of this key that is not too old and serves the request, with a reference, or
 * NULL. */
struct cache_entry *cache_find(struct cache *c, const struct cache_caller *by, struct str key,
	const struct cache_variant *request) must_check;
/* Gives the reference back: the entry may be gone then. */
void cache_unref(struct cache *c, const struct cache_caller *by, struct cache_entry *e);
/* Copies its head to `to`, which has room for head_len bytes, and sets *body to its body. */
void cache_read_head(const struct cache *c, const struct cache_entry *e, char *to,
	struct cache_place *body);
/* The next bytes at *at, which advances: up to `most` that stand side by side, at least one. The
 * caller knows how many are left. */
struct str cache_read(const struct cache *c, struct cache_place *at, size_t most);

/* --- one at a time --- */

/* A claim on a key: its holder asks a server for the object, others wait until it is over. */
struct cache_claim {
	uint32_t is_over;        /* atomic */
	uint64_t begun_ms;       /* constant; others wait until collapse_ms later at most */
	/* Guarded by the cache's lock. */
	struct cache_claim *next;
	unsigned int refs;
	uint64_t waiting;        /* bits of workers */
	uint64_t hash;           /* of the key: two keys of one hash wait for each other */
};

/* The result of cache_claim(): an entry, or a claim, each with a reference, or none of them. */
struct cache_claimed {
	struct cache_entry *entry;
	struct cache_claim *claim;
	int is_mine;             /* the caller holds the claim */
};

/* As cache_find(). Without an object it returns a claim: that of another request, for which the
 * caller is to wait, or if there is none and the caller may hold one, its own. Neither an entry nor
 * a claim: a response for this key was lately not stored, the claim is older than collapse_ms, or
 * there is no memory. */
struct cache_claimed cache_claim(struct cache *c, const struct cache_caller *by, struct str key,
	const struct cache_variant *request, unsigned int worker, int may_hold) must_check;
/* The holder's claim is over, and released. is_refused: the response is none that is stored. The
 * workers that wait, as bits. */
uint64_t cache_end_claim(struct cache *c, const struct cache_caller *by, struct cache_claim *claim,
	int is_refused) must_check;
/* Stops waiting, and releases the claim. */
void cache_leave_claim(struct cache *c, const struct cache_caller *by, struct cache_claim *claim);

/* --- filling --- */

/* Taken before the bytes of an object of this key are asked for: objects that have been removed
 * since then make cache_begin() fail. */
uint32_t cache_mark(struct cache *c, const struct cache_caller *by, struct str key);
/*
 * Begins an object, which only its caller has. NULL: another one fills it, the key has been removed
 * since the mark, it has as many variants as may be, or there is no room. It ends with
 * cache_commit() or cache_abort().
 */
struct cache_entry *cache_begin(struct cache *c, const struct cache_caller *by, struct str key,
	const struct cache_variant *v, uint32_t mark) must_check;
/* Appends bytes: those of the head first. 0; -ERR_RANGE: the object would be too large; -ERR_FULL:
 * all blocks are in use. */
int cache_write(struct cache *c, const struct cache_caller *by, struct cache_entry *e,
	const char *p, size_t n) must_check;
/* All that was written so far is its head. */
void cache_end_head(struct cache_entry *e);
/* Completes it, unless its key was removed meanwhile: it replaces another one that is selected by
 * the same, and those of its key that serve all if it does not, or all if it does. The reference is
 * released. Times are set before. */
void cache_commit(struct cache *c, const struct cache_caller *by, struct cache_entry *e,
	struct str key);
/* Gives up an object that is not complete: its blocks are free, and e is gone. */
void cache_abort(struct cache *c, const struct cache_caller *by, struct cache_entry *e);

/* --- removing --- */

/* The objects of this key are not found any more, nor those that are being filled. Their number. */
unsigned int cache_remove(struct cache *c, const struct cache_caller *by, struct str key);
/* The same for all. */
unsigned int cache_clear(struct cache *c, const struct cache_caller *by);

/* --- showing --- */

struct cache_shown {
	const void *id;
	uint32_t hash;           /* of the key; the same in each process */
	uint32_t codings, texts; /* of the variant, a hash of the texts; 0: it serves all */
	uint64_t size;
	uint32_t blocks;
	unsigned int refs;
	int64_t expires_ms;      /* from now on; negative: it has expired */
};

/* Blocks that no reader and no filler has. */
uint32_t cache_available(struct cache *c, const struct cache_caller *by);
/* The position of a walk: behind all objects of so many chains, and so many of the next one. */
struct cache_walked {
	uint32_t chains;
	unsigned int objects;
};

/* Writes up to n complete objects to out, behind those of *at, and advances *at. Returns how many;
 * *at is zero after the last one. A chain is written at once if it has up to n objects; of a longer
 * one that changes meanwhile some may be missing, or written twice. */
unsigned int cache_walk(struct cache *c, const struct cache_caller *by, struct cache_walked *at,
	struct cache_shown *out, unsigned int n);

#endif
