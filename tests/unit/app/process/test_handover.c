/* Connections that one worker accepts and hands over to another. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "app/process/handover.h"
#include "unit/app/app_rig.h"
#include "event/mailbox.h"
#include "net/shards.h"
#include "unit/test.h"

#define CLIENTS 42
/* So many turns of a millisecond, for what hangs: a busy machine runs other workers late. */
#define TURNS_MAX 60000

static int client[CLIENTS], server[CLIENTS];

static void
start(const char *global)
{
	char text[128];

	snprintf(text, sizeof(text), "maxconn 64\n%s", global);
	bench_start(text, "");
}

/* Opens n connections one after the other, each after the one before was served. */
static void
connect_all(int n)
{
	for (int i = 0; i < n; i++) {
		client[i] = bench_connect("front");
		assert_true(client[i] >= 0);
		server[i] = -1;
		for (int k = 0; k < TURNS_MAX && server[i] < 0; k++) {
			assert_int_equal(loop_turn(w->loop, 1), 0);
			server[i] = accept(origin, NULL, NULL);
		}
		assert_true(server[i] >= 0);
	}
	assert_int_equal(process_sessions(&proc), n);
}

static void
check_echo(int n)
{
	char c;

	for (int i = 0; i < n; i++) {
		assert_int_equal(send(client[i], "x", 1, 0), 1);
		for (int k = 0; k < TURNS_MAX; k++) {
			assert_int_equal(loop_turn(w->loop, 1), 0);
			if (recv(server[i], &c, 1, MSG_DONTWAIT) == 1)
				break;
			assert_true(k < TURNS_MAX - 1);
		}
	}
}

static void
stop(int n)
{
	for (int i = 0; i < n; i++) {
		close(client[i]);
		close(server[i]);
	}
	bench_stop();
}

static uint64_t handed, taken, accepted;

static void
add(struct listener *ln, void *arg)
{
	(void)arg;
	handed += ln->handed;
	taken += ln->taken;
	accepted += ln->accepted;
}

static void
count(void)
{
	rendezvous_begin(&proc);
	handed = taken = accepted = 0;
	process_each_listener(&proc, add, NULL);
	rendezvous_end(&proc);
}

/* Whichever worker accepts: no worker has many more long connections than another. */
static void
long_connections_are_spread(void **state)
{
	unsigned int a, b;

	(void)state;
	start("nbthread 2");
	connect_all(CLIENTS);
	a = worker_load(&proc.workers[0]);
	b = worker_load(&proc.workers[1]);
	assert_int_equal(a + b, CLIENTS);
	assert_true(a <= b + b / 8 + HANDOVER_MARGIN + 1);
	assert_true(b <= a + a / 8 + HANDOVER_MARGIN + 1);
	count();
	assert_int_equal(accepted, CLIENTS);
	assert_int_equal(handed, taken);
	check_echo(CLIENTS);
	stop(CLIENTS);
}

static void
in_turn_connections_are_distributed_evenly(void **state)
{
	(void)state;
	start("nbthread 3\ntune.listener.multi-queue fair");
	connect_all(CLIENTS);
	for (int i = 0; i < 3; i++)
		assert_int_equal(worker_load(&proc.workers[i]), CLIENTS / 3);
	check_echo(CLIENTS);
	stop(CLIENTS);
}

static void
off_disables_handover(void **state)
{
	(void)state;
	start("nbthread 2\ntune.listener.multi-queue off");
	connect_all(CLIENTS);
	count();
	assert_int_equal(accepted, CLIENTS);
	assert_int_equal(handed, 0);
	stop(CLIENTS);
}

static void
one_worker_hands_nothing_over(void **state)
{
	(void)state;
	start("nbthread 1\ntune.listener.multi-queue fair");
	connect_all(3);
	count();
	assert_int_equal(handed, 0);
	stop(3);
}

static unsigned int
worker_sessions(void)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < proc.n_workers; i++)
		n += proc.workers[i].engine.n_sessions;
	return n;
}

static struct listener *second_listener;

