/*
 * Cost of the functions that a loop calls (profiling.tasks): handlers of descriptors, tasks,
 * timers and messages. While it is off no clock is read for it. A function called by another one
 * that is counted, as a session's by its transport, counts in both.
 */
#ifndef TACIT_EVENT_PROFILE_H
#define TACIT_EVENT_PROFILE_H

#include <stdint.h>

#include "base/counter.h"
#include "base/sys.h"

enum profile_mode {
	PROFILE_OFF,
	PROFILE_ON,
	PROFILE_AUTO /* on while turns take PROFILE_SLOW_NS on average */
};

enum {
	PROFILE_FNS = 128,            /* a power of two; of further functions nothing is counted */
	PROFILE_TURNS = 1024,         /* of the average */
	PROFILE_SLOW_NS = 1000000,
	PROFILE_FAST_NS = 990000      /* below it is off again */
};

/* Any function; only compared. */
typedef void profile_fn(void);

/* Its worker writes it, any thread may read it. */
struct profile_row {
	profile_fn *_Atomic fn;       /* NULL: free */
	_Atomic uint64_t calls;
	_Atomic uint64_t busy_ns;     /* in the function */
	_Atomic uint64_t late_ns;     /* from when it was due until it was called */
};

/* The profile of one loop. */
struct profile {
	struct sys *sys;
	_Atomic int mode;             /* enum profile_mode: the next turn follows it */
	_Atomic int is_on;            /* in this turn: PROFILE_OFF or PROFILE_ON */
	uint64_t sum_ns;              /* of PROFILE_TURNS turns, sliding */
	struct profile_row row[PROFILE_FNS];
};

/* A function's name, where it is defined: PROFILE_NAME(on_event, listener_accept). */
struct profile_name {
	profile_fn *fn;
	const char *name;
};
#define PROFILE_NAME(function, text) \
	static const struct profile_name profile_name_##function \
		__attribute__((used, section("profile_names"))) = { \
			(profile_fn *)(function), #text \
		};

/* NULL: it has none. */
const char *profile_name_of(profile_fn *fn);

void profile_init(struct profile *p, struct sys *sys);
/* By any thread. */
void profile_set_mode(struct profile *p, enum profile_mode mode);
/* While its worker is paused. */
void profile_clear(struct profile *p);

/* Before the loop waits; the turn's work began at began_ns. In the mode auto it reads the clock. */
void profile_follow(struct profile *p, enum profile_mode mode, uint64_t began_ns);
static inline void
profile_turn(struct profile *p, uint64_t began_ns)
{
	int mode = counter_read(&p->mode);

	if (unlikely(mode != counter_read(&p->is_on)))
		profile_follow(p, (enum profile_mode)mode, began_ns);
}

static inline int
profile_is_on(const struct profile *p)
{
	return __builtin_expect(atomic_load_explicit(&p->is_on, memory_order_relaxed), 0);
}

/* Begins to count a call: the time, or 0 while it is off, goes to profile_end(). */
static inline uint64_t
profile_begin(const struct profile *p)
{
	if (!profile_is_on(p))
		return 0;
	return sys_clock_ns(p->sys, CLOCK_MONOTONIC);
}
void profile_count(struct profile *p, profile_fn *fn, uint64_t began_ns, uint64_t due_ns);
static inline void
profile_end(struct profile *p, profile_fn *fn, uint64_t began_ns, uint64_t due_ns)
{
	if (__builtin_expect(began_ns != 0, 0))
		profile_count(p, fn, began_ns, due_ns);
}

#endif
