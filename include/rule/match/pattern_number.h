/* Numbers in patterns and values of maps: 80, -1, 1024:65535, :1023, 3.1 (manual 7.1.2). */
#ifndef TACIT_RULE_MATCH_PATTERN_NUMBER_H
#define TACIT_RULE_MATCH_PATTERN_NUMBER_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/str.h"

/* An integer with an optional sign. 0, or -1: invalid, or beyond 64 bits. */
int pattern_number_parse(struct str text, int64_t *out) must_check;
/*
 * A number or a range, both ends inclusive; a missing end is the type's limit. dotted: numbers are
 * major.minor, 0 to 65535 each, as 16 bits and 16 bits; the minor part is optional. 0, or -1 with
 * *why, static.
 */
int pattern_range_parse(struct str text, int dotted, int64_t *lo, int64_t *hi,
	const char **why) must_check;
#define PATTERN_RANGE_MAX 48 /* size of a range's text, including its NUL */
/* The reverse. 0, or -1: it cannot be written as text. */
int pattern_range_text(int64_t lo, int64_t hi, int dotted, char *out) must_check;

#endif
