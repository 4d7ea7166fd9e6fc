/*
 * Cookies (RFC 6265) in requests and responses, parsed as the manual describes for req.cook and
 * res.cook, and replacing or removing a cookie of a Cookie field. Results are slices; no memory is
 * allocated.
 */
#ifndef TACIT_HTTP_COOKIE_H
#define TACIT_HTTP_COOKIE_H

#include "base/compiler.h"
#include "http/head.h"

/*
 * name=value, without blanks around either. Quotes are part of the value and do not protect
 * separators. The name is case-sensitive.
 */
struct http_cookie {
	struct str name, value;
	int place;            /* index of its field in the head */
};

/* Position of an iteration over the cookies of a head. Zeroed at first. */
struct http_cookie_walk {
	unsigned int from;    /* the next field to search */
	int place;            /* index of the current field */
	struct str rest;      /* unread rest of its value */
};

/*
 * The next cookie of the request's Cookie fields; text that is not name=value is skipped. ',' is a
 * separator like ';', as in HAProxy and RFC 2965. 0 when there are no more.
 */
int http_cookie_next(const struct http_head *req, struct http_cookie_walk *w,
	struct http_cookie *out);
/* The same for the Set-Cookie fields of a response; each has one cookie, and its attributes are
 * skipped. */
int http_set_cookie_next(const struct http_head *res, struct http_cookie_walk *w,
	struct http_cookie *out);

/*
 * Removes the cookie c that the iteration has just found, with its separator, from its Cookie
 * field, whose text must be writable; a field that becomes empty is dropped. The iteration
 * continues with the next cookie; other cookies and iterations of that field become invalid.
 */
void http_cookie_erase(struct http_head *req, struct http_cookie_walk *w,
	const struct http_cookie *c);
/* Removes the first n bytes of the value, likewise. */
void http_cookie_cut(struct http_head *req, struct http_cookie_walk *w, const struct http_cookie *c,
	size_t n);

#endif
