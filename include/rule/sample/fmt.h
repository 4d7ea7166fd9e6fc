/*
 * Log-format strings (manual 8.2.6), in logs and as arguments of actions: literal text,
 * "%[expression]" and the vocabulary's aliases, "%ci", all with flags as in "%{+Q}ci".
 * Compiled once, written many times. What expressions and aliases give never ends a line and never
 * begins one: it comes out of the traffic.
 */
#ifndef TACIT_RULE_SAMPLE_FMT_H
#define TACIT_RULE_SAMPLE_FMT_H

#include "base/sbuf.h"
#include "rule/sample/expr.h"

struct rule_fmt;

/* One format has at most so many parts. */
#define RULE_FMT_PARTS_MAX 1024

/* What an alias is told of how to write; the letters are the manual's. */
enum rule_fmt_flag {
	RULE_FMT_Q = 1u << 0,   /* strings and addresses in double quotes */
	RULE_FMT_X = 1u << 1,   /* addresses, ports and some numbers in hexadecimal */
	RULE_FMT_E = 1u << 2,   /* a backslash before '"', '\' and ']' */
	/*
	 * A log line: "-" stands for what is not there, blanks in a row are one, and bytes that
	 * could be taken for something else are written as #XX (8.6). Without it (headers, bodies,
	 * variables) what is not there is nothing, and control bytes but HTAB are written as %XX.
	 */
	RULE_FMT_LOG = 1u << 3,
	/* And one of several between braces: '{', '|' and '}' are written so too, and this before
	 * what E asks for, as with RULE_FMT_MARK. Of aliases only. */
	RULE_FMT_LIST = 1u << 4,
	/* Blanks in a row are one, as in a log line, but nothing else of it. */
	RULE_FMT_MERGE = 1u << 5,
	/* Of a request line: '"' and '#' are marked even where E would escape the first. */
	RULE_FMT_MARK = 1u << 6
};

/*
 * at: SAMPLE_AT_x that hold where it is written. style: 0, RULE_FMT_LOG or RULE_FMT_MERGE. 0 or a
 * negative reason with *why.
 */
int rule_fmt_compile(const struct rule_vocab *v, const char *text, unsigned int style,
	unsigned int at, struct rule_fmt **out, struct rule_err *why) must_check;
/* Frees and clears; NULL is allowed. */
void rule_fmt_free(struct rule_fmt **f);
/* Resolves what names other sections. 0 or -1 with *why. */
int rule_fmt_check(struct rule_fmt *f, void *root, struct rule_err *why) must_check;
/* SAMPLE_AT_x that its expressions and aliases look at. In logs expressions wait for the end. */
unsigned int rule_fmt_needs(const struct rule_fmt *f);
/* And those besides that its expressions look at where they hold. */
unsigned int rule_fmt_uses(const struct rule_fmt *f);
/* Its text when it has no variable part, else NULL: worth knowing for what is written often. */
const char *rule_fmt_literal(const struct rule_fmt *f);
/* Appends it. */
void rule_fmt_write(const struct rule_fmt *f, struct sample_ctx *cx, struct sbuf *out);
/* What it gives, in the arena or static. 0, or -1: it does not fit. */
int rule_fmt_text(const struct rule_fmt *f, struct sample_ctx *cx, struct str *out) must_check;

/* A string as flags say, for aliases too; p NULL: it is not there. */
void rule_fmt_put(struct sbuf *out, unsigned int flags, struct str s);

#endif
