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
/* Binds fd to the server's `source`; of a range of ports to the next one that no other program
 * holds. 0 or -errno. */
long server_bind_source(struct engine *e, struct server *srv, int fd) must_check;
/* Binds fd to an address that need not be this host's (IP_TRANSPARENT, which needs CAP_NET_ADMIN),
 * port 0: any port. NULL: none is known, only the interface is set. 0 or -errno. */
long server_bind_as(struct engine *e, const struct server *srv, const struct addr *as,
	int fd) must_check;
/* A new non-blocking socket, bound to the server's `source`: the descriptor or -errno. */
int server_socket(struct engine *e, struct server *srv, int family) must_check;

#endif
