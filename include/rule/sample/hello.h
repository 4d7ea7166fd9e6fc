/*
 * What the first bytes of a TLS connection say before anything is encrypted (RFC 8446 4.1.2, RFC
 * 5246 7.4.1, names RFC 6066 3, protocols RFC 7301): as much of a hello as rules route by. One
 * handshake message in one record; what is wrong in any length has nothing to say.
 */
#ifndef TACIT_RULE_SAMPLE_HELLO_H
#define TACIT_RULE_SAMPLE_HELLO_H

#include <stdint.h>

#include "base/str.h"

#define HELLO_NAME_MAX 255   /* bytes of a server's name */

enum hello_found {
	HELLO_NOT,   /* these bytes begin no TLS connection */
	HELLO_MORE,  /* so far they do, but the message has not all come */
	HELLO_WHOLE
};

struct hello {
	uint8_t type;        /* of the handshake message: 1 is a client's hello, 2 a server's */
	uint32_t version;    /* major << 16 | minor, as the message has it */
	/* Of a client's hello without a mistake; else nothing, and 0. */
	uint8_t is_client;
	struct str name;     /* of the server (SNI), in `bytes`; p NULL: none */
	struct str protocol; /* the first of ALPN; p NULL: none */
	uint8_t has_groups;  /* supported_groups, once "elliptic curves" */
	uint8_t ticket;      /* 0: no extension, 1: an empty one, 2: with a ticket */
};

/* out: filled in when it is HELLO_WHOLE; points into bytes. What stands behind is not looked at. */
enum hello_found hello_parse(struct str bytes, struct hello *out);
/* The version alone, also that of an SSLv2 hello, which nothing else is taken from. */
enum hello_found hello_version(struct str bytes, uint32_t *version);

#endif
