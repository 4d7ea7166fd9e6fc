/*
 * HTTP messages of the ends of a simulated world, as bytes: read (http_reader.c) and written
 * (http_text.c). Users: the ends of http_ends.h.
 */
#ifndef TACIT_SIM_HTTP_READER_H
#define TACIT_SIM_HTTP_READER_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "fake/wire.h"

/*
 * Reads HTTP messages for the ends of a simulated world: independent, nothing of src/http is used.
 * It accepts what tacit may send, and rejects everything else.
 */

#define HTTP_READER_LINE 1024

enum http_reader_state {
	HTTP_READER_HEAD,
	HTTP_READER_FOUND, /* the head is complete: the owner decides what follows */
	HTTP_READER_BODY,
	HTTP_READER_SIZE, /* chunked bodies: the line with a size, */
	HTTP_READER_CHUNK,
	HTTP_READER_CRLF, /* the bytes after a chunk, */
	HTTP_READER_TRAILER,
	HTTP_READER_OVER,
	HTTP_READER_BAD
};

enum http_shape {
	HTTP_SHAPE_NONE,
	HTTP_SHAPE_LENGTH,
	HTTP_SHAPE_CHUNKED,
	HTTP_SHAPE_END,   /* until the sender closes */
	HTTP_SHAPE_TUNNEL /* bytes without a known end */
};

/* The contents of a head. */
struct http_parsed {
	char method[12]; /* "" in a response */
	unsigned int status, minor;
	int h2;
	uint32_t path;    /* /17 is 17 */
	uint32_t id, nth; /* X-Id, 0: none; X-Try */
	int extra;        /* X-Extra: unrequested */
	size_t has_long;  /* bytes of the values of X-Long, which are those of http_long_byte() */
	char cookie[40];     /* the value of SRV in Cookie or Set-Cookie, "" for none */
	unsigned int sets;   /* number of Set-Cookie fields with it */
	unsigned int crumbs; /* number of other cookies */
	int is_private;
	int chunked, close, upgrade, expect;
	long length; /* -1: none */
};

struct http_reader {
	enum http_reader_state state;
	struct http_parsed said;
	uint64_t left; /* of the body or chunk */
	uint64_t got;  /* bytes of the body */
	uint32_t seed;
	int wrong; /* a byte differed from the expected one */
	enum http_shape shape;
	unsigned int lines;
	size_t folded; /* bytes of this line of X-Long that were checked and dropped */
	char line[HTTP_READER_LINE];
	size_t n;
};

/* The byte at pos of the stream with that seed. */
uint8_t http_byte(uint32_t seed, uint64_t pos);
/* Begins another message. */
void http_reader_begin(struct http_reader *r);
/* In state FOUND: sets the framing of the body and its stream. */
void http_reader_expect(struct http_reader *r, enum http_shape shape, uint32_t seed);
/* Processes bytes: returns how many of the n. It stops after a head, after a message and at an
 * error. */
size_t http_reader_take(struct http_reader *r, const uint8_t *p, size_t n);

/* A message to be sent by an end of a simulated world, in one piece or several. */

struct http_text {
	char *p;
	size_t n, cap;
	size_t at; /* bytes sent so far */
};

/* Empties it; keeps its memory. */
void http_text_clear(struct http_text *t);
void http_text_free(struct http_text *t);
void http_text_add(struct http_text *t, const char *fmt, ...) fmt_printf(2, 3);
/* Appends a body of len bytes (TUNNEL: just these), in chunks of `chunk` bytes if it is chunked. */
void
http_text_body(struct http_text *t, enum http_shape shape, uint32_t seed, size_t len, size_t chunk);
/* Sends it up to there: 1 when done, 0 when the socket is full, -errno when the peer is gone. */
int http_text_send(struct http_text *t, struct wire *w, struct fake_sock *s, size_t upto);
static inline int
http_text_is_out(const struct http_text *t)
{
	return t->at == t->n;
}

#endif
