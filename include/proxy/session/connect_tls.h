/* TLS of the connection to a server. On the session's worker. */
#ifndef TACIT_PROXY_SESSION_CONNECT_TLS_H
#define TACIT_PROXY_SESSION_CONNECT_TLS_H

#include "base/compiler.h"
#include "proxy/model/session.h"

/* Before the first byte: the name that is asked for. 0 or a negative reason, -ERR_RANGE if it is
 * none that can be asked for (tls_connect_as()); nothing to do without TLS of the configuration. */
int connect_tls_begin(struct stream *s) must_check;
/* While the request can still be read: the name, if it depends on the request. */
void connect_tls_note(struct stream *s);
/* True if the connection, one to the session's server, was made for the same name. */
int connect_tls_is(const struct stream *s, const struct conn *c);
/* Where the name varies: uses an idle connection that was made for the same. 1, or 0: there is
 * none. */
int connect_tls_reuse(struct stream *s) must_check;

#endif
