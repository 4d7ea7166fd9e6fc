/*
 * The framing of a message (enum http_framing) and its fields in HTTP/1 (RFC 9112, 6):
 * Content-Length and Transfer-Encoding.
 */
#ifndef TACIT_HTTP_H1_FRAMING_H
#define TACIT_HTTP_H1_FRAMING_H

#include "base/compiler.h"
#include "http/head.h"

/*
 * Sets the framing of a received head from its fields, status and method. The parser does so at the
 * end of a head. Only final responses have a body; 101 and 2xx to CONNECT: TUNNEL.
 */
void h1_framing_from_fields(struct http_head *h);
/*
 * Takes the body from a response whose status, maybe one that a rule has set, allows none. 1xx and
 * 204 lose the fields with its length (RFC 9110, 8.6; RFC 9112, 6.1).
 */
void h1_obey_status(struct http_head *h);
/*
 * The other way round, before a head is written for a receiver of this version: Transfer-Encoding
 * is there if the body is sent in chunks. HTTP/1.0 does not know it: such a body ends when the
 * connection is closed, which becomes the framing. A response that could have a body and has none
 * gets a Content-Length of 0; h1_obey_status() is called. A successful CONNECT has no body, for
 * any response (RFC 9110, 9.3.6). 0 or -ERR_RANGE: the field does not fit.
 */
int h1_framing_to_fields(struct http_head *h, enum http_version receiver) must_check;

#endif
