/* shutdown session, shutdown sessions server. */
#include "unit/app/app_rig.h"

static int c[3], s[3];

static int
setup(void **st)
{
	(void)st;
	rig_open("nbthread 1", "");
	for (int i = 0; i < 3; i++) {
		c[i] = bench_connect("front");
		bench_turns();
		s[i] = accept(origin, NULL, NULL);
		assert_true(s[i] >= 0);
	}
	assert_int_equal(w->engine.n_sessions, 3);
	return 0;
}

static int
teardown(void **st)
{
	(void)st;
	for (int i = 0; i < 3; i++) {
		close(c[i]);
		close(s[i]);
	}
	bench_turns();
	rig_close();
	return 0;
}

static void
shutdown_session_ends_one_session(void **st)
{
	const struct stream *second = list_entry(w->engine.streams.next->next, struct stream,
						  link);
	char line[64];

	(void)st;
	snprintf(line, sizeof(line), "shutdown session 0x%llx", (unsigned long long)second->id);
	assert_string_equal(rig_command(line), "\n");
	bench_turns();
	assert_int_equal(w->engine.n_sessions, 2);
	assert_non_null(strstr(rig_command(line), "No such session"));
}

static void
shutdown_sessions_ends_all_on_a_server(void **st)
{
	(void)st;
	assert_non_null(strstr(rig_command("shutdown sessions server l/other"), "No such server"));
	assert_int_equal(w->engine.n_sessions, 3);
	assert_string_equal(rig_command("shutdown sessions server l/s"), "\n");
	bench_turns();
	assert_int_equal(w->engine.n_sessions, 0);
}

static void
invalid_arguments_are_reported(void **st)
{
	(void)st;
	assert_non_null(strstr(rig_command("shutdown session"), "Session pointer expected"));
	assert_non_null(strstr(rig_command("shutdown session zzz"), "Session pointer expected"));
	assert_non_null(strstr(rig_command("shutdown session 0"), "Session pointer expected"));
	assert_non_null(strstr(rig_command("shutdown session 0x99"), "No such session"));
	assert_non_null(strstr(rig_command("shutdown sessions server l"), "backend/server"));
	assert_int_equal(w->engine.n_sessions, 3);
}

static void
needs_the_admin(void **st)
{
	(void)st;
	assert_non_null(strstr(rig_run(BIND_OPERATOR, "shutdown sessions server l/s"),
		"Permission denied"));
	assert_int_equal(w->engine.n_sessions, 3);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(shutdown_session_ends_one_session),
		CASE(shutdown_sessions_ends_all_on_a_server),
		CASE(invalid_arguments_are_reported),
		CASE(needs_the_admin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
