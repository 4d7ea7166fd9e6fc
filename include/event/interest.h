/*
 * Interest keeps apart, for each fd, what is wanted, what is believed ready, and what the kernel
 * has registered. It touches no fd. The loop calls interest_plan() once per turn for each fd that
 * changed and makes the epoll_ctl calls it returns (ARCHITECTURE.md, "Interest").
 */
#ifndef TACIT_EVENT_INTEREST_H
#define TACIT_EVENT_INTEREST_H

#include <stdint.h>

enum dir { DIR_R, DIR_W, DIRS };

/* Masks of directions, and further bits of events. */
#define EV_R    1u /* bytes or EOF to read */
#define EV_W    2u /* room to write, or connect() has completed */
#define EV_RDHUP 4u /* the peer's FIN has arrived: all its data is in the receive queue */
#define EV_HUP  8u
#define EV_ERR  16u
/* Raised by the loop when it gives up on an fd: too many wake-ups without progress, or it cannot be
 * polled. */
#define EV_SPIN 32u
#define EV_RW   (EV_R | EV_W)
/* Only in registrations: edge-triggered. */
#define EV_EDGE 64u
/* Only for the poller: wake one of the loops that wait for this socket. */
#define EV_EXCLUSIVE 256u
/* Urgent data is in the receive queue: a read stops before it, so a short read does not mean
 * empty. */
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

/* The way registrations follow interest: tune.epoll.mode. */
enum interest_mode {
	INTEREST_UNMERGED, /* each direction is added and removed by its own calls */
	INTEREST_MERGED,   /* one call carries every wanted direction */
	INTEREST_EDGE      /* registered once, edge-triggered */
};

struct interest {
	uint8_t state[DIRS]; /* enum interest_state */
	uint8_t polled;      /* registered with the kernel: EV_R | EV_W | EV_EDGE */
	uint8_t in_memory;   /* EV_R: bytes to read that the kernel does not know of */
};

/* Up to two registrations in order; each is the complete new mask. */
struct interest_plan {
	unsigned int n;
	uint8_t mask[DIRS];
};

/* The next state according to the table. */
extern const uint8_t interest_transitions[INTEREST_STATES][INTEREST_EVENTS];
static inline enum interest_state
interest_next(enum interest_state s, enum interest_event ev)
{
	return (enum interest_state)interest_transitions[s][ev];
}

const char *interest_state_name(enum interest_state s);
const char *interest_mode_name(enum interest_mode m);

#define INTEREST_WANTED_BIT    1u
#define INTEREST_NOT_READY_BIT 2u
_Static_assert(INTEREST_SPEC == INTEREST_WANTED_BIT && INTEREST_PARKED == INTEREST_NOT_READY_BIT &&
	INTEREST_BLOCKED == (INTEREST_WANTED_BIT | INTEREST_NOT_READY_BIT), "their order");

static inline int
interest_is_wanted(const struct interest *in, enum dir d)
{
	return in->state[d] & INTEREST_WANTED_BIT;
}

/* The wanted directions: EV_R | EV_W. */
static inline unsigned int
interest_wanted(const struct interest *in)
{
	return (in->state[DIR_R] & INTEREST_WANTED_BIT) * EV_R |
		(in->state[DIR_W] & INTEREST_WANTED_BIT) * EV_W;
}

/* True if a direction is believed ready, wanted or not. */
static inline int
interest_is_ready(const struct interest *in, enum dir d)
{
	return !(in->state[d] & INTEREST_NOT_READY_BIT);
}

/* True if all that the kernel has to report is registered. In edge mode nothing is left to do
 * then. */
static inline int
interest_is_registered(const struct interest *in)
{
	unsigned int blocked = (in->state[DIR_R] == INTEREST_BLOCKED) * EV_R |
		(in->state[DIR_W] == INTEREST_BLOCKED) * EV_W;

	return !(blocked & ~in->polled);
}

/*
 * Decides what to register now. Moves speculative directions to BLOCKED where the mode requires it
 * (hence not const). The caller applies each mask and stores the last one in `polled`.
 */
struct interest_plan interest_plan(struct interest *in, enum interest_mode mode);

#endif
