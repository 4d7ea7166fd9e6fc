/*
 * How many accept4 calls one event of a listener is worth. The kernel does not say how many
 * connections wait, and asking costs as much as an accept that fails; so the answer is learned.
 * One call too few costs nothing but another turn, one too many is a wasted call: the budget starts
 * at one, grows only when the listener fires again in the very next turn, and after a wasted call
 * falls to what was there and stays for a while, longer each time that growing turned out wrong.
 */
#ifndef TACIT_NET_ACCEPT_BUDGET_H
#define TACIT_NET_ACCEPT_BUDGET_H

#include <stdint.h>

struct accept_budget {
	unsigned int now;     /* calls to make on the next event */
	unsigned int hold;    /* consecutive full batches before it grows */
	unsigned int backoff; /* what hold restarts from */
	uint64_t last_turn;   /* turn of the last event */
	int last_full;        /* all calls of the last event succeeded */
};

void accept_budget_init(struct accept_budget *b);
/* An event arrived in this turn of the loop: calls to make, 1..max. */
unsigned int accept_budget_take(struct accept_budget *b, uint64_t turn, unsigned int max);
/* What came of it: `got` connections; empty when a call said EAGAIN. */
void accept_budget_learn(struct accept_budget *b, unsigned int got, int empty);

#endif
