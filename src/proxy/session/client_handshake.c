/* State CLIENT_HANDSHAKE: the handshake of the client's transport (TLS). On the session's worker;
 * the session does not count as one, and has no server, before it is done. */
#include "proxy/session/client_handshake.h"

#include "base/err.h"
#include "net/xprt.h"
#include "proxy/model/count.h"
#include "proxy/model/termination.h"
#include "proxy/session/session_admit.h"

void
client_handshake_set_term(struct stream *s, enum conn_err err)
{
	s->sess->conn_err = (uint8_t)err;
	stream_set_term(s, 'P', 'R');
}

enum stream_event
client_handshake_begin(struct stream *s)
{
	int r = conn_begin_xprt(
		s->conn[CLIENT], s->engine->on_client_io, s, s->sess->listener->xprt);

	if (r == 0)
		return STREAM_EV_AWAIT_CLIENT_HANDSHAKE;
	client_handshake_set_term(s, r == -ERR_FULL ? CONN_ERR_TLS_TOO_MANY : CONN_ERR_TLS_NOMEM);
	return STREAM_EV_DENIED;
}

enum stream_event
client_handshake(struct stream *s)
{
	struct conn *c = s->conn[CLIENT];

	if (!conn_is_ready(c, DIR_R))
		return STREAM_EV_NONE;
	switch (conn_handshake(c)) {
	case IO_OK:
		count_handshake(&fe_stat(s)->tls, c);
		return session_admit_again(s);
	case IO_AGAIN:
		return STREAM_EV_NONE;
	case IO_EOF:
	case IO_ERR:
		break;
	}
	return STREAM_EV_CLIENT_GONE;
}
