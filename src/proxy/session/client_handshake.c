/* State CLIENT_HANDSHAKE: the handshake of the client's transport (TLS). On the session's worker;
 * the session does not count as one, and has no server, before it is done. */
#include "proxy/session/client_handshake.h"

#include "base/err.h"
#include "net/xprt.h"
#include "proxy/model/count.h"
#include "proxy/model/termination.h"
#include "proxy/session/session_admit.h"

enum session_event
client_handshake(struct session *sess)
{
	struct conn *c = &sess->conn;

	if (!conn_is_ready(c, DIR_R))
		return SESSION_EV_NONE;
	switch (conn_handshake(c)) {
	case IO_OK:
		count_handshake(&fe_stat(&sess->stream)->tls, c);
		return session_admit_again(sess);
	case IO_AGAIN:
		return SESSION_EV_NONE;
	case IO_EOF:
	case IO_ERR:
		break;
	}
	return SESSION_EV_CLIENT_GONE;
}
