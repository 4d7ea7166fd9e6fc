/* Actions of sessions whose client has not sent yet what is needed: a PROXY header, or data that
 * rules inspect. See actions.c. */
#include "proxy/model/count.h"
#include "proxy/model/termination.h"
#include "proxy/relay/direction.h"
#include "net/xprt.h"
#include "proxy/session/actions.h"
#include "proxy/session/client_handshake.h"
#include "proxy/session/proxy_protocol_in.h"
#include "proxy/session/tcp_content_rules.h"
#include "base/counter.h"

enum stream_event
stream_do_proxy_header_timeout(struct stream *s)
{
	proxy_protocol_set_term(s, CONN_ERR_LATE);
	return stream_do_close(s);
}

enum stream_event
stream_do_proxy_header_abort(struct stream *s)
{
	int failed = s->conn[CLIENT]->err != 0, cut = s->dir[CLIENT].lookahead != 0;

	proxy_protocol_set_term(s,
		failed    ? CONN_ERR_FAILED
			: cut ? CONN_ERR_CUT
			      : CONN_ERR_CLOSED);
	if (cut && !failed)
		conn_reset_on_close(s->conn[CLIENT]);
	return stream_do_close(s);
}

enum stream_event
stream_do_client_handshake_timeout(struct stream *s)
{
	client_handshake_set_term(s, CONN_ERR_TLS_LATE);
	return stream_do_close(s);
}

enum stream_event
stream_do_client_handshake_abort(struct stream *s)
{
	const struct xprt *x = s->conn[CLIENT]->xprt;

	counter_add(&fe_stat(s)->tls.failed, 1);
	client_handshake_set_term(
		s, x && x->failure ? (enum conn_err)x->failure : CONN_ERR_TLS_FAILED);
	return stream_do_close(s);
}

static enum stream_event
end_inspection(struct stream *s, char cause)
{
	stream_set_term(s, cause, 'R');
	count_failed_req(s);
	if (s->be)
		counter_add(&be_stat(s)->cli_abrt, 1);
	return stream_do_close(s);
}

enum stream_event
stream_do_inspect_abort(struct stream *s)
{
	return end_inspection(s, 'C');
}

enum stream_event
stream_do_inspect_timeout(struct stream *s)
{
	unsigned int ms = s->sess->fe->to.client;

	if (ms && s->last_ms[CLIENT] + ms <= stream_now_ms(s)) {
		stream_set_term(s, 'c', 'R');
		return STREAM_EV_CLIENT_GONE;
	}
	return tcp_content_decide(s);
}
