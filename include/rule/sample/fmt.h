/*
 * Log-format strings (manual 8.2.6), in logs and as arguments of actions: literal text,
 * "%[expression]" and the vocabulary's aliases, "%ci", with flags as in "%{+Q}ci". Compiled once.
 * Since values may come from clients, they can never contain or start a line.
 */
#ifndef TACIT_RULE_SAMPLE_FMT_H
#define TACIT_RULE_SAMPLE_FMT_H

#include "base/sbuf.h"
#include "rule/sample/expr.h"

struct rule_fmt;

/* Maximum number of parts of a format. */
#define RULE_FMT_PARTS_MAX 1024

/* Flags for aliases; the letters are the manual's. */
enum rule_fmt_flag {
	RULE_FMT_Q = 1u << 0,   /* strings and addresses in double quotes */
	RULE_FMT_X = 1u << 1,   /* addresses, ports and some numbers in hexadecimal */
	RULE_FMT_E = 1u << 2,   /* a backslash before '"', '\' and ']' */
	/*
	 * A log line: "-" replaces missing values, consecutive blanks become one, and bytes that
	 * could be misread are written as #XX (8.6). Without it (headers, bodies, variables)
	 * missing values are empty, and control bytes except HTAB are written as %XX.
	 */
	RULE_FMT_LOG = 1u << 3,
	/* One of several values in braces: '{', '|' and '}' are also escaped, with precedence over
	 * E, as with RULE_FMT_MARK. Aliases only. */
	RULE_FMT_LIST = 1u << 4,
	/* Consecutive blanks become one, as in a log line; no other change. */
	RULE_FMT_MERGE = 1u << 5,
	/* For a request line: '"' and '#' are written as #XX, even where E would escape '"'. */
	RULE_FMT_MARK = 1u << 6,
	/* Nothing is escaped: for bytes that are no line of a protocol, such as a body. */
	RULE_FMT_RAW = 1u << 7,
	/* With RULE_FMT_LOG, the value of an expression: its control characters are escaped, for
	 * the sake of the line, and all other bytes are unchanged. */
	RULE_FMT_VALUE = 1u << 8
};

/*
 * at: SAMPLE_AT_x available where it is evaluated. style: 0, RULE_FMT_LOG, RULE_FMT_MERGE or
 * RULE_FMT_RAW. 0 or a negative reason with *why.
 */
int rule_fmt_compile(const struct rule_vocab *v, const char *text, unsigned int style,
	unsigned int at, struct rule_fmt **out, struct rule_err *why) must_check;
/* Frees and clears; NULL is allowed. */
void rule_fmt_free(struct rule_fmt **f);
/* Resolves names of other sections. 0 or -1 with *why. */
int rule_fmt_check(struct rule_fmt *f, void *root, struct rule_err *why) must_check;
/* SAMPLE_AT_x that its expressions and aliases use. In logs expressions are evaluated at the
 * end. */
unsigned int rule_fmt_needs(const struct rule_fmt *f);
/* SAMPLE_AT_x that its expressions can use in addition. */
unsigned int rule_fmt_uses(const struct rule_fmt *f);
/* Its text if it is constant, else NULL: an optimization for frequent use. */
const char *rule_fmt_literal(const struct rule_fmt *f);
/* Appends it. */
void rule_fmt_write(const struct rule_fmt *f, struct sample_ctx *cx, struct sbuf *out);
/* Formats it into the arena, or returns a static text. 0, or -1: it does not fit. */
int rule_fmt_text(const struct rule_fmt *f, struct sample_ctx *cx, struct str *out) must_check;

/* Writes a string according to flags, also for aliases; p NULL: missing. */
void rule_fmt_put(struct sbuf *out, unsigned int flags, struct str s);

#endif
