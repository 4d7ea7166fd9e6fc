/* Actions of sessions whose client is not served yet: it owes a PROXY header, or the handshake of
 * its transport. On the session's worker. What they read lies in its first stream. */
#include "proxy/session/actions.h"

#include "base/counter.h"
#include "net/xprt.h"
#include "proxy/model/count.h"
#include "proxy/http2/h2_client.h"
#include "proxy/model/termination.h"
#include "proxy/relay/direction.h"
#include "proxy/session/client_handshake.h"
#include "proxy/session/handlers.h"
#include "proxy/session/proxy_protocol_in.h"
#include "proxy/session/stream_post.h"

enum session_event
session_do_none(struct session *sess)
{
	(void)sess;
	return SESSION_EV_NONE;
}

/* Its first bytes have probably arrived with it. */
enum session_event
session_do_await_client(struct session *sess)
{
	sess->stream.state_ms = stream_now_ms(&sess->stream);
	stream_post(&sess->stream, STREAM_EV_NONE);
	return SESSION_EV_NONE;
}

enum session_event
session_do_proxy_header_timeout(struct session *sess)
{
	session_set_conn_err(sess, CONN_ERR_LATE);
	return SESSION_EV_NONE;
}

enum session_event
session_do_proxy_header_abort(struct session *sess)
{
	int failed = sess->conn.err != 0, cut = sess->stream.dir[CLIENT].lookahead != 0;

	session_set_conn_err(sess,
		failed    ? CONN_ERR_FAILED
			: cut ? CONN_ERR_CUT
			      : CONN_ERR_CLOSED);
	if (cut && !failed)
		conn_reset_on_close(&sess->conn);
	return SESSION_EV_NONE;
}

enum session_event
session_do_client_handshake_timeout(struct session *sess)
{
	session_set_conn_err(sess, CONN_ERR_TLS_LATE);
	return SESSION_EV_NONE;
}

enum session_event
session_do_client_handshake_abort(struct session *sess)
{
	const struct xprt *x = sess->conn.xprt;

	counter_add(&fe_stat(&sess->stream)->tls.failed, 1);
	session_set_conn_err(
		sess, x && x->failure ? (enum conn_err)x->failure : CONN_ERR_TLS_FAILED);
	return SESSION_EV_NONE;
}

/* --- several streams --- */

enum session_event
session_do_multiplex(struct session *sess)
{
	struct stream *s = &sess->stream;

	/* Its streams are logged, each by itself. */
	s->own_line = STREAM_LINE_NONE;
	s->state_ms = stream_now_ms(s);
	if (h2_client_begin(sess) < 0)
		return SESSION_EV_DENIED;
	stream_post(s, STREAM_EV_NONE);
	return SESSION_EV_NONE;
}

enum session_event
session_do_multiplex_timeout(struct session *sess)
{
	return h2_client_late(sess);
}

enum session_event
session_do_multiplex_kill(struct session *sess)
{
	return h2_client_kill(sess);
}

/* --- the deadline has passed: bytes that came before it are read first --- */

/* There was nothing: TIMEOUT, unless the deadline has moved. */
static enum session_event
session_late_unless(const struct session *sess, enum session_event ev)
{
	if (ev != SESSION_EV_NONE)
		return ev;
	return stream_deadline(&sess->stream) <= stream_now_ms(&sess->stream) ? SESSION_EV_TIMEOUT
									   : SESSION_EV_NONE;
}

enum session_event
session_do_header_last_look(struct session *sess)
{
	enum session_event ev = SESSION_EV_NONE;

	if (direction_end_buffer_wait(&sess->stream, CLIENT) ||
		presume_left_event(&sess->stream, CLIENT))
		ev = proxy_protocol_read(sess);
	return session_late_unless(sess, ev);
}

enum session_event
session_do_client_handshake_last_look(struct session *sess)
{
	enum session_event ev = SESSION_EV_NONE;

	if (presume_left_event(&sess->stream, CLIENT))
		ev = client_handshake(sess);
	return session_late_unless(sess, ev);
}

enum session_event
session_do_multiplex_last_look(struct session *sess)
{
	enum session_event ev = SESSION_EV_NONE;

	if (presume_left_event(&sess->stream, CLIENT))
		ev = multiplex_task(sess);
	return session_late_unless(sess, ev);
}
