/*
 * Checks of a syntactically valid head as a whole: Host, Content-Length and Transfer-Encoding may
 * each occur once and must not contradict each other or the target (RFC 9112, 3.2 and 6.3).
 * Recipients that disagree about them allow request smuggling, so contradictions are rejected and
 * never corrected. In trailers there may be none of them.
 */
#ifndef TACIT_HTTP_VALIDATE_H
#define TACIT_HTTP_VALIDATE_H

#include "http/bad.h"
#include "http/head.h"

/*
 * True if a field of this name is not allowed in trailers (RFC 9110, 6.5.1): it is for framing,
 * routing, authentication or content format, and some recipients merge trailers into the head.
 * Case-insensitive. Such names are no longer than the maximum.
 */
#define HTTP_FORBIDDEN_TRAILER_MAX 19
int http_is_forbidden_trailer(struct str name);

/* Checks a field before it is added to the head. HTTP_BAD_NONE: valid. Few names have rules. */
enum http_bad http_validate_named(const struct http_head *h, const struct http_field *f);
static inline enum http_bad
http_validate_field(const struct http_head *h, const struct http_field *f)
{
	const uint64_t named = (uint64_t)1 << HTTP_F_HOST | (uint64_t)1 << HTTP_F_CONTENT_LENGTH |
		(uint64_t)1 << HTTP_F_TRANSFER_ENCODING;

	if (h->kind != HTTP_TRAILERS && !(named >> f->id & 1))
		return HTTP_BAD_NONE;
	return http_validate_named(h, f);
}
/* Checks the whole head. */
enum http_bad http_validate_head(const struct http_head *h);

#endif
