/* Sockets for connections to servers, for sessions and checks. */
#ifndef TACIT_PROXY_BACKEND_SERVER_CONNECT_H
#define TACIT_PROXY_BACKEND_SERVER_CONNECT_H

#include "base/compiler.h"
#include "proxy/model/engine.h"
#include "proxy/model/server.h"

/* The number of sockets to try, each from the next port of the server's `source`, when connect()
 * fails with EADDRNOTAVAIL: a connection from this port to this address is open. 1 without a
 * range. */
int server_source_tries(const struct server *srv);
/* A new non-blocking socket, bound to the server's `source`: the descriptor or -errno. */
int server_socket(struct engine *e, struct server *srv, int family) must_check;

#endif
