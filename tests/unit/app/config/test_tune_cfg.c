#include <stdio.h>
#include <string.h>

#include "net/listener.h"
#include "unit/app/app_rig.h"
#include "unit/test.h"

static void
values(void **state)
{
	const struct global_conf *g = &cfg.global;

	(void)state;
	assert_int_equal(
		world_global("tune.epoll.mode edge\ntune.lazy-register off\nuse-poller ev:poll\n"
			     "tune.bufsize 16k\ntune.maxaccept 5\ntune.maxpollevents 7\n"
			     "tune.ledger.at-exit on\nnoepoll\nnopoll"),
		0);
	assert_int_equal(g->epoll_mode, INTEREST_EDGE);
	assert_false(g->lazy);
	assert_string_equal(g->poller, "ev:poll");
	assert_int_equal(g->bufsize, 16384);
	assert_int_equal(g->maxaccept, 5);
	assert_int_equal(g->maxpollevents, 7);
	assert_true(g->ledger_at_exit == LEDGER_SERVING && g->no_epoll && g->no_poll);
	assert_int_equal(world_global("tune.maxaccept -1\ntune.bufsize 1025\nno noepoll"), 0);
	assert_int_equal(g->maxaccept, GLOBAL_MAXACCEPT_MAX);
	assert_int_equal(world_global("tune.maxaccept 0\ntune.maxpollevents 0"), 0);
	assert_int_equal(g->maxaccept, GLOBAL_MAXACCEPT_DEFAULT);
	assert_int_equal(g->maxpollevents, GLOBAL_POLLEVENTS_DEFAULT);
	assert_int_equal(g->bufsize, 1040);
	assert_false(g->no_epoll);
}

static void
low_water(void **state)
{
	(void)state;
	assert_int_equal(cfg.global.http_low_water, 1);
	assert_int_equal(world_global("tune.http.low-water off"), 0);
	assert_int_equal(cfg.global.http_low_water, 0);
	assert_int_equal(world_global("tune.http.low-water on"), 0);
	assert_int_equal(cfg.global.http_low_water, 1);
}

static void
workers(void **state)
{
	const struct global_conf *g = &cfg.global;

	(void)state;
	assert_int_equal(g->multi_queue, MULTI_QUEUE_ON);
	assert_int_equal(g->default_shards, BIND_SHARDS_BY_THREAD);
	assert_int_equal(g->wake_elision, 1);
	assert_int_equal(
		world_global("tune.listener.multi-queue fair\ntune.wake-elision off\n"
			     "tune.listener.default-shards by-process"), 0);
	assert_int_equal(g->multi_queue, MULTI_QUEUE_FAIR);
	assert_int_equal(g->default_shards, 1);
	assert_int_equal(g->wake_elision, 0);
	assert_int_equal(
		world_global("tune.listener.multi-queue off\ntune.wake-elision on\n"
			     "tune.listener.default-shards by-thread"), 0);
	assert_int_equal(g->multi_queue, MULTI_QUEUE_OFF);
	assert_int_equal(g->default_shards, BIND_SHARDS_BY_THREAD);
	assert_int_equal(g->wake_elision, 1);
	assert_int_equal(
		world_global("tune.listener.multi-queue on\n"
			     "tune.listener.default-shards by-group"), 0);
	assert_int_equal(g->multi_queue, MULTI_QUEUE_ON);
	assert_int_equal(g->default_shards, BIND_SHARDS_BY_GROUP);
	assert_int_equal(cfg.diag.count[CFG_NOTICE], 0);
}

static void
mistakes(void **state)
{
	static const char *const bad[] = {
		"tune.epoll.mode level",
		"tune.epoll.mode",
		"tune.lazy-register maybe",
		"tune.http.low-water 4",
		"use-poller kqueue",
		"tune.bufsize 1023",
		"tune.bufsize 17m",
		"tune.bufsize -1",
		"tune.bufsize 4294967296",
		"tune.bufsize 9223372036854775808",
		"tune.bufsize 1e99",
		"tune.bufsize 10x",
		"tune.maxaccept -2",
		"tune.maxaccept 2147483648",
		"tune.maxaccept 10x",
		"tune.maxpollevents -1",
		"tune.maxpollevents 4294967296",
		"tune.maxpollevents 1e99",
		"tune.listener.multi-queue",
		"tune.listener.multi-queue 1",
		"tune.listener.multi-queue on off",
		"no tune.listener.multi-queue",
		"tune.listener.default-shards",
		"tune.listener.default-shards 2",
		"tune.listener.default-shards by-cpu",
		"tune.wake-elision",
		"tune.wake-elision maybe",
		"tune.renice.runtime",
		"tune.renice.runtime -21",
		"tune.renice.runtime 20",
		"tune.renice.startup",
		"tune.renice.startup -21",
		"tune.renice.startup 20",
		"tune.renice.startup x",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		assert_int_equal(world_global(bad[i]), -1);
		assert_true(world_diagnostic()[0] != '\0');
	}
	assert_int_equal(cfg.global.bufsize, GLOBAL_BUFSIZE_DEFAULT);
}

static void
priorities(void **state)
{
	const struct renice_conf *c = &cfg.global.renice;

	(void)state;
	assert_int_equal(world_global("tune.renice.startup 19"), 0);
	assert_int_equal(c->has_runtime, 0);
	assert_int_equal(world_global("tune.renice.runtime -20\ntune.renice.startup -20"), 0);
	assert_int_equal(c->has_runtime, 1);
	assert_int_equal(c->runtime, -20);
	assert_int_equal(world_global("tune.renice.runtime 19"), 0);
	assert_int_equal(c->runtime, 19);
	assert_int_equal(cfg.diag.count[CFG_NOTICE], 0);
}

/* Accepted with a note that they have no effect. */
static void
hints(void **state)
{
	(void)state;
	assert_int_equal(world_global("tune.pattern.cache-size 1\ntune.idletimer 10"), 0);
	assert_int_equal(cfg.diag.count[CFG_ALERT], 0);
	assert_int_equal(cfg.diag.count[CFG_WARNING], 0);
	assert_int_equal(cfg.diag.count[CFG_NOTICE], 2);
	assert_int_equal(world_global("busy-polling\nno busy-polling\ntune.lua.maxmem 5\n"
				      "tune.recv_enough 9"), 0);
	assert_string_equal(world_diagnostic(), "'tune.recv_enough' is accepted and has no effect: "
		"tacit has nothing of the kind");
	assert_int_equal(cfg.diag.count[CFG_NOTICE], 6);
}

int
main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, world_open, world_close)
	const struct CMUnitTest tests[] = {
		T(values), T(low_water), T(workers), T(mistakes), T(priorities), T(hints),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
