/*
 * Patterns: what samples are compared with, in ACLs and maps (manual 7.1). A set has one matching
 * method; its entries are found by hash, whatever their number, where the method allows it:
 * numbers, exact texts, bytes, beginnings, ends, path and domain parts, networks. Substrings,
 * regexes and ranges of numbers are tried one by one.
 *
 * All workers look at a set, without a lock: it is filled while the configuration is read, and
 * changes later only while they stand still (app/process/rendezvous.h). One that rules change has a
 * guard, which is known before any worker runs: who looks at it holds the guard until what was
 * found has been used or copied (pattern_set_look), and who changes it has it alone.
 */
#ifndef TACIT_RULE_MATCH_PATTERN_H
#define TACIT_RULE_MATCH_PATTERN_H

#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/shared_lock.h"
#include "rule/sample/expr.h"
#include "rule/match/pattern_index.h"
#include "rule/sample/regex.h"
#include "rule/sample/sample.h"

enum pattern_method {
	PATTERN_FOUND,
	PATTERN_BOOL,
	PATTERN_INT,
	PATTERN_VER,   /* integers written as major.minor: 16 bits each; not to be had with -m */
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

/* As after -m; NULL for PATTERN_VER. */
const char *pattern_method_name(enum pattern_method m);
/* What it compares, for the manual page; NULL as above. */
const char *pattern_method_doc(enum pattern_method m);
/* PATTERN_METHODS: no such method. */
enum pattern_method pattern_method_of(struct str name);
/* The method of the type's own; PATTERN_METHODS: there is none (binary, any). */
enum pattern_method pattern_method_default(enum sample_type t);
/* May samples of that type be judged so? (the matrix in 7.1) */
int pattern_method_fits(enum pattern_method m, enum sample_type t);

enum pattern_op { PATTERN_EQ, PATTERN_GE, PATTERN_GT, PATTERN_LE, PATTERN_LT, PATTERN_OPS };

/* PATTERN_OPS: no operator. */
enum pattern_op pattern_op_of(struct str word);

#define PATTERN_NOCASE 1u
#define PATTERN_NO_DNS 2u        /* host names are errors, not questions */
#define PATTERN_BORROW 4u        /* text and value outlive it, and end with a NUL: no copies */

#define PATTERN_TEXT_MAX 65535   /* bytes of one */
#define PATTERN_SET_MAX (1u << 24)
#define PATTERN_PART_MAX 255     /* longer parts of paths and domains are tried one by one */

/* An address and how many bits of it count. IPv4 stands in the upper half of hi. */
struct pattern_net {
	uint64_t hi, lo;
	uint8_t bits;
	uint8_t v6;
};

struct pattern {
	struct str text;         /* as written */
	struct str key;          /* what is compared */
	struct str value;        /* of a map, as written; p NULL: none */
	struct sample data;      /* the value as the map's type */
	uint64_t order;          /* grows with each that enters the set */
	uint8_t nocase;
	uint32_t at;             /* in set->all */
	int64_t lo, hi;          /* of numbers, both included */
	struct regex *regex;
	struct list same;        /* others of its key in the index, which finds the first alone */
	struct pattern_set *set; /* that it was made for */
	const void *owner;       /* struct pattern_ref, or NULL */
	struct pattern *next;    /* its owner's */
	char bytes[];            /* text, key, value */
};

struct pattern_set {
	enum pattern_method method;
	enum sample_type out;    /* of the values; SAMPLE_ANY: there are none */
	struct pattern **all;    /* order of entry, until one leaves */
	uint32_t n, cap;
	uint64_t orders;         /* given out so far */
	struct pattern_index index[2]; /* with and without case; IP: IPv4 and IPv6 */
	struct pattern **list;   /* those that no index holds */
	uint32_t n_list, list_cap;
	struct shared_lock *guard; /* its owner's; NULL: changes only while workers stand still */
};

/* Around pattern_match(), by who runs while others may change the set. */
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

/* out: SAMPLE_ANY for an ACL, else STR, SINT or ADDR. key: of its hashes; it keeps a copy. */
void pattern_set_init(struct pattern_set *p, enum pattern_method m, enum sample_type out,
	const struct keyhash *key);
void pattern_set_fini(struct pattern_set *p);
/*
 * Makes one for the set, which is not in it yet. value: of a map, p NULL otherwise. 0, or a
 * negative reason with *why, where at is an offset in text.
 */
int pattern_make(struct pattern_set *p, struct str text, enum pattern_op op, unsigned int flags,
	struct str value, struct pattern **out, struct rule_err *why) must_check;
/* Gives it another value, which outlives it. What it had stays if this one is no such value. */
int pattern_change(struct pattern *t, struct str value, struct rule_err *why) must_check;
/* Of one that is in no set. */
void pattern_free(struct pattern *t);

/* Into the set, which owns it from now on. Of equal ones the first stays the one that is found.
 * 0, -ERR_FULL or -ERR_NOMEM. */
int pattern_set_enter(struct pattern_set *p, struct pattern *t) must_check;
/* Out of the set: the caller's. */
void pattern_set_leave(struct pattern_set *p, struct pattern *t);
/* Makes one and enters it. */
int pattern_set_add(struct pattern_set *p, struct str text, enum pattern_op op, unsigned int flags,
	struct str value, struct rule_err *why) must_check;
/*
 * To change what a set holds as a whole: `to` is made ready for these n, which are all made for p
 * and may be in it. `all` is of mem_alloc() and to's then, or the caller's after -ERR_NOMEM.
 */
int pattern_set_plan(const struct pattern_set *p, struct pattern_set *to, struct pattern **all,
	uint32_t n) must_check;
/* Enters what a plan was made for; of patterns that no other set holds this may be done before the
 * swap. Cannot fail. */
void pattern_set_fill(struct pattern_set *to);
/* p holds what `to` was filled with, and `to`, to be forgotten, what p held, which is its owner's.
 * The guard stays p's. Cannot fail, and takes no time. */
void pattern_set_swap(struct pattern_set *p, struct pattern_set *to);
/* The end of one whose patterns are somebody else's; also of a plan that is given up. */
void pattern_set_forget(struct pattern_set *to);

/* An address or network as patterns have it (7.1.6), without asking for names. */
int pattern_net_parse(struct str text, struct pattern_net *out, const char **why) must_check;

/*
 * The entry that the sample matches, or NULL: of several the longest of beginnings and networks,
 * otherwise the first. groups: of a regex, NULL: not wanted. The sample is cast as the method wants
 * it, in cx's arena, which the caller marks and releases.
 */
const struct pattern *pattern_match(const struct pattern_set *p, const struct sample *s,
	struct sample_ctx *cx, struct regex_match *groups);
/* PATTERN_BOOL, which takes no patterns. */
int pattern_match_bool(const struct sample *s, struct sample_ctx *cx);

#endif
