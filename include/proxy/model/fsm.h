/*
 * The session and direction machines (fsm.tbl.h). Only fsm.c assigns ->state. Events change the
 * state, actions do not; an action that has to branch returns the next event, which its row must
 * list.
 */
#ifndef TACIT_PROXY_MODEL_FSM_H
#define TACIT_PROXY_MODEL_FSM_H

#include <stdint.h>

#include "base/compiler.h"

enum stream_state {
#define STREAM_STATE(name, resting, io, task, late, derive, outcome, what) STREAM_##name,
#include "proxy/model/fsm.tbl.h"
#undef STREAM_STATE
	STREAM_STATES
};

enum stream_event {
#define STREAM_EVENT(name, what) STREAM_EV_##name,
#include "proxy/model/fsm.tbl.h"
#undef STREAM_EVENT
	STREAM_EVENTS
};

enum direction_state {
#define DIRECTION_STATE(name, what) DIRECTION_##name,
#include "proxy/model/fsm.tbl.h"
#undef DIRECTION_STATE
	DIRECTION_STATES
};

enum direction_event {
#define DIRECTION_EVENT(name, what) DIRECTION_EV_##name,
#include "proxy/model/fsm.tbl.h"
#undef DIRECTION_EVENT
	DIRECTION_EVENTS
};

struct stream;
struct direction;

/* Runs an event and whatever follows from it. */
void stream_event(struct stream *s, enum stream_event ev);

const char *stream_state_name(enum stream_state st);
const char *stream_event_name(enum stream_event ev);
const char *direction_state_name(enum direction_state st);
int stream_state_is_resting(enum stream_state st);

/* The table as data, for tests: 0 and the row, or -ERR_UNKNOWN. */
struct fsm_row {
	int next;
	uint32_t follow; /* mask of 1 << enum stream_event */
	const char *action;
};
int fsm_session_row(enum stream_state st, enum stream_event ev, struct fsm_row *out) must_check;
int
fsm_direction_row(enum direction_state st, enum direction_event ev, struct fsm_row *out) must_check;

#endif
