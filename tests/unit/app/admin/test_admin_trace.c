/* trace and show trace: enabling, disabling, and what is recorded. */
#include "unit/app/app_rig.h"

static void
nothing_is_recorded_before_trace_on(void **st)
{
	(void)st;
	rig_forward_hello();
	assert_string_equal(rig_command("show trace"), "level: off, records so far: 0\n\n");
	assert_null(w->trace.ring);
}

static void
changes_of_state_are_recorded(void **st)
{
	const char *a;

	(void)st;
	assert_string_equal(rig_command("trace state"), "\n");
	assert_int_equal(w->trace.level, TRACE_STATE);
	rig_forward_hello();
	a = rig_command("show trace");
	rig_check_shape(a);
	assert_int_equal(strncmp(a, "level: state, records so far: ", 30), 0);
	assert_int_equal(rig_lines(a), 1 + w->trace.seq);
	assert_true(w->trace.seq >= 4);
	assert_non_null(strstr(a, "ACCEPTED"));
	assert_non_null(strstr(a, "BOTH_CLOSED"));
	assert_int_equal(rig_lines(rig_command("show trace 2")), 1 + 2);
	/* After "trace off" the recorded lines stay. */
	assert_string_equal(rig_command("trace off"), "\n");
	rig_forward_hello();
	assert_non_null(strstr(rig_command("show trace"), "ACCEPTED"));
	assert_string_equal(rig_command("trace clear"), "\n");
	assert_int_equal(rig_lines(rig_command("show trace")), 1);
}

static void
one_session_can_be_selected(void **st)
{
	(void)st;
	assert_string_equal(rig_command("trace state 0x2"), "\n");
	assert_int_equal(w->trace.only, 2);
	rig_forward_hello();
	assert_int_equal(w->trace.seq, 0);
	rig_forward_hello();
	assert_true(w->trace.seq > 0);
}

static void
arguments_are_checked(void **st)
{
	static const char *const bad[] = { "trace", "trace loud", "trace state 0", "trace state x",
					   "trace state 0x1z", "trace STATE" };
	static const char *const counts[] = { "0", "-1", "x", "5x", "99999999999" };

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		assert_int_equal(strncmp(rig_command(bad[i]), "trace: expects", 14), 0);
		assert_int_equal(w->trace.level, TRACE_OFF);
	}
	for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
		char line[64];

		snprintf(line, sizeof(line), "show trace %s", counts[i]);
		assert_int_equal(strncmp(rig_command(line), "show trace: expects", 19), 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_CASE(nothing_is_recorded_before_trace_on),
		RIG_CASE(changes_of_state_are_recorded),
		RIG_CASE(one_session_can_be_selected),
		RIG_CASE(arguments_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
