/*
 * The unencrypted first bytes of a TLS connection (RFC 8446 4.1.2, RFC 5246 7.4.1, names RFC 6066
 * 3, protocols RFC 7301), as far as rules need them for routing. One handshake message in one
 * record; a hello with any invalid length yields nothing.
 */
#ifndef TACIT_RULE_SAMPLE_HELLO_H
#define TACIT_RULE_SAMPLE_HELLO_H

#include <stdint.h>

#include "base/str.h"

#define HELLO_NAME_MAX 255   /* bytes of a server's name */

enum hello_found {
	HELLO_NOT,   /* not the beginning of a TLS connection */
	HELLO_MORE,  /* incomplete */
	HELLO_WHOLE
};

struct hello {
	uint8_t type;        /* of the handshake message: 1 is a client's hello, 2 a server's */
	uint32_t version;    /* major << 16 | minor, as in the message */
	/* Only for a valid client hello; otherwise empty or 0. */
	uint8_t is_client;
	struct str name;     /* of the server (SNI), in `bytes`; p NULL: none */
	struct str protocol; /* the first of ALPN; p NULL: none */
	uint8_t has_groups;  /* the supported_groups extension, formerly "elliptic curves" */
	uint8_t ticket;      /* 0: no extension, 1: an empty one, 2: with a ticket */
};

/* out: filled in when the result is HELLO_WHOLE; points into bytes. Bytes after the message are
 * ignored. */
enum hello_found hello_parse(struct str bytes, struct hello *out);
/* The version alone; also of an SSLv2 hello, of which nothing else is parsed. */
enum hello_found hello_version(struct str bytes, uint32_t *version);

#endif
