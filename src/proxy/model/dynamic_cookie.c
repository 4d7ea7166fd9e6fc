/* Cookies made of a key and addresses. The first worker writes, all read: each value is one word.
 * The hash is HAProxy's: XXH64 of key, address and port, as its cookies show. */
#include "proxy/model/dynamic_cookie.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "base/atomic.h"
#include "base/err.h"
#include "base/mem.h"
#include "proxy/model/proxy.h"

#define IP_MAX 16

/* The bytes of the address; 0 if it has none. */
static size_t
copy_ip(const struct addr *a, unsigned char to[IP_MAX])
{
	if (addr_family(a) == AF_INET) {
		memcpy(to, &a->u.in.sin_addr, sizeof(a->u.in.sin_addr));
		return sizeof(a->u.in.sin_addr);
	}
	if (addr_family(a) != AF_INET6)
		return 0;
	memcpy(to, &a->u.in6.sin6_addr, IP_MAX);
	return IP_MAX;
}

static uint64_t
make_cookie(const char *key, const struct server *s)
{
	unsigned char text[DYNAMIC_COOKIE_KEY_MAX + IP_MAX + sizeof(uint32_t)];
	size_t n = strlen(key), ip;
	struct addr a;
	uint32_t port;

	(void)addr_cell_get(&s->addr, &a);
	assert(n <= DYNAMIC_COOKIE_KEY_MAX);
	memcpy(text, key, n);
	ip = copy_ip(&a, text + n);
	if (!ip)
		return 0;
	n += ip;
	port = htonl(s->spec.has_offset ? (uint32_t)s->spec.port_offset & 0xffff : addr_port(&a));
	memcpy(text + n, &port, sizeof(port));
	return XXH64(text, n + sizeof(port), 0);
}

void
dynamic_cookie_set(struct server *s)
{
	const struct dynamic_cookies *d = &s->be->persist.dynamic;

	if (s->dynamic)
		atomic_write(&s->dynamic->value, d->is_on && d->key ? make_cookie(d->key, s) : 0);
}

void
dynamic_cookies_set(struct proxy *p)
{
	for (unsigned int i = 0; i < p->persist.dynamic.n; i++)
		dynamic_cookie_set(p->persist.dynamic.entry[i].srv);
}

int
dynamic_cookies_make(struct proxy *p)
{
	struct dynamic_cookie *entry = mem_zalloc(MAX(p->n_servers, 1) * sizeof(*entry));
	struct dynamic_cookies *d = &p->persist.dynamic;

	if (!entry)
		return -ERR_NOMEM;
	mem_free(d->entry);
	d->entry = entry;
	d->n = 0;
	list_each(it, &p->servers) {
		struct server *s = list_entry(it, struct server, link);

		if (s->conf.cookie)
			continue;
		s->dynamic = &d->entry[d->n++];
		s->dynamic->srv = s;
	}
	dynamic_cookies_set(p);
	return 0;
}

void
dynamic_cookies_forget(struct dynamic_cookies *d, struct server *s)
{
	unsigned int at;

	if (!s->dynamic)
		return;
	at = (unsigned int)(s->dynamic - d->entry);
	s->dynamic = NULL;
	for (d->n--; at < d->n; at++) {
		d->entry[at] = d->entry[at + 1];
		d->entry[at].srv->dynamic = &d->entry[at];
	}
}

void
dynamic_cookies_fini(struct dynamic_cookies *d)
{
	mem_free(d->entry);
	mem_free(d->key);
	memset(d, 0, sizeof(*d));
}

int
dynamic_cookies_collide(const struct dynamic_cookies *d)
{
	for (unsigned int i = 1; i < d->n; i++)
		for (unsigned int k = 0; k < i; k++)
			if (d->entry[i].value && d->entry[i].value == d->entry[k].value)
				return 1;
	return 0;
}

/* --- while sessions run --- */

uint64_t
dynamic_cookie_parse(struct str text)
{
	uint64_t v = 0;

	if (text.len != DYNAMIC_COOKIE_TEXT - 1)
		return 0;
	for (size_t i = 0; i < text.len; i++) {
		static const char digits[] = "0123456789abcdef";
		const char *at = memchr(digits, text.p[i], sizeof(digits) - 1);

		if (!at)
			return 0;
		v = v << 4 | (uint64_t)(at - digits);
	}
	return v;
}

struct server *
dynamic_cookie_next(const struct dynamic_cookies *d, uint64_t value, unsigned int *at)
{
	while (value && *at < d->n) {
		const struct dynamic_cookie *c = &d->entry[(*at)++];

		if (atomic_read(&c->value) == value)
			return c->srv;
	}
	return NULL;
}

const char *
server_cookie(const struct server *s, char text[DYNAMIC_COOKIE_TEXT])
{
	uint64_t v = s->dynamic ? atomic_read(&s->dynamic->value) : 0;

	if (s->conf.cookie || !v)
		return s->conf.cookie;
	(void)snprintf(text, DYNAMIC_COOKIE_TEXT, "%016" PRIx64, v);
	return text;
}
