/*
 * The session and direction machines (fsm.tbl.h). Only fsm.c assigns ->state. Events change the
 * state, actions do not; an action that has to branch returns the next event, which its row must
 * list.
 */
#ifndef TACIT_PROXY_MODEL_FSM_H
#define TACIT_PROXY_MODEL_FSM_H

#include <stdint.h>

#include "base/compiler.h"

enum session_state {
#define SESSION_STATE(name, resting, io, task, late, derive, outcome, what) SESSION_##name,
#include "proxy/model/fsm.tbl.h"
#undef SESSION_STATE
	SESSION_STATES
};

enum session_event {
#define SESSION_EVENT(name, what) SESSION_EV_##name,
#include "proxy/model/fsm.tbl.h"
#undef SESSION_EVENT
	SESSION_EVENTS
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

struct session;
struct direction;

/* Runs an event and whatever follows from it. */
void session_event(struct session *s, enum session_event ev);

const char *session_state_name(enum session_state st);
const char *session_event_name(enum session_event ev);
const char *direction_state_name(enum direction_state st);
int session_state_is_resting(enum session_state st);

/* The table as data, for tests: 0 and the row, or -ERR_UNKNOWN. */
struct fsm_row {
	int next;
	uint32_t follow; /* mask of 1 << enum session_event */
	const char *action;
};
int fsm_session_row(enum session_state st, enum session_event ev, struct fsm_row *out) must_check;
int
fsm_direction_row(enum direction_state st, enum direction_event ev, struct fsm_row *out) must_check;

#endif
