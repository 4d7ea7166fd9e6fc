/* PROXY protocol headers, versions 1 and 2. Pure: bytes in, a result out. A header that is not
 * exactly as the specification says is refused. */
#include "net/proxy_header.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/str.h"

#define V1_PREFIX "PROXY "

static const unsigned char v2_signature[12] = "\r\n\r\n\0\r\nQUIT\n";

/* Version 2, after the signature. */
enum {
	V2_VERSION_COMMAND = 12,
	V2_FAMILY_PROTOCOL = 13,
	V2_LENGTH = 14,
	V2_ADDRESSES = 16,
	V2_LOCAL = 0x20,
	V2_PROXY = 0x21,
	FAMILY_UNSPEC = 0,
	FAMILY_INET = 1,
	FAMILY_INET6 = 2,
	FAMILY_UNIX = 3,
	PROTOCOL_UNSPEC = 0,
	PROTOCOL_STREAM = 1,
	PROTOCOL_DGRAM = 2,
	TLV_HEAD = 3,
	CRC32C_BYTES = 4,
	AUTHORITY_MAX = 255,
	UNIQUE_ID_MAX = 128
};

static enum proxy_header_found
header_bad(struct proxy_header *out, enum conn_err err)
{
	out->err = err;
	return PROXY_HEADER_BAD;
}

static enum proxy_header_found
header_whole(struct proxy_header *out, size_t len)
{
	out->len = len;
	return PROXY_HEADER_WHOLE;
}

static void
set_inet(struct addr *a, const void *host, unsigned int port)
{
	a->len = sizeof(a->u.in);
	a->u.in.sin_family = AF_INET;
	memcpy(&a->u.in.sin_addr, host, sizeof(a->u.in.sin_addr));
	addr_set_port(a, port);
}

static void
set_inet6(struct addr *a, const void *host, unsigned int port)
{
	a->len = sizeof(a->u.in6);
	a->u.in6.sin6_family = AF_INET6;
	memcpy(&a->u.in6.sin6_addr, host, sizeof(a->u.in6.sin6_addr));
	addr_set_port(a, port);
}

/* --- version 1 --- */

/* The first word, without the space after it: 0 if no space follows. */
static int
v1_next_word(struct str *line, struct str *word)
{
	const char *space = line->len ? memchr(line->p, ' ', line->len) : NULL;

	*word = *line;
	if (!space) {
		line->len = 0;
		return 0;
	}
	word->len = (size_t)(space - line->p);
	line->p = space + 1;
	line->len -= word->len + 1;
	return 1;
}

/* inet_pton() rejects leading zeros in IPv4 too. */
static int
v1_parse_host(int family, struct str word, void *out)
{
	char text[INET6_ADDRSTRLEN];

	if (word.len >= sizeof(text) || memchr(word.p, '\0', word.len))
		return -1;
	memcpy(text, word.p, word.len);
	text[word.len] = '\0';
	return inet_pton(family, text, out) == 1 ? 0 : -1;
}

static int
v1_parse_port(struct str word)
{
	int port = 0;

	if (word.len < 1 || word.len > 5 || (word.p[0] == '0' && word.len > 1))
		return -1;
	for (size_t i = 0; i < word.len; i++) {
		if (word.p[i] < '0' || word.p[i] > '9')
			return -1;
		port = port * 10 + (word.p[i] - '0');
	}
	return port <= 65535 ? port : -1;
}

/* Two addresses and two ports, separated by single spaces. */
static int
parse_v1_addresses(int family, struct str line, struct proxy_header *out)
{
	unsigned char host[2][sizeof(struct in6_addr)];
	struct str word;
	int port[2];

	for (int i = 0; i < 2; i++)
		if (!v1_next_word(&line, &word) || v1_parse_host(family, word, host[i]) < 0)
			return -1;
	if (!v1_next_word(&line, &word))
		return -1;
	port[0] = v1_parse_port(word);
	if (v1_next_word(&line, &word))
		return -1;
	port[1] = v1_parse_port(word);
	if (port[0] < 0 || port[1] < 0)
		return -1;
	if (family == AF_INET) {
		set_inet(&out->src, host[0], (unsigned int)port[0]);
		set_inet(&out->dst, host[1], (unsigned int)port[1]);
	} else {
		set_inet6(&out->src, host[0], (unsigned int)port[0]);
		set_inet6(&out->dst, host[1], (unsigned int)port[1]);
	}
	return 0;
}

