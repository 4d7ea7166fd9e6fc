/* A message to be sent by an end of a simulated world, in one piece or several. */
#ifndef TACIT_SIM_HTTP_TEXT_H
#define TACIT_SIM_HTTP_TEXT_H

#include "base/compiler.h"
#include "fake/wire.h"
#include "sim/http_reader.h"

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
