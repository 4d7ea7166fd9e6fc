/* Authentication of HTTP, as far as a proxy has to know of it (RFC 9110, 11). Sans-I/O. */
#ifndef TACIT_HTTP_AUTH_H
#define TACIT_HTTP_AUTH_H

#include "http/head.h"

/*
 * Does this response ask for a scheme that authenticates the connection instead of the request:
 * NTLM or Negotiate (RFC 4559)? All that is sent on that connection later may be answered as from
 * the user who has logged in, so that it must never carry requests of another client.
 */
int http_auth_binds_connection(const struct http_head *res);

#endif
