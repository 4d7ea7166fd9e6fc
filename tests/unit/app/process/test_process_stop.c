#include <stdio.h>
#include <string.h>

#include <errno.h>
#include <signal.h>

#include "unit/app/app_rig.h"
#include "unit/test.h"

/* A running worker with one session; its two ends are returned. */
static int client, server;

static void
with_session(const char *global)
{
	bench_start(global, "");
	client = bench_connect("front");
	assert_int_equal(send(client, "x", 1, 0), 1);
	bench_turns();
	server = accept(origin, NULL, NULL);
	assert_true(server >= 0);
	assert_int_equal(w->engine.n_sessions, 1);
}

static void
finish(void)
{
	close(client);
	close(server);
	bench_close();
}

static void
soft_stop(void **state)
{
	char byte;

	(void)state;
	with_session("");
	process_on_signal(&proc, SIGUSR1, 0);
	assert_int_equal(proc.state, PROCESS_STOPPING);
	assert_int_equal(proc.exit_signal, SIGUSR1);
	assert_int_equal(bench_connect("front"), -1);
	/* the session is still forwarded */
	assert_int_equal(recv(server, &byte, 1, 0), 1);
	assert_int_equal(send(server, "y", 1, 0), 1);
	bench_turns();
	assert_int_equal(recv(client, &byte, 1, 0), 1);
	assert_int_equal(byte, 'y');
	/* a second signal changes nothing */
	process_on_signal(&proc, SIGUSR1, 0);
	assert_int_equal(proc.state, PROCESS_STOPPING);
	close(client);
	close(server);
	process_run(&proc);
	assert_int_equal(w->engine.n_sessions, 0);
	bench_close();
}

static void
hard_stop(void **state)
{
	char byte;
	ssize_t r;

	(void)state;
	with_session("");
	process_on_signal(&proc, SIGTERM, 0);
	assert_int_equal(proc.state, PROCESS_KILLING);
	process_run(&proc);
	assert_int_equal(w->engine.n_sessions, 0);
	r = recv(client, &byte, 1, 0);
	assert_true(r == 0 || (r < 0 && errno == ECONNRESET));
	finish();
}

static void
second_signal(void **state)
{
	(void)state;
	with_session("");
	process_on_signal(&proc, SIGINT, 0);
	process_on_signal(&proc, SIGTERM, 0);
	assert_int_equal(proc.state, PROCESS_GONE);
	process_run(&proc);
	bench_turns();
	finish();
}

static void
hard_stop_after(void **state)
{
	(void)state;
	with_session("hard-stop-after 20ms");
	process_on_signal(&proc, SIGUSR1, 0);
	assert_int_equal(proc.state, PROCESS_STOPPING);
	process_run(&proc);
	assert_int_equal(proc.state, PROCESS_KILLING);
	assert_int_equal(w->engine.n_sessions, 0);
	finish();
}

static void
grace(void **state)
{
	int c;

	(void)state;
	with_session("grace 30ms");
	process_on_signal(&proc, SIGUSR1, 0);
	assert_int_equal(proc.state, PROCESS_GRACE);
	/* rules, which may make a monitor-uri fail, see it at once */
	assert_int_equal(proc.shared.is_stopping, 1);
	/* it still accepts */
	c = bench_connect("front");
	assert_true(c >= 0);
	close(c);
	while (proc.state == PROCESS_GRACE)
		bench_turns();
	assert_int_equal(proc.state, PROCESS_STOPPING);
	assert_int_equal(bench_connect("front"), -1);
	close(client);
	close(server);
	/* else the second session waits for its server until timeout server */
	close(accept(origin, NULL, NULL));
	process_run(&proc);
	bench_close();
	/* a second signal ends the grace period */
	with_session("grace 1h");
	process_on_signal(&proc, SIGUSR1, 0);
	process_on_signal(&proc, SIGUSR1, 0);
	assert_int_equal(proc.state, PROCESS_STOPPING);
	process_on_signal(&proc, SIGTERM, 0);
	process_run(&proc);
	finish();
}

static void
a_process_that_is_replaced_has_no_grace(void **state)
{
	struct proxy *px;

	(void)state;
	with_session("grace 1h");
	px = list_first(&cfg.proxies.all, struct proxy, link);
	list_each(it, &list_first(&px->binds, struct bind_conf, link)->listeners)
		list_entry(it, struct listener, link)->kept_open = LISTENER_KEPT_NEXT;
	process_on_signal(&proc, SIGUSR1, 0);
	assert_int_equal(proc.state, PROCESS_STOPPING);
	assert_int_equal(proc.shared.is_stopping, 1);
	close(client);
	close(server);
	process_run(&proc);
	bench_close();
}

static void
other_signals_are_ignored(void **state)
{
	static const int sigs[] = { SIGHUP, SIGQUIT, SIGUSR2, SIGWINCH };

	(void)state;
	with_session("");
	for (size_t i = 0; i < ARRAY_LEN(sigs); i++)
		process_on_signal(&proc, sigs[i], 0);
	assert_int_equal(proc.state, PROCESS_RUNNING);
	assert_int_equal(proc.exit_signal, 0);
	process_on_signal(&proc, SIGTERM, 0);
	process_run(&proc);
	finish();
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(soft_stop),
		cmocka_unit_test(hard_stop), cmocka_unit_test(second_signal),
		cmocka_unit_test(hard_stop_after), cmocka_unit_test(grace),
		cmocka_unit_test(a_process_that_is_replaced_has_no_grace),
		cmocka_unit_test(other_signals_are_ignored) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
