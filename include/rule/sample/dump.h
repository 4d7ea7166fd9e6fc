/* Lists the vocabulary as sorted text: -dK and the manual page. */
#ifndef TACIT_RULE_SAMPLE_DUMP_H
#define TACIT_RULE_SAMPLE_DUMP_H

#include "base/sbuf.h"
#include "rule/sample/vocab.h"

/* "name(arguments): type", one per line. */
void rule_dump_fetches(const struct rule_vocab *v, struct sbuf *out);
/* "name(arguments): result => input", as in HAProxy's -dKcnv. */
void rule_dump_convs(const struct rule_vocab *v, struct sbuf *out);
/* An entry of a manual page; syntax may be NULL. */
void rule_dump_entry(struct sbuf *out, const char *name, const char *syntax, const char *doc);
/* The sections LOG VARIABLES, FETCHES and CONVERTERS of tacit.cfg(5), roff. */
void rule_dump_man(const struct rule_vocab *v, struct sbuf *out);

#endif
