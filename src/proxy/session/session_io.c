/* Entry points of the loop into a session: events of its descriptors, its task, its deadline. Runs
 * on the session's worker. The only file that raises the events that handlers return. */
#include "proxy/session/session_io.h"

#include "base/log.h"
#include "event/profile.h"
#include "proxy/http1/exchange.h"
#include "proxy/log/session_log.h"
#include "proxy/model/byte_count.h"
#include "proxy/relay/direction.h"
#include "proxy/relay/speculation.h"
#include "proxy/session/handlers.h"
#include "proxy/session/session.h"
#include "proxy/session/session_post.h"

void
session_raise(struct session *s, enum session_event ev)
{
	session_event(s, ev);
	/* The backend is known now: some log lines need no more. */
	if (ev == SESSION_EV_ACCEPTED || ev == SESSION_EV_PASSED)
		session_log_early(s);
}

/* A descriptor keeps waking without progress. */
static void
end_spinning(struct session *s, int side)
{
	log_msg(s->engine->log, LOG_LEVEL_ALERT,
		"session %llu: %s side in state %s made no progress, ended",
		(unsigned long long)s->id, side == CLIENT ? "client" : "server",
		session_state_name(s->state));
	s->term[0] = 'I';
	session_event(s, SESSION_EV_KILL);
}

static void
on_side_io(struct session *s, int side, uint32_t ev)
{
	enum session_event next = SESSION_EV_NONE;

	/* Ended earlier in this turn: data that arrives now is not counted. */
	if (s->state == SESSION_CLOSED)
		return;
	if (ev & EV_ERR)
		ev = direction_take_zc_completions(s, side, ev);
	if (ev & EV_SPIN)
		end_spinning(s, side);
	else if (session_states[s->state].io)
		next = session_states[s->state].io(s, side, ev);
	session_raise(s, next);
	/* A server that is connected may have responded already. */
	if (next == SESSION_EV_UP && s->state == SESSION_RELAY && (ev & EV_R))
		session_raise(s, direction_pump(s, SERVER));
	session_settle(s);
}

static void
on_client_io(void *owner, int fd, uint32_t ev)
{
	(void)fd;
	on_side_io(owner, CLIENT, ev);
}
PROFILE_NAME(on_client_io, client_io)

static void
on_server_io(void *owner, int fd, uint32_t ev)
{
	(void)fd;
	on_side_io(owner, SERVER, ev);
}
PROFILE_NAME(on_server_io, server_io)

static int
has_sent_request(const struct session *s)
{
	if (s->state != SESSION_RELAY)
		return 0;
	return s->txn ? exchange_has_request(s->txn) : !direction_has_pending(&s->dir[CLIENT]);
}

void
session_on_task(struct task *t)
{
	struct session *s = container_of(t, struct session, task);
	enum session_event ev = s->posted;

	s->posted = SESSION_EV_NONE;
	if (ev == SESSION_EV_NONE && session_states[s->state].task)
		ev = session_states[s->state].task(s);
	session_raise(s, ev);
	if (ev == SESSION_EV_UP && has_sent_request(s))
		speculation_expect_answer(s);
	session_settle(s);
}
PROFILE_NAME(session_on_task, session_task)

void
session_on_timer(struct timer *t)
{
	struct session *s = container_of(t, struct session, timer);

	session_raise(s, session_states[s->state].late);
	session_settle(s);
}
PROFILE_NAME(session_on_timer, session_timer)

/* A direction gets its turn. */
static void
on_bulk_turn(struct session *s, int side)
{
	if (s->state != SESSION_RELAY)
		return;
	session_raise(s, direction_pump_now(s, side));
	session_settle(s);
}

static void
on_slot(struct session *s)
{
	session_post(s, SESSION_EV_SLOT);
}

/* Its rules continue. */
static void
on_resolved(struct session *s)
{
	if (s->state == SESSION_READ || s->state == SESSION_INSPECT)
		session_post(s, SESSION_EV_NONE);
}

/* The head of its response, or the next slice of it, is there. */
static void
on_service(struct session *s)
{
	if (s->state == SESSION_REPLY)
		session_post(s, SESSION_EV_NONE);
}

void
session_hooks(struct engine *e)
{
	e->on_client_io = on_client_io;
	e->on_server_io = on_server_io;
	e->on_resolved = on_resolved;
	e->on_service = on_service;
	e->on_slot = on_slot;
	e->on_bulk_turn = on_bulk_turn;
}

void
session_want(struct session *s, int side, unsigned int dirs)
{
	if (conn_is_open(&s->conn[side]))
		conn_want(&s->conn[side], dirs);
}

static enum session_event
outcome_of(const struct session *s)
{
	const struct session_state_row *row = &session_states[s->state];

	return row->outcome ? row->outcome(s) : SESSION_EV_NONE;
}

/* Derives interest and deadline, or schedules the session to be freed. */
void
session_settle(struct session *s)
{
	struct loop *l = s->engine->loop;
	enum session_event ev = outcome_of(s);
	struct derived d;

	/* A reply may be sent as soon as it is made. */
	while (ev != SESSION_EV_NONE) {
		session_event(s, ev);
		ev = outcome_of(s);
	}
	session_count_bytes(s);
	if (s->state == SESSION_CLOSED) {
		timer_stop(loop_timers(l), &s->timer);
		s->task.fn = session_on_end;
		loop_post_end(l, &s->task);
		return;
	}
	d = session_derive(s);
	session_want(s, CLIENT, d.wants[CLIENT]);
	session_want(s, SERVER, d.wants[SERVER]);
	conn_low_water(&s->conn[CLIENT], d.low_water);
	if (timer_set(loop_timers(l), &s->timer, d.deadline) < 0) {
		/* A session without its deadline might never end. */
		s->term[0] = 'R';
		session_event(s, SESSION_EV_KILL);
		session_settle(s);
	}
}