/* The text between the prefix and CRLF. */
static enum proxy_header_found
parse_v1_line(struct str line, size_t len, struct proxy_header *out)
{
	struct str word;
	int more = v1_next_word(&line, &word), family;

	/* The rest of the line is ignored. */
	if (str_is(word, STR("UNKNOWN")))
		return header_whole(out, len);
	if (str_is(word, STR("TCP4")))
		family = AF_INET;
	else if (str_is(word, STR("TCP6")))
		family = AF_INET6;
	else
		return header_bad(out, CONN_ERR_UNHANDLED);
	if (!more || parse_v1_addresses(family, line, out) < 0)
		return header_bad(out, CONN_ERR_INVALID);
	out->announces = 1;
	return header_whole(out, len);
}

static enum proxy_header_found
parse_v1(const char *p, size_t n, struct proxy_header *out)
{
	size_t prefix = sizeof(V1_PREFIX) - 1, at = prefix;

	if (memcmp(p, V1_PREFIX, MIN(n, prefix)) != 0)
		return header_bad(out, CONN_ERR_OTHER);
	n = MIN(n, PROXY_HEADER_V1_MAX);
	while (at < n && p[at] != '\r' && p[at] != '\n')
		at++;
	if (at + 1 < n && p[at] == '\r' && p[at + 1] == '\n')
		return parse_v1_line((struct str){ p + prefix, at - prefix }, at + 2, out);
	/* Another line end, or no room for CRLF. */
	if (at + 1 < n || (at < n && p[at] == '\n') || at + 2 > PROXY_HEADER_V1_MAX)
		return header_bad(out, CONN_ERR_INVALID);
	return PROXY_HEADER_MORE;
}

/* --- version 2 --- */

static unsigned int
read_be16(const unsigned char *p)
{
	return (unsigned int)p[0] << 8 | p[1];
}

/* For a known family: 0, or -1. */
static int
address_bytes(unsigned int family)
{
	switch (family) {
	case FAMILY_INET:
		return 2 * 4 + 2 * 2;
	case FAMILY_INET6:
		return 2 * 16 + 2 * 2;
	case FAMILY_UNIX:
		return 2 * 108;
	case FAMILY_UNSPEC:
		return 0;
	default:
		return -1;
	}
}

/* CRC of the whole header, with zeros in the 4 bytes at `at`. */
static int
checks_out(const unsigned char *p, size_t len, size_t at)
{
	static const unsigned char zeros[CRC32C_BYTES];
	uint32_t want = (uint32_t)read_be16(p + at) << 16 | read_be16(p + at + 2), h;

	h = hash_crc32c(0, p, at);
	h = hash_crc32c(h, zeros, sizeof(zeros));
	h = hash_crc32c(h, p + at + CRC32C_BYTES, len - at - CRC32C_BYTES);
	return h == want;
}

/* Checks the fields after the addresses to the exact end, including the format of known ones. */
static int
check_tlvs(const unsigned char *p, size_t at, size_t len)
{
	while (at < len) {
		size_t bytes;
		unsigned int type = p[at];

		if (len - at < TLV_HEAD)
			return -1;
		bytes = read_be16(p + at + 1);
		at += TLV_HEAD;
		if (len - at < bytes)
			return -1;
		if (type == PROXY_TLV_CRC32C && (bytes != CRC32C_BYTES || !checks_out(p, len, at)))
			return -1;
		if (type == PROXY_TLV_UNIQUE_ID && bytes > UNIQUE_ID_MAX)
			return -1;
		if (type == PROXY_TLV_AUTHORITY && bytes > AUTHORITY_MAX)
			return -1;
		at += bytes;
	}
	return 0;
}

static void
take_v2_addresses(const unsigned char *p, unsigned int family, struct proxy_header *out)
{
	out->announces = 1;
	if (family == FAMILY_INET) {
		set_inet(&out->src, p, read_be16(p + 8));
		set_inet(&out->dst, p + 4, read_be16(p + 10));
	} else {
		set_inet6(&out->src, p, read_be16(p + 32));
		set_inet6(&out->dst, p + 16, read_be16(p + 34));
	}
}

