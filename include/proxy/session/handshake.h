/* State HANDSHAKE: with the SOCKS4 proxy of a server, then of its transport (TLS). Rows of the
 * machine (fsm.tbl.h) name it. */
#ifndef TACIT_PROXY_SESSION_HANDSHAKE_H
#define TACIT_PROXY_SESSION_HANDSHAKE_H

#include "net/xprt.h"
#include "proxy/model/session.h"

/* The event when the server's socket is connected: UP, or a handshake. */
static inline enum stream_event
handshake_or_up(const struct stream *s)
{
	return likely(!s->srv->conf.socks4.len && !conn_awaits_handshake(s->conn[SERVER]))
		? STREAM_EV_UP
		: STREAM_EV_AWAIT_HANDSHAKE;
}

/* In the turn of the connect(): the hello is sent on trust, as a request is without TLS. */
enum stream_event handshake_try(struct stream *s);

/* The state's action and its I/O handler. */
enum stream_event stream_do_handshake(struct stream *s);
enum stream_event handshake_io(struct stream *s, int side, uint32_t ev) must_check;

#endif
