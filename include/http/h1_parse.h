/*
 * The parser of HTTP/1 heads. It is strict (RFC 9112): it rejects and never corrects. It is
 * incremental: it is called with the bytes from the start of the message each time more arrive, and
 * continues where it stopped, so that a head received in n pieces costs O(its length). Nothing is
 * copied: the texts of the head are slices of the caller's bytes, which must not move while the
 * head is used.
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
	uint32_t at;          /* parsed up to here */
	uint32_t line;        /* start of the current line */
	uint8_t state;        /* private */
	uint16_t bad;         /* enum http_bad, after HTTP_BAD */
	uint32_t bad_at;      /* offset of the invalid byte */
};

/*
 * Parses buf[0..len), len below 2^31; the first p->at bytes must be the same, at the same place, as
 * in the previous call. *out, from http_head_init(), must be the same in each call: it is filled
 * line by line, and complete after HTTP_COMPLETE, when *used is the length of the head including
 * the empty line. HTTP_BAD: p->bad and p->bad_at have the reason and position; do not call it
 * again. One empty line before a request is skipped (RFC 9112, 2.2) and counted in *used. Host is
 * checked (one, valid, equal to the authority of an absolute target), and so are Content-Length and
 * Transfer-Encoding, from which the framing is set at the end. The framing of a response depends on
 * out->method too, the method of its request.
 */
enum h1_parse_status h1_parse_request(struct h1_parser *p, const char *buf, size_t len,
	struct http_head *out, size_t *used);
enum h1_parse_status h1_parse_response(struct h1_parser *p, const char *buf, size_t len,
	struct http_head *out, size_t *used);

/* The same in one call, for bytes that are only peeked at. */
enum h1_parse_status h1_peek_request(const char *buf, size_t len, struct http_head *out);

/*
 * The minimum number of further bytes that can complete a request head, after HTTP_MORE; 0 < result
 * <= H1_NEEDS_MAX. Reading fewer can only show that the head is invalid.
 */
#define H1_NEEDS_MAX 17u
unsigned int h1_parse_needs(const struct h1_parser *p, const struct http_head *h);

/* The reason for rejecting a head that does not end within its buffer, after HTTP_MORE. */
enum http_bad h1_parse_full(const struct h1_parser *p);

#endif
