#include <stdio.h>
#include <string.h>

#include "app/config/global.h"
#include "base/mem.h"
#include "base/sys.h"
#include "fake/kernel.h"
#include "unit/test.h"

static void
a_new_section_has_the_defaults(void **state)
{
	struct global_conf g;

	(void)state;
	global_init(&g);
	assert_int_equal(g.maxconn, 0);
	assert_int_equal(g.bufsize, GLOBAL_BUFSIZE_DEFAULT);
	assert_int_equal(g.stats_maxconn, 10);
	assert_int_equal(g.stats_timeout_ms, 10000);
	assert_true(g.strict_limits);
	assert_true(g.lazy);
	assert_true(list_is_empty(&g.admin_binds));
	global_fini(&g);
}

static void
options_exclude_pollers(void **state)
{
	struct global_conf g;

	(void)state;
	global_init(&g);
	assert_string_equal(global_poller(&g), "epoll");
	g.no_poll = 1;
	assert_string_equal(global_poller(&g), "epoll");
	g.no_epoll = 1;
	assert_string_equal(global_poller(&g), "ev:select");
	g.no_poll = 0;
	assert_string_equal(global_poller(&g), "ev:poll");
	g.poller = mem_strdup("ev:epoll");
	assert_string_equal(global_poller(&g), "ev:epoll");
	global_fini(&g);
	assert_null(g.poller);
}

static void
threads_follow_the_cpus(void **state)
{
	struct fake *k = fake_new();
	struct global_conf g;
	struct sys sys;

	(void)state;
	sys_init(&sys, &sys_fake, k);
	global_init(&g);
	assert_int_equal(global_threads(&g, &sys), 1);
	fake_set_cpus(k, 6);
	assert_int_equal(global_threads(&g, &sys), 6);
	fake_set_cpus(k, 64);
	assert_int_equal(global_threads(&g, &sys), 64);
	g.thread_hard_limit = 4;
	assert_int_equal(global_threads(&g, &sys), 4);
	g.thread_hard_limit = 100;
	assert_int_equal(global_threads(&g, &sys), 64);
	fake_fail(k, SYS_CALL_sched_getaffinity, 6, EINVAL);
	assert_int_equal(global_threads(&g, &sys), 1);
	/* a given value needs no system call */
	memset(&sys.ledger, 0, sizeof(sys.ledger));
	g.nbthread = 3;
	assert_int_equal(global_threads(&g, &sys), 3);
	g.thread_hard_limit = 2;
	assert_int_equal(global_threads(&g, &sys), 2);
	assert_int_equal(ledger_total(&sys.ledger), 0);
	global_fini(&g);
	fake_free(&k);
}

/* More CPUs than the maximum number of threads. */
static long
many_cpus(void *ctx, size_t len, cpu_set_t *set)
{
	(void)ctx;
	memset(set, 0xff, len);
	return 0;
}

static void
threads_of_a_large_machine(void **state)
{
	struct sys_ops ops = sys_linux;
	struct global_conf g;
	struct sys sys;

	(void)state;
	ops.sched_getaffinity = many_cpus;
	sys_init(&sys, &ops, NULL);
	global_init(&g);
	assert_int_equal(global_threads(&g, &sys), GLOBAL_THREADS_MAX);
	global_fini(&g);
}

static void
workers_have_their_cpus(void **state)
{
	struct global_conf g;

	(void)state;
	global_init(&g);
	assert_null(global_cpus(&g, 0));
	g.cpu_map = mem_zalloc(GLOBAL_THREADS_MAX * sizeof(*g.cpu_map));
	assert_non_null(g.cpu_map);
	CPU_SET(5, &g.cpu_map[63]);
	assert_null(global_cpus(&g, 0));
	assert_ptr_equal(global_cpus(&g, 63), &g.cpu_map[63]);
	assert_null(global_cpus(&g, 64));
	global_fini(&g);
	assert_null(global_cpus(&g, 63));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_section_has_the_defaults),
		cmocka_unit_test(options_exclude_pollers),
		cmocka_unit_test(threads_follow_the_cpus),
		cmocka_unit_test(threads_of_a_large_machine),
		cmocka_unit_test(workers_have_their_cpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
