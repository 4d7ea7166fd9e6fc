/*
 * Where a message ends (RFC 9112, 6): its framing, found out from its head, and a judge of the
 * bytes that follow.
 */
#ifndef TACIT_HTTP_H1_BODY_H
#define TACIT_HTTP_H1_BODY_H

#include <stddef.h>
#include <stdint.h>

#include "http/bad.h"
#include "http/head.h"

enum http_framing {
	HTTP_BODY_NONE,    /* the head is all */
	HTTP_BODY_LENGTH,  /* Content-Length */
	HTTP_BODY_CHUNKED,
	HTTP_BODY_CLOSE,   /* until the sender ends: responses only */
	HTTP_BODY_TUNNEL   /* no message any more: after CONNECT or 101 */
};

struct h1_body {
	enum http_framing framing;
	uint64_t left;     /* bytes of the body, or of the chunk at work */
	uint8_t state;     /* the judge's own */
	uint16_t bad;      /* enum http_bad */
	uint16_t line;     /* bytes of the chunk's line, or of the trailer, so far */
	uint32_t overhead; /* bytes of framing that payload has not made good for */
};

/* Bytes of a chunk's line, size and extensions, and of a trailer. */
#define H1_CHUNK_LINE_MAX 4096
/* Bytes of framing that a message may be ahead of its payload: each chunk makes good for 16, and
 * each byte of payload for one. */
#define H1_CHUNK_EXCESS_MAX 16384

/* A run of bytes of one kind. */
enum h1_piece {
	H1_PIECE_MORE,   /* nothing: give it more bytes */
	H1_PIECE_DATA,   /* payload */
	/* chunk sizes, chunk ends, trailers: part of the message, not of its content */
	H1_PIECE_FRAME,
	H1_PIECE_BAD     /* b->bad says why */
};

/* Of a complete request head. */
void h1_body_of_request(struct h1_body *b, const struct http_head *req);
/*
 * Of a final response head to a request with that method. 1xx have none; 101 and 2xx to CONNECT:
 * TUNNEL.
 */
void h1_body_of_response(struct h1_body *b, const struct http_head *res,
	enum http_method method);
/* Has the last byte of the message been judged? Never so for CLOSE and TUNNEL. */
int h1_body_is_over(const struct h1_body *b);
/* What is p[0..n), n > 0, up to where its kind changes: the kind, and how many bytes in *len. Not
 * to be called once it is over: what follows belongs to the next message. */
enum h1_piece h1_body_next(struct h1_body *b, const char *p, size_t n, size_t *len);
/* The same over all of p[0..n): bytes that belong to the message (any kind). -1: bad. */
long h1_body_take(struct h1_body *b, const char *p, size_t n);
/*
 * The content of p[0..n), without framing, goes to `to`, which has room for n bytes and may be p:
 * *out bytes of it, made of the first *used ones. It ends where the message does. -1: what follows
 * those is bad.
 */
int h1_body_decode(struct h1_body *b, char *to, const char *p, size_t n, size_t *used,
	size_t *out) must_check;
/* n bytes of payload went by unseen. Not of CHUNKED, and of LENGTH no more than are left
 * (asserted). */
void h1_body_skip(struct h1_body *b, uint64_t n);

/* Does the sender of this head mean to go on with the connection (RFC 9112, 9.3)? */
int h1_persists(const struct http_head *h);

#endif
