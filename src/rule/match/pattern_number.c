/* Numbers, ranges and versions as text. Pure. */
#include "rule/match/pattern_number.h"

#include <string.h>

#include "base/sbuf.h"

int
pattern_number_parse(struct str s, int64_t *out)
{
	int negative = s.len && s.p[0] == '-';
	size_t i = s.len && (s.p[0] == '-' || s.p[0] == '+');
	int64_t v = 0;

	if (i == s.len)
		return -1;
	for (; i < s.len; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return -1;
		/* Counts downwards: the negative range is larger by one. */
		if (__builtin_mul_overflow(v, 10, &v) ||
			__builtin_sub_overflow(v, s.p[i] - '0', &v))
			return -1;
	}
	if (!negative && v == INT64_MIN)
		return -1;
	*out = negative ? v : -v;
	return 0;
}

static int
dotted_parse(struct str s, int64_t *out)
{
	const char *dot = memchr(s.p, '.', s.len);
	struct str major = { s.p, dot ? (size_t)(dot - s.p) : s.len };
	int64_t a, b = 0;

	if (pattern_number_parse(major, &a) < 0)
		return -1;
	if (dot && pattern_number_parse((struct str){ dot + 1, s.len - major.len - 1 }, &b) < 0)
		return -1;
	if (a < 0 || a > 65535 || b < 0 || b > 65535)
		return -1;
	*out = a << 16 | b;
	return 0;
}

/* Separator of a range: a colon, and between versions also a dash. */
static const char *
range_sign(struct str s, int dotted)
{
	const char *colon = s.len ? memchr(s.p, ':', s.len) : NULL;

	return !colon && dotted && s.len ? memchr(s.p, '-', s.len) : colon;
}

int
pattern_range_parse(struct str s, int dotted, int64_t *lo, int64_t *hi, const char **why)
{
	int (*parse)(struct str, int64_t *) = dotted ? dotted_parse : pattern_number_parse;
	const char *colon = range_sign(s, dotted);
	struct str from = { s.p, colon ? (size_t)(colon - s.p) : s.len };
	struct str to = colon ? (struct str){ colon + 1, s.len - from.len - 1 } : from;

	*lo = INT64_MIN;
	*hi = INT64_MAX;
	*why = dotted ? "is not a version such as 1.2" : "is not a number";
	if (!from.len && !to.len)
		return -1;
	if ((from.len && parse(from, lo) < 0) || (to.len && parse(to, hi) < 0))
		return -1;
	*why = "is a range that ends before it begins";
	return *lo > *hi ? -1 : 0;
}

static void
put_range_end(struct sbuf *b, int64_t v, int dotted)
{
	if (dotted)
		sbuf_addf(b, "%lld.%lld", (long long)(v >> 16), (long long)(v & 0xffff));
	else
		sbuf_addf(b, "%lld", (long long)v);
}

int
pattern_range_text(int64_t lo, int64_t hi, int dotted, char *out)
{
	const int64_t last = dotted ? UINT32_MAX : INT64_MAX;
	struct sbuf b;

	if (lo > hi || lo > last || (dotted && hi < 0))
		return -1;
	sbuf_init_fixed(&b, out, PATTERN_RANGE_MAX);
	if (lo != INT64_MIN)
		put_range_end(&b, lo, dotted);
	sbuf_addc(&b, ':');
	if (hi != INT64_MAX)
		put_range_end(&b, hi, dotted);
	return 0;
}
