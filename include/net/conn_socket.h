/*
 * Facts and options of the socket below a connection: its addresses, TCP_INFO, TOS, mark. Their
 * argument is the connection, since a scripted one has no socket. Each makes at most one system
 * call. On the worker that owns the connection.
 */
#ifndef TACIT_NET_CONN_SOCKET_H
#define TACIT_NET_CONN_SOCKET_H

#include <netinet/in.h>
#include <netinet/tcp.h>

#include "base/compiler.h"
#include "net/addr.h"
#include "net/conn.h"

/* The connection that has the socket: c, or the one that carries it as a stream; NULL: it is
 * closed, or scripted. */
const struct conn *conn_socket(const struct conn *c);
/* The address of this end, of the other end: 0, or a negative reason. */
int conn_local_addr(const struct conn *c, struct addr *out) must_check;
int conn_peer_addr(const struct conn *c, struct addr *out) must_check;
/* The address that a client of this family connected to before NAT redirected it:
 * addr_before_nat(). */
int conn_addr_before_nat(const struct conn *c, int family, struct addr *out) must_check;
/* 0, or a negative reason. */
int conn_tcp_info(const struct conn *c, struct tcp_info *out) must_check;
/* Sets an option whose value is an int. No effect where there is no socket, or none with this
 * option. */
void conn_socket_set(const struct conn *c, int level, int opt, uint32_t value);

#endif
