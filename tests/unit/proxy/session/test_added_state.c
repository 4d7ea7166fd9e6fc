/*
 * A new state is one row: the table in added_state/ has one more than the program's, and no other
 * file is changed. The dispatch is compiled here with that table.
 */
#include "proxy/session/fsm.c"
#include "proxy/session/states.c"

#include "proxy/session/stream_post.h"
#include "unit/proxy/session_rig.h"

#define HOLD_MS 100

static const struct step asks[] = { { STEP_SEND, 100 }, { STEP_WAIT_EOF, 0 }, { STEP_END, 0 } };
static const struct step answers[] = { { STEP_WAIT, 100 }, { STEP_PAUSE, 50 }, { STEP_SEND, 200 },
				       { STEP_END, 0 } };

static const struct world_config cfg = { RIG_WORLD };

static struct stream *
hold_a_session(void)
{
	struct stream *s;

	rig_open(&cfg, answers);
	(void)world_client(&w, asks, 0);
	world_run(&w, 10 * FAKE_MS);
	s = rig_session(0);
	assert_int_equal(s->state, STREAM_RELAY);
	s->wake_ms = loop_now_ms(w.loop) + HOLD_MS;
	stream_post(s, STREAM_EV_TARPIT);
	assert_int_equal(loop_turn(w.loop, 0), 0);
	assert_int_equal(s->state, STREAM_HOLD);
	assert_string_equal(stream_state_name(s->state), "HOLD");
	return s;
}

static void
the_added_state_rests_until_its_deadline(void **st)
{
	struct stream *s = hold_a_session();

	(void)st;
	world_run(&w, (HOLD_MS - 30) * FAKE_MS);
	assert_int_equal(s->state, STREAM_HOLD);
	assert_int_equal(s->dir[SERVER].bytes, 0);
	world_run(&w, RIG_LIMIT);
	assert_int_equal(w.n_ends, 1);
	assert_int_equal(w.client[0].got, 200);
	assert_string_equal(rig_terms(), "--");
	assert_int_equal(w.engine.stat.fsm_bugs, 0);
	rig_close();
}

static void
a_killed_session_leaves_the_added_state(void **st)
{
	(void)st;
	stream_post(hold_a_session(), STREAM_EV_KILL);
	world_run(&w, RIG_LIMIT);
	assert_int_equal(w.n_ends, 1);
	assert_int_equal(w.engine.stat.fsm_bugs, 0);
	rig_close();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_added_state_rests_until_its_deadline),
		cmocka_unit_test(a_killed_session_leaves_the_added_state),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
