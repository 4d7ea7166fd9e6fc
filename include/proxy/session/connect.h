/* Opening the connection to the server: socket, options that must precede connect(), connect(). */
#ifndef TACIT_PROXY_SESSION_CONNECT_H
#define TACIT_PROXY_SESSION_CONNECT_H

#include "proxy/model/session.h"

/*
 * Starts a connection to s->srv: 1 if established, 0 if in progress, -errno on failure;
 * s->conn[SERVER] is open unless it failed.
 */
int connect_server(struct session *s) must_check;
/* Uses an idle connection to s->srv: 1, or 0 if a new one is needed. */
int connect_reuse(struct session *s) must_check;
/* True for local failures (descriptors, ports, memory), not the server's. */
int connect_is_resource(int err);

#endif
