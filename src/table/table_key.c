/* Keys in the form of their table. */
#include <string.h>

#include "table_int.h"

static uint64_t
hash_key(const struct table *t, const void *bytes, uint32_t len)
{
	return len == sizeof(uint32_t) ? keyhash_four(&t->hash, bytes)
				       : keyhash(&t->hash, bytes, len);
}

static int
finish_key(const struct table *t, struct table_key *k, const void *bytes, uint32_t len)
{
	k->bytes = bytes;
	k->len = len;
	k->hash = hash_key(t, bytes, len);
	return 0;
}

/* A key of a fixed size, copied. */
static int
copy_key(const struct table *t, struct table_key *k, enum table_type type, const void *p,
	uint32_t n)
{
	if (t->conf.type != type)
		return -1;
	memcpy(k->own, p, n);
	return finish_key(t, k, k->own, n);
}

int
table_key_int(const struct table *t, struct table_key *k, uint32_t v)
{
	return copy_key(t, k, TABLE_INTEGER, &v, sizeof(v));
}

int
table_key_ipv4(const struct table *t, struct table_key *k, struct in_addr a)
{
	return copy_key(t, k, TABLE_IPV4, &a, sizeof(a));
}

int
table_key_ipv6(const struct table *t, struct table_key *k, const struct in6_addr *a)
{
	return copy_key(t, k, TABLE_IPV6, a, sizeof(*a));
}

int
table_key_bytes(const struct table *t, struct table_key *k, const void *p, size_t n)
{
	const unsigned char *bytes = p;
	uint32_t len = (uint32_t)MIN(n, t->conf.key_len);

	if (t->conf.type == TABLE_STRING)
		return finish_key(t, k, p, (uint32_t)strnlen(p, len));
	if (t->conf.type != TABLE_BINARY)
		return -1;
	while (len && !bytes[len - 1])
		len--;
	return finish_key(t, k, p, len);
}

const unsigned char *
table_entry_key(const struct table *t, const struct table_entry *e)
{
	return (const unsigned char *)e + t->key_at;
}

uint64_t
table_entry_hash(const struct table *t, const struct table_entry *e)
{
	const unsigned char *key = table_entry_key(t, e);

	return hash_key(t, key, table_stored_len(t, key));
}
