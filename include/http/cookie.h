/*
 * Cookies (RFC 6265): in requests and responses, read as the manual's req.cook and res.cook do, and
 * a Cookie field with one of them replaced or removed. Slices; no memory of its own.
 */
#ifndef TACIT_HTTP_COOKIE_H
#define TACIT_HTTP_COOKIE_H

#include "base/compiler.h"
#include "http/head.h"

/*
 * name=value, without blanks around either. Quotes are part of the value, and hold no separators.
 * The name's case matters.
 */
struct http_cookie {
	struct str name, value;
	int place;            /* of its field in the head */
};

/* Where a walk over the cookies of a head stands. Zeroed to begin with. */
struct http_cookie_walk {
	unsigned int from;    /* the field to look for next */
	int place;            /* of the field at work */
	struct str rest;      /* of its value */
};

/*
 * The next cookie of the request's Cookie fields; what is not name=value is skipped. Besides ';'
 * a ',' separates them, as HAProxy has it and RFC 2965 had it. 0 when there is none left.
 */
int http_cookie_next(const struct http_head *req, struct http_cookie_walk *w,
	struct http_cookie *out);
/* The same for the Set-Cookie fields of a response, each with one cookie; its attributes are
 * skipped. */
int http_set_cookie_next(const struct http_head *res, struct http_cookie_walk *w,
	struct http_cookie *out);

/*
 * Takes a cookie out of a Cookie field, where the walk has just found it, its separator included; a
 * field in which nothing is left is dropped. The new value of the field lies in out, which outlives
 * the head and needs the length of the field. 0, or -ERR_RANGE when out has not room: the head is
 * as it was. Cookies and walks of that field are void then.
 */
int http_cookie_remove(struct http_head *req, const struct http_cookie *c, char *out,
	size_t cap) must_check;

/*
 * The same in place, where the field's text may be written to, for the cookie c that the walk has
 * just found: it goes on with the next one.
 */
void http_cookie_erase(struct http_head *req, struct http_cookie_walk *w,
	const struct http_cookie *c);
/* The value without its first n bytes, likewise. */
void http_cookie_cut(struct http_head *req, struct http_cookie_walk *w, const struct http_cookie *c,
	size_t n);

#endif
