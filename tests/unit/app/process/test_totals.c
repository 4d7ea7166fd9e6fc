/* Sums over workers. */
#include <stdio.h>
#include <string.h>

#include "app/process/totals.h"
#include "proxy/model/ring_conf.h"
#include "unit/app/app_rig.h"
#include "unit/test.h"

#define RING "ring r\n format raw\n size 16384\n"

static void
reset(struct engine *e)
{
	e->n_sessions = 0;
	e->pipes.used = e->pipes.n_idle = 0;
}

static void
adds_up(void **state)
{
	struct totals t;
	struct timer start, later;
	unsigned int timers;

	(void)state;
	timer_init(&start, NULL);
	timer_init(&later, NULL);
	assert_int_equal(bench_open("nbthread 3", RING), 0);
	list_first(&cfg.proxies.log.rings, struct ring_conf, link)->ring.dropped = 7;
	for (unsigned int i = 0; i < 3; i++) {
		struct worker *x = &proc.workers[i];

		assert_int_equal(worker_open(x), 0);
		x->engine.n_sessions = 4 + i;
		x->engine.stat.cum_conns = 10 + i;
		x->engine.stat.bytes_in = 100;
		x->engine.stat.bytes_sent = 200 + i;
		x->engine.pipes.used = 3;
		x->engine.pipes.n_idle = 2;
		x->engine.pools.session.fails = 1;
		x->engine.pools.buf.fails = 10;
		x->engine.pools.wide.fails = 100;
		x->engine.bulk.bufs.fails = 1000;
		x->engine.stat.lingers = i;
		freq_add(&x->engine.stat.conn_rate, loop_now_ms(x->loop), 5);
		x->log.dropped = 2;
	}
	totals_read(&proc, &t);
	timers = t.timers;
	assert_int_equal(timer_set(loop_starts(w->loop), &start, UINT64_MAX - 1), 0);
	assert_int_equal(timer_set(loop_timers(w->loop), &later, UINT64_MAX - 1), 0);
	totals_read(&proc, &t);
	timer_stop(loop_starts(w->loop), &start);
	timer_stop(loop_timers(w->loop), &later);
	assert_int_equal(t.timers, timers + 2);
	assert_int_equal(t.sessions, 15);
	assert_int_equal(t.cum_conns, 33);
	assert_int_equal(t.bytes_in, 300);
	assert_int_equal(t.bytes_sent, 603);
	assert_int_equal(t.pipes_used, 9);
	assert_int_equal(t.pipes_idle, 6);
	assert_int_equal(t.pool_fails, 3333);
	assert_int_equal(t.lingers, 3);
	assert_int_equal(t.logs_dropped, 6 + 7);
	assert_int_equal(t.idle_pct, 100);
	assert_int_equal(freq_read(&t.conn_rate, loop_now_ms(w->loop)), 15);
	/* Each worker has made a poller; the ledger of the first one is the process's. */
	assert_int_equal(ledger_sum(&t.ledger, SYS_CALL_epoll_create1), 3);
	assert_int_equal(ledger_sum(&proc.workers[2].sys->ledger, SYS_CALL_epoll_create1), 1);
	assert_int_equal(t.mail.posts, 0);
	for (unsigned int i = 0; i < 3; i++)
		reset(&proc.workers[i].engine);
	bench_close();
}

static void
wakes_in_one_line(void **state)
{
	struct totals t = { .mail = { .posts = 10, .writes = 1, .elided_awake = 2,
				      .elided_batch = 3, .elided_self = 4 },
			    .elided_inline = 5 };
	char text[200];

	(void)state;
	totals_wakes_text(&t, text, sizeof(text));
	assert_string_equal(text, "wake-ups: 1 for 10 mails, elided 2 awake, 3 batch, 4 self, "
				  "5 inline");
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(adds_up),
		cmocka_unit_test(wakes_in_one_line) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
