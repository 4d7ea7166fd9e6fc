/* A worker by itself: its loop, its engine and its resources. */
#include <stdio.h>
#include <string.h>

#include "unit/app/app_rig.h"
#include "unit/test.h"

static void
opens_and_closes(void **state)
{
	(void)state;
	assert_int_equal(bench_open("tune.bufsize 4096", ""), 0);
	assert_null(w->loop);
	assert_int_equal(worker_open(w), 0);
	assert_ptr_equal(w->engine.loop, w->loop);
	assert_int_equal(w->engine.bufsize, 4096);
	assert_ptr_equal(w->engine.shared, &proc.shared);
	assert_int_equal(loop_fds(w->loop), 0);
	bench_close();
}

/* The worker has the configured number of pipes; none if splicing is off. */
static void
splices_as_configured(void **state)
{
	static const struct {
		const char *global;
		unsigned int limit, max, size, after;
	} t[] = {
		{ "", 10, 10, 0, 65536 },
		{ "tune.pipesize 64k\ntune.splice.after 5", 7, 7, 65536, 5 },
		{ "nosplice\ntune.pipesize 64k", 10, 0, 0, 65536 },
		{ "", 0, 0, 0, 65536 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		assert_int_equal(bench_open(t[i].global, ""), 0);
		proc.limits.pipes = t[i].limit;
		assert_int_equal(worker_open(w), 0);
		assert_int_equal(w->engine.pipes.max, t[i].max);
		assert_int_equal(w->engine.pipes.size, t[i].size);
		assert_int_equal(w->engine.bulk.after, t[i].after);
		bench_close();
	}
}

static void
knows_its_place(void **state)
{
	(void)state;
	assert_int_equal(bench_open("", ""), 0);
	assert_int_equal(w->index, 0);
	assert_ptr_equal(w->process, &proc);
	assert_ptr_equal(w->sys, &sys);
	assert_non_null(w->log.lines);
	bench_close();
}

/* At the end of a turn log lines are sent to their targets. */
static void
flushes_its_log(void **state)
{
	int c, s;

	(void)state;
	bench_start("log 127.0.0.1:9 local0", "");
	log_msg(&w->log, LOG_LEVEL_NOTICE, "hello");
	assert_true(log_has_pending(&w->log));
	/* A connection ends the wait. */
	c = bench_connect("front");
	assert_int_equal(worker_turn(w), 0);
	assert_false(log_has_pending(&w->log));
	s = accept(origin, NULL, NULL);
	close(c);
	close(s);
	bench_turns();
	bench_close();
}

/* A ledger has one writer. */
static void
a_message_is_written_by_the_worker_that_reports_it(void **state)
{
	struct log_dest to = { .kind = LOG_DEST_FD, .fd = 9 };
	struct log_sink *k;
	uint64_t before;

	(void)state;
	assert_int_equal(bench_open("nbthread 2\nlog fd@9 local0", ""), 0);
	report.sys = &sys;
	k = &proc.workers[1].log;
	before = ledger_sum(&sys.ledger, SYS_CALL_write);
	k->on_failure(k->failure_arg, &to, EPIPE);
	assert_int_equal(ledger_sum(&proc.workers[1].sys->ledger, SYS_CALL_write), 1);
	assert_int_equal(ledger_sum(&sys.ledger, SYS_CALL_write), before);
	report.sys = NULL;
	bench_close();
}

static struct listener *
first_of(struct list *binds)
{
	return list_first(&list_first(binds, struct bind_conf, link)->listeners, struct listener,
		link);
}

/* When memory is short the frontends stop accepting; the stats socket continues. */
static void
memory_holds_its_listeners(void **state)
{
	struct listener *front, *stats;

	(void)state;
	bench_start("tune.memory 1m\n stats socket unix@adm", "");
	assert_int_equal(w->engine.limits.max_memory, 1 << 20);
	front = first_of(&proxies_find(&cfg.proxies, "l", PROXY_FE)->binds);
	stats = first_of(&cfg.global.admin_binds);
	w->engine.memory_tight = 1;
	w->engine.hooks.on_memory(&w->engine);
	assert_int_equal(front->held, LISTENER_HOLD_MEMORY);
	assert_int_equal(stats->held, 0);
	w->engine.memory_tight = 0;
	w->engine.hooks.on_memory(&w->engine);
	assert_int_equal(front->held, 0);
	assert_int_equal(front->state, LISTENER_READY);
	/* Other workers' listeners are not held. */
	front->worker = NULL;
	w->engine.memory_tight = 1;
	w->engine.hooks.on_memory(&w->engine);
	assert_int_equal(front->held, 0);
	front->worker = &w->engine;
	bench_close();
	unlink("adm");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(opens_and_closes), cmocka_unit_test(splices_as_configured),
		cmocka_unit_test(knows_its_place), cmocka_unit_test(flushes_its_log),
		cmocka_unit_test(memory_holds_its_listeners),
		cmocka_unit_test(a_message_is_written_by_the_worker_that_reports_it) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
