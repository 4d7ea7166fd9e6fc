/*
 * The unencrypted first bytes of a TLS connection (RFC 8446 4.1.2, 5.1, RFC 5246 7.4.1, names RFC
 * 6066 3, protocols RFC 7301): records, the handshake message that they carry, and the parts of a
 * client's hello. Sans-I/O; nothing is allocated.
 */
#ifndef TACIT_NET_TLS_HELLO_H
#define TACIT_NET_TLS_HELLO_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/str.h"

#define HELLO_NAME_MAX 255       /* bytes of a server's name */
#define HELLO_MAX      (1u << 17) /* bytes of a message; OpenSSL takes no longer hello */

enum hello_found {
	HELLO_NOT,   /* not the beginning of a TLS connection */
	HELLO_MORE,  /* incomplete */
	HELLO_WHOLE
};

/* --- parts --- */

/* The rest of a part. After an invalid length it is `bad` and empty. */
struct hello_part {
	const uint8_t *p;
	size_t len;
	int bad;
};

/* A number of n bytes in network byte order, n up to 4. */
uint32_t hello_take_number(struct hello_part *from, size_t n);
/* A vector: its length in n bytes, followed by that many bytes. */
struct hello_part hello_take_vector(struct hello_part *from, size_t n);

/* --- records --- */

/* The first handshake message of a connection, with its head of 4 bytes. */
struct hello_message {
	struct str records;
	size_t len;
	const char *p;  /* NULL: its bytes lie in several records */
};

/*
 * Finds the message. out: filled in when the result is HELLO_WHOLE; points into bytes. Bytes after
 * the message are ignored. A message may be cut into records of any length; empty ones, alerts and
 * ChangeCipherSpec records before and between them are passed over, since servers do that.
 */
enum hello_found hello_find(struct str bytes, struct hello_message *out);
/* The message in one piece; room: m->len bytes, unless m->p is set. */
struct str hello_join(const struct hello_message *m, char *room);

/* --- messages --- */

/* The fields of a client's hello. */
struct hello_fields {
	uint16_t version;
	struct hello_part session, ciphers, compressions;
	struct hello_part rest; /* behind them: nothing, or a vector of extensions */
};

/* Reads the fields of a message with its head, for any length in the head. 0, or -1: it is no
 * client's hello, or a length is invalid. */
int hello_read_fields(struct str message, struct hello_fields *out) must_check;

struct hello {
	uint8_t type;        /* of the handshake message: 1 is a client's hello, 2 a server's */
	uint32_t version;    /* major << 16 | minor, as in the message */
	/* Only for a valid client hello; otherwise empty or 0. */
	uint8_t is_client;
	struct str name;     /* of the server (SNI), in the message; p NULL: none */
	struct str protocol; /* the first of ALPN; p NULL: none */
	uint8_t has_groups;  /* the supported_groups extension, once "elliptic curves" */
	uint8_t ticket;      /* 0: no extension, 1: an empty one, 2: with a ticket */
};

/* Reads a message that hello_find() has found. A client's hello with any invalid length yields
 * nothing but type and version. */
void hello_read(struct str message, struct hello *out);
/* The version of an SSLv2 hello, of which nothing else is parsed. */
enum hello_found hello_ssl2_version(struct str bytes, uint32_t *version);

#endif