static void
find_second(struct listener *ln, void *arg)
{
	(void)arg;
	if (ln->thread == 1)
		second_listener = ln;
}

/* The server of one connection: answers each byte with a byte. */
static void
answer_one(void *arg)
{
	struct pollfd p = { .fd = origin, .events = POLLIN };
	struct timeval limit = { .tv_sec = 60 };
	char c;
	int s;

	(void)arg;
	if (poll(&p, 1, 60000) != 1)
		return;
	s = accept(origin, NULL, NULL);
	(void)setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	if (recv(s, &c, 1, 0) == 1)
		(void)!send(s, "y", 1, MSG_NOSIGNAL);
	close(s);
}

static void
end_standstill(struct timer *t)
{
	(void)t;
	rendezvous_end(&proc);
}

/* Two workers are paused, and the first one has handed over one end of the pair. */
static void
hand_over_one(int pair[2])
{
	struct addr peer = { .len = sizeof(sa_family_t), .u.sa.sa_family = AF_UNIX };
	struct listener *ln;

	start("nbthread 2\ntune.listener.multi-queue off");
	second_listener = NULL;
	process_each_listener(&proc, find_second, NULL);
	assert_non_null(second_listener);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
	rendezvous_begin(&proc);
	ln = second_listener->first;
	proc.cfg->global.multi_queue = MULTI_QUEUE_FAIR;
	handover_enable(&proc, ln);
	ln->group->next = 1;
	assert_true(ln->may_accept(ln));
	assert_int_equal(ln->route(ln, pair[1], &peer), 1);
	assert_int_equal(worker_load(&proc.workers[1]), 1);
}

/*
 * A connection is being handed over when the listeners close: it was accepted, so it is served, and
 * neither the process nor the receiving worker ends before.
 */
static void
a_handover_during_a_stop_is_served(void **state)
{
	struct thread answers;
	struct timer later;
	int pair[2];
	char c = 0;

	(void)state;
	hand_over_one(pair);
	process_on_signal(&proc, SIGUSR1, 0);
	/* No worker has the connection yet: only the place in the gate counts it. */
	assert_int_equal(worker_sessions(), 0);
	assert_int_equal(process_sessions(&proc), 1);
	assert_int_equal(proc.state, PROCESS_STOPPING);
	assert_int_equal(send(pair[0], "x", 1, 0), 1);
	assert_int_equal(shutdown(pair[0], SHUT_WR), 0);
	assert_int_equal(thread_start(&answers, answer_one, NULL, NULL), 0);
	/* The other workers continue after the process has run for a while. */
	timer_init(&later, end_standstill);
	assert_int_equal(timer_set(loop_timers(w->loop), &later, loop_now_ms(w->loop) + 20), 0);
	process_run(&proc);
	assert_int_equal(proc.meet.depth, 0);
	assert_int_equal(thread_join(&answers), 0);
	assert_int_equal(recv(pair[0], &c, 1, MSG_DONTWAIT), 1);
	assert_int_equal(c, 'y');
	close(pair[0]);
	assert_int_equal(process_join(&proc), 0);
	bench_close();
}

/* SIGTERM closes such a connection with the others. */
static void
a_handover_during_a_hard_stop_is_closed(void **state)
{
	int pair[2];
	char c;

	(void)state;
	hand_over_one(pair);
	assert_int_equal(process_sessions(&proc), 1);
	process_on_signal(&proc, SIGTERM, 0);
	rendezvous_end(&proc);
	process_run(&proc);
	/* Not the limit of time has ended it. */
	assert_int_equal(proc.state, PROCESS_KILLING);
	assert_int_equal(recv(pair[0], &c, 1, MSG_DONTWAIT), 0);
	close(pair[0]);
	assert_int_equal(process_join(&proc), 0);
	bench_close();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(long_connections_are_spread),
		cmocka_unit_test(in_turn_connections_are_distributed_evenly),
		cmocka_unit_test(off_disables_handover),
		cmocka_unit_test(one_worker_hands_nothing_over),
		cmocka_unit_test(a_handover_during_a_stop_is_served),
		cmocka_unit_test(a_handover_during_a_hard_stop_is_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
