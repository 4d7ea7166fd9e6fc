/* Slots and places that a session of one worker frees for sessions of another. */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "app/process/wake_worker.h"
#include "base/atomic.h"
#include "unit/app/app_rig.h"
#include "event/mailbox.h"
#include "proxy/backend/conn_pool.h"
#include "proxy/backend/server_addr.h"
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
		int s = turn_and_accept(60000);

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

/* A message that does not fit into the messagebox is not needed: the other worker checks
 * everything. */
static void
a_full_mailbox_loses_no_wakeup(void **state)
{
	struct worker *other;
	struct mail m = { .fn = on_mail };

	(void)state;
	bench_start("nbthread 2", "");
	other = &proc.workers[1];
	rendezvous_begin(&proc);
	while (mailbox_post(w->mailbox, other->mailbox, &m) == 0)
		;
	w->engine.hooks.wake_worker(
		&w->engine, 1, list_first(&proc.cfg->proxies.all, struct proxy, link));
	assert_int_equal(atomic_read(&other->behind), 1);
	rendezvous_end(&proc);
	while (atomic_read(&other->behind))
		sched_yield();
	bench_stop();
}

static void
on_no_io(void *owner, int fd, uint32_t ev)
{
	(void)owner;
	(void)fd;
	(void)ev;
}

/* The other worker has an idle connection to the server; it is paused. */
static void
give_idle_connection(struct worker *to, struct server *srv)
{
	int fd = bench_connect("back");
	struct conn c;

	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(conn_open(&c, to->loop, fd, on_no_io, NULL, CONN_UNIX), 0);
	loop_presume_again(to->loop, fd, DIR_R);
	c.addr_gen = addr_cell_gen(&srv->addr);
	assert_int_equal(conn_pool_put(&to->engine, srv, &c, 1, NULL), 1);
}

/* The same when a server moves: idle connections to its previous address are closed, long before
 * pool-purge-delay. */
static void
a_full_mailbox_leaves_no_connection_to_a_previous_address(void **state)
{
	struct mail m = { .fn = on_mail };
	struct worker *other;
	unsigned int all, safe;
	struct server *srv;
	struct proxy *px;
	struct addr a;

	(void)state;
	bench_start("nbthread 2", "");
	other = &proc.workers[1];
	px = list_first(&proc.cfg->proxies.all, struct proxy, link);
	srv = list_first(&px->servers, struct server, link);
	srv->conf.pool_purge_ms = 3600000;
	rendezvous_begin(&proc);
	give_idle_connection(other, srv);
	conn_pool_count(srv, &all, &safe);
	assert_int_equal(all, 1);
	while (mailbox_post(w->mailbox, other->mailbox, &m) == 0)
		;
	(void)addr_cell_get(&srv->addr, &a);
	server_set_addr(&w->engine, srv, &a);
	rendezvous_end(&proc);
	do {
		sched_yield();
		conn_pool_count(srv, &all, &safe);
	} while (all);
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
		cmocka_unit_test(a_full_mailbox_leaves_no_connection_to_a_previous_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
