/* Entry points of the loop into a session: events of its descriptors, its task, its deadline. Runs
 * on the session's worker. The only file that raises the events that handlers return. */
#include "proxy/session/stream_io.h"

#include "base/log.h"
#include "event/profile.h"
#include "proxy/http1/exchange.h"
#include "proxy/log/stream_log.h"
#include "proxy/model/byte_count.h"
#include "proxy/relay/direction.h"
#include "proxy/relay/speculation.h"
#include "proxy/session/handlers.h"
#include "proxy/session/session.h"
#include "proxy/session/session_admit.h"
#include "proxy/session/stream_post.h"

void
stream_raise(struct stream *s, enum stream_event ev)
{
	stream_event(s, ev);
	/* The backend is known now: some log lines need no more. */
	if (ev == STREAM_EV_ACCEPTED || ev == STREAM_EV_PASSED)
		stream_log_early(s);
	/* Bytes of HTTP/2 that were read as a request are the session's. */
	if (unlikely(s->state == STREAM_NEW) && s->sess->state == SESSION_SERVING)
		session_raise(s->sess, SESSION_EV_MULTIPLEX);
}

void
session_raise(struct session *sess, enum session_event ev)
{
	struct stream *s = &sess->stream;

	session_event(sess, ev);
	if (s->state != STREAM_NEW)
		return;
	if (sess->state == SESSION_SERVING)
		stream_raise(s, stream_first_event(s));
	else if (sess->state == SESSION_CLOSED)
		stream_event(s, STREAM_EV_CLOSE);
}

void
stream_end(struct stream *s)
{
	if (s->state == STREAM_NEW) {
		session_event(s->sess, SESSION_EV_KILL);
		/* The streams that it carries end first. */
		if (s->sess->state != SESSION_CLOSED)
			return;
	}
	stream_event(s, STREAM_EV_KILL);
}

/* A descriptor keeps waking without progress. */
static void
end_spinning(struct stream *s, int side)
{
	log_msg(s->engine->log, LOG_LEVEL_ALERT,
		"session %llu: %s side in state %s made no progress, ended",
		(unsigned long long)s->id, side == CLIENT ? "client" : "server",
		history_state_name(stream_shown_state(s)));
	s->term[0] = 'I';
	stream_end(s);
}

/* Its client is not served yet. */
static void
session_io(struct session *sess, uint32_t ev)
{
	const struct session_state_row *row = &session_states[sess->state];

	if (row->io)
		session_raise(sess, row->io(sess, ev));
}

static void
session_continue(struct session *sess)
{
	const struct session_state_row *row = &session_states[sess->state];

	if (row->task)
		session_raise(sess, row->task(sess));
}

static void
on_side_io(struct stream *s, int side, uint32_t ev)
{
	enum stream_event next = STREAM_EV_NONE;

	/* Ended earlier in this turn: data that arrives now is not counted. */
	if (s->state == STREAM_CLOSED)
		return;
	if (ev & EV_ERR)
		ev = direction_take_zc_completions(s, side, ev);
	if (ev & EV_SPIN)
		end_spinning(s, side);
	else if (unlikely(s->state == STREAM_NEW))
		session_io(s->sess, ev);
	else if (stream_states[s->state].io)
		next = stream_states[s->state].io(s, side, ev);
	stream_raise(s, next);
	/* A server that is connected may have responded already. */
	if (next == STREAM_EV_UP && s->state == STREAM_RELAY && (ev & EV_R))
		stream_raise(s, direction_pump(s, SERVER));
	stream_settle(s);
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
has_sent_request(const struct stream *s)
{
	if (s->state != STREAM_RELAY)
		return 0;
	return s->txn ? exchange_has_request(s->txn) : !direction_has_pending(&s->dir[CLIENT]);
}

void
stream_on_task(struct task *t)
{
	struct stream *s = container_of(t, struct stream, task);
	enum stream_event ev = s->posted;

	s->posted = STREAM_EV_NONE;
	if (unlikely(s->state == STREAM_NEW))
		session_continue(s->sess);
	else if (ev == STREAM_EV_NONE && stream_states[s->state].task)
		ev = stream_states[s->state].task(s);
	stream_raise(s, ev);
	if (ev == STREAM_EV_UP && has_sent_request(s))
		speculation_expect_answer(s);
	stream_settle(s);
}
PROFILE_NAME(stream_on_task, session_task)

void
stream_on_timer(struct timer *t)
{
	struct stream *s = container_of(t, struct stream, timer);

	if (unlikely(s->state == STREAM_NEW))
		session_raise(s->sess, session_states[s->sess->state].late);
	else
		stream_raise(s, stream_states[s->state].late);
	stream_settle(s);
}
PROFILE_NAME(stream_on_timer, session_timer)

/* A direction gets its turn. */
static void
on_bulk_turn(struct stream *s, int side)
{
	if (s->state != STREAM_RELAY)
		return;
	stream_raise(s, direction_pump_now(s, side));
	stream_settle(s);
}

static void
on_slot(struct stream *s)
{
	stream_post(s, STREAM_EV_SLOT);
}

/* Its rules continue. */
static void
on_resolved(struct stream *s)
{
	if (s->state == STREAM_READ || s->state == STREAM_INSPECT)
		stream_post(s, STREAM_EV_NONE);
}

/* The head of its response, or the next slice of it, is there. */
static void
on_service(struct stream *s)
{
	if (s->state == STREAM_REPLY)
		stream_post(s, STREAM_EV_NONE);
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
	e->new_substream = substream_new;
	e->begin_substream = substream_begin;
}

void
stream_want(struct stream *s, int side, unsigned int dirs)
{
	if (conn_is_open(s->conn[side]))
		conn_want(s->conn[side], dirs);
}

static enum stream_event
outcome_of(const struct stream *s)
{
	const struct stream_state_row *row = &stream_states[s->state];

	return row->outcome ? row->outcome(s) : STREAM_EV_NONE;
}

/* Derives interest and deadline, or schedules the session to be freed. */
void
stream_settle(struct stream *s)
{
	struct loop *l = s->engine->loop;
	enum stream_event ev = outcome_of(s);
	struct derived d;

	/* A reply may be sent as soon as it is made. */
	while (ev != STREAM_EV_NONE) {
		stream_event(s, ev);
		ev = outcome_of(s);
	}
	stream_count_bytes(s);
	if (s->state == STREAM_CLOSED) {
		timer_stop(loop_timers(l), &s->timer);
		if (likely(!s->is_carried)) {
			session_event(s->sess, SESSION_EV_ENDED);
			s->task.fn = session_on_end;
		} else {
			s->task.fn = substream_on_end;
		}
		loop_post_end(l, &s->task);
		return;
	}
	d = stream_derive(s);
	stream_want(s, CLIENT, d.wants[CLIENT]);
	stream_want(s, SERVER, d.wants[SERVER]);
	conn_low_water(s->conn[CLIENT], d.low_water);
	if (timer_set(loop_timers(l), &s->timer, d.deadline) < 0) {
		/* A session without its deadline might never end. */
		s->term[0] = 'R';
		stream_end(s);
		stream_settle(s);
	}
}
