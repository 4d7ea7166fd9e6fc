/*
 * An index of patterns by hash. Hashes grow byte by byte, so that all prefixes of a text whose
 * length occurs are looked up in one pass. Both the texts and the keys added by rules
 * (rule/match/pattern_live.h) may come from an attacker: the hash is keyed, so that collisions
 * cannot be chosen (base/hash.h). A full table is enlarged step by step, with each key that is
 * added, so that no single change has to wait for all of it.
 */
#ifndef TACIT_RULE_MATCH_PATTERN_INDEX_H
#define TACIT_RULE_MATCH_PATTERN_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/keyhash.h"
#include "base/str.h"

struct pattern;

/*
 * A slot is a pattern, and a byte of its hash, 0 if it is free: nearly every comparison with
 * another key ends there. The bytes of all slots are behind the pointers.
 */
struct pattern_index {
	struct keyhash key;      /* key of all hashes */
	struct pattern **slot;
	uint32_t cap, n;         /* cap: a power of two, at least twice n */
	struct pattern **old;    /* while the table grows: entries not moved yet; or NULL */
	uint32_t old_cap, moved; /* old has no entries below `moved` and none at it */
	uint64_t *lens;          /* bit set of the lengths of keys */
	uint32_t len_max;
	uint16_t len_words;
	uint8_t fold;            /* keys are in lower case; lookups fold case */
};

static inline unsigned char
pattern_fold(unsigned char c)
{
	return c >= 'A' && c <= 'Z' ? c | 0x20 : c;
}

void pattern_index_init(struct pattern_index *x, int fold, const struct keyhash *key);
void pattern_index_fini(struct pattern_index *x);
/*
 * Adds an item whose key is not in the index; its hash is one of the key's bytes in any order; len:
 * the value for pattern_index_has_len(). Returns 0 or -ERR_NOMEM.
 */
int pattern_index_add(struct pattern_index *x, struct pattern *item, size_t len) must_check;
/* Reserves room for n keys of up to this length. 0 or -ERR_NOMEM. */
int pattern_index_reserve(struct pattern_index *x, uint32_t n, size_t len_max) must_check;
/* Asks for the memory that adding or finding a key with this hash will touch. */
void pattern_index_prefetch(const struct pattern_index *x, uint32_t hash);
/* Replaces item by one with an equal key, or removes it if that is NULL. */
void pattern_index_replace(struct pattern_index *x, const struct pattern *item,
	struct pattern *heir);
/* hash: the upper half. NULL: none. */
struct pattern *pattern_index_find(const struct pattern_index *x, uint32_t hash, const char *key,
	size_t len);

static inline int
pattern_index_has_len(const struct pattern_index *x, size_t len)
{
	return len <= x->len_max && x->lens && (x->lens[len / 64] >> len % 64 & 1);
}

/* The greatest length up to this one that has occurred; -1: none. There are keys. */
static inline int
pattern_index_len_to(const struct pattern_index *x, int len)
{
	len = MIN(len, (int)x->len_max);
	while (len >= 0) {
		uint64_t upto = x->lens[len / 64] << (63 - len % 64);

		if (upto)
			return len - __builtin_clzll(upto);
		len = len / 64 * 64 - 1;
	}
	return -1;
}

#endif
