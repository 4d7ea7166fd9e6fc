/* Addresses from text, and comparing addresses including the port. */
#ifndef TACIT_TESTS_ADDR_RIG_H
#define TACIT_TESTS_ADDR_RIG_H

#include <stdlib.h>
#include <string.h>

#include "net/addr.h"

static inline struct addr
addr_of(const char *text)
{
	struct addr_spec spec;
	const char *why;

	if (addr_parse(text, ADDR_ALLOW_UNIX, &spec, &why) < 0)
		abort();
	return spec.addr;
}

static inline int
same_addr(const struct addr *a, const struct addr *b)
{
	if (addr_family(a) != addr_family(b))
		return 0;
	switch (addr_family(a)) {
	case AF_INET:
		return a->u.in.sin_port == b->u.in.sin_port &&
			a->u.in.sin_addr.s_addr == b->u.in.sin_addr.s_addr;
	case AF_INET6:
		return a->u.in6.sin6_port == b->u.in6.sin6_port &&
			a->u.in6.sin6_scope_id == b->u.in6.sin6_scope_id &&
			!memcmp(&a->u.in6.sin6_addr, &b->u.in6.sin6_addr, sizeof(struct in6_addr));
	case AF_UNIX:
		return a->len == b->len && !memcmp(&a->u, &b->u, a->len);
	default:
		return 1;
	}
}

#endif
