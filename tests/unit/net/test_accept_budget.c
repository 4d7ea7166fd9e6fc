/* The accept budget: few useless accept() calls, and large batches when many connections wait. */
#include "net/listener.c"

#include "base/compiler.h"
#include "unit/test.h"

/* One event with `waiting` connections in the backlog; returns how many were accepted. */
static unsigned int
event(struct accept_budget *b, uint64_t turn, unsigned int waiting, unsigned int *wasted)
{
	unsigned int tries = accept_budget_take(b, turn, 64);
	unsigned int got = MIN(tries, waiting);
	int empty = tries > waiting;

	*wasted += (unsigned int)empty;
	accept_budget_learn(b, got, empty);
	return got;
}

static void
one_at_a_time_never_probes(void **st)
{
	struct accept_budget b;
	unsigned int wasted = 0;

	(void)st;
	accept_budget_init(&b);
	/* A single client: the listener fires in every third turn. */
	for (uint64_t turn = 0; turn < 30000; turn += 3)
		assert_int_equal(event(&b, turn, 1, &wasted), 1);
	assert_int_equal(wasted, 0);
}

static void
a_full_backlog_is_emptied_in_few_turns(void **st)
{
	struct accept_budget b;
	unsigned int wasted = 0, left = 1000;
	uint64_t turn = 0;

	(void)st;
	accept_budget_init(&b);
	while (left)
		left -= event(&b, turn++, left, &wasted);
	assert_true(turn < 64);
	assert_true(wasted <= 1);
}

static void
wrong_growth_becomes_rare(void **st)
{
	struct accept_budget b;
	unsigned int wasted = 0;

	(void)st;
	accept_budget_init(&b);
	/* Four connections arrive in each of many consecutive turns. */
	for (uint64_t turn = 0; turn < 10000; turn++)
		(void)event(&b, turn, 4, &wasted);
	assert_true(wasted > 0);
	assert_true(wasted < 30);
}

static void
the_configured_bound_holds(void **st)
{
	struct accept_budget b;

	(void)st;
	accept_budget_init(&b);
	for (uint64_t turn = 0; turn < 1000; turn++) {
		unsigned int n = accept_budget_take(&b, turn, 5);

		assert_in_range(n, 1, 5);
		accept_budget_learn(&b, n, 0);
	}
	assert_int_equal(accept_budget_take(&b, 1000, 5), 5);
	assert_int_equal(accept_budget_take(&b, 1001, 0), 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_at_a_time_never_probes),
		cmocka_unit_test(a_full_backlog_is_emptied_in_few_turns),
		cmocka_unit_test(wrong_growth_becomes_rare),
		cmocka_unit_test(the_configured_bound_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
