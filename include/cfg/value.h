#ifndef TACIT_CFG_VALUE_H
#define TACIT_CFG_VALUE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Typed values of a configuration. Each parser accepts the whole string or fails: 0 with *out set,
 * or -1 with *out unchanged and the reason in err->text, which names the value and what is allowed.
 * `err` may be NULL.
 */

enum { CFG_VALUE_TEXT_MAX = 256 };

struct cfg_value_err {
	char text[CFG_VALUE_TEXT_MAX];
	char odd;	/* the character that is invalid in a time, or 0 */
};

/* Decimal integer with an optional sign. */
int cfg_value_int(const char *s, int64_t min, int64_t max, int64_t *out,
		  struct cfg_value_err *err);

/* The default unit. */
enum cfg_unit { CFG_UNIT_US, CFG_UNIT_MS, CFG_UNIT_S };

/* HAProxy's own limit: a signed 32-bit number of milliseconds, 24.8 days. */
#define CFG_TIME_MAX_MS UINT64_C(2147483647)

/* Time with units us ms s m h d (manual 2.5), result in milliseconds; a value above
 * zero that is shorter than a millisecond becomes 1. */
int cfg_value_time(const char *s, enum cfg_unit unit, uint64_t min_ms, uint64_t max_ms,
		   uint64_t *out_ms, struct cfg_value_err *err);

/* Bytes with an optional k, m or g (powers of 1024, either case). */
int cfg_value_size(const char *s, uint64_t min, uint64_t max, uint64_t *out,
		   struct cfg_value_err *err);

/* "N" or "N%", 0..max (at most 100 for percentages of a whole). */
int cfg_value_percent(const char *s, unsigned int max, unsigned int *out,
	struct cfg_value_err *err);

/* on/off, true/false, yes/no, 1/0. */
int cfg_value_bool(const char *s, int *out, struct cfg_value_err *err);

struct cfg_enum {
	const char *name;	/* NULL ends the table */
	int value;
	const char *doc;	/* for the manual; may be NULL */
};

/* The row of this word of n bytes, or NULL. What a name has behind its word, as "len <n>" or
 * "hdr(<name>)", is for the manual and not compared. */
const struct cfg_enum *cfg_enum_find(const struct cfg_enum *table, const char *word, size_t n);

/* One name of a table; the error lists the names and the nearest one. */
int cfg_value_enum(const char *s, const struct cfg_enum *table, int *out,
		   struct cfg_value_err *err);

#endif
