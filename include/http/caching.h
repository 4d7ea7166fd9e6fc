/*
 * Rules of shared caches (RFC 9111): which responses they may store and serve. As HAProxy 2.6 has
 * them, and stricter where that is noted. No I/O, no clock.
 */
#ifndef TACIT_HTTP_CACHING_H
#define TACIT_HTTP_CACHING_H

#include "http/head.h"

/* Bits of what a cache may do about a request. */
enum http_caching {
	HTTP_CACHE_SERVES = 1,     /* it may answer with a stored response */
	HTTP_CACHE_STORES = 2,     /* it may store the response */
	HTTP_CACHE_IF_PUBLIC = 4,  /* only a response that is public */
	HTTP_CACHE_FORGETS = 8     /* a method that may change the resource: if it succeeds the
				    * stored response is not valid any more */
};

/* asked: the method as it came. A request with a body is neither served nor stored, which HAProxy
 * does. */
unsigned int http_caching_of_request(const struct http_head *req, enum http_method asked);

struct http_freshness {
	uint64_t age_s;          /* of the response, when it came */
	uint64_t lifetime_s;     /* from then on, at most max-age of the cache */
};

/*
 * True if a cache may store this response to a GET: the status is 200, its end is marked, and it is
 * fresh for a while. only_public: HTTP_CACHE_IF_PUBLIC. Vary is in http/vary.h.
 *
 * HAProxy also stores what ends with the connection, so that it may be cut; private and no-cache
 * with names of fields; an Age as large as max-age; "max-age=10x"; and cookies, here only if the
 * response is public or has s-maxage.
 */
int http_caching_of_response(const struct http_head *res, int only_public, int64_t now_s,
	uint32_t max_age_s, struct http_freshness *out);

/* True if the request has one of the conditions of the next function. */
int http_caching_has_condition(const struct http_head *req);
/* True if the response to this GET depends on what its client has: a condition, or a range. */
int http_caching_is_partial(const struct http_head *req);
/* True if a conditional request (If-None-Match, else If-Modified-Since) finds the stored response
 * unmodified: 304. received_s: when it came. */
int http_caching_is_unmodified(const struct http_head *req, const struct http_head *res,
	int64_t received_s);

/*
 * The key of a resource, "http://host/path?query", with the host in lower case: its length, 0: it
 * has none, or -ERR_RANGE when `to` is too small.
 */
long http_caching_key(const struct http_head *req, int is_tls, char *to, size_t cap);

#endif
