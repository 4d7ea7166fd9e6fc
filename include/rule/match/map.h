/* The converters map, map_beg, map_ip_int ... (manual 7.3.1): a table of a file's keys and
 * values. */
#ifndef TACIT_RULE_MATCH_MAP_H
#define TACIT_RULE_MATCH_MAP_H

#include "rule/sample/expr.h"

/* map(<file>[,<default>]) in all variants. Files are read through the vocabulary's `files`. */
extern const struct rule_conv rule_map_convs[];

#endif
