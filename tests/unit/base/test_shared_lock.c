/* The shared lock, with real threads: readers see consistent data, and do not exclude each
 * other. */

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "base/atomic.h"
#include "base/shared_lock.h"
#include "unit/test.h"

enum { THREADS = 4, ROUNDS = 20000 };

static struct {
	struct shared_lock lock;
	/* Kept equal by the thread that holds the lock alone, and not atomic. */
	uint64_t a, b;
	uint64_t torn, changes;
	unsigned int looking;
} shared;

struct thread {
	pthread_t id;
	struct sys sys;
	unsigned int number;
	unsigned int every; /* every so many rounds it changes the data; 0: never */
	unsigned int hold;  /* every so many rounds it holds the lock for long */
};

static void
change(struct thread *t, unsigned int i)
{
	shared_lock_take(&shared.lock, &t->sys);
	shared.a++;
	if (t->hold && i % t->hold == 0)
		(void)sched_yield();
	shared.b++;
	shared.changes++;
	shared_lock_drop(&shared.lock);
}

static void
look(struct thread *t, unsigned int i)
{
	uint64_t a;

	shared_lock_look(&shared.lock, &t->sys);
	a = shared.a;
	if (t->hold && i % t->hold == 0)
		(void)sched_yield();
	if (a != shared.b)
		(void)atomic_add(&shared.torn, 1);
	shared_lock_looked(&shared.lock);
}

static void *
hammer(void *arg)
{
	struct thread *t = arg;

	for (unsigned int i = 0; i < ROUNDS; i++)
		if (t->every && (i + t->number) % t->every == 0)
			change(t, i);
		else
			look(t, i);
	return NULL;
}

static void
run(unsigned int every, unsigned int hold)
{
	static struct thread t[THREADS];

	memset(&shared, 0, sizeof(shared));
	memset(t, 0, sizeof(t));
	for (unsigned int i = 0; i < THREADS; i++) {
		sys_init(&t[i].sys, &sys_linux, NULL);
		t[i].number = i;
		t[i].every = every;
		t[i].hold = hold;
		assert_int_equal(pthread_create(&t[i].id, NULL, hammer, &t[i]), 0);
	}
	for (int i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(t[i].id, NULL), 0);
		assert_int_equal(ledger_total(&t[i].sys.ledger),
			ledger_sum(&t[i].sys.ledger, SYS_CALL_sched_yield));
	}
	assert_int_equal(shared.torn, 0);
	assert_int_equal(shared.changes, every ? THREADS * ROUNDS / every : 0);
	assert_int_equal(shared.a, shared.changes);
	assert_int_equal(shared.lock.state, 0);
}

static void
readers_see_consistent_data(void **st)
{
	(void)st;
	run(1, 0);
	run(2, 64);
	run(100, 16);
}

/* All threads hold the lock shared: each waits for the others while it holds it. */
static void *
meet(void *arg)
{
	struct thread *t = arg;

	shared_lock_look(&shared.lock, &t->sys);
	(void)atomic_add(&shared.looking, 1);
	while (atomic_look(&shared.looking) < THREADS)
		(void)sched_yield();
	shared_lock_looked(&shared.lock);
	return NULL;
}

static void
readers_share_the_lock(void **st)
{
	static struct thread t[THREADS];

	(void)st;
	memset(&shared, 0, sizeof(shared));
	memset(t, 0, sizeof(t));
	for (int i = 0; i < THREADS; i++) {
		sys_init(&t[i].sys, &sys_linux, NULL);
		assert_int_equal(pthread_create(&t[i].id, NULL, meet, &t[i]), 0);
	}
	for (int i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(t[i].id, NULL), 0);
		assert_int_equal(ledger_total(&t[i].sys.ledger), 0);
	}
	assert_int_equal(shared.lock.state, 0);
}

static void
without_contention_there_is_no_call(void **st)
{
	struct shared_lock l = { 0 };
	struct sys sys;

	(void)st;
	sys_init(&sys, &sys_linux, NULL);
	for (int i = 0; i < 1000; i++) {
		shared_lock_look(&l, &sys);
		shared_lock_look(&l, &sys);
		assert_int_equal(l.state, 2);
		shared_lock_looked(&l);
		shared_lock_looked(&l);
		shared_lock_take(&l, &sys);
		assert_int_equal(l.state, SHARED_LOCK_ALONE);
		shared_lock_drop(&l);
	}
	assert_int_equal(l.state, 0);
	assert_int_equal(ledger_total(&sys.ledger), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(readers_see_consistent_data),
		cmocka_unit_test(readers_share_the_lock),
		cmocka_unit_test(without_contention_there_is_no_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
