/* State HANDSHAKE: the SOCKS4 proxy of a server is connected and asked for the server. On the
 * session's worker; until it agrees the client's data is kept. */
#include "proxy/session/handshake.h"

#include <errno.h>

#include "net/socks4.h"
#include "proxy/session/handlers.h"
#include "proxy/session/proxy_protocol_out.h"

/* The server's own side begins: with the PROXY header, if it wants one. */
static enum session_event
reach_server(struct session *s)
{
	if (proxy_protocol_begin(s) == 0)
		return SESSION_EV_UP;
	s->connect_err = ENOMEM;
	return SESSION_EV_REFUSED;
}

static enum session_event
handshake_event(struct session *s, enum socks4_step step)
{
	switch (step) {
	case SOCKS4_SENDS:
	case SOCKS4_READS:
		return SESSION_EV_NONE;
	case SOCKS4_GRANTED:
		return reach_server(s);
	case SOCKS4_DENIED:
	case SOCKS4_CLOSED:
	case SOCKS4_FAILED:
		break;
	}
	return SESSION_EV_REFUSED;
}

enum session_event
session_do_handshake(struct session *s)
{
	s->handshake_got = 0;
	return handshake_event(s, socks4_proceed(&s->conn[SERVER], &s->handshake_got));
}

enum session_event
handshake_io(struct session *s, int side, uint32_t ev)
{
	struct conn *c = &s->conn[SERVER];
	enum session_event next;

	if (side == CLIENT)
		return early_io(s, side, ev);
	next = handshake_event(s, socks4_proceed(c, &s->handshake_got));
	if (next == SESSION_EV_NONE && (ev & EV_ERR) && conn_take_error(c))
		next = SESSION_EV_REFUSED;
	return next;
}
