/* The body of a message in HTTP/1 (RFC 9112, 6 and 7): a parser for its bytes. */
#ifndef TACIT_HTTP_H1_BODY_H
#define TACIT_HTTP_H1_BODY_H

#include <stddef.h>
#include <stdint.h>

#include "http/bad.h"
#include "http/head.h"
#include "http/validate.h"

struct h1_body {
	enum http_framing framing;
	uint64_t left;     /* bytes left of the body, or of the current chunk */
	uint8_t state;     /* private */
	uint16_t bad;      /* enum http_bad */
	uint32_t bad_at;   /* offset of the invalid byte in what was given last */
	uint16_t line;     /* bytes of the current chunk line or trailer so far */
	uint32_t overhead; /* bytes of framing that exceed the allowance */
	char name[HTTP_FORBIDDEN_TRAILER_MAX]; /* start of the current trailer's name */
};

/* Maximum bytes of a chunk line, including extensions. */
#define H1_CHUNK_LINE_MAX 4096
/* Maximum bytes of framing in excess of the allowance: 16 bytes per chunk and one per byte of
 * payload. Trailers have no other bound. */
#define H1_CHUNK_EXCESS_MAX 16384

/* A run of bytes of one kind. */
enum h1_piece {
	H1_PIECE_MORE,   /* none: more bytes are needed */
	H1_PIECE_DATA,   /* payload */
	/* chunk lines, chunk ends, trailers: framing, not content */
	H1_PIECE_FRAME,
	H1_PIECE_BAD     /* b->bad has the reason */
};

/* The body that follows this head, from its first byte on. */
void h1_body_begin(struct h1_body *b, const struct http_head *h);
/* True after the last byte of the message. Never true for CLOSE and TUNNEL. */
int h1_body_is_over(const struct h1_body *b);
/* True if what comes next belongs to the trailers of its chunks. */
int h1_body_is_in_trailers(const struct h1_body *b);
/* Parses p[0..n), n > 0, up to the next change of kind. Returns the kind, and the number of bytes
 * in *len. Must not be called after the end of the message. */
enum h1_piece h1_body_next(struct h1_body *b, const char *p, size_t n, size_t *len);
/* The same for all of p[0..n): returns the number of bytes that belong to the message (of any
 * kind), or -1: invalid. */
long h1_body_take(struct h1_body *b, const char *p, size_t n);
/*
 * Copies the content of p[0..n), without framing, to `to`, which has room for n bytes and may be p:
 * *out bytes, from the first *used bytes of p. Stops at the end of the message. -1: the bytes after
 * these are invalid.
 */
int h1_body_decode(struct h1_body *b, char *to, const char *p, size_t n, size_t *used,
	size_t *out) must_check;
/* Accounts for n bytes of payload that were forwarded without parsing. Not for CHUNKED; for LENGTH
 * at most the bytes that are left (asserted). */
void h1_body_skip(struct h1_body *b, uint64_t n);

/* True if the sender of this head keeps the connection open (RFC 9112, 9.3). */
int h1_persists(const struct http_head *h);

#endif
