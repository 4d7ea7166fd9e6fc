/* Decides whether a new client is served, and counts it. Runs on the worker whose listener has
 * accepted it, before the machine knows the session. maxconn of the process and of frontends: a
 * place is taken before a connection is accepted and given back once. */
#include "proxy/session/session_admit.h"

#include "base/atomic.h"
#include "net/xprt.h"
#include "proxy/model/addr_override.h"
#include "proxy/model/count.h"
#include "proxy/log/stream_log.h"
#include "proxy/model/memory.h"
#include "proxy/model/stream_extras.h"
#include "proxy/sample/capture.h"
#include "proxy/session/tcp_conn_rules.h"
#include "proxy/session/tcp_content_rules.h"
#include "base/counter.h"
#include "event/profile.h"
#include "net/listener.h"

/* --- limits --- */

/* True if the operator has set the maxconn of the frontend to 0: it gets no connection. */
static int
is_shut(const struct proxy *fe)
{
	return fe->maxconn == PROXY_MAXCONN_NONE;
}

static int
frontend_is_full(const struct proxy *fe)
{
	return is_shut(fe) || gate_is_full(&fe->fe_gate, (unsigned int)fe->maxconn);
}

static uint64_t
own_bit(const struct engine *e)
{
	return UINT64_C(1) << e->index;
}

/* --- one frontend --- */

/* A frontend at its maxconn leaves further connections in the kernel's backlog. */
static void
hold_listeners(struct engine *e, struct proxy *fe, int hold)
{
	list_each(b, &fe->binds) {
		list_each(it, &list_entry(b, struct bind_conf, link)->listeners) {
			struct listener *ln = list_entry(it, struct listener, link);

			if (ln->worker != e)
				continue;
			if (hold)
				listener_hold(ln, LISTENER_HOLD_FRONTEND);
			else
				listener_resume(ln, LISTENER_HOLD_FRONTEND);
		}
	}
}

static void
hold_frontend(struct engine *e, struct proxy *fe)
{
	hold_listeners(e, fe, 1);
	if (!is_shut(fe) && !gate_hold(&fe->fe_gate, (unsigned int)fe->maxconn, e->index))
		hold_listeners(e, fe, 0);
}

/* --- the process --- */

static void
hold_process(struct engine *e)
{
	e->is_full = 1;
	if (e->hooks.on_full)
		e->hooks.on_full(e);
	if (gate_hold(&e->shared->gate, e->shared->max_sessions, e->index))
		return;
	e->is_full = 0;
	if (e->hooks.on_release)
		e->hooks.on_release(e);
}

/* --- rates --- */

static void
set_rate_held(struct engine *e, int held)
{
	if (e->rate_held == held)
		return;
	e->rate_held = held;
	if (e->hooks.on_rate)
		e->hooks.on_rate(e);
}

static void
on_rate_timer(struct timer *t)
{
	set_rate_held(container_of(t, struct engine, rate_timer), 0);
}
PROFILE_NAME(on_rate_timer, rate_timer)

void
conn_limits_init(struct engine *e)
{
	timer_init(&e->rate_timer, on_rate_timer);
}

void
conn_limits_stop_rates(struct engine *e)
{
	timer_stop(loop_timers(e->loop), &e->rate_timer);
	set_rate_held(e, 0);
}

/* A client's PROXY header makes the session: counted then. */
static int
counts_at_accept(const struct listener *ln)
{
	return !ln->bind->accept_proxy;
}

void
conn_limits_no_session(struct listener *ln)
{
	struct proxy *fe = ln->owner;
	struct engine *e = ln->worker;

	if (counts_at_accept(ln))
		rate_limit_give_back(&fe->sess_limit, e->sys);
}

/* A session of its frontend begins: counts it among those of this second. */
static void
conn_limits_count_session(struct listener *ln, uint64_t now_ms)
{
	struct proxy *fe = ln->owner;
	struct engine *e = ln->worker;

	rate_limit_count(&e->shared->sess_limit, e->sys, now_ms);
	if (!counts_at_accept(ln))
		rate_limit_count(&fe->sess_limit, e->sys, now_ms);
}

/* `rate-limit sessions`. Counts the session, so that workers together do not exceed the limit. */
static int
enter_frontend_rate(struct listener *ln)
{
	struct proxy *fe = ln->owner;
	struct engine *e = ln->worker;
	uint64_t now = loop_now_ms(e->loop);
	uint64_t wait = rate_limit_wait(&fe->sess_limit, e->sys, now, counts_at_accept(ln));

	if (likely(!wait))
		return 1;
	listener_hold_until(ln, now + wait);
	return 0;
}

