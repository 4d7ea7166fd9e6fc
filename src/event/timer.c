/* The timers of one loop, a heap ordered by `key`. A timer's key is never later than its deadline:
 * one that is moved back is only put right when its key is due. The exception: one that has run and
 * was set for a time that has passed; its key is the time of the run, behind all that are due. */
#include "event/timer.h"

#include <string.h>

#include "base/counter.h"
#include "base/err.h"
#include "base/mem.h"
#include "event/profile.h"

/* Four children per node: half the depth of a binary heap, and siblings share a cache line. */
#define ARITY 4
#define HEAP_FIRST 64
#define NS_PER_MS 1000000u

void
timers_init(struct timers *ts)
{
	memset(ts, 0, sizeof(*ts));
}

void
timers_fini(struct timers *ts)
{
	assert(ts->n == 0);
	mem_free(ts->heap);
	memset(ts, 0, sizeof(*ts));
}

/* Room for n timers: 0 or -ERR_NOMEM. */
static int
reserve_timers(struct timers *ts, uint32_t n)
{
	uint32_t cap = ts->cap ? ts->cap : HEAP_FIRST;
	struct timer **heap;

	if (n <= ts->cap)
		return 0;
	while (cap < n)
		cap *= 2;
	heap = mem_resize(ts->heap, cap, sizeof(*heap));
	if (!heap)
		return -ERR_NOMEM;
	ts->heap = heap;
	ts->cap = cap;
	return 0;
}

static void
heap_place(struct timers *ts, uint32_t i, struct timer *t)
{
	ts->heap[i] = t;
	t->pos = i + 1;
}

/* True if a runs before b. Of those with one key, the ones that have run in this round are last. */
static inline int
is_before(const struct timers *ts, const struct timer *a, const struct timer *b)
{
	return a->key < b->key ||
		(a->key == b->key && a->ran != ts->round && b->ran == ts->round);
}

static void
sift_up(struct timers *ts, uint32_t i, struct timer *t)
{
	while (i > 0) {
		uint32_t parent = (i - 1) / ARITY;

		if (!is_before(ts, t, ts->heap[parent]))
			break;
		heap_place(ts, i, ts->heap[parent]);
		i = parent;
	}
	heap_place(ts, i, t);
}

static void
sift_down(struct timers *ts, uint32_t i, struct timer *t)
{
	uint32_t n = counter_read(&ts->n);

	for (;;) {
		uint32_t first = i * ARITY + 1;
		uint32_t last = MIN(first + ARITY, n);
		uint32_t best = first;

		if (first >= n)
			break;
		for (uint32_t c = first + 1; c < last; c++)
			if (is_before(ts, ts->heap[c], ts->heap[best]))
				best = c;
		if (!is_before(ts, ts->heap[best], t))
			break;
		heap_place(ts, i, ts->heap[best]);
		i = best;
	}
	heap_place(ts, i, t);
}

static void
heap_take_out(struct timers *ts, struct timer *t)
{
	uint32_t i = t->pos - 1;
	struct timer *last = ts->heap[counter_read(&ts->n) - 1];

	counter_sub(&ts->n, 1);
	t->pos = 0;
	if (last == t)
		return;
	if (i > 0 && is_before(ts, last, ts->heap[(i - 1) / ARITY]))
		sift_up(ts, i, last);
	else
		sift_down(ts, i, last);
}

int
timer_move(struct timers *ts, struct timer *t, uint64_t deadline)
{
	uint32_t n;
	int r;

	t->deadline = deadline;
	if (deadline == TIMER_NEVER) {
		timer_stop(ts, t);
		return 0;
	}
	if (t->pos) {
		if (deadline < t->key) {
			t->key = deadline;
			sift_up(ts, t->pos - 1, t);
		}
		return 0;
	}
	n = counter_read(&ts->n);
	r = reserve_timers(ts, n + 1);
	if (r < 0)
		return r;
	t->key = deadline;
	counter_set(&ts->n, n + 1);
	sift_up(ts, n, t);
	return 0;
}

void
timer_stop(struct timers *ts, struct timer *t)
{
	t->deadline = TIMER_NEVER;
	if (t->pos)
		heap_take_out(ts, t);
}

static void
call_timer(struct timers *ts, struct timer *t, uint64_t due)
{
	uint64_t began = ts->profile ? profile_begin(ts->profile) : 0;
	timer_fn *fn = t->fn;

	fn(t);
	if (began)
		profile_count(ts->profile, (profile_fn *)fn, began, due * NS_PER_MS);
}

unsigned int
timers_run(struct timers *ts, uint64_t now)
{
	unsigned int run = 0, most = (unsigned int)counter_read(&ts->n) + TIMERS_RUN_MORE;

	ts->round++;
	/* One that sets itself for a time that has passed must not hold the loop. */
	while (run < most && counter_read(&ts->n) && ts->heap[0]->key <= now) {
		struct timer *t = ts->heap[0];
		uint64_t due = t->deadline;

		if (due > now) {
			/* Postponed: moves it to its current place, once for all changes. */
			t->key = t->deadline;
			sift_down(ts, 0, t);
			continue;
		}
		if (unlikely(t->ran == ts->round && t->key < now)) {
			/* Nor may it hold up the others: it runs again when they have run. */
			t->key = now;
			sift_down(ts, 0, t);
			continue;
		}
		heap_take_out(ts, t);
		t->ran = ts->round;
		t->deadline = TIMER_NEVER;
		run++;
		call_timer(ts, t, due);
	}
	return run;
}
