/* The number of tries of accept() per event of a listener, learnt from what it found. On its
 * worker. */
#include "net/accept_budget.h"

#include <string.h>

#include "base/compiler.h"

#define BACKOFF_MAX 1024

void
accept_budget_init(struct accept_budget *b)
{
	memset(b, 0, sizeof(*b));
	b->now = 1;
}

unsigned int
accept_budget_take(struct accept_budget *b, uint64_t turn, unsigned int max)
{
	int more_waited = b->last_full && turn == b->last_turn + 1;

	b->last_turn = turn;
	if (more_waited) {
		if (b->hold)
			b->hold--;
		else
			b->now++;
	}
	return MIN(b->now, MAX(max, 1u));
}

void
accept_budget_learn(struct accept_budget *b, unsigned int got, int empty)
{
	b->last_full = !empty;
	if (!empty)
		return;
	b->now = MAX(got, 1u);
	b->backoff = MIN(b->backoff * 2 + 1, BACKOFF_MAX);
	b->hold = b->backoff;
}
