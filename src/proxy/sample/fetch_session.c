/* Fetches of a session's connections, and of the names of what it goes through. */
#include "proxy/sample/fetch.h"
#include "net/conn_socket.h"
#include "net/listener.h"
#include "proxy/model/http_txn.h"

static const struct session *
fetched_session(const struct sample_ctx *cx)
{
	return cx->session;
}

/* --- addresses --- */

/* The client's addresses with changes by rules, and those of its connection. */
enum end { CLIENT_PEER, CLIENT_OWN, FRONT_PEER, FRONT_OWN, SERVER_PEER, SERVER_OWN };

static int
fetch_server_addr(const struct session *s, enum end end, struct addr *out)
{
	const struct conn *c = &s->conn[SERVER];
	uint32_t gen;

	if (!conn_is_open(c))
		return -1;
	/* The socket's peer is the proxy. */
	if (end == SERVER_PEER && s->srv && s->srv->conf.socks4.len) {
		addr_override_target(s, &gen, out);
		return 0;
	}
	return end == SERVER_PEER ? conn_peer_addr(c, out) : conn_local_addr(c, out);
}

static int
end_address(struct sample_ctx *cx, enum end end, struct addr *out)
{
	const struct session *s = fetched_session(cx);

	if (!s)
		return -1;
	switch (end) {
	case CLIENT_PEER:
		addr_override_copy_source(s, out);
		return 0;
	case CLIENT_OWN:
		return addr_override_destination(s, out);
	case FRONT_PEER:
		addr_override_copy_connection_source(s, out);
		return 0;
	case FRONT_OWN:
		return addr_override_connection_destination(s, out);
	case SERVER_PEER:
	case SERVER_OWN:
		break;
	}
	return fetch_server_addr(s, end, out);
}

int
fetch_client_address(struct sample_ctx *cx, int own, struct addr *out)
{
	return end_address(cx, own ? CLIENT_OWN : CLIENT_PEER, out);
}

int
fetch_front_address(struct sample_ctx *cx, int own, struct addr *out)
{
	return end_address(cx, own ? FRONT_OWN : FRONT_PEER, out);
}

static int
fetch_ip(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	struct addr addr;

	if (end_address(cx, (enum end)a->kind, &addr))
		return 0;
	if (addr_family(&addr) == AF_INET) {
		s->type = SAMPLE_IPV4;
		s->u.ipv4 = addr.u.in.sin_addr;
		return 1;
	}
	s->type = SAMPLE_IPV6;
	s->u.ipv6 = addr.u.in6.sin6_addr;
	return addr_family(&addr) == AF_INET6;
}

static int
fetch_port(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	struct addr addr;

	if (end_address(cx, (enum end)a->kind, &addr))
		return 0;
	sample_set_int(s, addr_port(&addr));
	return addr_port(&addr) != 0;
}

/* --- names and numbers --- */

enum what { FE_NAME, FE_DEFBE, BE_NAME, SRV_NAME, SO_NAME };

/* Server and backend of the session, or of the health check; NULL: not known. */
static const struct server *
fetched_server(const struct sample_ctx *cx)
{
	return cx->at & SAMPLE_AT_CHECK ? cx->server
		: fetched_session(cx)	? fetched_session(cx)->srv
					: NULL;
}

static const struct proxy *
fetched_backend(const struct sample_ctx *cx)
{
	const struct server *srv = cx->at & SAMPLE_AT_CHECK ? cx->server : NULL;

	if (srv)
		return srv->be;
	return fetched_session(cx) ? session_backend(fetched_session(cx)) : NULL;
}

static int
fetch_name(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	const struct session *x = fetched_session(cx);
	const struct proxy *be = fetched_backend(cx);
	const struct server *srv = fetched_server(cx);
	const char *name = NULL;

	if (!x && !srv)
		return 0;
	switch ((enum what)a->kind) {
	case FE_NAME:
		name = x->fe->name;
		break;
	case FE_DEFBE:
		name = x->fe->default_be ? x->fe->default_be->name : NULL;
		break;
	case BE_NAME:
		name = be ? be->name : NULL;
		break;
	case SRV_NAME:
		name = srv && !srv->is_dispatch ? srv->name : NULL;
		break;
	case SO_NAME:
		name = x->listener->bind->name;
		break;
	}
	if (!name)
		return 0;
	sample_set_str(s, str_of(name));
	return 1;
}

