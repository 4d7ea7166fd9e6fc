/* When and what to register with the poller. Pure. A direction is polled only when it is BLOCKED,
 * since the kernel said "not yet"; what else is wanted of that fd goes in the same call. */
#include "event/interest.h"

#include "base/compiler.h"

const uint8_t interest_transitions[INTEREST_STATES][INTEREST_EVENTS] = {
#define INTEREST_ROW(name, w, s, a, r) \
	[INTEREST_##name] = { INTEREST_##w, INTEREST_##s, INTEREST_##a, INTEREST_##r },
#include "event/interest.tbl.h"
#undef INTEREST_ROW
};

const char *
interest_state_name(enum interest_state s)
{
	static const char *const names[INTEREST_STATES] = {
#define INTEREST_ROW(name, w, s, a, r) #name,
#include "event/interest.tbl.h"
#undef INTEREST_ROW
	};

	return names[s];
}

const char *
interest_mode_name(enum interest_mode m)
{
	static const char *const names[] = { "unmerged", "merged", "edge" };

	return names[m];
}

static const uint8_t dir_bit[DIRS] = { EV_R, EV_W };

static uint8_t
mask_of(const struct interest *in, enum interest_state s)
{
	return (uint8_t)((in->state[DIR_R] == s) * EV_R | (in->state[DIR_W] == s) * EV_W);
}

static void
plan_add(struct interest_plan *plan, uint8_t mask)
{
	plan->mask[plan->n++] = mask;
}

/*
 * Edge-triggered: reading is always registered, writing is added when it first blocks, and nothing
 * is removed. Registering writing earlier would cause a useless event at once.
 */
static struct interest_plan
plan_edge(const struct interest *in)
{
	struct interest_plan plan = { 0 };

	if (!interest_is_registered(in))
		plan_add(&plan, (uint8_t)(in->polled | mask_of(in, INTEREST_BLOCKED) | EV_R |
			EV_EDGE));
	return plan;
}

/*
 * Level-triggered, in one call. A direction that fired and is not wanted is removed, as it would
 * fire again; an unwanted direction that did not fire stays until it does or until another call is
 * made. A speculative one joins the call instead of being tried, unless its bytes are in memory:
 * the kernel would not report them.
 */
static struct interest_plan
plan_merged(struct interest *in)
{
	struct interest_plan plan = { 0 };
	uint8_t blocked = mask_of(in, INTEREST_BLOCKED);
	uint8_t fired = mask_of(in, INTEREST_IDLE);

	if (!(blocked & ~in->polled) && !(fired & in->polled))
		return plan;
	for (int d = 0; d < DIRS; d++)
		if (in->state[d] == INTEREST_SPEC && !((in->polled | in->in_memory) & dir_bit[d])) {
			in->state[d] = INTEREST_BLOCKED;
			blocked |= dir_bit[d];
		}
	plan_add(&plan, (uint8_t)(blocked | (mask_of(in, INTEREST_SPEC) & in->polled)));
	return plan;
}

/* Level-triggered, with separate calls for each direction: for comparison. */
static struct interest_plan
plan_unmerged(const struct interest *in)
{
	struct interest_plan plan = { 0 };
	uint8_t polled = in->polled;

	for (int d = DIRS - 1; d >= 0; d--) {
		uint8_t bit = dir_bit[d];
		int wanted = interest_is_wanted(in, (enum dir)d);

		if (wanted && in->state[d] == INTEREST_BLOCKED && !(polled & bit))
			polled |= bit;
		else if (!wanted && (polled & bit))
			polled = (uint8_t)(polled & ~bit);
		else
			continue;
		plan_add(&plan, polled);
	}
	return plan;
}

struct interest_plan
interest_plan(struct interest *in, enum interest_mode mode)
{
	switch (mode) {
	case INTEREST_EDGE:
		return plan_edge(in);
	case INTEREST_MERGED:
		return plan_merged(in);
	case INTEREST_UNMERGED:
		break;
	}
	return plan_unmerged(in);
}
