/*
 * Patterns: what samples are compared with, in ACLs and maps (manual 7.1). A set has one matching
 * method; its entries are found by hash, whatever their number, where the method allows it:
 * numbers, exact texts, bytes, beginnings, ends, path and domain parts, networks. Substrings,
 * regexes and ranges of numbers are tried one by one.
 *
 * A set is filled while the configuration is read and then only looked at, by all workers.
 */
#ifndef TACIT_RULE_PATTERN_H
#define TACIT_RULE_PATTERN_H

#include <stddef.h>
#include <stdint.h>

#include "rule/expr.h"
#include "rule/pattern_index.h"
#include "rule/regex.h"
#include "rule/sample.h"

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
/* PATTERN_METHODS: no such method. */
enum pattern_method pattern_method_of(struct str name);
/* The method of the type's own; PATTERN_METHODS: there is none (binary). */
enum pattern_method pattern_method_default(enum sample_type t);
/* May samples of that type be judged so? (the matrix in 7.1) */
int pattern_method_fits(enum pattern_method m, enum sample_type t);

enum pattern_op { PATTERN_EQ, PATTERN_GE, PATTERN_GT, PATTERN_LE, PATTERN_LT, PATTERN_OPS };

/* PATTERN_OPS: no operator. */
enum pattern_op pattern_op_of(struct str word);

#define PATTERN_NOCASE 1u
#define PATTERN_NO_DNS 2u        /* host names are errors, not questions */

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
	uint32_t order;          /* its place in the set */
	uint8_t nocase;
	int64_t lo, hi;          /* of numbers, both included */
	struct regex *regex;
	char bytes[];            /* text, key, value */
};

struct pattern_set {
	enum pattern_method method;
	enum sample_type out;    /* of the values; SAMPLE_ANY: there are none */
	struct pattern **all;    /* order of entry */
	uint32_t n, cap;
	struct pattern_index index[2]; /* with and without case; IP: IPv4 and IPv6 */
	struct pattern **list;   /* those that no index holds */
	uint32_t n_list, list_cap;
};

/* out: SAMPLE_ANY for an ACL, else STR, SINT or ADDR. */
void pattern_set_init(struct pattern_set *p, enum pattern_method m, enum sample_type out);
void pattern_set_fini(struct pattern_set *p);
/*
 * Adds one. value: of a map, p NULL otherwise. Of equal ones the first stays the one that is found.
 * 0, or a negative reason with *why, where at is an offset in text.
 */
int pattern_set_add(struct pattern_set *p, struct str text, enum pattern_op op, unsigned int flags,
	struct str value, struct rule_err *why) must_check;
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
int pattern_is_true(const struct sample *s, struct sample_ctx *cx);

#endif
