/* DNS messages as a name server writes them, for tests. */
#ifndef TACIT_TESTS_DNS_RIG_H
#define TACIT_TESTS_DNS_RIG_H

#include <arpa/inet.h>
#include <string.h>

#include "base/err.h"
#include "dns/message.h"
#include "unit/test.h"

#define QUESTION_AT 12 /* offset of the question's name: names may point there */

struct dns_text {
	uint8_t p[70000];
	size_t n;
};

unused static void
put_u8(struct dns_text *m, unsigned int v)
{
	assert_true(m->n < sizeof(m->p));
	m->p[m->n++] = (uint8_t)v;
}

unused static void
put_u16(struct dns_text *m, unsigned int v)
{
	put_u8(m, v >> 8);
	put_u8(m, v & 0xff);
}

unused static void
put_bytes(struct dns_text *m, const void *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		put_u8(m, ((const uint8_t *)p)[i]);
}

/* NULL: a pointer to the question's name. */
unused static void
put_name(struct dns_text *m, const char *name)
{
	if (!name) {
		put_u16(m, 0xc000 | QUESTION_AT);
		return;
	}
	/* "." is the root: it has no labels. */
	if (*name == '.')
		name++;
	while (*name) {
		size_t n = strcspn(name, ".");

		put_u8(m, (unsigned int)n);
		put_bytes(m, name, n);
		name += n + (name[n] == '.');
	}
	put_u8(m, 0);
}

/* The header and the question; flags: 0x8180 is a response without an error. */
unused static void
put_head(struct dns_text *m, uint16_t id, unsigned int flags, const char *name, unsigned int type)
{
	m->n = 0;
	put_u16(m, id);
	put_u16(m, flags);
	put_u16(m, 1);
	for (int i = 0; i < 3; i++)
		put_u16(m, 0);
	put_name(m, name);
	put_u16(m, type);
	put_u16(m, 1);
}

/* Increments the record count of a section: 0 answer, 1 authority, 2 additional. */
unused static void
count_record(struct dns_text *m, int section)
{
	uint8_t *at = m->p + 6 + 2 * section;
	unsigned int n = ((unsigned int)at[0] << 8 | at[1]) + 1;

	at[0] = (uint8_t)(n >> 8);
	at[1] = (uint8_t)n;
}

/* A record up to its data, whose length is set by end_record(). */
unused static size_t
begin_record(struct dns_text *m, int section, const char *owner, unsigned int type)
{
	count_record(m, section);
	put_name(m, owner);
	put_u16(m, type);
	put_u16(m, 1);
	put_u16(m, 0);
	put_u16(m, 0); /* a time to live of zero */
	put_u16(m, 0);
	return m->n;
}

unused static void
end_record(struct dns_text *m, size_t begin)
{
	size_t n = m->n - begin;

	m->p[begin - 2] = (uint8_t)(n >> 8);
	m->p[begin - 1] = (uint8_t)n;
}

unused static void
put_a(struct dns_text *m, int section, const char *owner, const char *ip)
{
	size_t at = begin_record(m, section, owner, DNS_A);
	struct in_addr a;

	assert_int_equal(inet_pton(AF_INET, ip, &a), 1);
	put_bytes(m, &a, sizeof(a));
	end_record(m, at);
}

unused static void
put_aaaa(struct dns_text *m, int section, const char *owner, const char *ip)
{
	size_t at = begin_record(m, section, owner, DNS_AAAA);
	struct in6_addr a;

	assert_int_equal(inet_pton(AF_INET6, ip, &a), 1);
	put_bytes(m, &a, sizeof(a));
	end_record(m, at);
}

unused static void
put_cname(struct dns_text *m, const char *owner, const char *target)
{
	size_t at = begin_record(m, 0, owner, DNS_CNAME);

	put_name(m, target);
	end_record(m, at);
}

unused static void
put_srv(struct dns_text *m, const char *owner, unsigned int weight, unsigned int port,
	const char *target)
{
	size_t at = begin_record(m, 0, owner, DNS_SRV);

	put_u16(m, 10);
	put_u16(m, weight);
	put_u16(m, port);
	put_name(m, target);
	end_record(m, at);
}

#endif
