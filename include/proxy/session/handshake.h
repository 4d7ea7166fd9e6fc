/* State HANDSHAKE: with the SOCKS4 proxy of a server, then of its transport (TLS). Rows of the
 * machine (fsm.tbl.h) name it. */
#ifndef TACIT_PROXY_SESSION_HANDSHAKE_H
#define TACIT_PROXY_SESSION_HANDSHAKE_H

#include "net/xprt.h"
#include "proxy/model/session.h"

/* The event when the server's socket is connected: UP, or a handshake. */
static inline enum session_event
handshake_or_up(const struct session *s)
{
	return likely(!s->srv->conf.socks4.len && !conn_awaits_handshake(&s->conn[SERVER]))
		? SESSION_EV_UP
		: SESSION_EV_AWAIT_HANDSHAKE;
}

/* In the turn of the connect(): the hello is sent on trust, as a request is without TLS. */
enum session_event handshake_try(struct session *s);

/* The state's action and its I/O handler. */
enum session_event session_do_handshake(struct session *s);
enum session_event handshake_io(struct session *s, int side, uint32_t ev) must_check;

#endif
