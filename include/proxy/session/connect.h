/* Opening the server side: socket, what has to be set before connect(), connect(). */
#ifndef TACIT_PROXY_SESSION_CONNECT_H
#define TACIT_PROXY_SESSION_CONNECT_H

#include "proxy/model/session.h"

/*
 * Starts a connection to s->srv: 1 when it is up at once, 0 when it is on its way, -errno when it
 * failed; s->conn[SERVER] is open unless it failed.
 */
int connect_server(struct session *s) must_check;
/* Takes an idle connection to s->srv as its own: 1, or 0: a new one has to be made. */
int connect_reuse(struct session *s) must_check;
/* Failures of this machine, not of the server: descriptors, ports, memory. */
int connect_is_resource(int err);

#endif
