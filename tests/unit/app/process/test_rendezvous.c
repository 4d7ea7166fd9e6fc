/* Workers that are paused while a command changes what they read without a lock. */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "app/process/totals.h"
#include "unit/app/app_rig.h"
#include "base/atomic.h"
#include "event/mailbox.h"
#include "unit/asleep.h"
#include "unit/test.h"

static void
start_workers(void)
{
	assert_int_equal(process_bind(&proc), 0);
	assert_int_equal(process_start(&proc), 0);
}

static void
start(const char *global)
{
	assert_int_equal(bench_open(global, ""), 0);
	start_workers();
}

static void
no_worker_runs_meanwhile(void **state)
{
	uint64_t turns[3];

	(void)state;
	start("nbthread 3");
	assert_int_equal(proc.n_workers, 3);
	for (int round = 0; round < 20; round++) {
		rendezvous_begin(&proc);
		assert_int_equal(proc.meet.arrived, 2);
		for (int i = 1; i < 3; i++)
			turns[i] = loop_stats(proc.workers[i].loop)->turns;
		wait_others_asleep();
		for (int i = 1; i < 3; i++)
			assert_int_equal(loop_stats(proc.workers[i].loop)->turns, turns[i]);
		rendezvous_end(&proc);
	}
	assert_int_equal(proc.meet.held, 20);
	bench_stop();
}

static void
a_nested_standstill_is_one(void **state)
{
	(void)state;
	start("nbthread 2");
	rendezvous_begin(&proc);
	rendezvous_begin(&proc);
	rendezvous_end(&proc);
	assert_int_equal(proc.meet.depth, 1);
	assert_int_equal(proc.meet.round, 0);
	rendezvous_end(&proc);
	assert_int_equal(proc.meet.round, 1);
	assert_int_equal(proc.meet.held, 1);
	bench_stop();
}

/* With one worker there is nothing to wait for, and no system call is made. */
static void
one_worker_makes_no_call(void **state)
{
	uint64_t before;

	(void)state;
	start("nbthread 1");
	before = ledger_total(&w->sys->ledger);
	rendezvous_begin(&proc);
	rendezvous_end(&proc);
	assert_int_equal(ledger_total(&w->sys->ledger), before);
	assert_int_equal(proc.meet.held, 0);
	bench_stop();
}

/* A worker that is paused sleeps: a few calls for each standstill, however long it lasts. */
static void
a_paused_worker_does_not_spin(void **state)
{
	enum { ROUNDS = 20 };
	struct totals before, now;

	(void)state;
	start("nbthread 3");
	totals_read(&proc, &before);
	for (int round = 0; round < ROUNDS; round++) {
		rendezvous_begin(&proc);
		wait_others_asleep();
		rendezvous_end(&proc);
	}
	totals_read(&proc, &now);
	assert_int_equal(ledger_sum(&now.ledger, SYS_CALL_sched_yield),
		ledger_sum(&before.ledger, SYS_CALL_sched_yield));
	/* Two workers wait, and the first one waits for them, each perhaps twice; two are woken. */
	assert_in_range(ledger_sum(&now.ledger, SYS_CALL_futex) -
		ledger_sum(&before.ledger, SYS_CALL_futex), 3 * ROUNDS - 2, 8 * ROUNDS);
	bench_stop();
}

static uint32_t ran;

static void
on_mail(void *worker, struct mail *m)
{
	(void)worker;
	(void)m;
	(void)atomic_add(&ran, 1u);
}

/* A full mailbox does not prevent the standstill, and none of its messages is lost. */
static void
works_with_full_mailboxes(void **state)
{
	struct mail m = { .fn = on_mail };
	uint32_t sent = 0;

	(void)state;
	start("nbthread 2");
	rendezvous_begin(&proc);
	ran = 0;
	while (mailbox_post(w->mailbox, proc.workers[1].mailbox, &m) == 0)
		sent++;
	assert_true(sent >= 16);
	rendezvous_end(&proc);
	rendezvous_begin(&proc);
	assert_int_equal(proc.meet.arrived, 1);
	rendezvous_end(&proc);
	while (atomic_read(&ran) < sent)
		sched_yield();
	assert_int_equal(atomic_read(&ran), sent);
	bench_stop();
}

static int epoll_fails;
static const struct sys_ops *kernel;
static struct sys_ops failing;

static long
wait_or_fail(void *ctx, int ep, struct epoll_event *ev, int n, int ms)
{
	return atomic_read(&epoll_fails) ? -EBADF : kernel->epoll_wait(ctx, ep, ev, n, ms);
}

/* A worker that has failed reports it to the first one, whose mailbox is full, while the first one
 * waits for it: neither blocks the other. */
static void
a_failed_worker_does_not_block_the_first(void **state)
{
	struct mail m = { .fn = on_mail };
	struct worker *other;

	(void)state;
	assert_int_equal(bench_open("nbthread 2", ""), 0);
	other = &proc.workers[1];
	kernel = other->own_sys.ops;
	failing = *kernel;
	failing.epoll_wait = wait_or_fail;
	other->own_sys.ops = &failing;
	start_workers();
	rendezvous_begin(&proc);
	atomic_write(&epoll_fails, 1);
	while (mailbox_post(other->mailbox, w->mailbox, &m) == 0)
		;
	rendezvous_end(&proc);
	alarm(60);
	wait_others_asleep();
	rendezvous_begin(&proc);
	assert_int_equal(proc.meet.arrived, 1);
	rendezvous_end(&proc);
	process_run(&proc);
	assert_int_equal(proc.failed, 1);
	assert_int_equal(proc.state, PROCESS_GONE);
	alarm(0);
	/* The test still has to end the workers. */
	proc.state = PROCESS_STOPPING;
	assert_int_equal(process_join(&proc), 0);
	bench_close();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_worker_runs_meanwhile),
		cmocka_unit_test(a_nested_standstill_is_one),
		cmocka_unit_test(one_worker_makes_no_call),
		cmocka_unit_test(a_paused_worker_does_not_spin),
		cmocka_unit_test(works_with_full_mailboxes),
		cmocka_unit_test(a_failed_worker_does_not_block_the_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
