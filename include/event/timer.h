/*
 * Timers: a 4-ary heap of deadlines in milliseconds of the loop's clock. Postponing a deadline does
 * not move the timer in the heap: it is moved when the old deadline is due.
 */
#ifndef TACIT_EVENT_TIMER_H
#define TACIT_EVENT_TIMER_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/counter.h"

/* "No deadline". */
#define TIMER_NEVER UINT64_MAX

struct profile;
struct timer;
typedef void timer_fn(struct timer *t);

struct timer {
	timer_fn *fn;
	uint64_t deadline; /* the deadline that the owner set */
	uint64_t key;      /* position in the heap; see timer.c */
	uint32_t pos;      /* 1-based place in the heap, 0: not queued */
	uint32_t ran;      /* timers.round at its last call */
};

struct timers {
	struct timer **heap;
	_Atomic uint32_t n;   /* any thread may read it */
	uint32_t cap;
	uint32_t round;       /* the number of the last call of timers_run(); it may wrap */
	struct profile *profile; /* counts the calls; NULL: nothing does */
};

void timers_init(struct timers *ts);
/* No timer may be queued (asserted). */
void timers_fini(struct timers *ts);

static inline void
timer_init(struct timer *t, timer_fn *fn)
{
	*t = (struct timer){ .fn = fn, .deadline = TIMER_NEVER };
}

/* Sets or moves the deadline; TIMER_NEVER stops the timer. 0, or -ERR_NOMEM when the heap cannot
 * grow. */
int timer_move(struct timers *ts, struct timer *t, uint64_t deadline) must_check;
static inline int
timer_set(struct timers *ts, struct timer *t, uint64_t deadline)
{
	/* Mostly it is postponed. */
	if (unlikely(!t->pos || deadline < t->key || deadline == TIMER_NEVER))
		return timer_move(ts, t, deadline);
	t->deadline = deadline;
	return 0;
}

void timer_stop(struct timers *ts, struct timer *t);

/* The key `ms` after start; 0 ms means no limit, as for timeouts: TIMER_NEVER. */
static inline uint64_t
timer_key_after(uint64_t start, unsigned int ms)
{
	return ms ? start + ms : TIMER_NEVER;
}

/* Earliest key or TIMER_NEVER: a wake-up at that time is never late, but may find nothing due. */
static inline uint64_t
timers_next(const struct timers *ts)
{
	return counter_read(&ts->n) ? ts->heap[0]->key : TIMER_NEVER;
}

/* Calls of a run besides one for each timer: a few set themselves for now. */
#define TIMERS_RUN_MORE 16
/* Runs the timers due at now; fn may set and stop any timer. Those that are set for now or earlier
 * meanwhile run too, up to the bound: the next run has the rest. None runs again before all that
 * are due have run. Returns the number of calls. */
unsigned int timers_run(struct timers *ts, uint64_t now);
/* The same in each turn of a loop, which mostly has none that is due. */
static inline void
timers_run_due(struct timers *ts, uint64_t now)
{
	if (timers_next(ts) <= now)
		(void)timers_run(ts, now);
}

#endif
