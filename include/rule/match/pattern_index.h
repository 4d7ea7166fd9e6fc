/*
 * Patterns by hash. A hash grows a byte at a time, so that all beginnings of a text are looked up
 * in one pass over it, at the lengths that some pattern has. What is looked up may be hostile, and
 * so may what rules put into the table (rule/match/pattern_live.h): the hash has a secret, and who
 * does not know it cannot choose keys that fall together (base/keyhash.h). A table that is full
 * grows a little with each key that is added then, so that no change waits for all of them.
 */
#ifndef TACIT_RULE_MATCH_PATTERN_INDEX_H
#define TACIT_RULE_MATCH_PATTERN_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/keyhash.h"
#include "base/str.h"

struct pattern;

struct pattern_slot {
	uint64_t hash;
	struct pattern *item;    /* NULL: free */
};

struct pattern_index {
	struct keyhash key;      /* of all hashes that it is given */
	struct pattern_slot *slot;
	uint32_t cap, n;         /* cap: a power of two, at least twice n */
	struct pattern_slot *old; /* while the table grows: what is not in slot yet; or NULL */
	uint32_t old_cap, moved; /* of old there is nothing left before moved, and nothing at it */
	uint64_t *lens;          /* which lengths of keys there are, a bit each */
	size_t len_words;
	size_t len_max;
	uint8_t fold;            /* keys are in lower case; others are compared so */
};

static inline unsigned char
pattern_fold(unsigned char c)
{
	return c >= 'A' && c <= 'Z' ? c | 0x20 : c;
}

void pattern_index_init(struct pattern_index *x, int fold, const struct keyhash *key);
void pattern_index_fini(struct pattern_index *x);
/*
 * item->key, under a hash made of it in whatever order; len: the number that
 * pattern_index_has_len() is asked for. 0, -ERR_EXISTS when an equal key is there, or -ERR_NOMEM.
 */
int pattern_index_add(struct pattern_index *x, struct pattern *item, uint64_t hash,
	size_t len) must_check;
/* Room for n keys of up to that length. 0 or -ERR_NOMEM. */
int pattern_index_reserve(struct pattern_index *x, uint32_t n, size_t len_max) must_check;
/* Puts one of an equal key in the place of item, or, NULL, nothing. */
void pattern_index_replace(struct pattern_index *x, const struct pattern *item, uint64_t hash,
	struct pattern *heir);
/* NULL: none. */
struct pattern *pattern_index_find(const struct pattern_index *x, uint64_t hash, const char *key,
	size_t len);

static inline int
pattern_index_has_len(const struct pattern_index *x, size_t len)
{
	return len <= x->len_max && x->lens && (x->lens[len / 64] >> len % 64 & 1);
}

#endif
