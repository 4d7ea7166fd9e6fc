/* Timers compared with a naive model. */
#include <stdlib.h>

#include "event/timer.h"
#include "unit/test.h"

#define N 200

struct probe {
	struct timer t;
	uint64_t due; /* model: TIMER_NEVER when not set */
	unsigned int fired;
};

static struct timers ts;
static uint64_t now;

static void
on_fire(struct timer *t)
{
	struct probe *p = container_of(t, struct probe, t);

	assert_true(p->due <= now);
	p->due = TIMER_NEVER;
	p->fired++;
}

static void
fires_in_order_and_never_early(void **st)
{
	struct probe p[N];
	uint64_t seed = 1;

	(void)st;
	timers_init(&ts);
	now = 1000;
	for (int i = 0; i < N; i++) {
		timer_init(&p[i].t, on_fire);
		p[i].due = TIMER_NEVER;
		p[i].fired = 0;
	}
	for (int round = 0; round < 20000; round++) {
		struct probe *q;
		uint64_t want, r;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		r = seed >> 33;
		q = &p[r % N];
		switch (r / N % 4) {
		case 0:
		case 1: /* set, or move either way */
			want = now + r / N / 4 % 300;
			assert_int_equal(timer_set(&ts, &q->t, want), 0);
			q->due = want;
			break;
		case 2:
			timer_stop(&ts, &q->t);
			q->due = TIMER_NEVER;
			break;
		default:
			now += r / N / 4 % 20;
			timers_run(&ts, now);
			for (int i = 0; i < N; i++)
				assert_true(p[i].due > now);
		}
		/* A wake-up may be too early, but never late. */
		for (int i = 0; i < N; i++)
			assert_true(p[i].due == TIMER_NEVER || timers_next(&ts) <= p[i].due);
	}
	for (int i = 0; i < N; i++)
		timer_stop(&ts, &p[i].t);
	assert_int_equal(timers_next(&ts), TIMER_NEVER);
	timers_fini(&ts);
}

static void
rearm(struct timer *t)
{
	struct probe *p = container_of(t, struct probe, t);

	p->fired++;
	assert_int_equal(timer_set(&ts, t, now + 10), 0);
}

/* Sets itself for a time that has passed, a thousand times. */
static void
rearm_in_the_past(struct timer *t)
{
	struct probe *p = container_of(t, struct probe, t);

	if (++p->fired < 1000)
		assert_int_equal(timer_set(&ts, t, now - 1), 0);
}

/* One that does so does not hold the loop: a run is bounded. */
static void
a_timer_set_in_the_past_does_not_hold_a_run(void **st)
{
	struct probe p = { .fired = 0 };

	(void)st;
	timers_init(&ts);
	timer_init(&p.t, rearm_in_the_past);
	now = 5;
	assert_int_equal(timer_set(&ts, &p.t, now), 0);
	assert_int_equal(timers_run(&ts, now), 1 + TIMERS_RUN_MORE);
	assert_int_equal(p.fired, 1 + TIMERS_RUN_MORE);
	assert_true(timers_next(&ts) <= now);
	timer_stop(&ts, &p.t);
	timers_fini(&ts);
}

/* Their deadlines stay the earliest: those that are due behind them run all the same, and first. */
static void
timers_set_in_the_past_starve_no_other(void **st)
{
	struct probe p[N], past[TIMERS_RUN_MORE];
	unsigned int again = 0;

	(void)st;
	timers_init(&ts);
	now = 1000;
	for (int i = 0; i < TIMERS_RUN_MORE; i++) {
		timer_init(&past[i].t, rearm_in_the_past);
		past[i].fired = 0;
		assert_int_equal(timer_set(&ts, &past[i].t, now - 2), 0);
	}
	for (int i = 0; i < N; i++) {
		timer_init(&p[i].t, on_fire);
		p[i].fired = 0;
		p[i].due = now;
		assert_int_equal(timer_set(&ts, &p[i].t, now), 0);
	}
	assert_int_equal(timers_run(&ts, now), N + 2 * TIMERS_RUN_MORE);
	for (int i = 0; i < N; i++)
		assert_int_equal(p[i].fired, 1);
	for (int i = 0; i < TIMERS_RUN_MORE; i++) {
		assert_true(past[i].fired > 0);
		again += past[i].fired - 1;
		timer_stop(&ts, &past[i].t);
	}
	assert_int_equal(again, TIMERS_RUN_MORE);
	timers_fini(&ts);
}

/* A timer that sets another one for now. */
static struct probe woken;

static void
wake_other(struct timer *t)
{
	struct probe *p = container_of(t, struct probe, t);

	p->fired++;
	woken.due = now;
	assert_int_equal(timer_set(&ts, &woken.t, now), 0);
}

/* The other one has not run yet: it does so in the same run. */
static void
a_timer_may_set_another_for_now(void **st)
{
	struct probe p = { .fired = 0 };

	(void)st;
	timers_init(&ts);
	timer_init(&p.t, wake_other);
	timer_init(&woken.t, on_fire);
	woken.fired = 0;
	for (now = 5; now < 8; now++) {
		assert_int_equal(timer_set(&ts, &p.t, now), 0);
		assert_int_equal(timers_run(&ts, now), 2);
	}
	assert_int_equal(p.fired, 3);
	assert_int_equal(woken.fired, 3);
	timers_fini(&ts);
}

static void
a_timer_may_set_itself_again(void **st)
{
	struct probe p = { .fired = 0 };

	(void)st;
	timers_init(&ts);
	timer_init(&p.t, rearm);
	now = 5;
	assert_int_equal(timer_set(&ts, &p.t, 5), 0);
	assert_int_equal(timers_run(&ts, now), 1);
	assert_int_equal(p.fired, 1);
	assert_int_equal(timers_next(&ts), 15);
	timer_stop(&ts, &p.t);
	timers_fini(&ts);
}

static void
moving_away_does_not_touch_the_heap(void **st)
{
	struct probe p = { .due = 50 };

	(void)st;
	timers_init(&ts);
	timer_init(&p.t, on_fire);
	now = 0;
	assert_int_equal(timer_set(&ts, &p.t, 10), 0);
	assert_int_equal(timer_set(&ts, &p.t, 50), 0);
	assert_int_equal(timers_next(&ts), 10);
	now = 20;
	assert_int_equal(timers_run(&ts, now), 0);
	assert_int_equal(timers_next(&ts), 50);
	now = 50;
	assert_int_equal(timers_run(&ts, now), 1);
	timers_fini(&ts);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fires_in_order_and_never_early),
		cmocka_unit_test(a_timer_may_set_itself_again),
		cmocka_unit_test(a_timer_set_in_the_past_does_not_hold_a_run),
		cmocka_unit_test(timers_set_in_the_past_starve_no_other),
		cmocka_unit_test(a_timer_may_set_another_for_now),
		cmocka_unit_test(moving_away_does_not_touch_the_heap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
