/* Dispatch of the session's machine (fsm.tbl.h), on its worker. The only file that assigns a
 * session's state. */
#include "proxy/model/fsm.h"

#include "proxy/session/actions.h"
#include "proxy/session/handshake.h"
#include "base/counter.h"
#include "base/err.h"
#include "base/log.h"
#include "base/trace.h"
#include "proxy/model/session.h"

struct session_row {
	uint8_t known;
	uint8_t next;
	uint32_t follow;
	enum session_event (*action)(struct session *s);
	const char *name;
};

static const struct session_row session_rows[SESSION_STATES][SESSION_EVENTS] = {
#define SESSION_ROW(st, ev, to, act, fol) \
	[SESSION_##st][SESSION_EV_##ev] = { 1, SESSION_##to, fol, session_do_##act, #act },
#include "proxy/model/fsm.tbl.h"
#undef SESSION_ROW
};

static const uint8_t session_resting[SESSION_STATES] = {
#define SESSION_STATE(name, resting, io, task, late, derive, outcome, what) \
	[SESSION_##name] = resting,
#include "proxy/model/fsm.tbl.h"
#undef SESSION_STATE
};

static void
remember_event(struct session *s, enum session_event ev)
{
	uint8_t *h = s->hist[s->hist_n++ % SESSION_HISTORY];

	h[0] = (uint8_t)s->state;
	h[1] = (uint8_t)ev;
}

/* A pair outside the table is an internal error: it ends this session, never the process. */
static void
session_bug(struct session *s, enum session_event ev)
{
	counter_add(&s->engine->fsm_bugs, 1);
	log_msg(s->engine->log, LOG_LEVEL_ALERT, "session %llu: event %s in state %s: bug, ended",
		(unsigned long long)s->id, session_event_name(ev), session_state_name(s->state));
	s->state = SESSION_CLOSED;
	(void)session_do_close_killed(s);
}

void
session_event(struct session *s, enum session_event ev)
{
	while (ev != SESSION_EV_NONE && s->state != SESSION_CLOSED) {
		const struct session_row *row = &session_rows[s->state][ev];
		enum session_event next;

		remember_event(s, ev);
		if (unlikely(!row->known)) {
			session_bug(s, ev);
			return;
		}
		if (trace_is_on(s->engine->trace, TRACE_STATE))
			trace_add(s->engine->trace, TRACE_STATE, loop_now_ns(s->engine->loop),
				s->id, session_state_name(s->state), session_event_name(ev), "%s",
				row->name);
		if (s->state != (enum session_state)row->next) {
			s->state = (enum session_state)row->next;
			s->state_ms = session_now_ms(s);
		}
		next = row->action(s);
		assert(next == SESSION_EV_NONE || (row->follow & 1u << next));
		ev = next;
	}
}

const char *
session_state_name(enum session_state st)
{
	static const char *const names[SESSION_STATES] = {
#define SESSION_STATE(name, resting, io, task, late, derive, outcome, what) #name,
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

int
session_state_is_resting(enum session_state st)
{
	return session_resting[st];
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
