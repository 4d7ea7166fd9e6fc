/*
 * Interest: what is wanted of an fd, what is believed of it, and what the kernel holds, kept apart.
 * Pure: no fd is touched here. The loop calls interest_plan() once per turn for each fd that
 * changed and makes the epoll_ctl calls that it asks for. (ARCHITECTURE.md, "Interest".)
 */
#ifndef TACIT_EVENT_INTEREST_H
#define TACIT_EVENT_INTEREST_H

#include <stdint.h>

enum dir { DIR_R, DIR_W, DIRS };

/* Masks of directions, and what events carry beside them. */
#define EV_R    1u /* bytes or EOF to read */
#define EV_W    2u /* room to write, or the end of connect() */
#define EV_RDHUP 4u /* the peer's FIN has arrived: all it sent is in the receive queue */
#define EV_HUP  8u
#define EV_ERR  16u
/* Made by the loop when it gives up on an fd: it woke too often without progress, or cannot be
 * polled. */
#define EV_SPIN 32u
#define EV_RW   (EV_R | EV_W)
/* Only in what the kernel holds: registered edge-triggered. */
#define EV_EDGE 64u
/* Only towards the poller: of the loops that wait for this socket, wake one. */
#define EV_EXCLUSIVE 256u
/* Urgent data stands among what there is to read: a read ends there, short of what has come. */
#define EV_URGENT 128u

enum interest_state {
#define INTEREST_ROW(name, w, s, a, r) INTEREST_##name,
#include "event/interest.tbl.h"
#undef INTEREST_ROW
	INTEREST_STATES
};

enum interest_event {
	INTEREST_WANT,
	INTEREST_STOP,
	INTEREST_AGAIN,
	INTEREST_READY,
	INTEREST_EVENTS
};

/* How registrations follow what is wanted: design of idea one, and its A/B switch. */
enum interest_mode {
	INTEREST_UNMERGED, /* each direction adds and removes itself, in calls of its own */
	INTEREST_MERGED,   /* one call carries every wanted direction */
	INTEREST_EDGE      /* registered once, edge-triggered */
};

struct interest {
	uint8_t state[DIRS]; /* enum interest_state */
	uint8_t polled;      /* EV_R | EV_W | EV_EDGE that the kernel holds */
};

/* Up to two registrations in order; each is the whole new mask. */
struct interest_plan {
	unsigned int n;
	uint8_t mask[DIRS];
};

/* Next state by the table. */
enum interest_state interest_next(enum interest_state s, enum interest_event ev);
const char *interest_state_name(enum interest_state s);
const char *interest_mode_name(enum interest_mode m);

static inline int
interest_is_wanted(const struct interest *in, enum dir d)
{
	return in->state[d] == INTEREST_SPEC || in->state[d] == INTEREST_BLOCKED;
}

/*
 * What to register now. Folds speculative directions into BLOCKED where the mode says so (hence not
 * const). The caller applies each mask and stores the last one in `polled`.
 */
struct interest_plan interest_plan(struct interest *in, enum interest_mode mode);

#endif
