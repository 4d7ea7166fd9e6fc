/* The tables of this layer's fetches and converters, for whoever makes the vocabulary. */
#ifndef TACIT_RULE_TABLES_H
#define TACIT_RULE_TABLES_H

#include "rule/vocab.h"

extern const struct rule_fetch rule_misc_fetches[]; /* constants, dates, chance, variables */
extern const struct rule_fetch rule_head_fetches[]; /* start lines and fields */
extern const struct rule_fetch rule_uri_fetches[];
extern const struct rule_fetch rule_cookie_fetches[];
extern const struct rule_fetch rule_body_fetches[]; /* and bytes of mode tcp */

/* All of them. 0, or -ERR_RANGE. */
int rule_tables_add(struct rule_vocab *v) must_check;

#endif
