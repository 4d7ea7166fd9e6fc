/*
 * A process in virtual time: each text of tests/sim/process (sim/process_world.h) is played, and
 * its trace must be the one in the file. UPDATE_GOLDEN=1 writes those again, for review;
 * SCENARIO=NAME plays one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include "sim/process_world.h"
#include "unit/test.h"

#define SCENARIOS 256

static char names[SCENARIOS][PROCESS_SCENARIO_NAME];

/* The clock that OpenSSL reads is that of the world. */
static struct fake *clock_of;

/* The C library's functions, for all libraries of this program. */
int
gettimeofday(struct timeval *tv, void *zone)
{
	struct timespec ts;

	(void)zone;
	if (clock_of)
		(void)sys_fake.clock_gettime(clock_of, CLOCK_REALTIME, &ts);
	else
		(void)clock_gettime(CLOCK_REALTIME, &ts);
	*tv = (struct timeval){ ts.tv_sec, ts.tv_nsec / 1000 };
	return 0;
}

time_t
time(time_t *out)
{
	struct timeval tv;

	(void)gettimeofday(&tv, NULL);
	if (out)
		*out = tv.tv_sec;
	return tv.tv_sec;
}

static void
compare_trace(struct process_world *w, const char *want, const char *got)
{
	unsigned int line = 1;
	size_t begin = 0, at = 0;

	if (strcmp(got, want) == 0)
		return;
	for (; want[at] && want[at] == got[at]; at++)
		if (want[at] == '\n') {
			line++;
			begin = at + 1;
		}
	process_world_error(w, "line %u of the trace\n was: %.*s\n  is: %.*s", line,
		(int)strcspn(want + begin, "\n"), want + begin, (int)strcspn(got + begin, "\n"),
		got + begin);
}

static void
test_scenario(void **state)
{
	static struct process_world w;
	static struct process_scenario sc;
	struct process_script *script;
	const char *trace;

	if (process_scenario_read(&sc, *state) < 0)
		fail_msg("%s", sc.why);
	process_world_open(&w);
	clock_of = w.k;
	script = process_script_read(&w, sc.script);
	if (script && process_world_start(&w, sc.config) == 0) {
		process_world_run(&w);
		trace = w.trace.p ? w.trace.p : "";
		if (!getenv("UPDATE_GOLDEN"))
			compare_trace(&w, sc.trace, trace);
		else if (process_scenario_write(&sc, trace) < 0)
			process_world_error(&w, "%s", sc.why);
		if (w.why[0])
			print_message("%s\n", w.trace.p);
	}
	(void)!process_world_close(&w);
	clock_of = NULL;
	process_script_free(&script);
	if (w.why[0])
		fail_msg("%s: %s", sc.path, w.why);
}

static void
test_there_are_scenarios(void **state)
{
	(void)state;
	assert_true(names[0][0]);
}

int
main(void)
{
	static struct CMUnitTest tests[SCENARIOS + 1] = {
		cmocka_unit_test(test_there_are_scenarios),
	};
	unsigned int n = process_scenario_names(names, SCENARIOS);

	for (unsigned int i = 0; i < n; i++) {
		tests[i + 1] = (struct CMUnitTest)cmocka_unit_test(test_scenario);
		tests[i + 1].name = names[i];
		tests[i + 1].initial_state = names[i];
	}
	return _cmocka_run_group_tests("process scenarios", tests, n + 1, NULL, NULL);
}
