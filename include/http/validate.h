/*
 * What the parts of a head that passed the grammar say together: Host, Content-Length and
 * Transfer-Encoding, of which each may stand there once and none may contradict another or the
 * target (RFC 9112, 3.2 and 6.3). Between two readers that disagree about them requests are
 * smuggled, so that nothing is mended and nothing that contradicts itself is accepted.
 */
#ifndef TACIT_HTTP_VALIDATE_H
#define TACIT_HTTP_VALIDATE_H

#include "http/bad.h"
#include "http/head.h"

/* Of a field that is not yet one of the head's, to those that are. HTTP_BAD_NONE: nothing. */
enum http_bad http_validate_field(const struct http_head *h, const struct http_field *f);
/* Of the whole head. */
enum http_bad http_validate_head(const struct http_head *h);

#endif
