/* HTTP authentication, as far as a proxy is concerned (RFC 9110, 11). No I/O. */
#ifndef TACIT_HTTP_AUTH_H
#define TACIT_HTTP_AUTH_H

#include "http/head.h"

/*
 * True if this response asks for a scheme that authenticates the connection instead of the request:
 * NTLM or Negotiate (RFC 4559). All later requests on that connection may be answered as from the
 * authenticated user, so it must never carry requests of another client.
 */
int http_auth_binds_connection(const struct http_head *res);

#endif
