/*
 * Every scenario again with its k-th system call failing, for all k and each way that call can
 * fail, and with its k-th allocation failing, for all k; alone, and with the next ones of its
 * kind. What must hold then: nothing crashes, hangs or leaks, no byte is wrong, no stream is cut
 * short and looks complete. A call that only fails with "again" must change nothing at all.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/faults.h"
#include "sim/scenarios.h"
#include "sim/torture.h"
#include "unit/test.h"

#define LIMIT (300 * FAKE_SEC)

static struct world w;

static void
check_outcome(const struct outcome *out, const struct scenario *sc, const struct fault *f)
{
	int harmless = out->failed != SYS_CALLS && (out->err == EAGAIN || out->err == EINTR) &&
		       out->failed != SYS_CALL_connect;
	char terms[400];

	/* the reset at the end is what fails then */
	w.non_strict = out->failed == SYS_CALL_setsockopt;
	world_terms(&w, terms, sizeof(terms));
	if (!harmless && (f->call || f->alloc))
		return;
	if (sc->any_order ? strlen(terms) != strlen(sc->terms)
			  : strcmp(terms, sc->terms) != 0)
		world_error(&w, "ends are %s, not %s", terms, sc->terms);
	for (unsigned int i = 0; i < w.n_clients; i++)
		if (w.client[i].got != sc->to_client && !strstr(sc->terms, "Q"))
			world_error(&w, "client %u read %llu bytes", i,
				    (unsigned long long)w.client[i].got);
}

static void
play(struct outcome *out, const void *subject, const struct fault *f, int show)
{
	const struct scenario *sc = subject;
	char terms[400];

	if (scenario_open(&w, sc) < 0)
		fail_msg("%s", w.why);
	fake_trace_on(w.k, show);
	torture_begin(out, w.k, f);
	w.mem_faults = 1;
	for (unsigned int i = 0; i < (sc->n_clients ? sc->n_clients : 1); i++)
		world_client(&w, sc->client, 0);
	world_run(&w, LIMIT);
	torture_end(out, w.k);
	check_outcome(out, sc, f);
	if (show)
		print_message("%s", fake_trace(w.k));
	world_terms(&w, terms, sizeof(terms));
	out->bad = world_close(&w) < 0;
	snprintf(out->why, sizeof(out->why), "%s (%s)", w.why, terms);
}

static void
test_torture(void **state)
{
	const struct scenario *sc = *state;
	struct torture t = { .name = sc->name, .subject = sc, .play = play };
	struct outcome clean;

	assert_int_equal(torture_play(&t, &clean), 0);
}

int
main(void)
{
	static struct CMUnitTest tests[512];
	const char *only = getenv("SCENARIO");
	unsigned int n = 0;

	for (unsigned int i = 0; i < n_scenarios; i++) {
		if (scenarios[i].no_torture || (only && strcmp(only, scenarios[i].name) != 0))
			continue;
		tests[n] = (struct CMUnitTest)cmocka_unit_test(test_torture);
		tests[n].name = scenarios[i].name;
		tests[n++].initial_state = (void *)(uintptr_t)&scenarios[i];
	}
	return _cmocka_run_group_tests("torture", tests, n, NULL, NULL);
}
