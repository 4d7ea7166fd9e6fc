/* Lists the vocabulary as sorted text: -dK and the manual page. */
#ifndef TACIT_RULE_SAMPLE_DUMP_H
#define TACIT_RULE_SAMPLE_DUMP_H

#include "base/sbuf.h"
#include "cfg/entry.h"
#include "rule/sample/expr.h"

/* "name(arguments): type", one per line. */
void rule_dump_fetches(const struct rule_vocab *v, struct sbuf *out);
/* "name(arguments): result => input", as in HAProxy's -dKcnv. */
void rule_dump_convs(const struct rule_vocab *v, struct sbuf *out);
/* Calls fn for each log alias, fetch and converter: tacit.cfg(5). */
void rule_sample_entries(const struct rule_vocab *v, cfg_entry_fn *fn, void *arg);

/* True for a fetch or converter of HAProxy that is not supported. */
int rule_is_known(struct str name);

#endif
