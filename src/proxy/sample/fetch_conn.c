/* Fetches that ask the kernel about the client's connection (manual 7.3.3), when they are asked. */
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"
#include "net/conn_socket.h"
#include "net/listener.h"
#include "net/proxy_header.h"
#include "proxy/model/addr_override.h"
#include "proxy/model/http_txn.h"
#include "proxy/model/session.h"
#include "proxy/model/subrequest.h"
#include "proxy/sample/fetch.h"
#include "rule/sample/fetch.h"

/* --- TCP_INFO --- */

enum figure { RTT, RTTVAR, UNACKED, SACKED, LOST, RETRANS, FACKETS, REORDERING };

static int64_t
figure_of(const struct tcp_info *t, enum figure f)
{
	switch (f) {
	case RTT:
		return t->tcpi_rtt;
	case RTTVAR:
		return t->tcpi_rttvar;
	case UNACKED:
		return t->tcpi_unacked;
	case SACKED:
		return t->tcpi_sacked;
	case LOST:
		return t->tcpi_lost;
	case RETRANS:
		return t->tcpi_retrans;
	case FACKETS:
		return t->tcpi_fackets;
	case REORDERING:
		return t->tcpi_reordering;
	}
	return 0;
}

/* The last argument: 1 for microseconds; milliseconds without it. */
static int
init_unit(struct rule_args *a, const struct rule_vocab *v unused, const char **why)
{
	a->bad = 0;
	*why = "the unit is 'ms' or 'us'";
	a->arg[0].num = str_is(a->arg[0].text, STR("us"));
	return a->arg[0].num || !a->arg[0].text.len || str_is(a->arg[0].text, STR("ms")) ? 0 : -1;
}

static int
fetch_figure(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	const struct stream *x = cx->stream;
	enum figure f = (enum figure)a->kind;
	struct tcp_info info;
	int64_t v;

	if (!x || conn_tcp_info(x->conn[CLIENT], &info) < 0)
		return 0;
	v = figure_of(&info, f);
	sample_set_int(s, (f == RTT || f == RTTVAR) && !a->arg[0].num ? v / 1000 : v);
	return 1;
}

/* --- the session ----------------------------------------------------------------------------- */

/* Fetches of a session's connections, and of the names of what it goes through. */

static const struct stream *
fetched_session(const struct sample_ctx *cx)
{
	return cx->stream;
}

/* --- addresses --- */

/* The client's addresses with changes by rules, and those of its connection. */
enum end { CLIENT_PEER, CLIENT_OWN, FRONT_PEER, FRONT_OWN, SERVER_PEER, SERVER_OWN };

/* Finds an address of the connection to the server: 0, or -1. The server's is known also when there
 * is no connection any more. */
static int
fetch_server_addr(const struct stream *s, enum end end, struct addr *out)
{
	const struct conn *c = s->conn[SERVER];
	int is_open = conn_is_open(c);
	uint32_t gen;

	if (end == SERVER_OWN)
		return is_open ? conn_local_addr(c, out) : -1;
	/* The peer of a socket may be a proxy. */
	if (is_open && !(s->srv && s->srv->conf.socks4.len) && conn_peer_addr(c, out) == 0)
		return 0;
	if (!s->srv || !s->queued_ms)
		return -1;
	addr_override_target(s, &gen, out);
	return 0;
}

