/* Parsers of numbers, times, sizes and names. Pure: a parser takes the whole string or leaves
 * *out as it was. */
#include "cfg/value.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/compiler.h"
#include "cfg/suggest.h"

/* Maximum length of an invalid value in a message. */
#define SHOWN "%.60s"
#define SHOWN_MAX 60u

struct unit {
	const char *name;
	uint64_t scale;
};

/* in microseconds */
static const struct unit time_units[] = {
	{ "us", UINT64_C(1) },
	{ "ms", UINT64_C(1000) },
	{ "s", UINT64_C(1000000) },
	{ "m", UINT64_C(60000000) },
	{ "h", UINT64_C(3600000000) },
	{ "d", UINT64_C(86400000000) },
};

static const struct unit size_units[] = {
	{ "k", UINT64_C(1) << 10 },
	{ "m", UINT64_C(1) << 20 },
	{ "g", UINT64_C(1) << 30 },
};

static int value_fail(struct cfg_value_err *err, const char *fmt, ...) fmt_printf(2, 3);

static int
value_fail(struct cfg_value_err *err, const char *fmt, ...)
{
	va_list ap;

	if (err) {
		err->odd = '\0';
		va_start(ap, fmt);
		vsnprintf(err->text, sizeof(err->text), fmt, ap);
		va_end(ap);
	}
	return -1;
}

/* Parses the digits at *s; sets *over on overflow. Returns their number and advances *s. */
static size_t
parse_digits(const char **s, uint64_t *out, int *over)
{
	const char *p = *s;
	uint64_t v = 0;
	size_t n;

	*over = 0;
	for (; *p >= '0' && *p <= '9'; p++) {
		uint64_t d = (uint64_t)(*p - '0');

		if (v > (UINT64_MAX - d) / 10)
			*over = 1;
		else
			v = v * 10 + d;
	}
	*out = v;
	n = (size_t)(p - *s);
	*s = p;
	return n;
}

int
cfg_value_int(const char *s, int64_t min, int64_t max, int64_t *out,
	      struct cfg_value_err *err)
{
	const char *p = s;
	int neg = 0, over;
	uint64_t v, bound;

	if (*p == '+' || *p == '-')
		neg = *p++ == '-';
	if (parse_digits(&p, &v, &over) == 0 || *p)
		return value_fail(err,
			"'" SHOWN "' is not an integer (%" PRId64 "..%" PRId64 " expected)", s, min,
			max);
	bound = neg ? (uint64_t)INT64_MAX + 1 : (uint64_t)INT64_MAX;
	if (!over && v <= bound) {
		int64_t n = neg ? (int64_t)(0 - v) : (int64_t)v;

		if (n >= min && n <= max) {
			*out = n;
			return 0;
		}
	}
	return value_fail(
		err, "'" SHOWN "' is out of range (%" PRId64 "..%" PRId64 ")", s, min, max);
}

/* A number and an optional unit of `units`; ci: case-insensitive. */
static int
parse_scaled(const char *s, const struct unit *units, size_t n, uint64_t deflt, int ci,
	uint64_t *out, int *over)
{
	uint64_t v, scale = deflt;
	const char *p = s;

	if (parse_digits(&p, &v, over) == 0)
		return -1;
	if (*p) {
		size_t i = 0;

		while (i < n && (ci ? strcasecmp(p, units[i].name) : strcmp(p, units[i].name)) != 0)
			i++;
		if (i == n)
			return -1;
		scale = units[i].scale;
	}
	if (v > UINT64_MAX / scale)
		*over = 1;
	else
		*out = v * scale;
	return 0;
}

/* The first character of `s` that is invalid in a time; 0: none. */
static char
odd_in_time(const char *s)
{
	while (*s >= '0' && *s <= '9')
		s++;
	if (strncmp(s, "us", 2) == 0 || strncmp(s, "ms", 2) == 0)
		return s[2];
	return *s && strchr("smhd", *s) ? s[1] : *s;
}

