/*
 * Worlds by chance, each a seed: SEED=n plays one of them (SHOW=1 with its calls), SEEDS=n so many
 * instead of the usual number. What fails prints its seed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sim/chance.h"

#define SEEDS 2000
#define CLIENTS 24
#define BYTES 200000
#define REPORTS_MAX 10

struct totals {
	unsigned int worlds, kind, clients, bad;
	uint64_t bytes, spliced, stream_waits, calls, buf_waits, memory_holds, zerocopied;
	uint32_t rows[SESSION_STATES];
};

static void
play(uint64_t seed, int show, struct totals *t)
{
	struct dice d = dice_seed(seed);
	struct chance_result r;
	int bad = chance_play(&d, CLIENTS, BYTES, show, &r);

	t->worlds++;
	t->kind += (unsigned int)r.kind;
	t->clients += r.clients;
	t->bytes += r.bytes;
	t->spliced += r.spliced;
	t->stream_waits += r.stream_waits;
	t->calls += r.calls;
	t->buf_waits += r.buf_waits;
	t->zerocopied += r.zerocopied;
	t->memory_holds += r.memory_holds;
	for (int i = 0; i < SESSION_STATES; i++)
		t->rows[i] |= r.rows[i];
	if (!bad)
		return;
	t->bad++;
	print_message("SEED=%llu: %s\n", (unsigned long long)seed, r.why);
}

static uint64_t
number(const char *name, uint64_t otherwise)
{
	const char *s = getenv(name);

	return s && *s ? strtoull(s, NULL, 10) : otherwise;
}

/*
 * Rows that are there by law and that nothing raises: states that end within the turn are not
 * killed, and a client that goes is the halves' business once there is a server.
 */
static int
row_is_spare(enum session_state st, enum session_event ev)
{
	/* These worlds are in mode tcp. */
	if (st == SESSION_READ || st == SESSION_REPLY || ev == SESSION_EV_OPENED ||
		ev == SESSION_EV_ANSWER ||
		ev == SESSION_EV_AGAIN || ev == SESSION_EV_EXCHANGED || ev == SESSION_EV_EARLY)
		return 1;
	if (ev == SESSION_EV_KILL)
		return !session_state_is_resting(st);
	return st == SESSION_RELAY && ev == SESSION_EV_CLIENT_GONE;
}

/* Rows of the session table that no world came by. */
static unsigned int
rows_not_taken(const struct totals *t)
{
	unsigned int n = 0;
	struct fsm_row row;

	for (enum session_state st = 0; st < SESSION_STATES; st++)
		for (enum session_event ev = 0; ev < SESSION_EVENTS; ev++) {
			if (t->rows[st] >> ev & 1 || row_is_spare(st, ev) ||
			    fsm_session_row(st, ev, &row) < 0)
				continue;
			print_message("never: %s in %s\n", session_event_name(ev),
				      session_state_name(st));
			n++;
		}
	return n;
}

static void
test_worlds_by_chance(void **state)
{
	uint64_t one = number("SEED", 0), n = number("SEEDS", SEEDS);
	struct totals t = { 0 };

	(void)state;
	if (one) {
		play(one, getenv("SHOW") != NULL, &t);
	} else {
		for (uint64_t seed = 1; seed <= n && t.bad < REPORTS_MAX; seed++)
			play(seed, 0, &t);
	}
	print_message("%u worlds (%u of them kind), %u clients, %llu bytes, %llu spliced, "
		      "%llu calls\n",
		      t.worlds, t.kind, t.clients, (unsigned long long)t.bytes,
		      (unsigned long long)t.spliced, (unsigned long long)t.calls);
	assert_int_equal(t.bad, 0);
	if (one || n < SEEDS)
		return;
	assert_int_equal(rows_not_taken(&t), 0);
	/* Memory was short often enough to mean something. */
	assert_true(t.buf_waits > 1000 && t.memory_holds > 100);
	assert_true(t.stream_waits > 1000);
	/* Each way of forwarding was tried in earnest. */
	assert_true(t.spliced > t.bytes / 10 && t.spliced < t.bytes / 10 * 9);
	assert_true(t.zerocopied > t.bytes / 100);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_worlds_by_chance),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
