/* Numbers as patterns and the values of maps have them: 80, -1, 1024:65535, :1023, 3.1 (manual
 * 7.1.2). */
#ifndef TACIT_RULE_MATCH_PATTERN_NUMBER_H
#define TACIT_RULE_MATCH_PATTERN_NUMBER_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/str.h"

/* A whole number with an optional sign. 0, or -1: none, or beyond 64 bits. */
int pattern_number_parse(struct str text, int64_t *out) must_check;
/*
 * A number or a range, both ends included; an end that is left out is the type's. dotted: numbers
 * are major.minor, 0 to 65535 each, as 16 bits and 16 bits; the minor one may be left out. 0, or -1
 * with *why, static.
 */
int pattern_range_parse(struct str text, int dotted, int64_t *lo, int64_t *hi,
	const char **why) must_check;
#define PATTERN_RANGE_MAX 48 /* bytes of a range's text, its NUL included */
/* The other way. 0, or -1: nothing that can be written so. */
int pattern_range_text(int64_t lo, int64_t hi, int dotted, char *out) must_check;

#endif
