/* The row of each state: what it does with I/O, its task and its deadline. Data only. */
#include "proxy/session/handlers.h"

const struct session_state_row session_states[SESSION_STATES] = {
#define SESSION_STATE(name, resting, io_fn, task_fn, late_ev, derive_fn, what) \
	[SESSION_##name] = { .io = io_fn, .task = task_fn, .derive = derive_fn, \
		.late = SESSION_EV_##late_ev },
#include "proxy/model/fsm.tbl.h"
#undef SESSION_STATE
};

const struct stream_state_row stream_states[STREAM_STATES] = {
#define STREAM_STATE(name, resting, io_fn, task_fn, late_ev, derive_fn, outcome_fn, what) \
	[STREAM_##name] = { .io = io_fn, .task = task_fn, .derive = derive_fn, \
		.outcome = outcome_fn, .late = STREAM_EV_##late_ev },
#include "proxy/model/fsm.tbl.h"
#undef STREAM_STATE
};
