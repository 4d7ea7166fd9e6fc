/* Conversion of patterns to keys of an index, shared by pattern.c (adding) and pattern_match.c
 * (lookup). */
#ifndef TACIT_RULE_MATCH_PATTERN_KEY_H
#define TACIT_RULE_MATCH_PATTERN_KEY_H

#include "rule/match/pattern.h"

/* Delimiters of parts of paths (dir) and of URLs and hosts (dom). */
int pattern_is_delimiter(enum pattern_method m, char c);
uint64_t pattern_number_hash(const struct keyhash *key, int64_t v);
/* The hash of t's key, as pattern.hash has it. */
uint32_t pattern_key_hash(const struct pattern_set *p, const struct pattern *t);

#endif
