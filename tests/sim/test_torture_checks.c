/*
 * Checks of each kind with their k-th system call failing, for all k and each way that call can
 * fail, and with their k-th allocation failing, for all k; alone, and with the next ones of its
 * kind. Checks continue after any failure: a server that answers is up again soon, nothing leaks,
 * and no session goes to a server that is down.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/check/checker.h"
#include "sim/check_world.h"
#include "sim/faults.h"
#include "unit/test.h"

#define PLAYED (400 * FAKE_MS)
#define AFTER (3 * FAKE_SEC)
#define ERRORS_MAX 8
#define REPORTS_MAX 5
#define AGAIN 3

struct scenario {
	const char *name;
	enum check_how how;
	uint64_t one_way_ms;
	unsigned int check_ms;
	/* The outcomes of the first checks of the first server; all others pass. */
	enum check_try_kind kinds[4];
	unsigned int n_kinds;
};

static const struct scenario scenarios[] = {
	{ "near", TRY_CONNECT, 0, 0, { TRY_WHOLE, TRY_REFUSED }, 2 },
	{ "far", TRY_CONNECT, 7, 0, { TRY_WHOLE, TRY_REFUSED, TRY_BLACKHOLE }, 3 },
	{ "tcp", TRY_TCP, 0, 0, { TRY_PIECES, TRY_WRONG_PIECES, TRY_CUT_RESET }, 3 },
	{ "far tcp", TRY_TCP, 7, 80, { TRY_PIECES, TRY_CLOSE, TRY_SILENT }, 3 },
	{ "http", TRY_HTTP, 0, 0, { TRY_PIECES, TRY_WRONG, TRY_CUT, TRY_RESET }, 4 },
	{ "http2", TRY_HTTP2, 0, 0, { TRY_PIECES, TRY_WRONG, TRY_CUT, TRY_RESET }, 4 },
	{ "far http2", TRY_HTTP2, 7, 80, { TRY_WHOLE, TRY_LATE, TRY_CUT_RESET }, 3 },
	{ "far http", TRY_HTTP, 7, 80, { TRY_WHOLE, TRY_LATE, TRY_FAR_LATE }, 3 },
};

struct fault {
	uint64_t call;       /* the nth one, 0: none */
	unsigned int choice; /* of its errors */
	unsigned int again;  /* number of later calls of its name that fail too */
	uint64_t alloc;      /* the nth one, 0: none */
};

struct outcome {
	uint64_t calls, allocs;
	enum sys_call failed;
	int err;
	char why[500];
};

static struct check_world c;
static const struct scenario *playing;

static enum check_try_kind
choose(struct check_world *w, unsigned int server, uint64_t *one_way)
{
	unsigned int n = w->srv[server].n_tries - 1;

	*one_way = playing->one_way_ms * FAKE_MS;
	return server == 0 && n < playing->n_kinds ? playing->kinds[n] : TRY_WHOLE;
}

static const struct step client_steps[] = { { STEP_SEND, 20 }, { STEP_SHUT, 0 },
	{ STEP_WAIT_EOF, 0 }, { STEP_CLOSE, 0 } };
static const struct step origin_steps[] = { { STEP_WAIT, 20 }, { STEP_SEND, 20 },
	{ STEP_WAIT_EOF, 0 }, { STEP_CLOSE, 0 } };

static void
client_arrives(struct fake *k, void *arg)
{
	(void)k;
	(void)arg;
	(void)world_client(&c.w, client_steps, 0);
}

static void
open_scenario(const struct scenario *sc, struct dice *d)
{
	struct check_plan plan = { .how = sc->how, .choose = choose,
		.limits = { .connect = 60, .check = sc->check_ms } };
	struct world_config cfg = { .mode = INTEREST_EDGE, .n_servers = 2,
		.to = { .client = 3000000, .server = 3000000, .queue = 3000000 } };

	playing = sc;
	for (unsigned int i = 0; i < cfg.n_servers; i++)
		plan.server[i] = (struct check_model){ .rise = 2, .fall = 1, .inter = 50,
			.fastinter = 30, .downinter = 40 };
	if (check_world_open(&c, &cfg, &plan, d) < 0)
		fail_msg("%s", c.w.why);
	c.w.origin_steps = origin_steps;
	for (unsigned int i = 0; i < 4; i++)
		fake_after(c.w.k, i * PLAYED / 4, client_arrives, NULL);
}

