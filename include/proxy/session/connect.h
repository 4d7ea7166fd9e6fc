/* The connection to a server: a new one, or an idle one. */
#ifndef TACIT_PROXY_SESSION_CONNECT_H
#define TACIT_PROXY_SESSION_CONNECT_H

#include "net/xprt.h"
#include "proxy/model/session.h"

/*
 * Starts a connection to s->srv: 1 if established, 0 if in progress, -errno or -ERR_RANGE
 * (see connect_is_unnamed()) on failure; s->conn[SERVER] is open unless it failed.
 */
int connect_server(struct stream *s) must_check;
/* Uses an idle connection to s->srv: 1, or 0 if a new one is needed. */
int connect_reuse(struct stream *s) must_check;
/* The transport of connections to s->srv; NULL: none. */
const struct xprt_maker *server_xprt(const struct stream *s);
/* Has the new connection ask for the server's name (TLS), and begin with the PROXY header: 0,
 * -ENOMEM, or -ERR_RANGE (see connect_is_unnamed()). */
int connect_begin_server(struct stream *s) must_check;
/* True if `sni` made a name that no server can be asked for: another try would fail, too. */
int connect_is_unnamed(int err);

#endif
