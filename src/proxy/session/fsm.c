/* Dispatch of the machines of sessions and streams (fsm.tbl.h), on their worker. The only file that
 * assigns their states. */
#include "proxy/model/fsm.h"

#include "proxy/session/actions.h"
#include "proxy/session/handlers.h"
#include "base/counter.h"
#include "base/err.h"
#include "base/log.h"
#include "base/probe.h"
#include "base/trace.h"
#include "proxy/model/session.h"

struct session_row {
	uint8_t known;
	uint8_t next;
	uint32_t follow;
	enum session_event (*action)(struct session *sess);
	const char *name;
	PROBE_MEMBER
};

static const struct session_row session_rows[SESSION_STATES][SESSION_EVENTS] = {
#define SESSION_ROW(st, ev, to, act, fol) \
	[SESSION_##st][SESSION_EV_##ev] = { 1, SESSION_##to, fol, session_do_##act, \
		#act PROBE_VALUE(st, ev, to, act) },
#include "proxy/model/fsm.tbl.h"
#undef SESSION_ROW
};

struct stream_row {
	uint8_t known;
	uint8_t next;
	uint32_t follow;
	enum stream_event (*action)(struct stream *s);
	const char *name;
	PROBE_MEMBER
};

static const struct stream_row stream_rows[STREAM_STATES][STREAM_EVENTS] = {
#define STREAM_ROW(st, ev, to, act, fol) \
	[STREAM_##st][STREAM_EV_##ev] = { 1, STREAM_##to, fol, stream_do_##act, \
		#act PROBE_VALUE(st, ev, to, act) },
#include "proxy/model/fsm.tbl.h"
#undef STREAM_ROW
};

static const uint8_t stream_resting[STREAM_STATES] = {
#define STREAM_STATE(name, resting, io, task, late, derive, outcome, what) \
	[STREAM_##name] = resting,
#include "proxy/model/fsm.tbl.h"
#undef STREAM_STATE
};

/* One history has the pairs of the session and of its stream. */
static void
remember_event(struct stream *s, unsigned int state, unsigned int ev)
{
	uint8_t *h = s->hist[s->hist_n++ % STREAM_HISTORY];

	h[0] = (uint8_t)state;
	h[1] = (uint8_t)ev;
}

/* A pair outside the table is an internal error: it ends this session, never the process. */
static void
stream_bug(struct stream *s, enum stream_event ev)
{
	counter_add(&s->engine->stat.fsm_bugs, 1);
	log_msg(s->engine->log, LOG_LEVEL_ALERT, "session %llu: event %s in state %s: bug, ended",
		(unsigned long long)s->id, stream_event_name(ev), stream_state_name(s->state));
	s->state = STREAM_CLOSED;
	(void)stream_do_close_killed(s);
}

void
stream_event(struct stream *s, enum stream_event ev)
{
	while (ev != STREAM_EV_NONE && s->state != STREAM_CLOSED) {
		const struct stream_row *row = &stream_rows[s->state][ev];
		enum stream_event next;

		remember_event(s, s->state, ev);
		if (unlikely(!row->known)) {
			stream_bug(s, ev);
			return;
		}
		if (trace_is_on(s->engine->trace, TRACE_STATE))
			trace_add(s->engine->trace, TRACE_STATE, loop_now_ns(s->engine->loop),
				s->id, stream_state_name(s->state), stream_event_name(ev), "%s",
				row->name);
		PROBE_ROW(stream, s->id, row);
		if (s->state != row->next) {
			s->state = row->next;
			s->state_ms = stream_now_ms(s);
		}
		next = row->action(s);
		assert(next == STREAM_EV_NONE || (row->follow & 1u << next));
		ev = next;
	}
}

static void
session_bug(struct session *sess, enum session_event ev)
{
	struct stream *s = &sess->stream;

	counter_add(&s->engine->stat.fsm_bugs, 1);
	log_msg(s->engine->log, LOG_LEVEL_ALERT, "session %llu: event %s in state %s: bug, ended",
		(unsigned long long)s->id, session_event_name(ev), session_state_name(sess->state));
	sess->state = SESSION_CLOSED;
	stream_event(s, STREAM_EV_KILL);
}

void
session_event(struct session *sess, enum session_event ev)
{
	struct stream *s = &sess->stream;
	struct trace *t = s->engine->trace;

	while (ev != SESSION_EV_NONE && sess->state != SESSION_CLOSED) {
		const struct session_row *row = &session_rows[sess->state][ev];

		remember_event(s, HISTORY_OF_SESSION | sess->state, ev);
		if (unlikely(!row->known)) {
			session_bug(sess, ev);
			return;
		}
		if (trace_is_on(t, TRACE_STATE))
			trace_add(t, TRACE_STATE, loop_now_ns(s->engine->loop), s->id,
				session_state_name(sess->state), session_event_name(ev), "%s",
				row->name);
		PROBE_ROW(session, s->id, row);
		sess->state = row->next;
		ev = row->action(sess);
		assert(ev == SESSION_EV_NONE || (row->follow & 1u << ev));
	}
}

const char *
session_state_name(enum session_state st)
{
	static const char *const names[SESSION_STATES] = {
#define SESSION_STATE(name, resting, io, task, late, derive, what) #name,
#include "proxy/model/fsm.tbl.h"
#undef SESSION_STATE
	};

	return names[st];
}

const char *
session_event_name(enum session_event ev)
{
	static const char *const names[SESSION_EVENTS] = {
#define SESSION_EVENT(name, what) #name,
#include "proxy/model/fsm.tbl.h"
#undef SESSION_EVENT
	};

	return names[ev];
}

const char *
stream_state_name(enum stream_state st)
{
	static const char *const names[STREAM_STATES] = {
#define STREAM_STATE(name, resting, io, task, late, derive, outcome, what) #name,
#include "proxy/model/fsm.tbl.h"
#undef STREAM_STATE
	};

	return names[st];
}

const char *
stream_event_name(enum stream_event ev)
{
	static const char *const names[STREAM_EVENTS] = {
#define STREAM_EVENT(name, what) #name,
#include "proxy/model/fsm.tbl.h"
#undef STREAM_EVENT
	};

	return names[ev];
}

const char *
history_state_name(unsigned int state)
{
	return state & HISTORY_OF_SESSION
		? session_state_name((enum session_state)(state & ~HISTORY_OF_SESSION))
		: stream_state_name((enum stream_state)state);
}

const char *
history_event_name(unsigned int state, unsigned int ev)
{
	return state & HISTORY_OF_SESSION ? session_event_name((enum session_event)ev)
					  : stream_event_name((enum stream_event)ev);
}

int
session_state_is_resting(enum session_state st)
{
	static const uint8_t resting[SESSION_STATES] = {
#define SESSION_STATE(name, rests, io, task, late, derive, what) [SESSION_##name] = rests,
#include "proxy/model/fsm.tbl.h"
#undef SESSION_STATE
	};

	return resting[st];
}

int
stream_state_is_resting(enum stream_state st)
{
	return stream_resting[st];
}

int
fsm_session_row(enum session_state st, enum session_event ev, struct fsm_row *out)
{
	const struct session_row *row = &session_rows[st][ev];

	if (!row->known)
		return -ERR_UNKNOWN;
	*out = (struct fsm_row){ .next = row->next, .follow = row->follow, .action = row->name };
	return 0;
}

int
fsm_stream_row(enum stream_state st, enum stream_event ev, struct fsm_row *out)
{
	const struct stream_row *row = &stream_rows[st][ev];

	if (!row->known)
		return -ERR_UNKNOWN;
	*out = (struct fsm_row){ .next = row->next, .follow = row->follow, .action = row->name };
	return 0;
}
