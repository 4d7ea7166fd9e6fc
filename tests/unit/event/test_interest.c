/* The interest table and the plans of the three modes. */

#include "event/interest.h"
#include "unit/test.h"

static struct interest
make(enum interest_state r, enum interest_state w, unsigned int polled)
{
	return (struct interest){ .state = { (uint8_t)r, (uint8_t)w }, .polled = (uint8_t)polled };
}

static void
wanted_and_ready_are_independent(void **st)
{
	(void)st;
	for (int s = 0; s < INTEREST_STATES; s++) {
		enum interest_state from = (enum interest_state)s;
		enum interest_state want = interest_next(from, INTEREST_WANT);
		enum interest_state stop = interest_next(from, INTEREST_STOP);

		assert_true(want == INTEREST_SPEC || want == INTEREST_BLOCKED);
		assert_true(stop == INTEREST_IDLE || stop == INTEREST_PARKED);
		/* WANT and STOP do not change what is believed. */
		assert_int_equal(interest_next(want, INTEREST_STOP), stop);
		assert_int_equal(interest_next(stop, INTEREST_WANT), want);
		/* AGAIN and READY do not change what is wanted. */
		struct interest a = make(from, INTEREST_IDLE, 0);
		struct interest b = make(interest_next(from, INTEREST_AGAIN), INTEREST_IDLE, 0);
		struct interest c = make(interest_next(from, INTEREST_READY), INTEREST_IDLE, 0);

		assert_int_equal(interest_is_wanted(&a, DIR_R), interest_is_wanted(&b, DIR_R));
		assert_int_equal(interest_is_wanted(&a, DIR_R), interest_is_wanted(&c, DIR_R));
	}
}

static void
every_state_has_a_name(void **st)
{
	(void)st;
	assert_string_equal(interest_state_name(INTEREST_PARKED), "PARKED");
	assert_string_equal(interest_mode_name(INTEREST_EDGE), "edge");
}

static void
merged_folds_the_other_direction_in(void **st)
{
	struct interest in = make(INTEREST_SPEC, INTEREST_BLOCKED, 0);
	struct interest_plan p = interest_plan(&in, INTEREST_MERGED);

	(void)st;
	assert_int_equal(p.n, 1);
	assert_int_equal(p.mask[0], EV_R | EV_W);
	assert_int_equal(in.state[DIR_R], INTEREST_BLOCKED);
}

/* Bytes in memory: no event would come for them. */
static void
merged_leaves_what_only_a_try_can_read(void **st)
{
	struct interest in = make(INTEREST_SPEC, INTEREST_BLOCKED, 0);
	struct interest_plan p;

	(void)st;
	in.in_memory = EV_R;
	p = interest_plan(&in, INTEREST_MERGED);
	assert_int_equal(p.n, 1);
	assert_int_equal(p.mask[0], EV_W);
	assert_int_equal(in.state[DIR_R], INTEREST_SPEC);
}

static void
merged_swaps_a_fired_direction_for_the_wanted_one(void **st)
{
	/* The end of connect(): writing fired and is finished, and now reading is wanted. */
	struct interest in = make(INTEREST_SPEC, INTEREST_IDLE, EV_W);
	struct interest_plan p = interest_plan(&in, INTEREST_MERGED);

	(void)st;
	assert_int_equal(p.n, 1);
	assert_int_equal(p.mask[0], EV_R);
	assert_int_equal(in.state[DIR_R], INTEREST_BLOCKED);
}

static void
merged_keeps_harmless_registrations(void **st)
{
	struct interest spec = make(INTEREST_SPEC, INTEREST_IDLE, 0);
	struct interest parked = make(INTEREST_PARKED, INTEREST_IDLE, EV_R);
	struct interest polled = make(INTEREST_BLOCKED, INTEREST_IDLE, EV_R);
	struct interest more = make(INTEREST_SPEC, INTEREST_IDLE, EV_R);

	(void)st;
	assert_int_equal(interest_plan(&spec, INTEREST_MERGED).n, 0);
	assert_int_equal(spec.state[DIR_R], INTEREST_SPEC);
	assert_int_equal(interest_plan(&parked, INTEREST_MERGED).n, 0);
	assert_int_equal(interest_plan(&polled, INTEREST_MERGED).n, 0);
	assert_int_equal(interest_plan(&more, INTEREST_MERGED).n, 0);
}

