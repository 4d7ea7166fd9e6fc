/* Opens the connection to a server. On the session's worker; it never blocks, and a descriptor
 * that is not handed on is closed. */
#define _GNU_SOURCE
#include "proxy/session/connect.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>

#include "proxy/relay/direction.h"
#include "proxy/relay/speculation.h"
#include "base/err.h"
#include "net/keepalive.h"
#include "net/sockbuf.h"
#include "net/socks4.h"
#include "net/xprt.h"
#include "proxy/model/addr_override.h"
#include "proxy/backend/conn_pool.h"
#include "proxy/backend/server_connect.h"
#include "proxy/model/count.h"
#include "proxy/session/connect_source.h"
#include "proxy/session/connect_tls.h"
#include "proxy/session/proxy_protocol_out.h"
#include "proxy/session/session_post.h"

int
connect_is_resource(int err)
{
	return err == EMFILE || err == ENFILE || err == ENOBUFS || err == ENOMEM ||
		err == EADDRNOTAVAIL || err == EADDRINUSE || err == EAGAIN;
}

/* Others are memory that is not there. */
int
connect_tls_reason(int r)
{
	return r == -ERR_RANGE ? ERR_RANGE : ENOMEM;
}

int
connect_is_unnamed(int err)
{
	return err == ERR_RANGE;
}

/* Options that MPTCP does not have are left out. */
static long
unless_mptcp(const struct session *s, long r)
{
	return (r == -ENOPROTOOPT || r == -EOPNOTSUPP) && s->srv->spec.is_mptcp ? 0 : r;
}

static long
set_sockopt_int(struct session *s, int fd, int level, int opt, int value)
{
	return unless_mptcp(
		s, sys_setsockopt(s->engine->sys, fd, level, opt, &value, sizeof(value)));
}

static long
set_server_keepalive(struct session *s, int fd)
{
	return unless_mptcp(s, keepalive_set(s->engine->sys, fd, &s->be->server_keepalive));
}

/* The client's request is there or about to arrive: its segment can carry the handshake's ACK. */
static int
expects_data(const struct session *s)
{
	return s->listener->bind->defer_accept || direction_pending(&s->dir[CLIENT]);
}

static long
set_server_buffers(struct session *s, int fd, int family)
{
	const char *what;

	if (!s->engine->server_buf)
		return 0;
	return sockbuf_set(s->engine->sys, fd, family, s->engine->server_buf, &what);
}

static long
set_server_options(struct session *s, int fd)
{
	const struct server *srv = s->srv;
	long r = 0;

	if (s->be->options & OPT_SRVTCPKA)
		r = set_server_keepalive(s, fd);
	if (r >= 0 && srv->conf.user_timeout_ms)
		r = set_sockopt_int(
			s, fd, IPPROTO_TCP, TCP_USER_TIMEOUT, (int)srv->conf.user_timeout_ms);
	if (r >= 0 && (s->be->options & OPT_SMART_CONNECT) && expects_data(s))
		r = set_sockopt_int(s, fd, IPPROTO_TCP, TCP_QUICKACK, 0);
	if (r >= 0 && srv->conf.tfo)
		r = set_sockopt_int(s, fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 1);
	return r;
}

const struct xprt_maker *
server_xprt(const struct session *s)
{
	return likely(!s->srv->xprt) ? NULL : s->srv->xprt[s->engine->index];
}

/* Takes ownership of the socket of a connect() in progress. 0, or a negative reason, and it is
 * closed. */
static int
open_server(struct session *s, int fd, enum conn_kind kind)
{
	struct engine *e = s->engine;
	int r = conn_open_xprt(&s->conn[SERVER], e->loop, fd, e->on_server_io, s, kind,
		s->srv->conf.socks4.len ? NULL : server_xprt(s));

	if (r < 0) {
		(void)sys_close(e->sys, fd);
		return -EMFILE;
	}
	r = s->conn[SERVER].xprt ? connect_tls_begin(s) : 0;
	if (r < 0) {
		conn_close(&s->conn[SERVER]);
		return -connect_tls_reason(r);
	}
	conn_want(&s->conn[SERVER], EV_W);
	speculation_connecting(s);
	return 0;
}

