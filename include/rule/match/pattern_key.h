/* Conversion of patterns to keys of an index, shared by pattern.c (adding) and pattern_match.c
 * (lookup). */
#ifndef TACIT_RULE_MATCH_PATTERN_KEY_H
#define TACIT_RULE_MATCH_PATTERN_KEY_H

#include "rule/match/pattern.h"

#define PATTERN_NET_KEY 18   /* hi, lo, bits, family */
#define PATTERN_KEY_FIXED 18 /* keys whose length is not that of the text */

/* Delimiters of parts of paths (dir) and of URLs and hosts (dom). */
int pattern_is_delimiter(enum pattern_method m, char c);
/* key: PATTERN_NET_KEY bytes. Bits beyond net->bits are 0. */
void pattern_net_key(const struct pattern_net *net, char *key);
uint64_t pattern_net_hash(const struct keyhash *key, const struct pattern_net *net);
uint64_t pattern_number_hash(const struct keyhash *key, int64_t v);
/* The address as a sample. */
void pattern_net_sample(const struct pattern_net *net, struct sample *s);
/* One complete address, as in values of maps: no mask, no omitted parts. 0 or -1. */
int pattern_address_parse(struct str text, struct sample *s) must_check;
void pattern_net_of(const struct sample *s, struct pattern_net *net);
/* Keeps `bits` bits of it. */
void pattern_net_cut(struct pattern_net *net, unsigned int bits);
/* The index and key for t. NULL: it is in no index. */
struct pattern_index *pattern_key_index(struct pattern_set *p, const struct pattern *t,
	uint64_t *hash, size_t *len);

#endif
