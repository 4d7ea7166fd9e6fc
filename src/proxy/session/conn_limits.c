/* maxconn of the process and of frontends. Any worker; a place is taken before a connection is
 * accepted and given back once. */
#include "proxy/session/conn_limits.h"

#include "base/atomic.h"
#include "event/profile.h"
#include "net/listener.h"

/* Set by the operator: no connection at all. */
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
	if (e->on_full)
		e->on_full(e);
	if (gate_hold(&e->shared->gate, e->shared->max_sessions, e->index))
		return;
	e->is_full = 0;
	if (e->on_release)
		e->on_release(e);
}

/* --- rates --- */

static void
set_rate_held(struct engine *e, int held)
{
	if (e->rate_held == held)
		return;
	e->rate_held = held;
	if (e->on_rate)
		e->on_rate(e);
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

void
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
		e->wake_resume(e, (unsigned int)__builtin_ctzll(who), fe);
}

void
conn_limits_left_frontend(struct engine *e, struct proxy *fe)
{
	uint64_t who = gate_leave(&fe->fe_gate, (unsigned int)fe->maxconn);

	if (likely(!who))
		return;
	if (who & own_bit(e))
		hold_listeners(e, fe, 0);
	wake_waiting(e, who, fe);
}

static void
leave_process(struct engine *e, int was_session)
{
	uint64_t who = gate_leave(&e->shared->gate, e->shared->max_sessions);
	int resumes = (who & own_bit(e)) != 0;

	if (resumes)
		e->is_full = 0;
	if ((resumes || was_session) && e->on_release)
		e->on_release(e);
	if (unlikely(who))
		wake_waiting(e, who, NULL);
}

void
conn_limits_left_process(struct engine *e)
{
	leave_process(e, 1);
}

void
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
	if (e->on_release)
		e->on_release(e);
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
	leave_process(e, 0);
	hold_frontend(e, fe);
	return 0;
}

/* A permitted accept found a client: what was counted for it is. */
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
}

/* Called when the accept found no connection. */
static void
not_accepted(struct listener *ln)
{
	leave_rates(ln);
	conn_limits_give_back(ln);
}

void
conn_limits_give_back(struct listener *ln)
{
	conn_limits_left_frontend(ln->worker, ln->owner);
	leave_process(ln->worker, 0);
}

void
conn_limits_listener(struct listener *ln, struct proxy *fe, struct engine *e)
{
	ln->owner = fe;
	ln->worker = e;
	ln->may_accept = enter_gates;
	ln->did_accept = did_accept;
	ln->not_accepted = not_accepted;
}