static long
bind_source(struct session *s, int fd)
{
	struct addr as;

	if (likely(s->srv->conf.source.as == SOURCE_AS_SELF))
		return server_bind_source(s->engine, s->srv, fd);
	return server_bind_as(s->engine, s->srv, connect_source_get(s, &as) ? &as : NULL, fd);
}

int
connect_reuse(struct session *s)
{
	struct engine *e = s->engine;
	struct conn *c = &s->conn[SERVER];

	if (s->held && conn_pool_server(s->held) == s->srv &&
		proxy_protocol_matches(s, &s->held->conn) &&
		connect_source_is(s, &s->held->conn) && connect_tls_is(s, &s->held->conn)) {
		s->is_private = s->held_private;
		return conn_pool_take_held(e, &s->held, e->on_server_io, s, c, &s->uses);
	}
	if (unlikely(s->srv->sni_varies))
		return connect_tls_reuse(s);
	return conn_pool_get(e, s->srv, s->requests == 1, e->on_server_io, s, c, &s->uses);
}

/* Prepares what the connection sends before data. */
static int
begin_preface(struct session *s, const struct addr *to)
{
	if (unlikely(s->srv->conf.socks4.len))
		return socks4_begin(&s->conn[SERVER], to);
	return proxy_protocol_begin(s) < 0 ? -ENOMEM : 0;
}

/* Without Multipath TCP in the kernel TCP is used: it is what both sides fall back to. */
static long
new_server_socket(struct session *s, int family)
{
	struct sys *sys = s->engine->sys;
	int type = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
	long fd = -EPROTONOSUPPORT;

	if (unlikely(s->srv->spec.is_mptcp) && !s->srv->conf.socks4.len)
		fd = sys_socket(sys, family, type, IPPROTO_MPTCP);
	if (likely(fd == -EPROTONOSUPPORT) || fd == -ENOPROTOOPT)
		fd = sys_socket(sys, family, type, 0);
	return fd;
}

/* With its options, bound to its source: the descriptor or -errno. */
static long
open_server_socket(struct session *s, int family)
{
	long fd = new_server_socket(s, family), r;

	if (fd < 0)
		return fd;
	r = set_server_buffers(s, (int)fd, family);
	if (r >= 0 && family != AF_UNIX) {
		r = set_server_options(s, (int)fd);
		if (r >= 0)
			r = bind_source(s, (int)fd);
	}
	if (r >= 0)
		return fd;
	(void)sys_close(s->engine->sys, (int)fd);
	return r;
}

/* The descriptor, *result as connect() has it, or -errno. */
static long
connect_socket(struct session *s, const struct addr *to, long *result)
{
	struct sys *sys = s->engine->sys;
	int tries = server_source_tries(s->srv);
	long fd;

	do {
		fd = open_server_socket(s, addr_family(to));
		if (fd < 0)
			return fd;
		*result = sys_connect(sys, (int)fd, &to->u.sa, to->len);
		if (*result >= 0 || *result == -EINPROGRESS)
			return fd;
		(void)sys_close(sys, (int)fd);
	} while (*result == -EADDRNOTAVAIL && --tries > 0);
	return *result;
}

int
connect_server(struct session *s)
{
	const struct addr *via = &s->srv->conf.socks4;
	uint32_t gen;
	struct addr target, to;
	long fd, r;
	int e;

	addr_override_target(s, &gen, &target);
	to = unlikely(via->len) ? *via : target;
	conn_pool_make_room(s->engine);
	fd = connect_socket(s, &to, &r);
	if (fd < 0)
		return (int)fd;
	e = open_server(s, (int)fd, addr_family(&to) == AF_UNIX ? CONN_UNIX : CONN_TCP);
	if (e < 0)
		return e;
	s->conn[SERVER].addr_gen = gen;
	e = begin_preface(s, &target);
	if (e < 0) {
		conn_close(&s->conn[SERVER]);
		return e;
	}
	session_post(s, SESSION_EV_NONE);
	return r == 0;
}