static void
merged_removes_unwanted_directions_that_fired(void **st)
{
	struct interest in = make(INTEREST_IDLE, INTEREST_PARKED, EV_R | EV_W);
	struct interest_plan p = interest_plan(&in, INTEREST_MERGED);

	(void)st;
	assert_int_equal(p.n, 1);
	assert_int_equal(p.mask[0], 0);
}

static void
unmerged_makes_a_call_for_each_direction(void **st)
{
	struct interest in = make(INTEREST_BLOCKED, INTEREST_IDLE, EV_W);
	struct interest_plan p = interest_plan(&in, INTEREST_UNMERGED);

	(void)st;
	assert_int_equal(p.n, 2);
	assert_int_equal(p.mask[0], 0);
	assert_int_equal(p.mask[1], EV_R);
	/* A speculative direction is left to be tried. */
	in = make(INTEREST_SPEC, INTEREST_IDLE, EV_W);
	p = interest_plan(&in, INTEREST_UNMERGED);
	assert_int_equal(p.n, 1);
	assert_int_equal(p.mask[0], 0);
	assert_int_equal(in.state[DIR_R], INTEREST_SPEC);
}

static void
edge_registers_once_and_adds_writing_when_it_blocks(void **st)
{
	struct interest in = make(INTEREST_BLOCKED, INTEREST_IDLE, 0);
	struct interest_plan p = interest_plan(&in, INTEREST_EDGE);

	(void)st;
	assert_int_equal(p.n, 1);
	assert_int_equal(p.mask[0], EV_R | EV_EDGE);
	in = make(INTEREST_BLOCKED, INTEREST_BLOCKED, EV_R | EV_EDGE);
	p = interest_plan(&in, INTEREST_EDGE);
	assert_int_equal(p.n, 1);
	assert_int_equal(p.mask[0], EV_R | EV_W | EV_EDGE);
	in = make(INTEREST_IDLE, INTEREST_IDLE, EV_R | EV_W | EV_EDGE);
	assert_int_equal(interest_plan(&in, INTEREST_EDGE).n, 0);
}

/* For each mode and every combination: after the plan, what is wanted and blocked is registered. */
static void
blocked_directions_are_registered(void **st)
{
	(void)st;
	for (int mode = INTEREST_UNMERGED; mode <= INTEREST_EDGE; mode++)
		for (int combo = 0; combo < INTEREST_STATES * INTEREST_STATES * 4; combo++) {
			unsigned int polled = (unsigned int)combo % 4;
			struct interest in =
				make((enum interest_state)(combo / 4 % INTEREST_STATES),
					(enum interest_state)(combo / 4 / INTEREST_STATES), polled);
			struct interest_plan p;
			unsigned int now;

			if (mode == INTEREST_EDGE && polled)
				in.polled |= EV_R | EV_EDGE;
			p = interest_plan(&in, (enum interest_mode)mode);
			now = p.n ? p.mask[p.n - 1] : in.polled;
			if (in.state[DIR_R] == INTEREST_BLOCKED)
				assert_true(now & EV_R);
			if (in.state[DIR_W] == INTEREST_BLOCKED)
				assert_true(now & EV_W);
			if (mode == INTEREST_EDGE) {
				assert_true(p.n <= 1);
				continue;
			}
			/* Level-triggered: an unwanted direction that fired would fire again and
			 * again. */
			if (in.state[DIR_R] == INTEREST_IDLE)
				assert_false(now & EV_R);
			if (in.state[DIR_W] == INTEREST_IDLE)
				assert_false(now & EV_W);
			if (mode == INTEREST_MERGED)
				assert_true(p.n <= 1);
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wanted_and_ready_are_independent),
		cmocka_unit_test(every_state_has_a_name),
		cmocka_unit_test(merged_folds_the_other_direction_in),
		cmocka_unit_test(merged_leaves_what_only_a_try_can_read),
		cmocka_unit_test(merged_swaps_a_fired_direction_for_the_wanted_one),
		cmocka_unit_test(merged_keeps_harmless_registrations),
		cmocka_unit_test(merged_removes_unwanted_directions_that_fired),
		cmocka_unit_test(unmerged_makes_a_call_for_each_direction),
		cmocka_unit_test(edge_registers_once_and_adds_writing_when_it_blocks),
		cmocka_unit_test(blocked_directions_are_registered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
