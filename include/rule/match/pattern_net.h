/* Addresses and networks as patterns (manual 7.1.6). */
#ifndef TACIT_RULE_MATCH_PATTERN_NET_H
#define TACIT_RULE_MATCH_PATTERN_NET_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/keyhash.h"
#include "base/str.h"
#include "rule/sample/sample.h"

#define PATTERN_RANGE_MAX 48 /* size of a range's text, including its NUL */

#define PATTERN_NET_KEY 17   /* bytes of the longest key: those of an IPv6 address, and bits */
#define PATTERN_NET_KEY4 5   /* the same of IPv4 */

/* An address and its prefix length. IPv4 is in the upper half of hi. */
struct pattern_net {
	uint64_t hi, lo;
	uint8_t bits;
	uint8_t v6;
};

/* An address or network in pattern syntax, without name resolution. */
int pattern_net_parse(struct str text, struct pattern_net *out, const char **why) must_check;
/* One complete address, as in values of maps: no mask, no omitted parts. 0 or -1. */
int pattern_address_parse(struct str text, struct sample *s) must_check;
/* The address of a sample of type IPV4 or IPV6, with all its bits. */
void pattern_net_of(const struct sample *s, struct pattern_net *net);
/* Keeps `bits` bits of it. */
void pattern_net_cut(struct pattern_net *net, unsigned int bits);
/* key: room for PATTERN_NET_KEY bytes. Bits beyond net->bits are 0. Returns its length, which
 * differs by family. */
size_t pattern_net_key(const struct pattern_net *net, char *key);
uint64_t pattern_net_hash(const struct keyhash *key, const struct pattern_net *net);

/* An integer with an optional sign. 0, or -1: invalid, or beyond 64 bits. */
int pattern_number_parse(struct str text, int64_t *out) must_check;
/*
 * A number or a range, both ends inclusive; a missing end is the type's limit. dotted: numbers are
 * major.minor, 0 to 65535 each, as 16 bits and 16 bits; the minor part is optional. 0, or -1 with
 * *why, static.
 */
int pattern_range_parse(struct str text, int dotted, int64_t *lo, int64_t *hi,
	const char **why) must_check;
/* The reverse. 0, or -1: it cannot be written as text. */
int pattern_range_text(int64_t lo, int64_t hi, int dotted, char *out) must_check;

#endif
