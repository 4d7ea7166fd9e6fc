#include <stdio.h>
#include <string.h>

#include "unit/app/app_rig.h"
#include "unit/test.h"

static void
forwards(void **state)
{
	char buf[16] = "";
	int c, s;

	(void)state;
	bench_start("", "");
	assert_int_equal(proc.state, PROCESS_RUNNING);
	c = bench_connect("front");
	assert_true(c >= 0);
	assert_int_equal(send(c, "hello", 5, 0), 5);
	bench_turns();
	s = accept(origin, NULL, NULL);
	assert_true(s >= 0);
	assert_int_equal(recv(s, buf, sizeof(buf), 0), 5);
	assert_string_equal(buf, "hello");
	assert_int_equal(w->engine.n_sessions, 1);
	assert_int_equal(w->engine.stat.cum_conns, 1);
	close(s);
	close(c);
	bench_turns();
	assert_int_equal(w->engine.n_sessions, 0);
	bench_close();
}

/* At maxconn every frontend stops accepting; it resumes when one session has ended. */
static void
maxconn_of_the_process(void **state)
{
	int c[3], s[3];

	(void)state;
	bench_start("maxconn 2", "");
	for (int i = 0; i < 3; i++)
		c[i] = bench_connect("front");
	bench_turns();
	assert_int_equal(w->engine.n_sessions, 2);
	assert_true(w->full);
	for (int i = 0; i < 2; i++)
		s[i] = accept(origin, NULL, NULL);
	close(c[0]);
	close(s[0]);
	bench_turns();
	assert_int_equal(w->engine.stat.cum_conns, 3);
	assert_int_equal(w->engine.n_sessions, 2);
	assert_true(w->full);
	s[2] = accept(origin, NULL, NULL);
	for (int i = 1; i < 3; i++) {
		close(c[i]);
		close(s[i]);
	}
	bench_turns();
	assert_int_equal(w->engine.n_sessions, 0);
	assert_false(w->full);
	bench_close();
}

/* No descriptor stays open. */
static void
leaves_nothing(void **state)
{
	int before = dup(0), after;

	(void)state;
	close(before);
	for (int i = 0; i < 3; i++) {
		bench_start("stats socket unix@adm", "");
		bench_turns();
		bench_close();
	}
	unlink("adm");
	after = dup(0);
	close(after);
	assert_int_equal(before, after);
}

static void
named(void **state)
{
	(void)state;
	assert_int_equal(bench_open("node other", ""), 0);
	assert_string_equal(proc.node, "other");
	assert_true(proc.hostname[0] != '\0');
	bench_close();
	assert_int_equal(bench_open("", ""), 0);
	assert_string_equal(proc.node, proc.hostname);
	bench_close();
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(forwards),
		cmocka_unit_test(maxconn_of_the_process), cmocka_unit_test(leaves_nothing),
		cmocka_unit_test(named) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
