/* Finds out whether caches may store a response, for `option checkcache`. No I/O. */
#ifndef TACIT_HTTP_CACHEABLE_H
#define TACIT_HTTP_CACHEABLE_H

#include "http/head.h"

/*
 * True if a cache between tacit and the client may keep this response together with a cookie that
 * it sets (manual, option checkcache). res->method is that of the request.
 *
 * The manual blocks more: it does not mention that a response is not kept either when it has
 * neither a time (max-age, s-maxage, Expires) nor a validator (ETag, Last-Modified). HAProxy 2.6
 * delivers such a response. The last of several directives in Cache-Control applies.
 */
int http_shares_cookie(const struct http_head *res);

#endif