/* As in HAProxy: 0 before there is a server, unless a rule has set it. */
static unsigned int
current_timeout(const struct session *s, enum rule_timeout which, unsigned int ms)
{
	unsigned int given = s->txn ? s->txn->timeout_ms[which] : 0;

	return given ? given : s->connected_ms ? ms : 0;
}

enum number {
	FE_ID,
	BE_ID,
	SRV_ID,
	SO_ID,
	FE_CLIENT_TIMEOUT,
	BE_SERVER_TIMEOUT,
	BE_TUNNEL_TIMEOUT,
	CUR_SERVER_TIMEOUT,
	CUR_TUNNEL_TIMEOUT,
	SO_CONNS
};

static int
fetch_number(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	const struct session *x = fetched_session(cx);
	const struct proxy *be = fetched_backend(cx);
	const struct server *srv = fetched_server(cx);
	int64_t v = -1;

	if (!x && !srv)
		return 0;
	switch ((enum number)a->kind) {
	case FE_ID:
		v = x->fe->id;
		break;
	case BE_ID:
		v = be ? be->id : -1;
		break;
	case SRV_ID:
		v = srv && !srv->is_dispatch ? srv->id : -1;
		break;
	case SO_ID:
		v = x->listener->id;
		break;
	case FE_CLIENT_TIMEOUT:
		v = x->fe->to.client;
		break;
	case BE_SERVER_TIMEOUT:
		v = be ? (int64_t)be->to.server : -1;
		break;
	case BE_TUNNEL_TIMEOUT:
		v = be ? (int64_t)be->to.tunnel : -1;
		break;
	case CUR_SERVER_TIMEOUT:
		v = x ? (int64_t)current_timeout(x, RULE_TIMEOUT_SERVER, be ? be->to.server : 0)
		      : -1;
		break;
	case CUR_TUNNEL_TIMEOUT:
		v = x ? (int64_t)current_timeout(x, RULE_TIMEOUT_TUNNEL, be ? be->to.tunnel : 0)
		      : -1;
		break;
	case SO_CONNS:
		/* Rules of connections run before it is counted. */
		v = listener_sessions(x->listener) + (x->link.next == NULL);
		break;
	}
	sample_set_int(s, v);
	return v >= 0;
}

enum { RULE_FILE, RULE_LINE };

static int
fetch_last_rule(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	const struct session *x = fetched_session(cx);
	const struct rule *r = x && x->txn ? x->txn->last_rule : NULL;

	if (!r)
		return 0;
	if (a->kind == RULE_LINE)
		sample_set_int(s, r->where.line);
	else
		sample_set_str(s, str_of(r->where.file->name));
	return 1;
}

enum priority { PRIO_CLASS, PRIO_OFFSET };

static int
fetch_priority(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	const struct session *x = fetched_session(cx);

	if (!x)
		return 0;
	sample_set_int(s, a->kind == PRIO_CLASS ? x->prio_class : x->prio_offset);
	return 1;
}

static int
fetch_stopping(const struct rule_args *a unused, struct sample_ctx *cx, struct sample *s)
{
	const struct session *x = fetched_session(cx);

	sample_set_bool(s, x && x->engine->stop_ms);
	return x != NULL;
}

/* Mode http uses HTTP/1 on both sides. */
static int
fetch_major(const struct rule_args *a unused, struct sample_ctx *cx unused, struct sample *s)
{
	sample_set_int(s, 1);
	return 1;
}

#define CONN .needs = SAMPLE_AT_CONN
#define BACK .either = SAMPLE_AT_BACK | SAMPLE_AT_CHECK
#define SRV .needs = SAMPLE_AT_SERVER
#define SRV_OF .either = SAMPLE_AT_SERVER | SAMPLE_AT_CHECK
#define IP(n, scope, end, text)                                                          \
	{ .name = n, scope, .out = SAMPLE_ADDR, .fetch = fetch_ip, .kind = end, .doc = text }
#define PORT(n, scope, end, text)                                                        \
	{ .name = n, scope, .out = SAMPLE_SINT, .fetch = fetch_port, .kind = end, .doc = text }
#define NAME(n, scope, what, text)                                                       \
	{ .name = n, scope, .out = SAMPLE_STR, .fetch = fetch_name, .kind = what, .doc = text }
#define NUMBER(n, scope, what, text)                                                     \
	{ .name = n, scope, .out = SAMPLE_SINT, .fetch = fetch_number, .kind = what,      \
		.doc = text }
