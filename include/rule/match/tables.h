/* All fetches and converters of this level, for the vocabulary. */
#ifndef TACIT_RULE_MATCH_TABLES_H
#define TACIT_RULE_MATCH_TABLES_H

#include "rule/sample/expr.h"

/* Adds them. 0, or -ERR_RANGE. */
int rule_tables_add(struct rule_vocab *v) must_check;

#endif
