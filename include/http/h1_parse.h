/*
 * The parser of HTTP/1 heads: strict by RFC 9112, it rejects and never repairs. Incremental: it
 * is given the bytes from the message's first one on, again with each arrival, and goes on where
 * it stopped, so that a head that comes in n pieces costs O(its length). Nothing is copied: the
 * head's texts are slices of the caller's bytes, which must not move before the head is done
 * with.
 */
#ifndef TACIT_HTTP_H1_PARSE_H
#define TACIT_HTTP_H1_PARSE_H

#include <stddef.h>
#include <stdint.h>

#include "http/bad.h"
#include "http/head.h"

enum h1_parse_status { HTTP_MORE, HTTP_COMPLETE, HTTP_BAD };

/* Zeroed before the first byte of each message. */
struct h1_parser {
	uint32_t at;          /* all before it has been judged */
	uint32_t line;        /* where the line at work begins */
	uint8_t state;        /* the parser's own */
	uint16_t bad;         /* enum http_bad, after HTTP_BAD */
	uint32_t bad_at;      /* offset of the byte that is wrong */
};

/*
 * Judges buf[0..len), len below 2^31, of which the first p->at bytes are as they were, and where
 * they were, at the last call. *out, from http_head_init(), is the same at each call too: it is
 * filled as the lines come in, and is good for use after HTTP_COMPLETE, when *used is the length
 * of the head, its empty line included.
 * HTTP_BAD: p->bad and p->bad_at say what and where; the call is not to be repeated. An empty
 * line before a request is skipped (RFC 9112, 2.2: one CRLF at most, and it counts in *used).
 * Host is checked (one, valid, equal to the authority of an absolute target), Content-Length and
 * Transfer-Encoding too: see http/h1_body.h for what they mean.
 */
enum h1_parse_status h1_parse_request(struct h1_parser *p, const char *buf, size_t len,
	struct http_head *out, size_t *used);
enum h1_parse_status h1_parse_response(struct h1_parser *p, const char *buf, size_t len,
	struct http_head *out, size_t *used);

/*
 * How many more bytes a request's head takes at least before it can be complete, after HTTP_MORE;
 * 0 < it <= H1_NEEDS_MAX. Whoever reads less learns nothing but that it may be bad.
 */
#define H1_NEEDS_MAX 17u
unsigned int h1_parse_needs(const struct h1_parser *p, const struct http_head *h);

/* What is wrong with a head that does not end within its buffer, after HTTP_MORE. */
enum http_bad h1_parse_full(const struct h1_parser *p);

#endif
