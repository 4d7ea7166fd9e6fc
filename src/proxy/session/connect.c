/* The connection to a server. On the session's worker; it never blocks. */
#include "proxy/session/connect.h"

#include <errno.h>

#include "proxy/relay/direction.h"
#include "proxy/relay/speculation.h"
#include "base/err.h"
#include "net/outbound.h"
#include "proxy/model/addr_override.h"
#include "proxy/backend/conn_pool.h"
#include "proxy/http2/h2_server.h"
#include "proxy/model/count.h"
#include "proxy/session/connect_source.h"
#include "proxy/session/connect_tls.h"
#include "proxy/session/proxy_protocol_out.h"
#include "proxy/session/stream_post.h"

int
connect_is_unnamed(int err)
{
	return err == ERR_RANGE;
}

/* The client's request is there or about to arrive: its segment can carry the handshake's ACK. */
static int
expects_data(const struct stream *s)
{
	return s->sess->listener->bind->defer_accept || direction_pending(&s->dir[CLIENT]);
}

const struct xprt_maker *
server_xprt(const struct stream *s)
{
	return likely(!s->srv->xprt) ? NULL : s->srv->xprt[s->engine->index];
}

int
connect_reuse(struct stream *s)
{
	struct engine *e = s->engine;
	struct conn *c = s->conn[SERVER];

	if (session_held(s->sess) && conn_pool_server(s->sess->held) == s->srv &&
		proxy_protocol_matches(s, &s->sess->held->conn) &&
		connect_source_is(s, &s->sess->held->conn) &&
		connect_tls_is(s, &s->sess->held->conn)) {
		s->is_private = s->sess->held_private;
		return conn_pool_take_held(e, &s->sess->held, e->on_server_io, s, c, &s->uses);
	}
	if (unlikely(s->srv->may_speak_h2) && h2_server_join(s))
		return 1;
	if (unlikely(s->srv->sni_varies))
		return connect_tls_reuse(s);
	return conn_pool_get(
		e, s->srv, session_is_first_request(s), e->on_server_io, s, c, &s->uses);
}

int
connect_begin_server(struct stream *s)
{
	int r = s->conn[SERVER]->xprt ? connect_tls_begin(s) : 0;

	if (r == 0 && unlikely(s->srv->conf.proxy_header))
		r = proxy_protocol_begin(s);
	/* Other reasons are memory that is lacking. */
	return r == 0 || r == -ERR_RANGE ? r : -ENOMEM;
}

static unsigned int
options_of(const struct stream *s)
{
	const struct server *srv = s->srv;
	unsigned int options = 0;

	if (unlikely(srv->spec.is_mptcp))
		options |= OUTBOUND_MPTCP;
	if (unlikely(srv->conf.tfo))
		options |= OUTBOUND_FASTOPEN;
	if ((s->be->options & OPT_SMART_CONNECT) && expects_data(s))
		options |= OUTBOUND_LATE_ACK;
	return options;
}

/* The server's source, or with `usesrc` the address that it sees; NULL: none. */
static const struct outbound_source *
source_of(struct stream *s, struct outbound_source *out)
{
	if (likely(s->srv->conf.source.as == SOURCE_AS_SELF))
		return server_source(s->srv, out);
	*out = (struct outbound_source){ .interface = s->srv->conf.source.interface,
		.is_foreign = 1 };
	if (!connect_source_get(s, &out->addr))
		out->addr.len = 0;
	return out;
}

int
connect_server(struct stream *s)
{
	struct engine *e = s->engine;
	struct conn *c = s->conn[SERVER];
	struct outbound_source source;
	struct addr to;
	struct outbound o = {
		.to = &to,
		.via = likely(!s->srv->conf.socks4.len) ? NULL : &s->srv->conf.socks4,
		.options = options_of(s),
		.user_timeout_ms = s->srv->conf.user_timeout_ms,
		.buffers = e->server_buf,
		.keepalive = s->be->options & OPT_SRVTCPKA ? &s->be->server_keepalive : NULL,
		.source = source_of(s, &source),
		.xprt = server_xprt(s),
	};
	uint32_t gen;
	int r, begun;

	addr_override_target(s, &gen, &to);
	conn_pool_make_room(e);
	s->server_err = CONN_ERR_NONE;
	r = outbound_open(c, e->loop, &o, e->on_server_io, s);
	if (r < 0) {
		s->server_err = (uint8_t)outbound_error(&o, -r);
		return r;
	}
	begun = likely(!o.via) ? connect_begin_server(s) : 0;
	if (begun < 0) {
		conn_close(c);
		return begun;
	}
	c->addr_gen = gen;
	conn_want(c, EV_W);
	speculation_connecting(s);
	stream_post(s, STREAM_EV_NONE);
	return r;
}
