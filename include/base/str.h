/* A piece of text that somebody else owns: not terminated, may hold any byte. */
#ifndef TACIT_BASE_STR_H
#define TACIT_BASE_STR_H

#include <stddef.h>
#include <string.h>
#include <strings.h>

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

/* The same, ASCII letters without regard to case. */
static inline int
str_is_nocase(struct str a, struct str b)
{
	return a.len == b.len && (!a.len || strncasecmp(a.p, b.p, a.len) == 0);
}

#endif
