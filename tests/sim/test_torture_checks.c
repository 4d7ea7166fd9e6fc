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
#include "sim/torture.h"
#include "unit/test.h"

#define PLAYED (400 * FAKE_MS)
#define AFTER (3 * FAKE_SEC)

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

	torture_end(out, c.w.k);
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

static void
play(struct outcome *out, const void *subject, const struct fault *f, int show)
{
	struct dice d = dice_seed(7);

	open_scenario(subject, &d);
	fake_trace_on(c.w.k, show);
	torture_begin(out, c.w.k, f);
	c.w.mem_faults = 1;
	check_world_run(&c, PLAYED);
	check_end(out, f);
	if (show)
		print_message("%s", fake_trace(c.w.k));
	out->bad = check_world_close(&c) < 0;
	snprintf(out->why, sizeof(out->why), "%s", c.w.why);
}

static void
test_torture(void **state)
{
	const struct scenario *sc = *state;
	struct torture t = { .name = sc->name, .subject = sc, .play = play };
	struct outcome clean;

	assert_int_equal(torture_play(&t, &clean), 0);
	assert_true(clean.calls > 50 && clean.allocs > 2);
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
