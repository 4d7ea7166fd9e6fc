/* Everything the vocabulary knows, as text, sorted: -dK and the manual page. */
#ifndef TACIT_RULE_SAMPLE_DUMP_H
#define TACIT_RULE_SAMPLE_DUMP_H

#include "base/sbuf.h"
#include "rule/sample/vocab.h"

/* "name(arguments): type", a line each. */
void rule_dump_fetches(const struct rule_vocab *v, struct sbuf *out);
/* "name(arguments): result => input", as HAProxy's -dKcnv has it. */
void rule_dump_convs(const struct rule_vocab *v, struct sbuf *out);
/* An entry of a manual page; syntax may be NULL. */
void rule_dump_entry(struct sbuf *out, const char *name, const char *syntax, const char *doc);
/* The sections LOG VARIABLES, FETCHES and CONVERTERS of tacit.cfg(5), roff. */
void rule_dump_man(const struct rule_vocab *v, struct sbuf *out);

#endif
