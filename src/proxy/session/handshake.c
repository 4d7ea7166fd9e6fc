/* State HANDSHAKE: the SOCKS4 proxy of a server is connected and asked for the server; then the
 * handshake of the server's transport (TLS). On the session's worker; the client's data is kept. */
#include "proxy/session/connect_tls.h"
#include "proxy/session/handshake.h"

#include <errno.h>

#include "base/counter.h"
#include "net/socks4.h"
#include "proxy/model/count.h"
#include "proxy/relay/speculation.h"
#include "proxy/session/connect.h"
#include "proxy/session/handlers.h"
#include "proxy/session/proxy_protocol_out.h"

/* A server that is not connected has not refused the handshake. */
static enum stream_event
refuse_handshake(struct stream *s)
{
	if (s->conn[SERVER]->xprt && s->conn[SERVER]->sends) {
		counter_add(&srv_stat(s)->tls.failed, 1);
		counter_add(&be_stat(s)->tls.failed, 1);
	}
	return STREAM_EV_REFUSED;
}

/* Continues the handshake of the server's transport. */
static enum stream_event
shake_hands(struct stream *s)
{
	struct conn *c = s->conn[SERVER];

	if (!conn_is_ready(c, DIR_R))
		return STREAM_EV_NONE;
	switch (conn_handshake(c)) {
	case IO_OK:
		count_handshake(&srv_stat(s)->tls, c);
		count_handshake(&be_stat(s)->tls, c);
		return STREAM_EV_UP;
	case IO_AGAIN:
		return STREAM_EV_NONE;
	case IO_EOF:
	case IO_ERR:
		break;
	}
	return refuse_handshake(s);
}

/* The server's own side begins: with the PROXY header, if it wants one. */
static enum stream_event
reach_server(struct stream *s)
{
	const struct xprt_maker *xprt = server_xprt(s);
	int r = xprt ? conn_begin_xprt(s->conn[SERVER], s->engine->on_server_io, s, xprt) : 0;

	r = r < 0 ? -ENOMEM : connect_begin_server(s);
	if (r < 0) {
		s->connect_err = (int16_t)-r;
		return STREAM_EV_REFUSED;
	}
	return xprt ? shake_hands(s) : STREAM_EV_UP;
}

static enum stream_event
handshake_event(struct stream *s, enum socks4_step step)
{
	switch (step) {
	case SOCKS4_SENDS:
	case SOCKS4_READS:
		return STREAM_EV_NONE;
	case SOCKS4_GRANTED:
		return reach_server(s);
	case SOCKS4_DENIED:
	case SOCKS4_CLOSED:
	case SOCKS4_FAILED:
		break;
	}
	return STREAM_EV_REFUSED;
}

static enum stream_event
handshake_proceed(struct stream *s)
{
	struct conn *c = s->conn[SERVER];

	if (c->xprt)
		return shake_hands(s);
	return handshake_event(s, socks4_proceed(c, &s->handshake_got));
}

enum stream_event
stream_do_handshake(struct stream *s)
{
	s->handshake_got = 0;
	return handshake_proceed(s);
}

enum stream_event
handshake_try(struct stream *s)
{
	struct conn *c = s->conn[SERVER];
	enum stream_event next = STREAM_EV_NONE;

	if (conn_is_ready(c, DIR_W)) {
		next = shake_hands(s);
		speculation_tried_handshake(s, c->sends > 0);
	}
	if (next != STREAM_EV_NONE)
		return next;
	if (c->sends)
		return STREAM_EV_AWAIT_HANDSHAKE;
	conn_again(c, DIR_W);
	return STREAM_EV_NONE;
}

enum stream_event
handshake_io(struct stream *s, int side, uint32_t ev)
{
	struct conn *c = s->conn[SERVER];
	enum stream_event next;

	if (side == CLIENT)
		return early_io(s, side, ev);
	next = handshake_proceed(s);
	if (next == STREAM_EV_NONE && (ev & EV_ERR) && conn_take_error(c))
		next = refuse_handshake(s);
	return next;
}
