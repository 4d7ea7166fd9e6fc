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

struct stream_row {
	uint8_t known;
	uint8_t next;
	uint32_t follow;
	enum stream_event (*action)(struct stream *s);
	const char *name;
};

static const struct stream_row stream_rows[STREAM_STATES][STREAM_EVENTS] = {
#define STREAM_ROW(st, ev, to, act, fol) \
	[STREAM_##st][STREAM_EV_##ev] = { 1, STREAM_##to, fol, stream_do_##act, #act },
#include "proxy/model/fsm.tbl.h"
#undef STREAM_ROW
};

static const uint8_t stream_resting[STREAM_STATES] = {
#define STREAM_STATE(name, resting, io, task, late, derive, outcome, what) \
	[STREAM_##name] = resting,
#include "proxy/model/fsm.tbl.h"
#undef STREAM_STATE
};

static void
remember_event(struct stream *s, enum stream_event ev)
{
	uint8_t *h = s->hist[s->hist_n++ % STREAM_HISTORY];

	h[0] = (uint8_t)s->state;
	h[1] = (uint8_t)ev;
}

/* A pair outside the table is an internal error: it ends this session, never the process. */
static void
stream_bug(struct stream *s, enum stream_event ev)
{
	counter_add(&s->engine->fsm_bugs, 1);
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

		remember_event(s, ev);
		if (unlikely(!row->known)) {
			stream_bug(s, ev);
			return;
		}
		if (trace_is_on(s->engine->trace, TRACE_STATE))
			trace_add(s->engine->trace, TRACE_STATE, loop_now_ns(s->engine->loop),
				s->id, stream_state_name(s->state), stream_event_name(ev), "%s",
				row->name);
		if (s->state != (enum stream_state)row->next) {
			s->state = (enum stream_state)row->next;
			s->state_ms = stream_now_ms(s);
		}
		next = row->action(s);
		assert(next == STREAM_EV_NONE || (row->follow & 1u << next));
		ev = next;
	}
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

int
stream_state_is_resting(enum stream_state st)
{
	return stream_resting[st];
}

int
fsm_session_row(enum stream_state st, enum stream_event ev, struct fsm_row *out)
{
	const struct stream_row *row = &stream_rows[st][ev];

	if (!row->known)
		return -ERR_UNKNOWN;
	*out = (struct fsm_row){ .next = row->next, .follow = row->follow, .action = row->name };
	return 0;
}
