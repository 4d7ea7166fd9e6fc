/*
 * The header of the PROXY protocol, versions 1 and 2 (haproxy.org, proxy-protocol.txt 2.1, 2.2). It
 * does no I/O. The parser is strict: a header that does not match exactly is rejected.
 */
#ifndef TACIT_NET_PROXY_HEADER_H
#define TACIT_NET_PROXY_HEADER_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "net/addr.h"
#include "net/conn_err.h"

/* The longest version 1 header, with its CRLF. */
#define PROXY_HEADER_V1_MAX 107
/* The longest version 2 header that is accepted; the protocol's maximum is 65551. */
#define PROXY_HEADER_MAX 8192

enum proxy_header_found { PROXY_HEADER_MORE, PROXY_HEADER_WHOLE, PROXY_HEADER_BAD };

struct proxy_header {
	size_t len;               /* its length; the bytes after it are the connection's data */
	/* Addresses of the header, both AF_INET or both AF_INET6. 0: use the real addresses
	 * (UNKNOWN, LOCAL, and protocols other than TCP over IPv4 or IPv6). */
	int announces;
	struct addr src, dst;
	struct str tlvs; /* version 2: the fields behind the addresses, in the bytes parsed */
	enum conn_err err; /* the reason when BAD: OTHER, INVALID or UNHANDLED */
};

/*
 * Parses the n bytes received so far. MORE: they may be the beginning of a header of at most max
 * bytes (PROXY_HEADER_V1_MAX or more; the buffer space). WHOLE: *out has the header. BAD: out->err
 * has the reason. A result other than MORE does not depend on later bytes.
 */
enum proxy_header_found proxy_header_parse(
	const void *bytes, size_t n, size_t max, struct proxy_header *out);

/* Types of fields of version 2 (proxy-protocol.txt 2.2). */
enum {
	PROXY_TLV_ALPN = 1,
	PROXY_TLV_AUTHORITY = 2,
	PROXY_TLV_CRC32C = 3,
	PROXY_TLV_UNIQUE_ID = 5,
	PROXY_TLV_SSL = 0x20,
	/* In the value of PROXY_TLV_SSL. */
	PROXY_TLV_SSL_VERSION = 0x21,
	PROXY_TLV_SSL_CN = 0x22,
	PROXY_TLV_SSL_CIPHER = 0x23,
	PROXY_TLV_SSL_SIG_ALG = 0x24,
	PROXY_TLV_SSL_KEY_ALG = 0x25
};

struct proxy_header_tlv {
	uint8_t type;
	struct str value;
};

/* 1 and the value of the last field of this type, or 0. */
int proxy_header_find_tlv(struct str tlvs, unsigned int type, struct str *value);

/* Bits of proxy_header_ssl.client. */
enum {
	PROXY_SSL_USED = 1 << 0,
	PROXY_SSL_CERT_CONN = 1 << 1, /* the client has sent a certificate in this handshake */
	PROXY_SSL_CERT_SESS = 1 << 2  /* or in that of its session */
};

#define PROXY_SSL_SUBS 5

/* The field PROXY_TLV_SSL. */
struct proxy_header_ssl {
	uint8_t client;
	uint32_t verify; /* 0: the certificate is verified, or there is none */
	struct proxy_header_tlv sub[PROXY_SSL_SUBS];
	unsigned int n_subs;
};

/* The fields of a header. */
struct proxy_header_fields {
	int version;                 /* 1 or 2 */
	const struct addr *src, *dst; /* NULL: unknown */
	/* Version 2 only. */
	int has_crc32c, has_alpn, has_authority, has_unique_id;
	struct str alpn;             /* at most 255 bytes, or it is cut */
	struct str authority;        /* at most 255 bytes, or it is cut */
	struct str unique_id;        /* at most 128 bytes, or it is cut */
	const struct proxy_header_ssl *ssl; /* NULL: none */
	const struct proxy_header_tlv *tlv; /* further fields */
	unsigned int n_tlvs;
};

/* Room for any header that is written. */
#define PROXY_HEADER_OUT_MAX 8192

/* Writes a header and returns its length. UNKNOWN or LOCAL unless both addresses are inet ones.
 * Fields that have no room are left out. */
size_t proxy_header_write(const struct proxy_header_fields *f, char out[PROXY_HEADER_OUT_MAX]);

#endif
