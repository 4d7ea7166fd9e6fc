/* Keeps invalid messages for `show errors`: a request with its frontend, a response with its
 * backend. On the session's worker, when the parser has refused. */
#ifndef TACIT_PROXY_HTTP1_NOTE_INVALID_H
#define TACIT_PROXY_HTTP1_NOTE_INVALID_H

#include <stddef.h>

struct stream;

/* The head that the parser of this side has refused, or that is longer than its buffer. */
void http_note_invalid_head(const struct stream *s, int side);
/* p[0..n): bytes of the body of that side, of which the one at body.bad_at was refused. */
void http_note_invalid_body(const struct stream *s, int side, const char *p, size_t n);

#endif