static enum proxy_header_found
parse_v2_body(const unsigned char *p, size_t len, struct proxy_header *out)
{
	unsigned int family = p[V2_FAMILY_PROTOCOL] >> 4, protocol = p[V2_FAMILY_PROTOCOL] & 15;
	size_t at;

	/* For LOCAL the whole block is discarded; without a family the end of its addresses is
	 * unknown. */
	if (p[V2_VERSION_COMMAND] == V2_LOCAL || family == FAMILY_UNSPEC)
		return header_whole(out, len);
	at = V2_ADDRESSES + (size_t)address_bytes(family);
	if (check_tlvs(p, at, len) < 0)
		return header_bad(out, CONN_ERR_INVALID);
	out->tlvs = (struct str){ (const char *)p + at, len - at };
	if (protocol == PROTOCOL_STREAM && family != FAMILY_UNIX)
		take_v2_addresses(p + V2_ADDRESSES, family, out);
	return header_whole(out, len);
}

static enum proxy_header_found
parse_v2(const unsigned char *p, size_t n, size_t max, struct proxy_header *out)
{
	int bytes = 0;
	size_t len;

	if (memcmp(p, v2_signature, MIN(n, sizeof(v2_signature))) != 0)
		return header_bad(out, CONN_ERR_OTHER);
	if (n > V2_VERSION_COMMAND && p[V2_VERSION_COMMAND] >> 4 != V2_LOCAL >> 4)
		return header_bad(out, CONN_ERR_OTHER);
	if (n > V2_VERSION_COMMAND && p[V2_VERSION_COMMAND] > V2_PROXY)
		return header_bad(out, CONN_ERR_INVALID);
	if (n > V2_FAMILY_PROTOCOL && p[V2_VERSION_COMMAND] == V2_PROXY) {
		bytes = address_bytes(p[V2_FAMILY_PROTOCOL] >> 4);
		if (bytes < 0 || (p[V2_FAMILY_PROTOCOL] & 15) > PROTOCOL_DGRAM)
			return header_bad(out, CONN_ERR_INVALID);
	}
	if (n < V2_ADDRESSES)
		return PROXY_HEADER_MORE;
	len = V2_ADDRESSES + read_be16(p + V2_LENGTH);
	if (len < V2_ADDRESSES + (size_t)bytes || len > MIN(max, PROXY_HEADER_MAX))
		return header_bad(out, CONN_ERR_INVALID);
	return n < len ? PROXY_HEADER_MORE : parse_v2_body(p, len, out);
}

/* --- both --- */

enum proxy_header_found
proxy_header_parse(const void *bytes, size_t n, size_t max, struct proxy_header *out)
{
	const unsigned char *p = bytes;

	memset(out, 0, sizeof(*out));
	if (n == 0)
		return PROXY_HEADER_MORE;
	return *p == v2_signature[0] ? parse_v2(p, n, max, out) : parse_v1(bytes, n, out);
}

int
proxy_header_find_tlv(struct str tlvs, unsigned int type, struct str *value)
{
	const unsigned char *p = (const unsigned char *)tlvs.p;
	int found = 0;

	/* Their lengths were checked. */
	for (size_t at = 0, n; at < tlvs.len; at += n) {
		n = read_be16(p + at + 1);
		at += TLV_HEAD;
		if (p[at - TLV_HEAD] != type)
			continue;
		*value = (struct str){ tlvs.p + at, n };
		found = 1;
	}
	return found;
}

/* --- writing --------------------------------------------------------------------------------- */

/*
 * Writes PROXY protocol headers, versions 1 and 2, byte for byte as HAProxy does. Pure: values
 * in, bytes out. Addresses of two families are both written as IPv6.
 */

enum {
	V2_HEAD = 16,
	V2_TCP4 = 0x11,
	V2_TCP6 = 0x21,
	ALPN_MAX = 255
};

/* --- the addresses --- */

struct endpoints {
	int family; /* AF_UNSPEC: unknown */
	unsigned char host[2][sizeof(struct in6_addr)];
	unsigned int port[2];
};

/* Returns AF_INET, AF_INET6, or AF_UNSPEC for families that a header cannot name. */
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
