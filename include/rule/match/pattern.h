/*
 * Patterns that samples are compared with, in ACLs and maps (manual 7.1). A set has one matching
 * method; entries are found by hash where the method allows it: numbers, exact texts, bytes,
 * prefixes, suffixes, path and domain parts, networks. Substrings, regexes and ranges of numbers
 * are tried one by one.
 *
 * All workers read a set without a lock: it is filled while the configuration is read, and changes
 * later only while they are paused (wake_worker.h in app/process). A set that rules change has
 * a guard, which is set before any worker runs: a reader holds the guard until it has used or
 * copied the result (pattern_set_look), a writer holds it exclusively.
 */
#ifndef TACIT_RULE_MATCH_PATTERN_H
#define TACIT_RULE_MATCH_PATTERN_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/keyhash.h"
#include "base/list.h"
#include "base/shared_lock.h"
#include "base/str.h"
#include "rule/match/pattern_net.h"
#include "rule/sample/expr.h"
#include "rule/sample/regex.h"
#include "rule/sample/sample.h"

/*
 * An index of patterns by hash. Hashes grow byte by byte, so that all prefixes of a text whose
 * length occurs are looked up in one pass. Both the texts and the keys added by rules
 * (rule/match/pattern_live.h) may come from an attacker: the hash is keyed, so that collisions
 * cannot be chosen (base/hash.h). A full table is enlarged step by step, with each key that is
 * added, so that no single change has to wait for all of it.
 */

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

enum pattern_method {
	PATTERN_FOUND,
	PATTERN_BOOL,
	PATTERN_INT,
	PATTERN_VER,   /* integers written as major.minor: 16 bits each; not available with -m */
	PATTERN_IP,
	PATTERN_BIN,
	PATTERN_LEN,
	PATTERN_STR,
	PATTERN_BEG,
	PATTERN_END,
	PATTERN_SUB,
	PATTERN_DIR,
	PATTERN_DOM,
	PATTERN_REG,
	PATTERN_METHODS
};

/* The name after -m; NULL for PATTERN_VER. */
const char *pattern_method_name(enum pattern_method m);
/* Description for the manual page; NULL as above. */
const char *pattern_method_doc(enum pattern_method m);
/* PATTERN_METHODS: unknown method. */
enum pattern_method pattern_method_of(struct str name);
/* True if samples of that type support the method (the matrix in 7.1). */
int pattern_method_fits(enum pattern_method m, enum sample_type t);

enum pattern_op { PATTERN_EQ, PATTERN_GE, PATTERN_GT, PATTERN_LE, PATTERN_LT, PATTERN_OPS };

#define PATTERN_NOCASE 1u
#define PATTERN_NO_DNS 2u        /* host names are errors, not resolved */

#define PATTERN_TEXT_MAX 65535   /* bytes of one */
#define PATTERN_SET_MAX (1u << 24)
#define PATTERN_PART_MAX 255     /* longer path and domain parts are tried one by one */

struct pattern_entry;
struct pattern_ref;

/* A set, the map or ACL whose entries it is made of (NULL: none), and its options. */
struct pattern_feed {
	struct pattern_ref *ref;
	struct pattern_set *set;
	unsigned int flags;          /* PATTERN_x */
	struct pattern_feed *other;  /* of the same set: the lines of one ACL share it; or NULL */
};

/* There may be millions of them: an entry, its text and its first pattern are one piece of
 * memory. */
struct pattern {
	struct pattern *next;    /* of the same entry, for another set */
	struct list same;        /* further patterns with its key; the index finds only the first */
	uint32_t hash;           /* of its key: the upper half */
	uint32_t key_at;         /* offset of its key from here: in the entry's text, or behind */
	uint16_t key_len;
	uint8_t out;             /* the set's: enum sample_type */
	uint8_t nocase : 1, has_regex : 1;
	uint8_t is_first : 1;    /* it is pattern_entry.first; otherwise see struct pattern_more */
	/* The entry's, in its `first` only: they have room here. */
	uint8_t has_room : 1;    /* for `first` to be a pattern */
	uint8_t owns_value : 1;  /* its value is memory of its own */
	uint16_t text_len;
};

/* Returns the text, or the bytes, that are compared. */
static inline struct str
pattern_key(const struct pattern *t)
{
	return (struct str){ (const char *)t + t->key_at, t->key_len };
}

/* The range of a number: both ends inclusive. */
struct pattern_range {
	int64_t lo, hi;
};

static inline const struct pattern_range *
pattern_range(const struct pattern *t)
{
	return (const struct pattern_range *)(const void *)((const char *)t + t->key_at);
}