static int
end_address(struct sample_ctx *cx, enum end end, struct addr *out)
{
	const struct stream *s = fetched_session(cx);

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

/* The session's client address, or with `own` its destination. 0, or -1: unknown. */
static int
fetch_client_address(struct sample_ctx *cx, int own, struct addr *out)
{
	return end_address(cx, own ? CLIENT_OWN : CLIENT_PEER, out);
}

/* The same of the connection, without changes by rules: fc_src, fc_dst. */
static int
fetch_front_address(struct sample_ctx *cx, int own, struct addr *out)
{
	return end_address(cx, own ? FRONT_OWN : FRONT_PEER, out);
}

static int
sample_set_ip(struct sample *s, const struct addr *a)
{
	if (addr_family(a) == AF_INET) {
		s->type = SAMPLE_IPV4;
		s->u.ipv4 = a->u.in.sin_addr;
		return 1;
	}
	if (addr_family(a) != AF_INET6)
		return 0;
	s->type = SAMPLE_IPV6;
	s->u.ipv6 = a->u.in6.sin6_addr;
	return 1;
}

/* src, which most rules about clients begin with, is not copied first. */
static int
fetch_ip(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	const struct stream *of = a->kind == CLIENT_PEER ? fetched_session(cx) : NULL;
	struct addr addr;

	if (of)
		return sample_set_ip(s, addr_override_source(of));
	return end_address(cx, (enum end)a->kind, &addr) == 0 && sample_set_ip(s, &addr);
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

/* Server and backend of the session, or of the health check; NULL: not known. As in HAProxy a
 * session without a backend has its frontend. */
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
	const struct stream *x = fetched_session(cx);
	const struct proxy *be;

	if (srv)
		return srv->be;
	if (!x)
		return NULL;
	be = stream_backend(x);
	return be ? be : x->sess->fe;
}

/* The name of default_backend, or NULL. A section listen without one is its own. */
static const char *
default_name(const struct proxy *fe)
{
	return fe->fallback_be && fe->fallback_be != fe ? fe->fallback_be->name : NULL;
}

static int
fetch_name(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	const struct stream *x = fetched_session(cx);
	const struct proxy *be = fetched_backend(cx);
	const struct server *srv = fetched_server(cx);
	const char *name = NULL;

	if (!x && !srv)
		return 0;
	switch ((enum what)a->kind) {
	case FE_NAME:
		name = x->sess->fe->name;
		break;
	case FE_DEFBE:
		name = default_name(x->sess->fe);
		break;
	case BE_NAME:
		name = be ? be->name : NULL;
		break;
	case SRV_NAME:
		name = srv && !srv->is_dispatch ? srv->name : NULL;
		break;
	case SO_NAME:
		name = x->sess->listener->bind->name;
		break;
	}
	if (!name)
		return 0;
	sample_set_str(s, str_of(name));
	return 1;
}

/* Returns a timeout of the stream. As in HAProxy it is 0 before there is a server, unless a rule
 * has set it. */
static unsigned int
current_timeout(const struct stream *s, enum rule_timeout which, unsigned int ms)
{
	unsigned int given = s->txn ? s->txn->timeout_ms[which] : 0;

	return given ? given : s->connected_ms ? ms : 0;
}

/* Returns a timeout of the backend, ms. One of a defaults section is not for a frontend: 0. */
static int64_t
backend_timeout(const struct proxy *be, unsigned int ms)
{
	return be->caps & PROXY_BE ? ms : 0;
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
	const struct stream *x = fetched_session(cx);
	const struct proxy *be = fetched_backend(cx);
	const struct server *srv = fetched_server(cx);
	int64_t v = -1;

	if (!x && !srv)
		return 0;
	switch ((enum number)a->kind) {
	case FE_ID:
		v = x->sess->fe->id;
		break;
	case BE_ID:
		v = be ? be->id : -1;
		break;
	case SRV_ID:
		v = srv && !srv->is_dispatch ? srv->id : -1;
		break;
	case SO_ID:
		v = x->sess->listener->id;
		break;
	case FE_CLIENT_TIMEOUT:
		v = x->sess->fe->to.client;
		break;
	case BE_SERVER_TIMEOUT:
		v = be ? backend_timeout(be, be->to.server) : -1;
		break;
	case BE_TUNNEL_TIMEOUT:
		v = be ? backend_timeout(be, be->to.tunnel) : -1;
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
		v = listener_sessions(x->sess->listener) + (x->link.next == NULL);
		break;
	}
	sample_set_int(s, v);
	return v >= 0;
}

enum { RULE_FILE, RULE_LINE };

static int
fetch_last_rule(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	const struct stream *x = fetched_session(cx);
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
	const struct stream *x = fetched_session(cx);

	if (!x)
		return 0;
	sample_set_int(s, a->kind == PRIO_CLASS ? x->prio_class : x->prio_offset);
	return 1;
}

static int
fetch_stopping(const struct rule_args *a unused, struct sample_ctx *cx, struct sample *s)
{
	const struct stream *x = fetched_session(cx);
	const struct engine_shared *shared = NULL;

	if (x)
		shared = x->engine->shared;
	else if ((cx->at & SAMPLE_AT_CHECK) && cx->proc)
		shared = container_of(cx->proc, struct engine_shared, vars);
	sample_set_bool(s, shared && atomic_read(&shared->is_stopping));
	return shared != NULL;
}

/* The stream of a client whose request has led to this one, which may be a subrequest. NULL: it has
 * ended. */
static const struct stream *
stream_of_client(const struct stream *s)
{
	const struct conn_stream *link;

	while (s && s->engine->inner && s->sess->listener == s->engine->inner) {
		if (!conn_is_stream(s->conn[CLIENT]))
			return NULL;
		link = conn_stream_of(s->conn[CLIENT]);
		s = container_of(link, struct subrequest, link)->parent;
	}
	return s;
}

/* A connection without a descriptor is a stream of one that speaks HTTP/2. */
static int
fetch_major(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	const struct stream *x = a->kind == CLIENT ? stream_of_client(cx->stream) : cx->stream;
	const struct conn *c = x ? x->conn[a->kind] : NULL;

	sample_set_int(s, c && conn_is_stream(c) ? 2 : 1);
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
#define MAJOR(n, scope, side, text)                                                      \
	{ .name = n, scope, .out = SAMPLE_SINT, .fetch = fetch_major, .kind = side, .doc = text }

const struct rule_fetch session_fetches[] = {
	IP("bc_dst", SRV, SERVER_PEER, "The address of the server."),
	PORT("bc_dst_port", SRV, SERVER_PEER, "The port of the server."),
	MAJOR("bc_http_major", SRV, SERVER,
		"The major version of HTTP on the server's side: 1 or 2."),
	IP("bc_src", SRV, SERVER_OWN, "The local address of the connection to the server."),
	PORT("bc_src_port", SRV, SERVER_OWN, "The local port of the connection to the server."),
	NUMBER("be_id", BACK, BE_ID, "The number of the backend."),
	NAME("be_name", BACK, BE_NAME,
		"The name of the backend; before one is selected, that of the frontend."),
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
	MAJOR("fc_http_major", CONN, CLIENT,
		"The major version of HTTP on the client's side: 1 or 2."),
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
		.either = SAMPLE_AT_CONN | SAMPLE_AT_CHECK,
		.out = SAMPLE_BOOL,
		.fetch = fetch_stopping,
		.doc = "True if the process stops, from the beginning of grace on." },
	{ .name = NULL },
};

/* --- names of addresses --- */

/* A socket can only be bound to the host's own addresses. */
static int
probe_own_addr(struct sys *sys, const struct addr *addr)
{
	struct addr a = *addr;
	int fd = (int)sys_socket(sys, addr_family(&a), SOCK_DGRAM | SOCK_CLOEXEC, 0), yes;

	if (fd < 0)
		return -1;
	addr_set_port(&a, 0);
	yes = sys_bind(sys, fd, &a.u.sa, a.len) >= 0;
	(void)sys_close(sys, fd);
	return yes;
}

/* In a kind: 1: the own address; FRONT: without changes by rules. */
#define FRONT 2

static int
fetch_local_addr(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	struct addr addr;
	int yes;

	if (!cx->sys || (a->kind < FRONT ? fetch_client_address : fetch_front_address)(
				cx, a->kind & 1, &addr) < 0)
		return 0;
	if (addr_family(&addr) != AF_INET && addr_family(&addr) != AF_INET6)
		return 0;
	yes = probe_own_addr(cx->sys, &addr);
	sample_set_bool(s, yes);
	return yes >= 0;
}

/* --- a client and what it wants --- */

/* The hash, highest byte first, followed by the address. */
static int
fetch_with_source(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	struct sample hash = { 0 };
	struct addr addr;
	unsigned char *out;
	size_t len;

	if (fetch_client_address(cx, 0, &addr) < 0 || !rule_base_hash(cx, a->kind == 1, &hash)) {
		s->may_change = hash.may_change;
		return 0;
	}
	len = addr_family(&addr) == AF_INET ? 4 : addr_family(&addr) == AF_INET6 ? 16 : 0;
	out = len ? (unsigned char *)arena_get(cx->arena, 4 + len) : NULL;
	if (!out)
		return 0;
	for (int i = 0; i < 4; i++)
		out[i] = (unsigned char)((uint64_t)hash.u.sint >> (24 - 8 * i));
	if (len == 4)
		memcpy(out + 4, &addr.u.in.sin_addr, len);
	else
		memcpy(out + 4, &addr.u.in6.sin6_addr, len);
	s->type = SAMPLE_BIN;
	s->u.str = (struct str){ (const char *)out, 4 + len };
	return 1;
}

static int
put_error(const struct rule_args *a, enum conn_err err, struct sample *s)
{
	if (a->kind)
		sample_set_str(s, str_of(conn_err_text(err)));
	else
		sample_set_int(s, conn_err_number(err));
	return 1;
}

/* Before a session begins its PROXY header or its handshake can fail. */
static int
fetch_error(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	const struct stream *x = cx->stream;
	enum conn_err err =
		x ? (enum conn_err)x->sess->conn_err : CONN_ERR_NONE;

	return put_error(a, err, s);
}

/* Fetches the error of the server's connection. As in HAProxy there is none without a connection,
 * and none for a server that has refused it. */
static int
fetch_server_error(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	const struct stream *x = cx->stream;

	if (!x || (!x->connected_ms && !x->server_err))
		return 0;
	return put_error(a, x->connected_ms ? CONN_ERR_NONE : (enum conn_err)x->server_err, s);
}

static int
fetch_header_seen(const struct rule_args *a unused, struct sample_ctx *cx, struct sample *s)
{
	const struct stream *x = cx->stream;

	if (!x)
		return 0;
	sample_set_bool(s, x->sess->has_header);
	return 1;
}

/* The names of types are those of proxy-protocol.txt without PP2_TYPE_. */
static int
init_tlv_type(struct rule_args *a, const struct rule_vocab *v unused, const char **why)
{
	static const struct {
		struct str name;
		int type;
	} names[] = { { { "ALPN", 4 }, 0x01 }, { { "AUTHORITY", 9 }, 0x02 },
		{ { "CRC32C", 6 }, 0x03 }, { { "NOOP", 4 }, 0x04 }, { { "UNIQUE_ID", 9 }, 0x05 },
		{ { "SSL", 3 }, 0x20 }, { { "SSL_VERSION", 11 }, 0x21 }, { { "SSL_CN", 6 }, 0x22 },
		{ { "SSL_CIPHER", 10 }, 0x23 }, { { "SSL_SIG_ALG", 11 }, 0x24 },
		{ { "SSL_KEY_ALG", 11 }, 0x25 }, { { "NETNS", 5 }, 0x30 } };
	unsigned long n;
	char *end;

	a->bad = 0;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (str_is(a->arg[0].text, names[i].name)) {
			a->arg[0].num = names[i].type;
			return 0;
		}
	*why = "the type is a number of 0 to 255, also as 0x20, or a name such as AUTHORITY";
	n = strtoul(a->arg[0].text.p, &end, 0);
	a->arg[0].num = (int64_t)n;
	return a->arg[0].text.p[0] >= '0' && a->arg[0].text.p[0] <= '9' && !*end && n <= 255 ? 0
											 : -1;
}

static int
fetch_tlv(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	const struct stream *x = cx->stream;
	unsigned int type = a->kind ? (unsigned int)a->kind : (unsigned int)a->arg[0].num;
	struct str value;

	if (!x || !addr_override_tlv(x, type, &value))
		return 0;
	sample_set_str(s, value);
	return 1;
}

static int
fetch_first(const struct rule_args *a unused, struct sample_ctx *cx, struct sample *s)
{
	const struct stream *x = cx->stream;

	if (!x)
		return 0;
	sample_set_bool(s, x->sess->requests <= 1 && !x->is_carried);
	return 1;
}

#define CONN .needs = SAMPLE_AT_CONN
#define FIGURE(n, what, text)                                                             \
	{                                                                                 \
		.name = n, CONN, .out = SAMPLE_SINT, .fetch = fetch_figure, .kind = what, \
		.doc = "The client's TCP connection, as the kernel sees it: " text        \
	}
#define TIME(n, what, text)                                                                     \
	{                                                                                       \
		.name = n, CONN, .arg = { ARG_STR }, .out = SAMPLE_SINT, .fetch = fetch_figure, \
		.init = init_unit, .kind = what, .syntax = "[ms|us]",                           \
		.doc = "The client's TCP connection, as the kernel sees it: " text              \
	}
#define LOCAL(n, own, text)                                                                \
	{                                                                                  \
		.name = n, CONN, .out = SAMPLE_BOOL, .fetch = fetch_local_addr, .kind = own, \
		.doc = "True if " text " is one of this host's; takes three system calls."         \
	}
#define SOURCE(n, query, base)                                                         \
	{                                                                              \
		.name = n, .needs = SAMPLE_AT_REQ | SAMPLE_AT_CONN, .out = SAMPLE_BIN, \
		.fetch = fetch_with_source, .kind = query,                             \
		.doc = base " in 4 bytes and the client's address in 4 or 16."         \
	}

const struct rule_fetch conn_fetches[] = {
	SOURCE("base32+src", 0, "base32"),
	{ .name = "bc_err",
		.needs = SAMPLE_AT_SERVER,
		.out = SAMPLE_SINT,
		.fetch = fetch_server_error,
		.doc = "The code of the error of the last attempt to connect to a server, as in "
			"fc_err; 0: it is connected. None while there is no connection, and if the "
			"server refused it or was too late." },
	{ .name = "bc_err_str",
		.needs = SAMPLE_AT_SERVER,
		.out = SAMPLE_STR,
		.fetch = fetch_server_error,
		.kind = 1,
		.doc = "bc_err as a text." },
	LOCAL("dst_is_local", 1, "the address that the client connected to"),
	LOCAL("fc_dst_is_local", FRONT | 1, "the address that the client connected to"),
	{ .name = "fc_err",
		CONN,
		.out = SAMPLE_SINT,
		.fetch = fetch_error,
		.doc = "The error code of the PROXY header; 0: no error." },
	{ .name = "fc_err_str",
		CONN,
		.out = SAMPLE_STR,
		.fetch = fetch_error,
		.kind = 1,
		.doc = "fc_err as a text: Success, or what was wrong." },
	FIGURE("fc_fackets", FACKETS, "forward acknowledged segments."),
	FIGURE("fc_lost", LOST, "lost segments."),
	{ .name = "fc_pp_authority",
		CONN,
		.out = SAMPLE_STR,
		.fetch = fetch_tlv,
		.kind = PROXY_TLV_AUTHORITY,
		.doc = "The authority that the client's PROXY header names." },
	{ .name = "fc_pp_tlv",
		CONN,
		.arg = { ARG_STR },
		.min = 1,
		.out = SAMPLE_STR,
		.fetch = fetch_tlv,
		.init = init_tlv_type,
		.syntax = "<type>",
		.doc = "The value of the last field of this type in the client's PROXY header. The "
			"type is a number or one of ALPN, AUTHORITY, CRC32C, NOOP, UNIQUE_ID, SSL, "
			"SSL_VERSION, SSL_CN, SSL_CIPHER, SSL_SIG_ALG, SSL_KEY_ALG and NETNS." },
	{ .name = "fc_pp_unique_id",
		CONN,
		.out = SAMPLE_STR,
		.fetch = fetch_tlv,
		.kind = PROXY_TLV_UNIQUE_ID,
		.doc = "The unique id in the client's PROXY header." },
	{ .name = "fc_rcvd_proxy",
		CONN,
		.out = SAMPLE_BOOL,
		.fetch = fetch_header_seen,
		.doc = "True if the client's connection began with a PROXY header." },
	FIGURE("fc_reordering", REORDERING, "how far segments are reordered."),
	FIGURE("fc_retrans", RETRANS, "retransmitted segments."),
	TIME("fc_rtt", RTT, "round-trip time."),
	TIME("fc_rttvar", RTTVAR, "the round-trip time's variance."),
	FIGURE("fc_sacked", SACKED, "selectively acknowledged segments."),
	LOCAL("fc_src_is_local", FRONT, "the client's address"),
	FIGURE("fc_unacked", UNACKED, "unacknowledged segments."),
	{ .name = "http_first_req",
		.either = SAMPLE_AT_REQ | SAMPLE_AT_RES | SAMPLE_AT_TXN | SAMPLE_AT_END,
		.out = SAMPLE_BOOL,
		.fetch = fetch_first,
		.doc = "True for the first request of a connection." },
	LOCAL("src_is_local", 0, "the client's address"),
	SOURCE("url32+src", 1, "url32"),
	{ .name = NULL },
};
