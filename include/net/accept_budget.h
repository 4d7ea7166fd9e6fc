/*
 * The number of accept4 calls for one event of a listener. The kernel does not report how many
 * connections wait, and asking costs as much as a failed accept, so the number is learned. One call
 * too few only costs another turn; one too many is a wasted call. The budget starts at one and
 * grows only when the listener fires again in the next turn. After a wasted call it falls to the
 * number of connections found and stays there for a while, longer after each wrong growth.
 */
#ifndef TACIT_NET_ACCEPT_BUDGET_H
#define TACIT_NET_ACCEPT_BUDGET_H

#include <stdint.h>

struct accept_budget {
	unsigned int now;     /* calls for the next event */
	unsigned int hold;    /* consecutive full batches needed before it grows */
	unsigned int backoff; /* value that hold is reset to */
	uint64_t last_turn;   /* turn of the last event */
	int last_full;        /* all calls of the last event succeeded */
};

void accept_budget_init(struct accept_budget *b);
/* An event arrived in this turn of the loop. Returns the calls to make, 1..max. */
unsigned int accept_budget_take(struct accept_budget *b, uint64_t turn, unsigned int max);
/* The result of the batch: `got` connections; `empty` when a call returned EAGAIN. */
void accept_budget_learn(struct accept_budget *b, unsigned int got, int empty);

#endif