int
cfg_value_time(const char *s, enum cfg_unit unit, uint64_t min_ms, uint64_t max_ms,
	       uint64_t *out_ms, struct cfg_value_err *err)
{
	uint64_t us = 0, ms;
	int over = 0;

	if (parse_scaled(s, time_units, ARRAY_LEN(time_units), time_units[unit].scale, 0, &us,
		    &over)) {
		value_fail(err,
			"'" SHOWN
			"' is not a time (a number and one of us, ms, s, m, h, d expected)",
			s);
		if (err)
			err->odd = odd_in_time(s);
		return -1;
	}
	ms = us / 1000 + (us > 0 && us < 1000);
	if (!over && ms >= min_ms && ms <= max_ms) {
		*out_ms = ms;
		return 0;
	}
	return value_fail(err, "timer %s in argument '" SHOWN "' (%" PRIu64 "..%" PRIu64 " ms)",
		over || ms > max_ms ? "overflow" : "underflow", s, min_ms, max_ms);
}

int
cfg_value_size(const char *s, uint64_t min, uint64_t max, uint64_t *out,
	       struct cfg_value_err *err)
{
	uint64_t v = 0;
	int over = 0;

	if (parse_scaled(s, size_units, ARRAY_LEN(size_units), 1, 1, &v, &over))
		return value_fail(
			err, "'" SHOWN "' is not a size (a number and one of k, m, g expected)", s);
	if (!over && v >= min && v <= max) {
		*out = v;
		return 0;
	}
	return value_fail(err, "size '" SHOWN "' is out of range (%" PRIu64 "..%" PRIu64 " bytes)",
		s, min, max);
}

int
cfg_value_percent(const char *s, unsigned int max, unsigned int *out, struct cfg_value_err *err)
{
	const char *p = s;
	uint64_t v;
	int over;

	if (parse_digits(&p, &v, &over) == 0 || (*p && strcmp(p, "%") != 0))
		return value_fail(err, "'" SHOWN "' is not a percentage (0..%u expected)", s, max);
	if (over || v > max)
		return value_fail(err, "'" SHOWN "' is out of range (0..%u)", s, max);
	*out = (unsigned int)v;
	return 0;
}

int
cfg_value_bool(const char *s, int *out, struct cfg_value_err *err)
{
	static const struct {
		const char *name;
		int value;
	} names[] = {
		{ "on", 1 }, { "off", 0 }, { "true", 1 }, { "false", 0 },
		{ "yes", 1 }, { "no", 0 }, { "1", 1 }, { "0", 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (strcmp(s, names[i].name) == 0) {
			*out = names[i].value;
			return 0;
		}
	}
	return value_fail(err, "'" SHOWN "' is not a switch ('on' or 'off' expected)", s);
}

const struct cfg_enum *
cfg_enum_find(const struct cfg_enum *table, const char *word, size_t n)
{
	for (const struct cfg_enum *e = table; n && e->name; e++)
		if (strcspn(e->name, " ([<") == n && strncmp(e->name, word, n) == 0)
			return e;
	return NULL;
}

/* Appends a name to a list in n bytes, or "..." where it does not fit. Returns the new length. */
static size_t
append_enum_word(char *list, size_t len, size_t n, const char *name)
{
	static const char more[] = ", ...";
	const char *end = len < strlen(more) ? "" : list + len - strlen(more);

	if (strcmp(end, more) == 0)
		return len;
	if (len + strlen(", ") + strlen(name) + sizeof(more) > n)
		return len + (size_t)snprintf(list + len, n - len, "%s", more);
	return len + (size_t)snprintf(list + len, n - len, "%s%s", len ? ", " : "", name);
}

/* Room for a list of words in an error about s, beside the rest of it. */
static size_t
list_room(const char *s, const char *near)
{
	return CFG_VALUE_TEXT_MAX - strlen("'' is not one of ") - strnlen(s, SHOWN_MAX) -
		(near ? strlen("; did you mean ''?") + strlen(near) : 0);
}

int
cfg_value_enum(const char *s, const struct cfg_enum *table, int *out,
	       struct cfg_value_err *err)
{
	char list[CFG_VALUE_TEXT_MAX] = "";
	struct cfg_suggest near;
	size_t len = 0, room;

	cfg_suggest_init(&near, s);
	for (const struct cfg_enum *e = table; e->name; e++) {
		if (strcmp(s, e->name) == 0) {
			*out = e->value;
			return 0;
		}
		cfg_suggest_offer(&near, e->name);
	}
	room = list_room(s, near.best);
	for (const struct cfg_enum *e = table; e->name; e++)
		len = append_enum_word(list, len, room, e->name);
	if (near.best)
		return value_fail(err, "'" SHOWN "' is not one of %s; did you mean '%s'?", s, list,
			near.best);
	return value_fail(err, "'" SHOWN "' is not one of %s", s, list);
}
