/*
 * Log-format strings (manual 8.2.6), in logs and as arguments of actions: literal text,
 * "%[expression]", and, where aliases are handed in, "%ci" and "%{+Q}o" flags. Compiled once,
 * written many times.
 */
#ifndef TACIT_RULE_FMT_H
#define TACIT_RULE_FMT_H

#include "base/sbuf.h"
#include "rule/expr.h"

struct rule_fmt;

/*
 * at: SAMPLE_AT_x that hold where it is written. aliases: a table, or NULL: none are known. 0 or
 * a negative reason with *why.
 */
int rule_fmt_compile(const struct rule_vocab *v, const struct rule_alias *aliases, const char *text,
	unsigned int at, struct rule_fmt **out, struct rule_err *why) must_check;
void rule_fmt_free(struct rule_fmt **f);
int rule_fmt_check(struct rule_fmt *f, void *root, struct rule_err *why) must_check;
unsigned int rule_fmt_needs(const struct rule_fmt *f);
/* Its text when it has no variable part, else NULL: worth knowing for what is written often. */
const char *rule_fmt_literal(const struct rule_fmt *f);
/*
 * Appends it. An expression that finds nothing writes nothing ("-" in logs, as the manual has
 * it).
 */
void rule_fmt_write(const struct rule_fmt *f, struct sample_ctx *cx, struct sbuf *out);

#endif