static inline const struct regex *
pattern_regex(const struct pattern *t)
{
	return *(struct regex *const *)(const void *)((const char *)t + t->key_at);
}

/* A value of a map as its type. */
struct pattern_data {
	enum sample_type type;
	union sample_value u;
};

struct pattern_set {
	enum pattern_method method;
	enum sample_type out;    /* type of the values; SAMPLE_ANY: no values */
	uint32_t n;
	struct pattern_index index[2]; /* with and without case; IP: IPv4 and IPv6 */
	struct pattern **list;   /* patterns that are not in an index, in order */
	uint32_t n_list, list_cap;
	struct shared_lock *guard; /* the owner's; NULL: changes only while workers are paused */
	struct pattern_feed *feeds; /* of the maps and ACLs that it is made of */
	/* In order: those that pattern_set_add() has made, or that a plan has not added yet. */
	struct pattern **all;
	uint32_t n_all, all_cap;
};

/* Begins a look-up (pattern_match()) where others may change the set. */
static inline void
pattern_set_look(const struct pattern_set *p, struct sys *sys)
{
	if (p->guard)
		shared_lock_look(p->guard, sys);
}

static inline void
pattern_set_looked(const struct pattern_set *p)
{
	if (p->guard)
		shared_lock_looked(p->guard);
}

/* out: SAMPLE_ANY for an ACL, else STR, SINT or ADDR. key: of its hashes; copied. */
void pattern_set_init(struct pattern_set *p, enum pattern_method m, enum sample_type out,
	const struct keyhash *key);
/* An empty one that can take the patterns of p. */
void pattern_set_init_like(struct pattern_set *to, const struct pattern_set *p);
void pattern_set_fini(struct pattern_set *p);
/* True if a pattern may have this text: 0, or a negative reason with *why. */
int pattern_check_text(struct str text, struct rule_err *why) must_check;
/* The value of a map. Its bytes are those of the entry. */
struct pattern_data pattern_value(const struct pattern *t);

/* Adds it to the set, as the last one: its entry has the highest id. The first of equal patterns
 * is found. 0, -ERR_FULL or -ERR_NOMEM. */
int pattern_set_enter(struct pattern_set *p, struct pattern *t) must_check;
/* Makes room in an empty set for about n patterns with these flags. 0 or -ERR_NOMEM. */
int pattern_set_expect(struct pattern_set *p, unsigned int flags, uint64_t n) must_check;
/* Asks for the memory that adding t will touch. */
void pattern_set_prefetch(struct pattern_set *p, const struct pattern *t);
/* Removes it from the set. */
void pattern_set_leave(struct pattern_set *p, struct pattern *t);
/* Makes an entry with a pattern and adds it to a set without a map or ACL, which then owns it.
 * value: p NULL: none. */
int pattern_set_add(struct pattern_set *p, struct str text, enum pattern_op op, unsigned int flags,
	struct str value, struct rule_err *why) must_check;
/*
 * Plans to replace the contents of a set: prepares `to` for these n patterns, in order, which were
 * made for p and may be in it. `all` is from mem_alloc(); `to` owns it, or after -ERR_NOMEM the
 * caller.
 */
int pattern_set_plan(const struct pattern_set *p, struct pattern_set *to, struct pattern **all,
	uint32_t n) must_check;
/* Adds the patterns of a plan; patterns that are in no other set may be added before the swap.
 * Cannot fail. */
void pattern_set_fill(struct pattern_set *to);
/* Swaps: p then has the contents of `to`, and `to` those of p, to be dropped; their owner has the
 * patterns. The guard and the feeds stay with p. Cannot fail; constant time. */
void pattern_set_swap(struct pattern_set *p, struct pattern_set *to);
/* Frees a set whose patterns have another owner; also a plan that is not applied. */
void pattern_set_forget(struct pattern_set *to);

/*
 * The entry that matches the sample, or NULL: the longest of several prefixes or networks,
 * otherwise the first. groups: of a regex; NULL: not wanted. The sample is cast as the method
 * requires, in cx's arena, which the caller marks and releases.
 */
const struct pattern *pattern_match(const struct pattern_set *p, const struct sample *s,
	struct sample_ctx *cx, struct regex_match *groups);
/*
 * The same for the sample of the fetch `method` in a set of texts, as HAProxy compares it: a
 * method that it knows is compared with case, even with -i, and with no other text.
 */
const struct pattern *pattern_match_http_method(const struct pattern_set *p, struct str method);
/* For PATTERN_BOOL, which has no patterns. */
int pattern_match_bool(const struct sample *s, struct sample_ctx *cx);

#endif
