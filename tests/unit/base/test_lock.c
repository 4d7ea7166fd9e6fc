/* The lock, with real threads: what it protects stays consistent, and waiting threads yield the
 * CPU. */

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "base/atomic.h"
#include "base/lock.h"
#include "unit/test.h"

#define THREADS 4
#define ROUNDS 50000

static struct {
	struct lock lock;
	/* Kept equal under the lock, and not atomic. */
	uint64_t a, b;
	uint64_t torn;
} shared;

struct thread {
	pthread_t id;
	struct sys sys;
	unsigned int hold; /* number of yields while it is held, every so many rounds */
};

static void *
hammer(void *arg)
{
	struct thread *t = arg;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		lock_take(&shared.lock, &t->sys);
		shared.a++;
		if (t->hold && i % t->hold == 0)
			(void)sched_yield();
		shared.b++;
		if (shared.a != shared.b)
			shared.torn++;
		lock_drop(&shared.lock);
	}
	return NULL;
}

static uint64_t
run(unsigned int hold)
{
	static struct thread t[THREADS];
	uint64_t yields = 0;

	memset(&shared, 0, sizeof(shared));
	memset(t, 0, sizeof(t));
	for (int i = 0; i < THREADS; i++) {
		sys_init(&t[i].sys, &sys_linux, NULL);
		t[i].hold = hold;
		assert_int_equal(pthread_create(&t[i].id, NULL, hammer, &t[i]), 0);
	}
	for (int i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(t[i].id, NULL), 0);
		yields += ledger_sum(&t[i].sys.ledger, SYS_CALL_sched_yield);
		assert_int_equal(ledger_total(&t[i].sys.ledger),
			ledger_sum(&t[i].sys.ledger, SYS_CALL_sched_yield));
	}
	assert_int_equal(shared.a, (uint64_t)THREADS * ROUNDS);
	assert_int_equal(shared.b, shared.a);
	assert_int_equal(shared.torn, 0);
	assert_int_equal(shared.lock.taken, 0);
	/* Every call is in the ledger of the thread that made it. */
	assert_int_equal(shared.lock.yields, yields);
	return yields;
}

static void
one_at_a_time(void **st)
{
	(void)st;
	(void)run(0);
}

static void *
take_once(void *arg)
{
	struct thread *t = arg;

	lock_take(&shared.lock, &t->sys);
	lock_drop(&shared.lock);
	return NULL;
}

/* The holder keeps the lock until the waiting thread has yielded. */
static void
a_long_wait_yields_the_cpu(void **st)
{
	static struct thread holder, waiter;

	(void)st;
	memset(&shared, 0, sizeof(shared));
	sys_init(&holder.sys, &sys_linux, NULL);
	sys_init(&waiter.sys, &sys_linux, NULL);
	lock_take(&shared.lock, &holder.sys);
	assert_int_equal(pthread_create(&waiter.id, NULL, take_once, &waiter), 0);
	while (!atomic_read(&waiter.sys.ledger.n[SYS_CALL_sched_yield][SYS_OK]))
		(void)sched_yield();
	lock_drop(&shared.lock);
	assert_int_equal(pthread_join(waiter.id, NULL), 0);
	assert_int_equal(shared.lock.contended, 1);
	assert_true(shared.lock.yields > 0);
}

static void
without_contention_no_call_is_made(void **st)
{
	struct lock l = { 0 };
	struct sys sys;

	(void)st;
	sys_init(&sys, &sys_linux, NULL);
	for (int i = 0; i < 1000; i++) {
		lock_take(&l, &sys);
		assert_int_equal(l.taken, 1);
		lock_drop(&l);
	}
	assert_int_equal(l.contended, 0);
	assert_int_equal(ledger_total(&sys.ledger), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_at_a_time),
		cmocka_unit_test(a_long_wait_yields_the_cpu),
		cmocka_unit_test(without_contention_no_call_is_made),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