/* Counts a connection; its session is counted later. Without memory for a timer the listener tries
 * again in the next turn. */
static int
enter_process_rates(struct engine *e)
{
	struct engine_shared *sh = e->shared;
	uint64_t now = loop_now_ms(e->loop);
	uint64_t wait = rate_limit_wait(&sh->sess_limit, e->sys, now, 0);

	if (!wait)
		wait = rate_limit_wait(&sh->conn_limit, e->sys, now, 1);
	if (likely(!wait))
		return 1;
	if (timer_set(loop_timers(e->loop), &e->rate_timer, now + wait) == 0)
		set_rate_held(e, 1);
	return 0;
}

/* The frontend's rate is left before there is a connection. */
static void
leave_frontend_rate(const struct listener *ln)
{
	struct proxy *fe = ln->owner;
	const struct engine *e = ln->worker;

	if (counts_at_accept(ln))
		rate_limit_cancel(&fe->sess_limit, e->sys);
}

/* maxsslrate: counted before the handshake, so that those that fail count too. */
static int
enter_tls_rate(struct listener *ln)
{
	struct engine *e = ln->worker;
	uint64_t now = loop_now_ms(e->loop), wait = 0;

	if (unlikely(ln->xprt))
		wait = rate_limit_wait(&e->shared->tls_limit, e->sys, now, 1);
	if (likely(!wait))
		return 1;
	listener_hold_until(ln, now + wait);
	return 0;
}

static void
leave_tls_rate(const struct listener *ln)
{
	const struct engine *e = ln->worker;

	if (unlikely(ln->xprt))
		rate_limit_cancel(&e->shared->tls_limit, e->sys);
}

static int
enter_rates(struct listener *ln)
{
	if (!enter_frontend_rate(ln))
		return 0;
	if (enter_tls_rate(ln)) {
		if (enter_process_rates(ln->worker))
			return 1;
		leave_tls_rate(ln);
	}
	leave_frontend_rate(ln);
	return 0;
}

static void
leave_rates(struct listener *ln)
{
	const struct engine *e = ln->worker;

	leave_frontend_rate(ln);
	leave_tls_rate(ln);
	rate_limit_cancel(&e->shared->conn_limit, e->sys);
}

/* --- places --- */

/* Wakes other workers; fe NULL: for the process. */
static void
wake_waiting(struct engine *e, uint64_t who, struct proxy *fe)
{
	for (who &= ~own_bit(e); who; who &= who - 1)
		e->hooks.wake_resume(e, (unsigned int)__builtin_ctzll(who), fe);
}

/* place: GATE_KEPT or GATE_TRIED. */
static void
leave_frontend(struct engine *e, struct proxy *fe, uint64_t place)
{
	uint64_t who = gate_leave(&fe->fe_gate, place, (unsigned int)fe->maxconn);

	if (likely(!who))
		return;
	if (who & own_bit(e))
		hold_listeners(e, fe, 0);
	wake_waiting(e, who, fe);
}

void
conn_limits_left_frontend(struct engine *e, struct proxy *fe)
{
	leave_frontend(e, fe, GATE_KEPT);
}

static void
leave_process(struct engine *e, uint64_t place, int was_session)
{
	uint64_t who = gate_leave(&e->shared->gate, place, e->shared->max_sessions);
	int resumes = (who & own_bit(e)) != 0;

	if (resumes)
		e->is_full = 0;
	if ((resumes || was_session) && e->hooks.on_release)
		e->hooks.on_release(e);
	if (unlikely(who))
		wake_waiting(e, who, NULL);
}

void
conn_limits_left_process(struct engine *e)
{
	leave_process(e, GATE_KEPT, 1);
}

/* Takes a place of fe and of the process for a session of e: holds listeners when the limit is
 * reached. */
static void
conn_limits_entered(struct engine *e, struct proxy *fe)
{
	if (frontend_is_full(fe))
		hold_frontend(e, fe);
	if (gate_is_full(&e->shared->gate, e->shared->max_sessions))
		hold_process(e);
}

void
conn_limits_resume(struct engine *e, struct proxy *fe)
{
	if (fe) {
		/* Another worker may have taken the place: the listener is held again without a
		 * try. */
		if (frontend_is_full(fe))
			hold_frontend(e, fe);
		else
			hold_listeners(e, fe, 0);
		return;
	}
	if (!e->is_full)
		return;
	if (gate_is_full(&e->shared->gate, e->shared->max_sessions)) {
		hold_process(e);
		return;
	}
	e->is_full = 0;
	if (e->hooks.on_release)
		e->hooks.on_release(e);
}

