/* A piece of text that somebody else owns: not terminated, may hold any byte. */
#ifndef TACIT_BASE_STR_H
#define TACIT_BASE_STR_H

#include <stddef.h>
#include <string.h>

struct str {
	const char *p;
	size_t len;
};

/* Of a literal; str_of() of a terminated string. */
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

static inline char
str_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/*
 * The same, ASCII letters without regard to case. Not strncasecmp(): that follows the locale, and
 * ends at a NUL.
 */
static inline int
str_is_nocase(struct str a, struct str b)
{
	if (a.len != b.len)
		return 0;
	for (size_t i = 0; i < a.len; i++)
		if (str_lower(a.p[i]) != str_lower(b.p[i]))
			return 0;
	return 1;
}

#endif
