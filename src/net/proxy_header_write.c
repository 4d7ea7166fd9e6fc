/* Writes PROXY protocol headers, versions 1 and 2, byte for byte as HAProxy does. Pure: values in,
 * bytes out. Addresses of two families are both written as IPv6. */
#include "net/proxy_header.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"

enum {
	V2_LENGTH = 14,
	V2_HEAD = 16,
	V2_LOCAL = 0x20,
	V2_PROXY = 0x21,
	V2_TCP4 = 0x11,
	V2_TCP6 = 0x21,
	TLV_HEAD = 3,
	ALPN_MAX = 255,
	AUTHORITY_MAX = 255,
	UNIQUE_ID_MAX = 128
};

/* --- the addresses --- */

struct endpoints {
	int family; /* AF_UNSPEC: unknown */
	unsigned char host[2][sizeof(struct in6_addr)];
	unsigned int port[2];
};

/* AF_INET, AF_INET6, or AF_UNSPEC for all that a header has no word for. */
static int
inet_family_of(const struct addr *a)
{
	int family = a ? addr_family(a) : AF_UNSPEC;

	return family == AF_INET || family == AF_INET6 ? family : AF_UNSPEC;
}

/* The host's bytes, IPv4 as IPv4-mapped if as_inet6. */
static void
take_host(const struct addr *a, int as_inet6, unsigned char out[sizeof(struct in6_addr)])
{
	static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };

	if (addr_family(a) == AF_INET6) {
		memcpy(out, &a->u.in6.sin6_addr, sizeof(a->u.in6.sin6_addr));
		return;
	}
	if (as_inet6) {
		memcpy(out, mapped, sizeof(mapped));
		out += sizeof(mapped);
	}
	memcpy(out, &a->u.in.sin_addr, sizeof(a->u.in.sin_addr));
}

static struct endpoints
endpoints_of(const struct proxy_header_fields *f)
{
	struct endpoints e = { .family = AF_UNSPEC };
	int src = inet_family_of(f->src), dst = inet_family_of(f->dst);

	if (src == AF_UNSPEC || dst == AF_UNSPEC)
		return e;
	e.family = src == dst ? src : AF_INET6;
	take_host(f->src, e.family == AF_INET6, e.host[0]);
	take_host(f->dst, e.family == AF_INET6, e.host[1]);
	e.port[0] = addr_port(f->src);
	e.port[1] = addr_port(f->dst);
	return e;
}

/* --- version 1 --- */

static size_t
write_v1(const struct endpoints *e, char *out, size_t room)
{
	char host[2][INET6_ADDRSTRLEN];
	int n;

	if (e->family == AF_UNSPEC) {
		n = snprintf(out, room, "PROXY UNKNOWN\r\n");
		return (size_t)n;
	}
	(void)inet_ntop(e->family, e->host[0], host[0], sizeof(host[0]));
	(void)inet_ntop(e->family, e->host[1], host[1], sizeof(host[1]));
	n = snprintf(out, room, "PROXY TCP%d %s %s %u %u\r\n", e->family == AF_INET ? 4 : 6,
		host[0], host[1], e->port[0], e->port[1]);
	return (size_t)n;
}

/* --- version 2 --- */

static unsigned char *
put_be16(unsigned char *p, size_t value)
{
	p[0] = (unsigned char)(value >> 8);
	p[1] = (unsigned char)value;
	return p + 2;
}

static unsigned char *
put_endpoints(unsigned char *p, const struct endpoints *e)
{
	size_t n = e->family == AF_INET ? sizeof(struct in_addr) : sizeof(struct in6_addr);

	if (e->family == AF_UNSPEC)
		return p;
	memcpy(p, e->host[0], n);
	memcpy(p + n, e->host[1], n);
	return put_be16(put_be16(p + 2 * n, e->port[0]), e->port[1]);
}

static unsigned char *
put_tlv(unsigned char *p, unsigned int type, const void *value, size_t n)
{
	*p = (unsigned char)type;
	p = put_be16(p + 1, n);
	if (n)
		memcpy(p, value, n);
	return p + n;
}

static int
tlv_fits(const unsigned char *out, const unsigned char *p, size_t n)
{
	return (size_t)(p - out) + TLV_HEAD + n <= PROXY_HEADER_OUT_MAX;
}

/* The fields that fit, as far as the end of the header. */
static unsigned char *
put_tlvs(unsigned char *out, unsigned char *p, const struct proxy_header_tlv *tlv, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		if (tlv_fits(out, p, tlv[i].value.len))
			p = put_tlv(p, tlv[i].type, tlv[i].value.p, tlv[i].value.len);
	return p;
}

/* Its length is known when its fields are there. */
static unsigned char *
put_ssl(unsigned char *out, unsigned char *p, const struct proxy_header_ssl *ssl)
{
	unsigned char fixed[5] = { ssl->client }, *start = p;

	(void)put_be16(put_be16(fixed + 1, ssl->verify >> 16), ssl->verify & 0xffff);
	p = put_tlv(p, PROXY_TLV_SSL, fixed, sizeof(fixed));
	p = put_tlvs(out, p, ssl->sub, ssl->n_subs);
	(void)put_be16(start + 1, (size_t)(p - start) - TLV_HEAD);
	return p;
}

static size_t
write_v2(const struct proxy_header_fields *f, const struct endpoints *e, unsigned char *out)
{
	static const unsigned char signature[12] = "\r\n\r\n\0\r\nQUIT\n", zeros[4];
	unsigned char *p = out + V2_HEAD, *crc = NULL;
	uint32_t h;

	memcpy(out, signature, sizeof(signature));
	out[12] = e->family == AF_UNSPEC ? V2_LOCAL : V2_PROXY;
	out[13] = e->family == AF_UNSPEC ? 0 : e->family == AF_INET ? V2_TCP4 : V2_TCP6;
	p = put_endpoints(p, e);
	if (f->has_crc32c) {
		p = put_tlv(p, PROXY_TLV_CRC32C, zeros, sizeof(zeros));
		crc = p - sizeof(zeros);
	}
	if (f->has_alpn)
		p = put_tlv(p, PROXY_TLV_ALPN, f->alpn.p, MIN(f->alpn.len, ALPN_MAX));
	if (f->has_authority)
		p = put_tlv(p, PROXY_TLV_AUTHORITY, f->authority.p,
			MIN(f->authority.len, AUTHORITY_MAX));
	if (f->has_unique_id)
		p = put_tlv(p, PROXY_TLV_UNIQUE_ID, f->unique_id.p,
			MIN(f->unique_id.len, UNIQUE_ID_MAX));
	if (f->ssl)
		p = put_ssl(out, p, f->ssl);
	p = put_tlvs(out, p, f->tlv, f->n_tlvs);
	(void)put_be16(out + V2_LENGTH, (size_t)(p - out) - V2_HEAD);
	if (crc) {
		h = hash_crc32c(0, out, (size_t)(p - out));
		(void)put_be16(put_be16(crc, h >> 16), h & 0xffff);
	}
	return (size_t)(p - out);
}

size_t
proxy_header_write(const struct proxy_header_fields *f, char out[PROXY_HEADER_OUT_MAX])
{
	struct endpoints e = endpoints_of(f);

	if (f->version == 2)
		return write_v2(f, &e, (unsigned char *)out);
	return write_v1(&e, out, PROXY_HEADER_OUT_MAX);
}
