/* The client's TLS in PROXY headers to servers. On the session's worker. */
#ifndef TACIT_PROXY_SESSION_PROXY_PROTOCOL_TLS_H
#define TACIT_PROXY_SESSION_PROXY_PROTOCOL_TLS_H

#include "net/proxy_header.h"
#include "proxy/model/session.h"
#include "rule/sample/arena.h"

/*
 * Sets alpn, authority and ssl of *f as the session's server wants them. Texts are in the arena or
 * live as long as the client's connection; *ssl is the caller's room for f->ssl.
 */
void proxy_protocol_put_tls(const struct stream *s, struct arena *a,
	struct proxy_header_fields *f, struct proxy_header_ssl *ssl);

#endif
