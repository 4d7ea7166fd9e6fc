/* The gate: its limit, and that each worker that stopped is woken, with real threads. */

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "unit/test.h"

static void delay(void);

#define GATE_STEP() delay()
#include "base/gate.c"

/* Every other time, lets other threads run. */
static void
delay(void)
{
	static __thread unsigned int n = 1;

	n = n * 1103515245u + 12345u;
	if (n >> 16 & 1)
		(void)sched_yield();
}

static void
the_limit_holds(void **st)
{
	struct gate g = { 0 };

	(void)st;
	assert_false(gate_is_full(&g, 2));
	assert_int_equal(gate_enter(&g, 2), 1);
	assert_int_equal(gate_enter(&g, 2), 1);
	assert_true(gate_is_full(&g, 2));
	assert_int_equal(gate_enter(&g, 2), 0);
	assert_int_equal(gate_taken(&g), 2);
	assert_int_equal(gate_leave(&g, GATE_TRIED, 2), 0);
	assert_int_equal(gate_enter(&g, 2), 1);
	/* The places that were taken before the limit was reduced stay taken. */
	assert_int_equal(gate_leave(&g, GATE_TRIED, 1), 0);
	assert_true(gate_is_full(&g, 1));
}

static void
without_a_limit_it_counts(void **st)
{
	struct gate g = { 0 };

	(void)st;
	for (int i = 0; i < 1000; i++)
		assert_int_equal(gate_enter(&g, 0), 1);
	assert_int_equal(gate_taken(&g), 1000);
	assert_false(gate_is_full(&g, 0));
	for (int i = 0; i < 1000; i++)
		assert_int_equal(gate_leave(&g, GATE_TRIED, 0), 0);
	assert_int_equal(g.n, 0);
}

static void
a_freed_place_wakes_all_that_stopped(void **st)
{
	struct gate g = { 0 };

	(void)st;
	assert_int_equal(gate_enter(&g, 1), 1);
	assert_int_equal(gate_hold(&g, 1, 3), 1);
	assert_int_equal(gate_hold(&g, 1, 63), 1);
	assert_int_equal(gate_hold(&g, 1, 3), 1);
	assert_true(gate_leave(&g, GATE_TRIED, 1) == (UINT64_C(1) << 63 | 1u << 3));
	assert_int_equal(g.held, 0);
	/* A place was freed before it registered: it would not be woken. */
	assert_int_equal(gate_hold(&g, 1, 5), 0);
	assert_int_equal(g.held, 0);
}

/* A tried place counts for the limit, and is not shown. */
static void
a_tried_place_is_shown_when_it_is_kept(void **st)
{
	struct gate g = { 0 };

	(void)st;
	assert_int_equal(gate_enter(&g, 2), 1);
	assert_int_equal(gate_enter(&g, 2), 1);
	assert_int_equal(gate_taken(&g), 2);
	assert_int_equal(gate_count(&g), 0);
	gate_keep(&g);
	assert_int_equal(gate_taken(&g), 2);
	assert_int_equal(gate_count(&g), 1);
	assert_int_equal(gate_leave(&g, GATE_TRIED, 2), 0);
	assert_int_equal(gate_taken(&g), 1);
	assert_int_equal(gate_count(&g), 1);
	assert_int_equal(gate_leave(&g, GATE_KEPT, 2), 0);
	assert_int_equal(g.n, 0);
}

/* While more places are taken than the reduced limit allows, no worker is woken. */
static void
above_the_limit_nobody_is_woken(void **st)
{
	struct gate g = { .n = 3 * GATE_TRIED };

	(void)st;
	assert_int_equal(gate_hold(&g, 1, 0), 1);
	assert_int_equal(gate_leave(&g, GATE_TRIED, 1), 0);
	assert_int_equal(gate_leave(&g, GATE_TRIED, 1), 0);
	assert_int_equal(gate_leave(&g, GATE_TRIED, 1), 1);
}

#define THREADS 4
#define ROUNDS 20000
#define BOUND 2

static struct {
	struct gate gate;
	unsigned int go[THREADS]; /* wake-ups received */
	unsigned int inside, too_many, stops, lost;
	unsigned int round[2]; /* rounds of two threads that run in step */
} storm;

static void
tell(uint64_t who)
{
	for (unsigned int i = 0; i < THREADS; i++)
		if (who >> i & 1)
			(void)atomic_swap(&storm.go[i], 1u);
}

/* A thread that is not woken would wait for ever. */
#define PATIENCE 20000000u