#define PRIORITY(n, scope, which, text)                                                  \
	{ .name = n, scope, .out = SAMPLE_SINT, .fetch = fetch_priority, .kind = which,    \
		.doc = text }
#define BACK_OF_SESSION .needs = SAMPLE_AT_BACK
#define LAST_RULE(n, type, which, text)                                                  \
	{ .name = n, CONN, .out = type, .fetch = fetch_last_rule, .kind = which, .doc = text }
#define MAJOR(n, scope, text)                                                            \
	{ .name = n, scope, .out = SAMPLE_SINT, .fetch = fetch_major, .doc = text }

const struct rule_fetch session_fetches[] = {
	IP("bc_dst", SRV, SERVER_PEER, "The address of the server."),
	PORT("bc_dst_port", SRV, SERVER_PEER, "The port of the server."),
	MAJOR("bc_http_major", SRV, "The major version of HTTP on the server's side: 1."),
	IP("bc_src", SRV, SERVER_OWN, "The local address of the connection to the server."),
	PORT("bc_src_port", SRV, SERVER_OWN, "The local port of the connection to the server."),
	NUMBER("be_id", BACK, BE_ID, "The number of the backend."),
	NAME("be_name", BACK, BE_NAME, "The name of the backend."),
	NUMBER("be_server_timeout", BACK, BE_SERVER_TIMEOUT, "timeout server, in ms."),
	NUMBER("be_tunnel_timeout", BACK, BE_TUNNEL_TIMEOUT, "timeout tunnel, in ms."),
	NUMBER("cur_server_timeout", BACK_OF_SESSION, CUR_SERVER_TIMEOUT,
		"timeout server of the connection to the server, or what a list of rules before "
		"has set by set-timeout, in ms; 0: neither is there yet."),
	NUMBER("cur_tunnel_timeout", BACK_OF_SESSION, CUR_TUNNEL_TIMEOUT,
		"As cur_server_timeout, for timeout tunnel."),
	IP("dst", CONN, CLIENT_OWN, "The destination address of the client's connection."),
	NUMBER("dst_conn", CONN, SO_CONNS,
		"The number of open connections of the socket, with this one."),
	PORT("dst_port", CONN, CLIENT_OWN, "The destination port of the client's connection."),
	IP("fc_dst", CONN, FRONT_OWN, "As dst; only tcp-request connection rules change it."),
	PORT("fc_dst_port", CONN, FRONT_OWN,
		"As dst_port; only tcp-request connection rules change it."),
	MAJOR("fc_http_major", CONN, "The major version of HTTP on the client's side: 1."),
	IP("fc_src", CONN, FRONT_PEER, "As src; only tcp-request connection rules change it."),
	PORT("fc_src_port", CONN, FRONT_PEER,
		"As src_port; only tcp-request connection rules change it."),
	NUMBER("fe_client_timeout", CONN, FE_CLIENT_TIMEOUT, "timeout client, in ms."),
	NAME("fe_defbe", CONN, FE_DEFBE, "The name of the frontend's default_backend."),
	NUMBER("fe_id", CONN, FE_ID, "The number of the frontend."),
	NAME("fe_name", CONN, FE_NAME, "The name of the frontend."),
	LAST_RULE("last_rule_file", SAMPLE_STR, RULE_FILE,
		"The file of the last rule that ended its list, such as allow, accept or deny: of "
		"tcp-request content, http-request, http-response and http-after-response, in mode "
		"http."),
	LAST_RULE("last_rule_line", SAMPLE_SINT, RULE_LINE,
		"As last_rule_file: the line of that rule."),
	PRIORITY("prio_class", CONN, PRIO_CLASS, "The class that set-priority-class has set; 0."),
	PRIORITY("prio_offset", CONN, PRIO_OFFSET,
		"The offset that set-priority-offset has set, in ms; 0."),
	NUMBER("so_id", CONN, SO_ID, "The number of the listener."),
	NAME("so_name", CONN, SO_NAME, "The name of the bind line."),
	IP("src", CONN, CLIENT_PEER, "The address of the client."),
	PORT("src_port", CONN, CLIENT_PEER, "The port of the client."),
	NUMBER("srv_id", SRV_OF, SRV_ID, "The number of the server."),
	NAME("srv_name", SRV_OF, SRV_NAME, "The name of the server."),
	{ .name = "stopping",
		CONN,
		.out = SAMPLE_BOOL,
		.fetch = fetch_stopping,
		.doc = "Is the process about to stop?" },
	{ .name = NULL },
};
