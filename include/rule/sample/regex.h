/*
 * Regular expressions (PCRE2) for -m reg, map_reg, regsub and the replace-x actions (manual
 * 7.1.4). Compiled once and shared by all workers; the work memory of a match is per worker. Every
 * match is limited: one that exceeds the limits is no match, which is counted and reported
 * (shortfall.h).
 *
 * The steps are those that PCRE2 allows by default, and HAProxy with it: nested repetitions use
 * them up within about 50 ms when they are compiled to machine code, within about 500 ms when they
 * are interpreted. But a step may go through the whole subject, and 10,000,000 of these take
 * minutes. So a match gets few steps at first. One that needs more is tried again: the first try
 * has shown how long a step takes, and the second one gets as many as fit into REGEX_TIME_MS.
 */
#ifndef TACIT_RULE_SAMPLE_REGEX_H
#define TACIT_RULE_SAMPLE_REGEX_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/sbuf.h"
#include "base/str.h"

#define REGEX_TEXT_MAX 8192       /* bytes of a regex */
#define REGEX_GROUPS 10           /* \0 to \9; further groups are ignored */
#define REGEX_STEPS_FIRST 10000u  /* of the matcher, from one start in the subject */
#define REGEX_STEPS_GROW 32u      /* times as many at the next try, at most */
#define REGEX_STEPS_MAX 10000000u /* the same, where the time allows */
#define REGEX_TIME_MS 200         /* of the processor */
#define REGEX_HEAP_KB 8192        /* memory for nested backtracks, per worker */
#define REGEX_JIT_STACK (256u << 10) /* the same for machine code; beyond it is interpreted */

#define REGEX_NOCASE 1u

struct regex;
struct regex_work;
struct sample_ctx;

struct regex_err {
	size_t at;                /* offset in the text */
	char text[160];
};

/* 0, -ERR_SYNTAX or -ERR_RANGE with *why filled in, or -ERR_NOMEM (with *why too). */
int regex_new(struct str text, unsigned int flags, struct regex **out,
	struct regex_err *why) must_check;
void regex_free(struct regex **r); /* NULL is allowed */

/* One per worker: memory for matching. NULL without memory. */
struct regex_work *regex_work_new(void) must_check;
void regex_work_free(struct regex_work **w);

/* Positions of the groups in the subject; [0] is the whole match. A group that did not match is
 * empty. */
struct regex_match {
	struct str group[REGEX_GROUPS];
};

/*
 * 1 matches, 0 does not: also when a limit was exceeded, or cx has no work memory. Searches from
 * offset `from` on; earlier bytes count for ^ and \b. m may be NULL.
 */
int regex_match(const struct regex *r, struct sample_ctx *cx, struct str subject, size_t from,
	struct regex_match *m);

/*
 * A replacement: \0 to \9 are groups, \xHH a byte, a backslash before another character is that
 * character. NULL if it is valid, else the error, static.
 */
const char *regex_subst_why_not(struct str subst);
/* Appends the replacement for one match. */
void regex_subst(struct str subst, const struct regex_match *m, struct sbuf *out);
/*
 * Appends subject with the first match, or with `all` every non-overlapping match, replaced.
 * Returns the number of matches.
 */
unsigned int regex_replace(const struct regex *r, struct sample_ctx *cx, struct str subject,
	struct str subst, int all, struct sbuf *out);

#endif
