/*
 * A whole process with its k-th system call failing, for all k from the first line of its
 * configuration to its end, and each way that call can fail; and with its k-th allocation failing.
 * It may refuse to start, or serve less; it never crashes, hangs, blocks, spins, or leaves a
 * descriptor open. A call that a signal interrupts changes nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/faults.h"
#include "sim/process_world.h"
#include "sim/torture.h"
#include "unit/test.h"

#define SCENARIOS 256

static struct process_world w;
static struct process_scenario sc;

/* The trace is compared only if nothing has failed but by a signal. connect() continues then, and a
 * wait that begins again knows how long the turn before it has taken. */
static int
is_to_be_the_same(const struct outcome *out)
{
	return (out->failed == SYS_CALLS && !faults_hit()) ||
		(out->err == EINTR && out->failed != SYS_CALL_connect &&
			out->failed != SYS_CALL_epoll_wait);
}

static void
play(struct outcome *out, const void *name, const struct fault *f, int show)
{
	struct process_script *script;

	if (process_scenario_read(&sc, name) < 0)
		fail_msg("%s", sc.why);
	process_world_open(&w);
	script = process_script_read(&w, sc.script);
	if (!script)
		fail_msg("%s", w.why);
	torture_begin(out, w.k, f);
	w.mem_faults = 1;
	if (process_world_start(&w, sc.config) == 0)
		process_world_run(&w);
	else if (fake_failed_call(w.k) != SYS_CALLS || faults_hit())
		w.why[0] = '\0';
	torture_end(out, w.k);
	if (is_to_be_the_same(out) && strcmp(w.trace.p ? w.trace.p : "", sc.trace) != 0)
		process_world_error(&w, "the trace is another one");
	if (show)
		print_message("%s", w.trace.p ? w.trace.p : "");
	out->bad = process_world_close(&w) < 0;
	snprintf(out->why, sizeof(out->why), "%s", w.why);
	process_script_free(&script);
}

static void
test_torture(void **state)
{
	struct torture t = { .name = *state, .subject = *state, .play = play };
	struct outcome clean;

	assert_int_equal(torture_play(&t, &clean), 0);
}

/* OpenSSL would have to read virtual time, and to make keys for each of thousands of worlds. */
static int
uses_tls(const char *name)
{
	if (process_scenario_read(&sc, name) < 0)
		fail_msg("%s", sc.why);
	return strstr(sc.config, "site.pem") != NULL;
}

/* True if the n-th scenario belongs to the part of all that TEST_PART names, such as 2of4. */
static int
is_in_part(unsigned int n)
{
	const char *part = getenv("TEST_PART");
	unsigned int i, parts;

	if (!part || !*part)
		return 1;
	if (sscanf(part, "%uof%u", &i, &parts) != 2 || i < 1 || i > parts)
		fail_msg("TEST_PART=%s: 1of4 is one", part);
	return n % parts == i - 1;
}

int
main(void)
{
	static char names[SCENARIOS][PROCESS_SCENARIO_NAME];
	static struct CMUnitTest tests[SCENARIOS];
	unsigned int n = process_scenario_names(names, SCENARIOS), used = 0;

	for (unsigned int i = 0; i < n; i++) {
		if (!is_in_part(i) || uses_tls(names[i]))
			continue;
		tests[used] = (struct CMUnitTest)cmocka_unit_test(test_torture);
		tests[used].name = names[i];
		tests[used++].initial_state = names[i];
	}
	return _cmocka_run_group_tests("torture of a process", tests, used, NULL, NULL);
}
