/* Parsers of sets of numbers. Pure: a parser takes the whole string or leaves *out as it was. */
#include "cfg/value_set.h"

#include <stdio.h>
#include <string.h>

/* Maximum length of an invalid value in a message. */
#define SHOWN "%.60s"

/* Numbers saturate here, above any limit. */
#define MUCH 1000000u

enum range_result { RANGE_NONE, RANGE_OUTSIDE, RANGE_FOUND };

/* Parses the number at *s, at most MUCH; false if there is none. */
static int
parse_number(const char **s, unsigned int *out)
{
	const char *p = *s;
	unsigned int v = 0;

	for (; *p >= '0' && *p <= '9'; p++)
		v = v < MUCH ? v * 10 + (unsigned int)(*p - '0') : MUCH;
	if (p == *s)
		return 0;
	*s = p;
	*out = v;
	return 1;
}

static enum range_result
parse_range(const char *s, unsigned int min, unsigned int max, unsigned int *lo, unsigned int *hi)
{
	const char *p = s;

	if (!parse_number(&p, lo))
		return RANGE_NONE;
	*hi = *lo;
	if (*p == '-') {
		p++;
		if (!*p)
			*hi = max;
		else if (!parse_number(&p, hi))
			return RANGE_NONE;
	}
	if (*p)
		return RANGE_NONE;
	if (*lo < min || *hi < min || *lo > max || *hi > max)
		return RANGE_OUTSIDE;
	if (*lo > *hi) {
		unsigned int swap = *lo;

		*lo = *hi;
		*hi = swap;
	}
	return RANGE_FOUND;
}

enum set_word { SET_ALL, SET_ODD, SET_EVEN };

const struct cfg_enum cfg_set_words[] = {
	{ "all", SET_ALL, "All of them." },
	{ "odd", SET_ODD, "Those with odd numbers." },
	{ "even", SET_EVEN, "Those with even numbers." },
	{ "<n>, <n>-<m>, <n>-", 0, "One of them, or a range." },
	{ 0 },
};

int
cfg_value_set(const char *s, unsigned int max, uint64_t *out, struct cfg_value_err *err)
{
	static const uint64_t numbers[] = {
		[SET_ALL] = UINT64_MAX,
		[SET_ODD] = UINT64_C(0x5555555555555555),
		[SET_EVEN] = UINT64_C(0xaaaaaaaaaaaaaaaa),
	};
	const struct cfg_enum *word = cfg_enum_find(cfg_set_words, s, strlen(s));
	enum range_result found;
	unsigned int lo, hi;

	if (word) {
		*out = numbers[word->value] & UINT64_MAX >> (CFG_SET_MAX - max);
		return 0;
	}
	found = parse_range(s, 1, max, &lo, &hi);
	if (found == RANGE_FOUND) {
		*out = UINT64_MAX >> (CFG_SET_MAX - 1 - (hi - lo)) << (lo - 1);
		return 0;
	}
	if (err)
		snprintf(err->text, sizeof(err->text),
			found == RANGE_NONE
				? "'" SHOWN "' is not all, odd, even, a number or a range (1..%u)"
				: "'" SHOWN "' is out of range (1..%u)",
			s, max);
	return -1;
}

int
cfg_value_cpus(const char *s, cpu_set_t *out, struct cfg_value_err *err)
{
	unsigned int lo, hi;
	enum range_result found = parse_range(s, 0, CPU_SETSIZE - 1, &lo, &hi);

	if (found == RANGE_FOUND) {
		for (unsigned int i = lo; i <= hi; i++)
			CPU_SET(i, out);
		return 0;
	}
	if (err)
		snprintf(err->text, sizeof(err->text),
			found == RANGE_NONE
				? "'" SHOWN "' is not a CPU's number or a range of them (0..%u)"
				: "CPU '" SHOWN "' is out of range (0..%u)",
			s, CPU_SETSIZE - 1);
	return -1;
}
