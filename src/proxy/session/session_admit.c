/* A new client: is it served, and how is it counted? Runs on the worker whose listener has accepted
 * it, before the machine knows the session. */
#include "proxy/session/session_admit.h"

#include "base/atomic.h"
#include "net/xprt.h"
#include "proxy/model/addr_override.h"
#include "proxy/model/count.h"
#include "proxy/log/stream_log.h"
#include "proxy/model/memory.h"
#include "proxy/model/stream_extras.h"
#include "proxy/sample/capture.h"
#include "proxy/session/conn_limits.h"
#include "proxy/session/tcp_conn_rules.h"
#include "proxy/session/tcp_content_rules.h"
#include "base/counter.h"

/* Connections of this second, of all workers together. */
struct second {
	uint32_t of_process, of_frontend;
};

static uint32_t
count_rate(struct freq *conns, uint64_t *second, uint64_t now_ms)
{
	uint32_t n = freq_count_second(second, now_ms);

	freq_add(conns, now_ms, 1);
	freq_raise(conns, n);
	return n;
}

static struct second
count_connection(const struct stream *s)
{
	struct engine *e = s->engine;
	struct proxy_stat *st = fe_stat(s);
	struct second n;

	counter_add(&e->cum_conns, 1);
	n.of_process = count_rate(&e->conn_rate, &e->shared->second, s->sess->accept_ms);
	counter_add(&st->cum_conn, 1);
	n.of_frontend = count_rate(&st->conn_rate, &s->sess->fe->fe_second, s->sess->accept_ms);
	/* Its place was taken already, whatever the rules decide. */
	counter_max(&st->cur_max, atomic_read(&s->sess->fe->fe_gate.n));
	counter_add(&s->sess->listener->stat.cum_conn, 1);
	return n;
}

/* True if its connection may be rejected before it becomes a session. */
static int
is_screened(const struct stream *s)
{
	return tcp_conn_rules_exist(s->sess->fe) || s->sess->has_header ||
		s->sess->listener->bind->accept_proxy || s->sess->listener->xprt;
}

/* If nothing can reject connections there are as many sessions as connections; otherwise the
 * highest rate is that of one worker. */
static void
count_session_rates(const struct stream *s, struct second n)
{
	struct engine *e = s->engine;
	struct proxy_stat *st = fe_stat(s);
	uint64_t now = s->sess->begun_ms;

	conn_limits_count_session(s->sess->listener, now);
	freq_add(&e->sess_rate, now, 1);
	freq_add(&st->sess_rate, now, 1);
	if (is_screened(s))
		n.of_frontend = freq_read(&st->sess_rate, now);
	if (atomic_read(&e->shared->screens))
		n.of_process = freq_read(&e->sess_rate, now);
	freq_raise(&e->sess_rate, n.of_process);
	freq_raise(&st->sess_rate, n.of_frontend);
}

/* Makes it one of the current sessions. */
static void
register_session(struct stream *s)
{
	struct engine *e = s->engine;
	struct proxy *fe = s->sess->fe;
	struct listener *ln = s->sess->listener;

	list_append(&e->streams, &s->link);
	counter_add(&ln->stat.cur, 1);
	/* Over the copies of other workers only where it is shown. */
	if (fe->options & OPT_SOCKET_STATS)
		counter_max(&ln->stat.cur_max, listener_sessions(ln));
	atomic_write(&e->n_sessions, e->n_sessions + 1);
	conn_limits_entered(e, fe);
	memory_watch(e);
}

/* The client is accepted: it counts as a session, as in HAProxy. */
static void
count_session(struct stream *s, struct second n)
{
	s->sess->begun_ms = stream_now_ms(s);
	counter_add(&s->engine->cum_sess, 1);
	/* In mode http requests are counted when they arrive. */
	if (!s->is_http)
		counter_add(&s->engine->requests, 1);
	counter_add(&fe_stat(s)->cum_sess, 1);
	if (unlikely(s->extras != NULL))
		stream_count_tracked(s, TABLE_SESS_CNT, TABLE_SESS_RATE, 1);
	count_session_rates(s, n);
}

/* A PROXY header comes before the bytes of a transport. */
static int
open_client(struct stream *s, int fd, int has_proxy_header)
{
	const struct listener *ln = s->sess->listener;

	return conn_open_xprt(s->conn[CLIENT], s->engine->loop, fd, s->engine->on_client_io, s,
		addr_family(&ln->addr) == AF_UNIX ? CONN_UNIX
			: ln->nodelay             ? CONN_TCP_NODELAY
						  : CONN_TCP,
		has_proxy_header ? NULL : ln->xprt);
}

int
session_admit(struct stream *s, int fd, int *expects)
{
	struct second n = count_connection(s);
	const struct xprt_maker *xprt = s->sess->listener->xprt;

	if (is_screened(s))
		atomic_write(&s->engine->shared->screens, 1);
	*expects = s->sess->listener->bind->accept_proxy;
	/* Fetches of the connection need the descriptor. */
	conn_attach(s->conn[CLIENT], s->engine->loop, fd);
	if (!tcp_conn_rules_allow(s, RULE_TCP_CONNECTION, expects) ||
		(!*expects && !xprt && !tcp_conn_rules_allow(s, RULE_TCP_SESSION, expects)) ||
		(*expects && addr_override_reserve(s) < 0) || open_client(s, fd, *expects) < 0)
		return -1;
	register_session(s);
	if (!*expects && !xprt)
		count_session(s, n);
	return 0;
}

/* True if its bytes are HTTP/2, by the bind line, or because the handshake has agreed on it. */
static int
speaks_http2(const struct session *sess)
{
	struct str name;

	if (!sess->stream.is_http || sess->listener->bind->proto == MUX_H1)
		return 0;
	if (sess->listener->bind->proto == MUX_H2)
		return 1;
	return unlikely(sess->conn.xprt != NULL) &&
		conn_query(&sess->conn, XPRT_QUERY_PROTOCOL, &name) == 0 &&
		str_is(name, STR("h2"));
}

static enum session_event
serve_event(const struct session *sess)
{
	return unlikely(speaks_http2(sess)) ? SESSION_EV_MULTIPLEX : SESSION_EV_ADMITTED;
}

enum session_event
session_first_event(const struct session *sess)
{
	return unlikely(conn_awaits_handshake(&sess->conn)) ? SESSION_EV_AWAIT_CLIENT_HANDSHAKE
							    : serve_event(sess);
}

enum stream_event
stream_first_event(struct stream *s)
{
	stream_log_step(s, LOG_STEP_ACCEPT);
	if (s->is_http)
		return STREAM_EV_AWAIT_REQUEST;
	captures_begin(s);
	if (tcp_content_rules_of_frontend(s->sess->fe))
		return STREAM_EV_INSPECT;
	return STREAM_EV_ACCEPTED;
}

enum session_event
session_admit_again(struct session *sess)
{
	struct stream *s = &sess->stream;
	struct second none = { 0 };
	int expects = 0;

	/* Treated as just accepted, whatever time header and handshake have taken. */
	s->last_ms[CLIENT] = stream_now_ms(s);
	if (!tcp_conn_rules_allow(s, RULE_TCP_SESSION, &expects)) {
		/* These are not logged (manual, tcp-request session). */
		s->logged = 1;
		return SESSION_EV_DENIED;
	}
	count_session(s, none);
	return serve_event(sess);
}
