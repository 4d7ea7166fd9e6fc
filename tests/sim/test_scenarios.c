/*
 * Every scenario once, without faults: bytes, termination codes, system calls, nothing left open;
 * and the calls themselves against golden/NAME.txt. UPDATE_GOLDEN=1 rewrites those, to be
 * reviewed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/scenarios.h"
#include "unit/test.h"

#define GOLDEN "tests/sim/golden"
#define GOLDEN_MAX 65536
#define LIMIT (300 * FAKE_SEC)

static void
golden(struct world *w, const char *name)
{
	static char want[GOLDEN_MAX];
	char path[128];
	const char *got = fake_trace(w->k);
	size_t at = 0, line = 0;
	FILE *f;

	snprintf(path, sizeof(path), GOLDEN "/%s.txt", name);
	if (getenv("UPDATE_GOLDEN")) {
		f = fopen(path, "w");
		assert_non_null(f);
		fputs(got, f);
		fclose(f);
		return;
	}
	memset(want, 0, sizeof(want));
	f = fopen(path, "r");
	if (!f) {
		world_error(w, "%s: %s", path, strerror(errno));
		return;
	}
	(void)!fread(want, 1, sizeof(want) - 1, f);
	fclose(f);
	if (strcmp(want, got) == 0)
		return;
	while (want[at] && want[at] == got[at]) {
		line += want[at] == '\n';
		at++;
	}
	while (at && want[at - 1] != '\n')
		at--;
	world_error(w, "%s:%zu: was: %.*s, is: %.*s", path, line + 1, (int)strcspn(want + at, "\n"),
		    want + at, (int)strcspn(got + at, "\n"), got + at);
}

static void
check(struct world *w, const struct scenario *sc)
{
	unsigned int n = sc->n_clients ? sc->n_clients : 1;
	char terms[400];

	world_terms(w, terms, sizeof(terms));
	if (strcmp(terms, sc->terms) != 0)
		world_error(w, "ends are %s, not %s", terms, sc->terms);
	for (unsigned int i = 0; i < n; i++)
		if (w->client[i].got != sc->to_client && !strstr(sc->terms, "Q"))
			world_error(w, "client %u read %llu bytes, not %llu", i,
				    (unsigned long long)w->client[i].got,
				    (unsigned long long)sc->to_client);
	for (unsigned int i = 0; i < w->n_served; i++)
		if (w->served[i].got != sc->to_server && !sc->uneven)
			world_error(w, "the origin read %llu bytes, not %llu",
				    (unsigned long long)w->served[i].got,
				    (unsigned long long)sc->to_server);
	if (sc->max_ms && w->ended - w->opened > sc->max_ms * FAKE_MS)
		world_error(w, "took %llu ms, at most %u",
			    (unsigned long long)((w->ended - w->opened) / FAKE_MS), sc->max_ms);
	if (w->ended - w->opened < sc->min_ms * FAKE_MS)
		world_error(w, "took %llu ms, at least %u",
			    (unsigned long long)((w->ended - w->opened) / FAKE_MS), sc->min_ms);
	if (sc->max_calls && world_calls(w) > sc->max_calls)
		world_error(w, "%llu calls, at most %u", (unsigned long long)world_calls(w),
		    sc->max_calls);
}

static void
test_scenario(void **state)
{
	const struct scenario *sc = *state;
	static struct world w;
	uint64_t calls, segments;
	char *trace;

	if (scenario_open(&w, sc) < 0)
		fail_msg("%s", w.why);
	fake_trace_on(w.k, 1);
	for (unsigned int i = 0; i < (sc->n_clients ? sc->n_clients : 1); i++)
		world_client(&w, sc->client, 0);
	world_run(&w, LIMIT);
	check(&w, sc);
	if (sc->golden)
		golden(&w, sc->name);
	calls = world_calls(&w);
	segments = fake_segments(w.k) - w.segments_before;
	trace = strdup(fake_trace(w.k));
	if (world_close(&w) < 0) {
		print_message("%s\n%.6000s", sc->name, trace);
		free(trace);
		fail_msg("%s: %s", sc->name, w.why);
	}
	free(trace);
	if (getenv("SHOW_CALLS"))
		print_message("%-32s %4llu calls %4llu segments\n", sc->name,
		    (unsigned long long)calls,
			      (unsigned long long)segments);
}

/* Idle connections cost no calls, however long. */
static void
test_a_quiet_world_blocks(void **state)
{
	static const struct step steps[] = { { STEP_SEND, 100 }, { STEP_WAIT, 100 }, { STEP_PAUSE,
	    86400000 },
		{ STEP_CLOSE, 0 }, { STEP_END, 0 } };
	static const struct step answer[] = { { STEP_WAIT, 100 }, { STEP_SEND, 100 },
	    { STEP_WAIT_EOF, 0 },
		{ STEP_END, 0 } };
	static struct world w;

	(void)state;
	for (int mode = INTEREST_UNMERGED; mode <= INTEREST_EDGE; mode++) {
		struct world_config cfg = { .mode = (enum interest_mode)mode };
		uint64_t before;

		assert_int_equal(world_open(&w, &cfg), 0);
		w.origin_steps = answer;
		w.allow_del = 1;
		for (int i = 0; i < 30; i++)
			world_client(&w, steps, 0);
		world_run(&w, FAKE_SEC);
		assert_int_equal(w.engine.n_sessions, 30);
		assert_int_equal(w.engine.pools.buf.live, 0);
		before = fake_waits(w.k);
		world_run(&w, 86000 * FAKE_SEC);
		assert_int_equal(fake_waits(w.k) - before, 1);
		world_run(&w, 1000 * FAKE_SEC);
		if (world_close(&w) < 0)
			fail_msg("%s", w.why);
	}
}

int
main(void)
{
	struct CMUnitTest *tests = calloc(n_scenarios + 1, sizeof(*tests));
	unsigned int n = 0;
	int rc;

	assert_non_null(tests);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(test_a_quiet_world_blocks);
	for (unsigned int i = 0; i < n_scenarios; i++) {
		const char *only = getenv("SCENARIO");

		if (only && strcmp(only, scenarios[i].name) != 0)
			continue;
		tests[n] = (struct CMUnitTest)cmocka_unit_test(test_scenario);
		tests[n].name = scenarios[i].name;
		tests[n++].initial_state = (void *)(uintptr_t)&scenarios[i];
	}
	rc = _cmocka_run_group_tests("scenarios", tests, n, NULL, NULL);
	free(tests);
	return rc;
}