/* --- the listener's questions --- */

/* Called before each accept: takes the places for a connection if there are any. */
static int
enter_gates(struct listener *ln)
{
	struct engine *e = ln->worker;
	struct proxy *fe = ln->owner;

	if (!enter_rates(ln))
		return 0;
	if (!gate_enter(&e->shared->gate, e->shared->max_sessions)) {
		leave_rates(ln);
		hold_process(e);
		return 0;
	}
	if (!is_shut(fe) && gate_enter(&fe->fe_gate, (unsigned int)fe->maxconn))
		return 1;
	leave_rates(ln);
	leave_process(e, GATE_TRIED, 0);
	hold_frontend(e, fe);
	return 0;
}

/* Called when an accept has found a client: the places that enter_gates() took stay taken. */
static void
did_accept(struct listener *ln)
{
	struct proxy *fe = ln->owner;
	const struct engine *e = ln->worker;

	if (counts_at_accept(ln))
		rate_limit_keep(&fe->sess_limit, e->sys);
	if (unlikely(ln->xprt))
		rate_limit_keep(&e->shared->tls_limit, e->sys);
	rate_limit_keep(&e->shared->conn_limit, e->sys);
	gate_keep(&fe->fe_gate);
	gate_keep(&e->shared->gate);
}

/* Called when the accept found no connection. */
static void
not_accepted(struct listener *ln)
{
	leave_rates(ln);
	leave_frontend(ln->worker, ln->owner, GATE_TRIED);
	leave_process(ln->worker, GATE_TRIED, 0);
}

void
conn_limits_give_back(struct listener *ln)
{
	conn_limits_left_frontend(ln->worker, ln->owner);
	leave_process(ln->worker, GATE_KEPT, 0);
}

void
conn_limits_listener(struct listener *ln, struct proxy *fe, struct engine *e)
{
	ln->owner = fe;
	ln->worker = e;
	ln->account = fe->account;
	ln->may_accept = enter_gates;
	ln->did_accept = did_accept;
	ln->not_accepted = not_accepted;
}

/* --- rules --- */

/* Connections of this second, of all workers together. */
struct second {
	uint32_t of_process, of_frontend;
	int is_screened; /* see is_screened() */
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

	counter_add(&e->stat.cum_conns, 1);
	n.of_process = count_rate(&e->stat.conn_rate, &e->shared->second, s->sess->accept_ms);
	counter_add(&st->cum_conn, 1);
	n.of_frontend = count_rate(&st->conn_rate, &s->sess->fe->fe_second, s->sess->accept_ms);
	/* Its place was taken already, whatever the rules decide. */
	counter_max(&st->cur_max, gate_count(&s->sess->fe->fe_gate));
	counter_add(&s->sess->listener->stat.cum_conn, 1);
	return n;
}

/* True if its connection may be rejected before it becomes a session. */
static int
is_screened(const struct stream *s)
{
	return tcp_conn_rules_exist(s, RULE_TCP_CONNECTION) ||
		tcp_conn_rules_exist(s, RULE_TCP_SESSION) || s->sess->has_header ||
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
	freq_add(&e->stat.sess_rate, now, 1);
	freq_add(&st->sess_rate, now, 1);
	if (unlikely(n.is_screened))
		n.of_frontend = freq_read(&st->sess_rate, now);
	if (atomic_read(&e->shared->screens))
		n.of_process = freq_read(&e->stat.sess_rate, now);
	freq_raise(&e->stat.sess_rate, n.of_process);
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
	counter_add(&s->engine->stat.cum_sess, 1);
	/* In mode http requests are counted when they arrive. */
	if (!s->is_http)
		counter_add(&s->engine->stat.requests, 1);
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

	return conn_open_xprt(s->conn[CLIENT], s->engine->loop, fd,
		s->engine->hooks.on_client_io, s,
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

	n.is_screened = is_screened(s);
	if (unlikely(n.is_screened))
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

enum session_event
session_admit_again(struct session *sess)
{
	struct stream *s = &sess->stream;
	struct second none = { .is_screened = is_screened(s) };
	int expects = 0;

	/* Treated as just accepted, whatever time header and handshake have taken. */
	s->last_ms[CLIENT] = stream_now_ms(s);
	if (!tcp_conn_rules_allow(s, RULE_TCP_SESSION, &expects)) {
		/* These are not logged (manual, tcp-request session). */
		s->own_line = STREAM_LINE_NONE;
		return SESSION_EV_DENIED;
	}
	count_session(s, none);
	return serve_event(sess);
}
