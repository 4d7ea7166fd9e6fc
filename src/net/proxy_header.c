/* PROXY protocol headers, versions 1 and 2. Pure: bytes in, a result out. A header that is not
 * exactly as the specification says is refused. */
#include "net/proxy_header.h"

#include <arpa/inet.h>
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
