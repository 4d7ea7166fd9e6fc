/*
 * Timers: a 4-ary heap of deadlines in milliseconds of the loop's clock. A timer that moves away is
 * not moved in the heap: its owner sets a later deadline and the heap finds out when the old one
 * comes up.
 */
#ifndef TACIT_EVENT_TIMER_H
#define TACIT_EVENT_TIMER_H

#include <stdint.h>

#include "base/compiler.h"

/* "No deadline". */
#define TIMER_NEVER UINT64_MAX

struct timer;
typedef void timer_fn(struct timer *t);

struct timer {
	timer_fn *fn;
	uint64_t deadline; /* what the owner wants */
	uint64_t key;      /* where it stands in the heap; key <= deadline while queued */
	uint32_t pos;      /* 1-based place in the heap, 0: not queued */
};

struct timers {
	struct timer **heap;
	_Atomic uint32_t n;   /* anybody may read it */
	uint32_t cap;
};

void timers_init(struct timers *ts);
/* No timer may be queued any more (asserted). */
void timers_fini(struct timers *ts);

void timer_init(struct timer *t, timer_fn *fn);
/* Sets or moves the deadline; TIMER_NEVER stops it. 0, or -ERR_NOMEM when the heap cannot grow. */
int timer_set(struct timers *ts, struct timer *t, uint64_t deadline) must_check;
void timer_stop(struct timers *ts, struct timer *t);
/* Earliest key or TIMER_NEVER: a wake-up then is never late, and may be for nothing. */
uint64_t timers_next(const struct timers *ts);
/* Runs everything due at now; fn may set and stop any timer. Number run. */
unsigned int timers_run(struct timers *ts, uint64_t now);

#endif
