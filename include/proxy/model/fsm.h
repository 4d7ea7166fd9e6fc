/*
 * The machines of sessions, streams and directions (fsm.tbl.h). Only fsm.c and direction_fsm.c
 * assign ->state. Events change the state, actions do not; an action that has to branch returns the
 * next event, which its row must list.
 */
#ifndef TACIT_PROXY_MODEL_FSM_H
#define TACIT_PROXY_MODEL_FSM_H

#include <stdint.h>

#include "base/compiler.h"

enum session_state {
#define SESSION_STATE(name, resting, io, task, late, derive, what) SESSION_##name,
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

struct session;
struct stream;
struct direction;

/* Runs an event and whatever follows from it. */
void session_event(struct session *sess, enum session_event ev);
void stream_event(struct stream *s, enum stream_event ev);

const char *session_state_name(enum session_state st);
const char *session_event_name(enum session_event ev);
const char *stream_state_name(enum stream_state st);
const char *stream_event_name(enum stream_event ev);
/* Names of a pair of stream.hist. */
const char *history_state_name(unsigned int state);
const char *history_event_name(unsigned int state, unsigned int ev);
const char *direction_state_name(enum direction_state st);
int session_state_is_resting(enum session_state st);
int stream_state_is_resting(enum stream_state st);

/* The table as data, for tests: 0 and the row, or -ERR_UNKNOWN. */
struct fsm_row {
	int next;
	uint32_t follow; /* mask of 1 << enum session_event or stream_event */
	const char *action;
};
int fsm_session_row(enum session_state st, enum session_event ev, struct fsm_row *out) must_check;
int fsm_stream_row(enum stream_state st, enum stream_event ev, struct fsm_row *out) must_check;
int
fsm_direction_row(enum direction_state st, enum direction_event ev, struct fsm_row *out) must_check;

#endif
