/*
 * Worlds with checks by check_random, each a seed: SEED=n plays one of them (SHOW=1 with its
 * calls), SEEDS=n so many instead of the usual number.
 */
#include <stdio.h>
#include <stdlib.h>

#include "sim/check_world.h"
#include "unit/test.h"

#define SEEDS 1000
#define REPORTS_MAX 10

static uint64_t
number(const char *name, uint64_t otherwise)
{
	const char *s = getenv(name);

	return s && *s ? strtoull(s, NULL, 10) : otherwise;
}

static void
add(struct check_random_result *t, const struct check_random_result *r)
{
	t->checks += r->checks;
	t->passed += r->passed;
	t->failed += r->failed;
	t->gone += r->gone;
	t->downs += r->downs;
	t->shown += r->shown;
	t->assigned += r->assigned;
	t->refused += r->refused;
}

static void
test_random_checks(void **state)
{
	uint64_t one = number("SEED", 0), n = one ? one : number("SEEDS", SEEDS / test_every());
	struct check_random_result t = { 0 }, r;
	unsigned int bad = 0;

	(void)state;
	for (uint64_t seed = one ? one : 1; seed <= n && bad < REPORTS_MAX; seed++) {
		struct dice d = dice_seed(seed);

		if (check_random_play(&d, one != 0 && getenv("SHOW"), &r) < 0) {
			bad++;
			print_message("SEED=%llu: %s\n", (unsigned long long)seed, r.why);
		}
		add(&t, &r);
	}
	print_message(
		"%u checks (%u passed, %u failed, %u 404), servers went down %u times and were "
		"looked at %u times, %u sessions, %u refused\n",
		t.checks, t.passed, t.failed, t.gone, t.downs, t.shown, t.assigned, t.refused);
	assert_int_equal(bad, 0);
	if (one || n < SEEDS)
		return;
	assert_true(t.passed > 50000 && t.failed > 50000 && t.gone > 5000 && t.downs > 10000);
	assert_true(t.assigned > 5000 && t.refused > 1000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_checks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
