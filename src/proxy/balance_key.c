/* What an algorithm that hashes looks up. */
#include <arpa/inet.h>
#include <string.h>

#include "base/hash.h"
#include "net/addr.h"
#include "proxy/balance.h"

static uint32_t
spread(const struct hash_type *t, uint32_t h)
{
	return t->avalanche ? hash_avalanche(h) : h;
}

/* An address as one number: what HAProxy takes, so that clients stay where they were. */
int
balance_key_of_addr(const struct hash_type *t, const struct addr *a, uint32_t *key)
{
	uint32_t word[4];

	if (addr_family(a) == AF_INET) {
		*key = spread(t, ntohl(a->u.in.sin_addr.s_addr));
		return 1;
	}
	if (addr_family(a) != AF_INET6)
		return 0;
	memcpy(word, &a->u.in6.sin6_addr, sizeof(word));
	*key = spread(t, ntohl(word[0] ^ word[1] ^ word[2] ^ word[3]));
	return 1;
}

uint32_t
balance_key_of_text(const struct hash_type *t, const void *p, size_t n)
{
	switch ((enum hash_function)t->function) {
	case HASH_SDBM:
		return spread(t, hash_sdbm(p, n));
	case HASH_DJB2:
		return spread(t, hash_djb2(p, n));
	case HASH_CRC32:
		break;
	}
	return spread(t, hash_crc32(p, n));
}
