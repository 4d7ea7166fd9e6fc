/* Slots and places that a session of one worker frees for sessions of another. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "app/process/wake_worker.h"
#include "base/atomic.h"
#include "unit/app/bench.h"
#include "event/mailbox.h"
#include "unit/test.h"

#define CLIENTS 12

static int client[CLIENTS];

static int
turn_and_accept(int ms)
{
	for (int k = 0; k < ms; k++) {
		int s;

		assert_int_equal(loop_turn(w->loop, 1), 0);
		s = accept(origin, NULL, NULL);
		if (s >= 0)
			return s;
	}
	return -1;
}

/* Serves one session at a time, of whichever worker; each end frees a slot for a waiting one. */
static void
serve_all(int n)
{
	for (int i = 0; i < n; i++)
		client[i] = bench_connect("front");
	for (int i = 0; i < n; i++) {
		char c = 0;
		int s = turn_and_accept(3000);

		assert_true(s >= 0);
		assert_int_equal(turn_and_accept(10), -1);
		assert_int_equal(send(s, "x", 1, 0), 1);
		close(s);
		/* The answer names the session that was served; its end frees the slot. */
		for (int k = 0; c != 'x';) {
			assert_int_equal(loop_turn(w->loop, 1), 0);
			if (recv(client[k], &c, 1, MSG_DONTWAIT) == 1) {
				close(client[k]);
				client[k] = -1;
				break;
			}
			do
				k = (k + 1) % n;
			while (client[k] < 0);
		}
	}
}

static void
a_slot_goes_from_worker_to_worker(void **state)
{
	(void)state;
	bench_start("maxconn 40\nnbthread 3\ntune.listener.multi-queue fair",
	      "timeout queue 60s");
	list_each(it, &proc.cfg->proxies.all)
		list_each(st, &list_entry(it, struct proxy, link)->servers)
			list_entry(st, struct server, link)->conf.maxconn = 1;
	serve_all(CLIENTS);
	bench_stop();
}

static void
a_frontend_at_its_maxconn_resumes_on_every_worker(void **state)
{
	(void)state;
	bench_start("maxconn 40\nnbthread 2", "maxconn 1\nbacklog 64");
	serve_all(CLIENTS);
	bench_stop();
}

static void
a_process_at_its_maxconn_resumes_on_every_worker(void **state)
{
	(void)state;
	bench_start("maxconn 1\nnbthread 2", "backlog 64");
	serve_all(CLIENTS);
	bench_stop();
}

static void
on_mail(void *worker, struct mail *m)
{
	(void)worker;
	(void)m;
}

/* A message that does not fit into the mailbox is not needed: the other worker checks
 * everything. */
static void
a_full_mailbox_loses_no_wakeup(void **state)
{
	struct worker *other;
	struct mail m = { .fn = on_mail };
	struct timespec ms = { .tv_nsec = 1000000 };

	(void)state;
	bench_start("nbthread 2", "");
	other = &proc.workers[1];
	rendezvous_begin(&proc);
	while (mailbox_post(w->mailbox, other->mailbox, &m) == 0)
		;
	w->engine.wake_worker(
		&w->engine, 1, list_first(&proc.cfg->proxies.all, struct proxy, link));
	assert_int_equal(atomic_read(&other->behind), 1);
	rendezvous_end(&proc);
	for (int i = 0; i < 3000 && atomic_read(&other->behind); i++)
		nanosleep(&ms, NULL);
	assert_int_equal(atomic_read(&other->behind), 0);
	bench_stop();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_slot_goes_from_worker_to_worker),
		cmocka_unit_test(a_frontend_at_its_maxconn_resumes_on_every_worker),
		cmocka_unit_test(a_process_at_its_maxconn_resumes_on_every_worker),
		cmocka_unit_test(a_full_mailbox_loses_no_wakeup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
