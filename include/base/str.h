/* A piece of text owned by another object: not NUL-terminated, may contain any byte. */
#ifndef TACIT_BASE_STR_H
#define TACIT_BASE_STR_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct str {
	const char *p;
	size_t len;
};

/* For a literal; str_of() for a NUL-terminated string. */
#define STR(literal) ((struct str){ literal, sizeof(literal) - 1 })

static inline struct str
str_of(const char *s)
{
	return (struct str){ s, strlen(s) };
}

static inline int
str_is(struct str a, struct str b)
{
	return a.len == b.len && (!a.len || memcmp(a.p, b.p, a.len) == 0);
}

/* A blank is a space or a tab: optional white space around a field's value (RFC 9110, 5.6.3). */
static inline int
str_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Without blanks at both ends. */
static inline struct str
str_trim(struct str s)
{
	while (s.len && str_is_blank(s.p[s.len - 1]))
		s.len--;
	for (; s.len && str_is_blank(*s.p); s.len--)
		s.p++;
	return s;
}

static inline char
str_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* The value of a hexadecimal digit, or -1. */
static inline int
str_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = str_lower(c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* For eight bytes at once: the top bit of a byte is set if its lower seven bits are between A and
 * Z. */
static inline uint64_t
str_lower8(uint64_t c)
{
	const uint64_t each = 0x0101010101010101u;
	uint64_t low = c & 0x7f * each;
	uint64_t upper = (low + (0x80 - 'A') * each) & ~(low + (0x7f - 'Z') * each) & ~c;

	return c | (upper & 0x80 * each) >> 2;
}

/* The first and the last four bytes of n, which is 4 to 8: they cover all and may overlap. */
static inline uint64_t
str_ends(const char *p, size_t n)
{
	uint32_t first, last;

	memcpy(&first, p, sizeof(first));
	memcpy(&last, p + n - sizeof(last), sizeof(last));
	return first | (uint64_t)last << 32;
}

static inline int
str_eight_are_nocase(const char *a, const char *b)
{
	uint64_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return x == y || str_lower8(x) == str_lower8(y);
}

/*
 * As str_is(), but ASCII letters match in either case. strncasecmp() depends on the locale and
 * stops at a NUL.
 */
static inline int
str_is_nocase(struct str a, struct str b)
{
	size_t i = 0;

	if (a.len != b.len)
		return 0;
	for (; a.len - i >= 8; i += 8)
		if (!str_eight_are_nocase(a.p + i, b.p + i))
			return 0;
	/* The last eight bytes cover the rest and overlap the bytes before it. */
	if (i && i < a.len)
		return str_eight_are_nocase(a.p + a.len - 8, b.p + a.len - 8);
	if (!i && a.len >= 4) {
		uint64_t x = str_ends(a.p, a.len), y = str_ends(b.p, b.len);

		return x == y || str_lower8(x) == str_lower8(y);
	}
	for (; i < a.len; i++)
		if (str_lower(a.p[i]) != str_lower(b.p[i]))
			return 0;
	return 1;
}

#endif