/* When nothing fails any more both servers are up. */
static void
check_end(struct outcome *out, const struct fault *f)
{
	char buf[160];

	out->calls = fake_calls(c.w.k) - out->calls;
	out->allocs = faults_counted();
	out->failed = fake_failed_call(c.w.k);
	out->err = fake_failed_errno(c.w.k);
	fake_fail(c.w.k, FAKE_ANY_CALL, 0, 0);
	faults_set(0);
	c.w.non_strict = 1;
	if (!c.checker && !f->alloc)
		world_error(&c.w, "there is no checker");
	check_world_run(&c, AFTER);
	for (unsigned int i = 0; i < 2; i++) {
		const char *status = check_world_status(&c, i, buf);

		if (strcmp(status, "UP") != 0)
			world_error(&c.w, "server %u is '%s' in the end", i, status);
	}
}

static int
play(struct outcome *out, const struct scenario *sc, const struct fault *f, int show)
{
	struct dice d = dice_seed(7);
	int bad;

	memset(out, 0, sizeof(*out));
	open_scenario(sc, &d);
	fake_trace_on(c.w.k, show);
	out->calls = fake_calls(c.w.k);
	if (f->call)
		fake_torture(c.w.k, out->calls + f->call, f->choice);
	fake_fail_again(c.w.k, f->again);
	faults_set(f->alloc);
	faults_set_again(f->again);
	c.w.mem_faults = 1;
	check_world_run(&c, PLAYED);
	check_end(out, f);
	if (show)
		print_message("%s", fake_trace(c.w.k));
	bad = check_world_close(&c) < 0;
	snprintf(out->why, sizeof(out->why), "%s", c.w.why);
	return bad;
}

static void
report(const struct scenario *sc, const struct fault *f, const struct outcome *out)
{
	struct outcome again;

	if (f->alloc)
		print_message("%s: allocation %llu fails: %s\n", sc->name,
			(unsigned long long)f->alloc, out->why);
	else
		print_message("%s: call %llu, %s, fails with %s, %u times more: %s\n", sc->name,
			(unsigned long long)f->call, ledger_name(out->failed),
			strerrorname_np(out->err), f->again, out->why);
	if (getenv("SCENARIO"))
		play(&again, sc, f, 1);
}

static int
fail_calls(const struct scenario *sc, uint64_t calls, unsigned int again)
{
	struct fault f = { .again = again };
	struct outcome out;
	int bad = 0;

	for (f.call = 1; f.call <= calls; f.call++)
		for (f.choice = 0; f.choice < ERRORS_MAX && bad < REPORTS_MAX; f.choice++) {
			int is_bad = play(&out, sc, &f, 0);

			if (out.failed == SYS_CALLS)
				break;
			if (is_bad && ++bad)
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

	for (f.alloc = 1; f.alloc <= allocs && bad < REPORTS_MAX; f.alloc++)
		if (play(&out, sc, &f, 0) && ++bad)
			report(sc, &f, &out);
	return bad;
}

static void
test_torture(void **state)
{
	const struct scenario *sc = *state;
	struct fault none = { 0 };
	struct outcome clean;
	int bad = 0;

	if (play(&clean, sc, &none, 0))
		fail_msg("%s: %s", sc->name, clean.why);
	if (getenv("SHOW_CALLS"))
		print_message("%s: %llu calls, %llu allocations\n", sc->name,
			(unsigned long long)clean.calls, (unsigned long long)clean.allocs);
	assert_true(clean.calls > 50 && clean.allocs > 2);
	bad += fail_calls(sc, clean.calls, 0);
	bad += fail_calls(sc, clean.calls, AGAIN);
	bad += fail_allocations(sc, clean.allocs, 0);
	bad += fail_allocations(sc, clean.allocs, AGAIN);
	assert_int_equal(bad, 0);
}

int
main(void)
{
	static struct CMUnitTest tests[ARRAY_LEN(scenarios)];
	const char *only = getenv("SCENARIO");
	unsigned int n = 0;

	for (unsigned int i = 0; i < ARRAY_LEN(scenarios); i++) {
		if (only && strcmp(only, scenarios[i].name) != 0)
			continue;
		tests[n] = (struct CMUnitTest)cmocka_unit_test(test_torture);
		tests[n].name = scenarios[i].name;
		tests[n++].initial_state = (void *)(uintptr_t)&scenarios[i];
	}
	return _cmocka_run_group_tests("torture of checks", tests, n, NULL, NULL);
}
