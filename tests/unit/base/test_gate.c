/* The gate: its limit, and that each worker that stopped is woken: in each order of the steps of
 * two threads, and with real threads. */

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <string.h>

#include "unit/test.h"

static void step(void);

#define GATE_STEP() step()
#include "base/gate.c"

enum { LEAVER, COMER, ACTORS };

/* Two threads of which one runs at a time: from one step to the next. */
static struct {
	struct gate gate;
	sem_t may_run[ACTORS], has_stopped;
	int has_ended[ACTORS];
	int enters; /* of the comer: it found a place at first */
	int stays;  /* it waits to be woken */
	uint64_t woken;
} duet;

static __thread const int *actor; /* NULL: not one of the two */

static void
wait_for(sem_t *s)
{
	while (sem_wait(s) < 0 && errno == EINTR)
		;
}

/* One of the two waits for its turn; other threads, every other time, let others run. */
static void
step(void)
{
	static __thread unsigned int n = 1;

	if (actor) {
		(void)sem_post(&duet.has_stopped);
		wait_for(&duet.may_run[*actor]);
		return;
	}
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
#define ROUNDS 2000
#define BOUND 2

static struct {
	struct gate gate;
	unsigned int go[THREADS]; /* wake-ups received */
	unsigned int inside, too_many, stops, lost;
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

static void *
act(void *arg)
{
	actor = arg;
	wait_for(&duet.may_run[*actor]);
	if (*actor == LEAVER) {
		duet.woken = gate_leave(&duet.gate, GATE_TRIED, 1);
	} else {
		duet.enters = gate_enter(&duet.gate, 1);
		GATE_STEP();
		duet.stays = !duet.enters && gate_hold(&duet.gate, 1, COMER);
	}
	duet.has_ended[*actor] = 1;
	(void)sem_post(&duet.has_stopped);
	return NULL;
}

/* Lets that one run up to its next step. 0: it has ended before. */
static int
run_actor(int which)
{
	if (duet.has_ended[which])
		return 0;
	assert_int_equal(sem_post(&duet.may_run[which]), 0);
	wait_for(&duet.has_stopped);
	return 1;
}

/* Bit n of order: which of them runs in the n-th place. 0: it is the same as another order, which
 * has no bits for a thread that has ended. */
static int
play_duet(unsigned int order, unsigned int places)
{
	static const int actors[ACTORS] = { LEAVER, COMER };
	pthread_t id[ACTORS];
	int differs = 1;

	memset(&duet, 0, sizeof(duet));
	assert_true(gate_enter(&duet.gate, 1));
	assert_int_equal(sem_init(&duet.has_stopped, 0, 0), 0);
	for (int i = 0; i < ACTORS; i++) {
		assert_int_equal(sem_init(&duet.may_run[i], 0, 0), 0);
		assert_int_equal(pthread_create(&id[i], NULL, act,
					 (void *)(uintptr_t)&actors[i]), 0);
	}
	for (unsigned int i = 0; i < places; i++)
		differs &= run_actor(order >> i & 1);
	for (int i = 0; i < ACTORS; i++) {
		while (run_actor(i))
			differs = 0;
		assert_int_equal(pthread_join(id[i], NULL), 0);
		(void)sem_destroy(&duet.may_run[i]);
	}
	(void)sem_destroy(&duet.has_stopped);
	return differs;
}

/* Only one thread leaves: no later one can notice the missed bit. It has 3 pieces of work, and the
 * other one 5, less what an early return leaves out. */
static void
the_last_to_leave_wakes_the_only_one_that_stopped(void **st)
{
	unsigned int stays = 0;

	(void)st;
	for (unsigned int order = 0; order < 1u << 8; order++) {
		for (unsigned int places = 4; places <= 8; places++) {
			if (order >> places || !play_duet(order, places))
				continue;
			stays += duet.stays != 0;
			assert_int_equal(duet.gate.n, duet.enters ? GATE_TRIED : 0);
			if (duet.stays && !(duet.woken >> COMER & 1))
				fail_msg("order %#x of %u pieces: nobody wakes it", order, places);
		}
	}
	assert_true(stays > 0);
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
