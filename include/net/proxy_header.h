/*
 * The header of the PROXY protocol, versions 1 and 2 (haproxy.org, proxy-protocol.txt 2.1, 2.2):
 * what a proxy says of a connection before the bytes of that connection. Sans-I/O. Nothing is
 * guessed and nothing is mended: what does not match exactly is refused.
 */
#ifndef TACIT_NET_PROXY_HEADER_H
#define TACIT_NET_PROXY_HEADER_H

#include <stddef.h>
#include <stdint.h>

#include "net/addr.h"

/* The longest line of version 1, with its CRLF. */
#define PROXY_HEADER_V1_MAX 107
/* The longest header of version 2 that is taken: its length could say 65551. */
#define PROXY_HEADER_MAX 8192

enum proxy_header_found { PROXY_HEADER_MORE, PROXY_HEADER_WHOLE, PROXY_HEADER_BAD };

/* Why there is none. */
enum proxy_header_err {
#define PROXY_HEADER_ROW(id, number, text) PROXY_HEADER_ERR_##id,
#include "net/proxy_header.tbl.h"
#undef PROXY_HEADER_ROW
};

struct proxy_header {
	size_t len;               /* its bytes; what stands behind is the connection's */
	/* Addresses, both of one family, AF_INET or AF_INET6. 0: the real ones hold (UNKNOWN,
	 * LOCAL, and what is neither TCP over IPv4 nor over IPv6). */
	int announces;
	struct addr src, dst;
	enum proxy_header_err err; /* when it is BAD: OTHER, INVALID or UNHANDLED */
};

/*
 * Judges the n bytes that have come so far. MORE: so far they may begin one of at most max bytes
 * (PROXY_HEADER_V1_MAX or more; the room there is). WHOLE: *out has it. BAD: out->err says why.
 * A verdict other than MORE stands whatever follows.
 */
enum proxy_header_found proxy_header_parse(
	const void *bytes, size_t n, size_t max, struct proxy_header *out);
/* The number and the text of fc_err. */
int proxy_header_err_number(enum proxy_header_err err);
const char *proxy_header_err_text(enum proxy_header_err err);

#endif
