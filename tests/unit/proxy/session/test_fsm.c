/* Properties of the two tables of states. */
#include <string.h>

#include "proxy/model/fsm.h"
#include "unit/test.h"

#define EACH_STATE(st) for (int st = 0; st < STREAM_STATES; st++)
#define EACH_EVENT(ev) for (int ev = 0; ev < STREAM_EVENTS; ev++)

static int
row(int st, int ev, struct fsm_row *out)
{
	return fsm_session_row((enum stream_state)st, (enum stream_event)ev, out) == 0;
}

/* A duplicate row would be lost in the dispatch table without an error, so the rows are counted as
 * written. */
static void
no_pair_is_duplicated(void **st)
{
	int written[STREAM_STATES][STREAM_EVENTS] = { 0 };
	int directions[DIRECTION_STATES][DIRECTION_EVENTS] = { 0 };

	(void)st;
#define STREAM_ROW(s, e, to, act, fol) written[STREAM_##s][STREAM_EV_##e]++;
#include "proxy/model/fsm.tbl.h"
#undef STREAM_ROW
#define DIRECTION_ROW(s, e, to, act) directions[DIRECTION_##s][DIRECTION_EV_##e]++;
#include "proxy/model/fsm.tbl.h"
#undef DIRECTION_ROW
	EACH_STATE(s)
		EACH_EVENT(e)
			assert_in_range(written[s][e], 0, 1);
	for (int s = 0; s < DIRECTION_STATES; s++)
		for (int e = 0; e < DIRECTION_EVENTS; e++)
			assert_int_equal(directions[s][e], 1);
}

static void
every_state_is_reachable(void **st)
{
	uint8_t seen[STREAM_STATES] = { [STREAM_INIT] = 1 };
	struct fsm_row r;
	int more = 1;

	(void)st;
	while (more) {
		more = 0;
		EACH_STATE(s)
			EACH_EVENT(e)
				if (seen[s] && row(s, e, &r) && !seen[r.next])
					more = seen[r.next] = 1;
	}
	EACH_STATE(s)
		assert_true(seen[s]);
}

static void
closed_is_reachable_and_final(void **st)
{
	uint8_t ends[STREAM_STATES] = { [STREAM_CLOSED] = 1 };
	struct fsm_row r;
	int more = 1;

	(void)st;
	while (more) {
		more = 0;
		EACH_STATE(s)
			EACH_EVENT(e)
				if (!ends[s] && row(s, e, &r) && ends[r.next])
					more = ends[s] = 1;
	}
	EACH_STATE(s)
		assert_true(ends[s]);
	EACH_EVENT(e)
		assert_false(row(STREAM_CLOSED, e, &r));
}

static void
resting_states_handle_timeout_client_gone_and_kill(void **st)
{
	struct fsm_row r;

	(void)st;
	EACH_STATE(s) {
		if (s != STREAM_CLOSED)
			assert_true(row(s, STREAM_EV_KILL, &r) && r.next == STREAM_CLOSED);
		if (!stream_state_is_resting((enum stream_state)s))
			continue;
		assert_true(row(s, STREAM_EV_TIMEOUT, &r));
		assert_true(row(s, STREAM_EV_CLIENT_GONE, &r));
	}
}

/* Each event that an action may return has a row in the state in which it is returned. */
static void
follow_ups_have_rows(void **st)
{
	struct fsm_row r, f;

	(void)st;
	EACH_STATE(s)
		EACH_EVENT(e)
			if (row(s, e, &r))
				for (int n = 0; n < STREAM_EVENTS; n++)
					if (r.follow & 1u << n)
						assert_true(row(r.next, n, &f));
}

static int
has_cycle(int st, int ev, int depth)
{
	struct fsm_row r;

	if (depth > STREAM_STATES * STREAM_EVENTS)
		return 1;
	if (!row(st, ev, &r))
		return 0;
	for (int n = 0; n < STREAM_EVENTS; n++)
		if ((r.follow & 1u << n) && has_cycle(r.next, n, depth + 1))
			return 1;
	return 0;
}

static void
follow_ups_form_no_cycle(void **st)
{
	(void)st;
	EACH_STATE(s)
		EACH_EVENT(e)
			assert_false(has_cycle(s, e, 0));
}

/* Every follow-up of every row that enters a transient state leaves it. */
static void
transient_states_are_always_left(void **st)
{
	struct fsm_row r;

	(void)st;
	EACH_STATE(s)
		EACH_EVENT(e)
		if (row(s, e, &r) && !stream_state_is_resting((enum stream_state)r.next) &&
			r.next != STREAM_CLOSED)
			assert_true(r.follow != 0);
}

static void
directions_end_for_good(void **st)
{
	struct fsm_row r;

	(void)st;
	for (int e = 0; e < DIRECTION_EVENTS; e++) {
		assert_int_equal(
			fsm_direction_row(DIRECTION_CLOSED, (enum direction_event)e, &r), 0);
		assert_int_equal(r.next, DIRECTION_CLOSED);
		assert_true(strcmp(r.action, "none") == 0 || strcmp(r.action, "bug") == 0);
	}
	for (int s = 0; s < DIRECTION_STATES; s++) {
		assert_int_equal(
			fsm_direction_row((enum direction_state)s, DIRECTION_EV_ABORT, &r), 0);
		assert_int_equal(r.next, DIRECTION_CLOSED);
		assert_int_equal(
			fsm_direction_row((enum direction_state)s, DIRECTION_EV_SINK_ERR, &r), 0);
		/* A message that is done was sent completely. */
		assert_int_equal(r.next, s == DIRECTION_DONE ? DIRECTION_DONE : DIRECTION_CLOSED);
	}
}

/* Only a message that is complete and sent makes room for the next one, or for requests in the
 * bytes that mode tcp has read. */
static void
messages_follow_one_another(void **st)
{
	struct fsm_row r;

	(void)st;
	for (int s = 0; s < DIRECTION_STATES; s++) {
		int opens = s == DIRECTION_DONE || s == DIRECTION_DRAIN;

		assert_int_equal(
			fsm_direction_row((enum direction_state)s, DIRECTION_EV_RESET, &r), 0);
		assert_string_equal(r.action, opens ? "none" : "bug");
		assert_int_equal(r.next, opens ? DIRECTION_OPEN : s);
		assert_int_equal(
			fsm_direction_row((enum direction_state)s, DIRECTION_EV_MSG_END, &r), 0);
		assert_string_equal(r.action, s == DIRECTION_OPEN ? "none" : "bug");
		assert_int_equal(r.next, s == DIRECTION_OPEN ? DIRECTION_TAIL : s);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_pair_is_duplicated),
		cmocka_unit_test(every_state_is_reachable),
		cmocka_unit_test(closed_is_reachable_and_final),
		cmocka_unit_test(resting_states_handle_timeout_client_gone_and_kill),
		cmocka_unit_test(follow_ups_have_rows),
		cmocka_unit_test(follow_ups_form_no_cycle),
		cmocka_unit_test(transient_states_are_always_left),
		cmocka_unit_test(directions_end_for_good),
		cmocka_unit_test(messages_follow_one_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
