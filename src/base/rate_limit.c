/* Events per second, limited. Any worker, under the limit's own lock, which is held for a few
 * instructions and taken only if there is a limit. */
#include "base/rate_limit.h"

#define SECOND_MS 1000u
#define ASK_AGAIN_MS 1u

/* An idle second is forgotten: the next one begins with its first event. */
static void
slide_window(struct rate_limit *r, uint64_t now_ms)
{
	uint64_t now = MAX(now_ms, r->start_ms), past = now - r->start_ms;

	if (past < SECOND_MS)
		return;
	if (past < 2 * SECOND_MS) {
		r->prev = r->cur;
		r->start_ms += SECOND_MS;
	} else {
		r->prev = 0;
		r->start_ms = now;
	}
	r->cur = 0;
}

/* The events of the last second count in proportion to what the window covers of it. */
static uint64_t
ms_to_wait(const struct rate_limit *r, uint64_t now_ms)
{
	uint64_t past = MAX(now_ms, r->start_ms) - r->start_ms, free, until;

	if (r->cur >= r->max)
		return SECOND_MS - past;
	free = r->max - r->cur;
	if (!r->prev || free > (uint64_t)r->prev * (SECOND_MS - past) / SECOND_MS)
		return 0;
	until = SECOND_MS - (free * SECOND_MS - 1) / r->prev;
	return MAX(until, past + 1) - past;
}

uint64_t
rate_limit_wait(struct rate_limit *r, struct sys *sys, uint64_t now_ms, int counts)
{
	uint64_t wait;

	if (likely(!r->max))
		return 0;
	lock_take(&r->lock, sys);
	slide_window(r, now_ms);
	wait = ms_to_wait(r, now_ms);
	if (!wait && counts) {
		r->cur++;
		r->asked++;
	} else if (wait && r->asked) {
		wait = ASK_AGAIN_MS;
	}
	lock_drop(&r->lock);
	return wait;
}

void
rate_limit_count(struct rate_limit *r, struct sys *sys, uint64_t now_ms)
{
	if (likely(!r->max))
		return;
	lock_take(&r->lock, sys);
	slide_window(r, now_ms);
	r->cur++;
	lock_drop(&r->lock);
}

void
rate_limit_keep(struct rate_limit *r, struct sys *sys)
{
	if (likely(!r->max))
		return;
	lock_take(&r->lock, sys);
	r->asked--;
	lock_drop(&r->lock);
}

void
rate_limit_cancel(struct rate_limit *r, struct sys *sys)
{
	rate_limit_give_back(r, sys);
	rate_limit_keep(r, sys);
}

void
rate_limit_give_back(struct rate_limit *r, struct sys *sys)
{
	if (likely(!r->max))
		return;
	lock_take(&r->lock, sys);
	if (r->cur)
		r->cur--;
	lock_drop(&r->lock);
}