static void
stop(unsigned int self, unsigned int max)
{
	unsigned int waits = 0;

	(void)atomic_add(&storm.stops, 1u);
	if (!gate_hold(&storm.gate, max, self))
		return;
	while (!atomic_swap(&storm.go[self], 0u)) {
		if (++waits == PATIENCE) {
			(void)atomic_add(&storm.lost, 1u);
			return;
		}
		(void)sched_yield();
	}
}

static void *
worker(void *arg)
{
	unsigned int self = (unsigned int)(uintptr_t)arg;

	for (unsigned int i = 0; i < ROUNDS;) {
		if (!gate_enter(&storm.gate, BOUND)) {
			stop(self, BOUND);
			continue;
		}
		if (atomic_add(&storm.inside, 1u) > BOUND)
			(void)atomic_add(&storm.too_many, 1u);
		if (i++ % 8 == 0)
			(void)sched_yield();
		(void)atomic_sub(&storm.inside, 1u);
		tell(gate_leave(&storm.gate, GATE_TRIED, BOUND));
	}
	return NULL;
}

/* The gate is full at first, so that at least one has to stop, however they are scheduled. */
static void
no_wake_up_is_lost_between_threads(void **st)
{
	pthread_t id[THREADS];

	(void)st;
	memset(&storm, 0, sizeof(storm));
	for (unsigned int i = 0; i < BOUND; i++)
		assert_true(gate_enter(&storm.gate, BOUND));
	for (unsigned int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&id[i], NULL, worker, (void *)(uintptr_t)i), 0);
	while (!atomic_look(&storm.stops))
		(void)sched_yield();
	for (unsigned int i = 0; i < BOUND; i++)
		tell(gate_leave(&storm.gate, GATE_TRIED, BOUND));
	for (unsigned int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(id[i], NULL), 0);
	assert_int_equal(storm.too_many, 0);
	assert_int_equal(storm.lost, 0);
	assert_int_equal(storm.gate.n, 0);
	assert_int_equal(storm.gate.held, 0);
}

/* Waits until the other thread is in the same round. */
static void
meet(unsigned int self)
{
	unsigned int now = atomic_add(&storm.round[self], 1u);

	while (atomic_look(&storm.round[!self]) < now)
		(void)sched_yield();
}

static void *
goes_once(void *arg)
{
	(void)arg;
	for (unsigned int i = 0; i < ROUNDS && !atomic_look(&storm.lost); i++) {
		if (!gate_enter(&storm.gate, 1))
			(void)atomic_add(&storm.too_many, 1u);
		meet(0);
		tell(gate_leave(&storm.gate, GATE_TRIED, 1));
		meet(0);
	}
	return NULL;
}

static void *
comes_meanwhile(void *arg)
{
	(void)arg;
	for (unsigned int i = 0; i < ROUNDS && !atomic_look(&storm.lost); i++) {
		meet(1);
		while (!gate_enter(&storm.gate, 1))
			stop(1, 1);
		tell(gate_leave(&storm.gate, GATE_TRIED, 1));
		meet(1);
	}
	return NULL;
}

/* Only one thread leaves: no later one can notice the missed bit. */
static void
the_last_to_leave_wakes_the_only_one_that_stopped(void **st)
{
	pthread_t id[2];

	(void)st;
	memset(&storm, 0, sizeof(storm));
	/* On a busy machine the two may miss each other for a while. */
	for (int tries = 0; tries < 50 && !storm.stops; tries++) {
		memset(&storm, 0, sizeof(storm));
		assert_int_equal(pthread_create(&id[0], NULL, goes_once, NULL), 0);
		assert_int_equal(pthread_create(&id[1], NULL, comes_meanwhile, NULL), 0);
		for (int i = 0; i < 2; i++)
			assert_int_equal(pthread_join(id[i], NULL), 0);
		assert_int_equal(storm.lost, 0);
		assert_int_equal(storm.too_many, 0);
		assert_int_equal(storm.gate.n, 0);
	}
	assert_true(storm.stops > 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_limit_holds),
		cmocka_unit_test(without_a_limit_it_counts),
		cmocka_unit_test(a_freed_place_wakes_all_that_stopped),
		cmocka_unit_test(a_tried_place_is_shown_when_it_is_kept),
		cmocka_unit_test(above_the_limit_nobody_is_woken),
		cmocka_unit_test(no_wake_up_is_lost_between_threads),
		cmocka_unit_test(the_last_to_leave_wakes_the_only_one_that_stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
