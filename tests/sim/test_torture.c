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
#include "unit/test.h"

#define LIMIT (300 * FAKE_SEC)
#define ERRORS_MAX 8
#define REPORTS_MAX 5
#define AGAIN 3

struct fault {
	uint64_t call;       /* the nth one, 0: none */
	unsigned int choice; /* of its errors */
	unsigned int again;  /* number of later calls of its name that fail too */
	uint64_t alloc;      /* the nth one, 0: none */
};

struct outcome {
	int bad;
	uint64_t calls, allocs;
	enum sys_call failed;
	int err;
	char why[500];
	char terms[400];
};

static struct world w;

static void
check_outcome(struct outcome *out, const struct scenario *sc, const struct fault *f)
{
	int harmless = out->failed != SYS_CALLS && (out->err == EAGAIN || out->err == EINTR) &&
		       out->failed != SYS_CALL_connect;

	/* the reset at the end is what fails then */
	w.non_strict = out->failed == SYS_CALL_setsockopt;
	world_terms(&w, out->terms, sizeof(out->terms));
	if (!harmless && (f->call || f->alloc))
		return;
	if (sc->any_order ? strlen(out->terms) != strlen(sc->terms)
			  : strcmp(out->terms, sc->terms) != 0)
		world_error(&w, "ends are %s, not %s", out->terms, sc->terms);
	for (unsigned int i = 0; i < w.n_clients; i++)
		if (w.client[i].got != sc->to_client && !strstr(sc->terms, "Q"))
			world_error(&w, "client %u read %llu bytes", i,
				    (unsigned long long)w.client[i].got);
}

static void
play(struct outcome *out, const struct scenario *sc, const struct fault *f, int show)
{
	uint64_t before;

	memset(out, 0, sizeof(*out));
	if (scenario_open(&w, sc) < 0)
		fail_msg("%s", w.why);
	fake_trace_on(w.k, show);
	before = fake_calls(w.k);
	if (f->call)
		fake_torture(w.k, before + f->call, f->choice);
	fake_fail_again(w.k, f->again);
	faults_set(f->alloc);
	faults_set_again(f->again);
	w.mem_faults = 1;
	for (unsigned int i = 0; i < (sc->n_clients ? sc->n_clients : 1); i++)
		world_client(&w, sc->client, 0);
	world_run(&w, LIMIT);
	out->calls = fake_calls(w.k) - before;
	out->allocs = faults_counted();
	out->failed = fake_failed_call(w.k);
	out->err = fake_failed_errno(w.k);
	fake_fail(w.k, FAKE_ANY_CALL, 0, 0);
	check_outcome(out, sc, f);
	if (show)
		print_message("%s", fake_trace(w.k));
	out->bad = world_close(&w) < 0;
	snprintf(out->why, sizeof(out->why), "%s", w.why);
}

static void
report(const struct scenario *sc, const struct fault *f, const struct outcome *out)
{
	struct outcome again;

	if (f->alloc)
		print_message("%s: allocation %llu fails: %s (%s)\n", sc->name,
			      (unsigned long long)f->alloc, out->why, out->terms);
	else
		print_message("%s: call %llu, %s, fails with %s, %u times more: %s (%s)\n",
			      sc->name, (unsigned long long)f->call, ledger_name(out->failed),
			      strerrorname_np(out->err), f->again, out->why, out->terms);
	if (getenv("SCENARIO"))
		play(&again, sc, f, 1);
}

/* The k-th call for all k, in every way it can fail, once and repeatedly. */
static int
fail_calls(const struct scenario *sc, uint64_t calls, unsigned int again)
{
	struct fault f = { .again = again };
	struct outcome out;
	int bad = 0;

	for (f.call = 1; f.call <= calls; f.call++)
		for (f.choice = 0; f.choice < ERRORS_MAX && bad < REPORTS_MAX; f.choice++) {
			play(&out, sc, &f, 0);
			if (out.failed == SYS_CALLS)
				break;
			if (out.bad && ++bad)
				report(sc, &f, &out);
		}
	return bad;
}

static int
fail_allocations(const struct scenario *sc, uint64_t allocs, unsigned int again)
{
	struct fault f = { .again = again };
	struct outcome out;
	int bad = 0;

	for (f.alloc = 1; f.alloc <= allocs && bad < REPORTS_MAX; f.alloc++) {
		play(&out, sc, &f, 0);
		if (out.bad && ++bad)
			report(sc, &f, &out);
	}
	return bad;
}

static void
test_torture(void **state)
{
	const struct scenario *sc = *state;
	struct fault none = { 0 };
	struct outcome clean;
	int bad = 0;

	play(&clean, sc, &none, 0);
	if (clean.bad)
		fail_msg("%s: %s", sc->name, clean.why);
	bad += fail_calls(sc, clean.calls, 0);
	bad += fail_calls(sc, clean.calls, AGAIN);
	bad += fail_allocations(sc, clean.allocs, 0);
	bad += fail_allocations(sc, clean.allocs, AGAIN);
	if (getenv("SHOW_CALLS"))
		print_message("%-32s %llu calls, %llu allocations\n", sc->name,
			      (unsigned long long)clean.calls, (unsigned long long)clean.allocs);
	assert_int_equal(bad, 0);
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
