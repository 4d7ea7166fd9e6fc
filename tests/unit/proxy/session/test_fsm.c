/* Properties of the three tables of states. */
#include <string.h>

#include "proxy/model/fsm.h"
#include "unit/test.h"

/* The machines of sessions and of streams have the same laws. */
static const struct machine {
	int states, events, first, closed, kill;
	int timeout, gone; /* events that a resting state handles */
	int (*row)(int st, int ev, struct fsm_row *out);
	int (*rests)(int st);
} machines[];

#define EACH_MACHINE(m) for (const struct machine *m = machines; m < machines + 2; m++)
#define EACH_STATE(m, st) for (int st = 0; st < (m)->states; st++)
#define EACH_EVENT(m, ev) for (int ev = 0; ev < (m)->events; ev++)

static int
session_row(int st, int ev, struct fsm_row *out)
{
	return fsm_session_row((enum session_state)st, (enum session_event)ev, out) == 0;
}

static int
stream_row(int st, int ev, struct fsm_row *out)
{
	return fsm_stream_row((enum stream_state)st, (enum stream_event)ev, out) == 0;
}

/* A served session has its stream's deadline, which handles its client and its end. */
static int
session_rests(int st)
{
	return st != SESSION_SERVING && session_state_is_resting((enum session_state)st);
}

static int
stream_rests(int st)
{
	return stream_state_is_resting((enum stream_state)st);
}

static const struct machine machines[] = {
	{ SESSION_STATES, SESSION_EVENTS, SESSION_INIT, SESSION_CLOSED, SESSION_EV_KILL,
	  SESSION_EV_TIMEOUT, SESSION_EV_CLIENT_GONE, session_row, session_rests },
	{ STREAM_STATES, STREAM_EVENTS, STREAM_NEW, STREAM_CLOSED, STREAM_EV_KILL,
	  STREAM_EV_TIMEOUT, STREAM_EV_CLIENT_GONE, stream_row, stream_rests },
};

/* A duplicate row would be lost in the dispatch table without an error, so the rows are counted as
 * written. */
static void
no_pair_is_duplicated(void **st)
{
	int sessions[SESSION_STATES][SESSION_EVENTS] = { 0 };
	int streams[STREAM_STATES][STREAM_EVENTS] = { 0 };
	int directions[DIRECTION_STATES][DIRECTION_EVENTS] = { 0 };

	(void)st;
#define SESSION_ROW(s, e, to, act, fol) sessions[SESSION_##s][SESSION_EV_##e]++;
#include "proxy/model/fsm.tbl.h"
#undef SESSION_ROW
#define STREAM_ROW(s, e, to, act, fol) streams[STREAM_##s][STREAM_EV_##e]++;
#include "proxy/model/fsm.tbl.h"
#undef STREAM_ROW
#define DIRECTION_ROW(s, e, to, act) directions[DIRECTION_##s][DIRECTION_EV_##e]++;
#include "proxy/model/fsm.tbl.h"
#undef DIRECTION_ROW
	for (int s = 0; s < SESSION_STATES; s++)
		for (int e = 0; e < SESSION_EVENTS; e++)
			assert_in_range(sessions[s][e], 0, 1);
	for (int s = 0; s < STREAM_STATES; s++)
		for (int e = 0; e < STREAM_EVENTS; e++)
			assert_in_range(streams[s][e], 0, 1);
	for (int s = 0; s < DIRECTION_STATES; s++)
		for (int e = 0; e < DIRECTION_EVENTS; e++)
			assert_int_equal(directions[s][e], 1);
}

/* Marks the states that rows lead to from marked ones; backwards: the states that they come from.
 * 1: one more was marked. */
static int
spread(const struct machine *m, uint8_t *mark, int backwards)
{
	struct fsm_row r;
	int more = 0;

	EACH_STATE(m, s)
		EACH_EVENT(m, e) {
			if (!m->row(s, e, &r))
				continue;
			if (backwards ? mark[r.next] && !mark[s] : mark[s] && !mark[r.next])
				more = mark[backwards ? s : r.next] = 1;
		}
	return more;
}

static void
every_state_is_reachable(void **st)
{
	(void)st;
	EACH_MACHINE(m) {
		uint8_t seen[STREAM_STATES] = { 0 };

		seen[m->first] = 1;
		while (spread(m, seen, 0))
			;
		EACH_STATE(m, s)
			assert_true(seen[s]);
	}
}

static void
closed_is_reachable_and_final(void **st)
{
	struct fsm_row r;

	(void)st;
	EACH_MACHINE(m) {
		uint8_t ends[STREAM_STATES] = { 0 };

		ends[m->closed] = 1;
		while (spread(m, ends, 1))
			;
		EACH_STATE(m, s)
			assert_true(ends[s]);
		EACH_EVENT(m, e)
			assert_false(m->row(m->closed, e, &r));
	}
}

/* A served session ends with its stream, and no one else runs while a server is chosen. */
static int
has_no_kill(const struct machine *m, int st)
{
	return m == machines ? st == SESSION_SERVING : st == STREAM_ASSIGN;
}

static void
resting_states_handle_timeout_client_gone_and_kill(void **st)
{
	struct fsm_row r;

	(void)st;
	EACH_MACHINE(m)
		EACH_STATE(m, s) {
			/* Its streams end first, and hear of the client's end. */
			if (m == machines && s == SESSION_MULTIPLEX) {
				assert_true(m->row(s, m->kill, &r) && r.next == s && r.follow);
				continue;
			}
			if (s != m->closed && !has_no_kill(m, s))
				assert_true(m->row(s, m->kill, &r) && r.next == m->closed);
			if (!m->rests(s))
				continue;
			assert_true(m->row(s, m->timeout, &r));
			/* Its directions are notified. */
			if (m == machines || s != STREAM_RELAY)
				assert_true(m->row(s, m->gone, &r));
		}
}

/* Each event that an action may return has a row in the state in which it is returned. */
static void
follow_ups_have_rows(void **st)
{
	struct fsm_row r, f;

	(void)st;
	EACH_MACHINE(m)
		EACH_STATE(m, s)
			EACH_EVENT(m, e)
				if (m->row(s, e, &r))
					EACH_EVENT(m, n)
						if (r.follow & 1u << n)
							assert_true(m->row(r.next, n, &f));
}

static int
has_cycle(const struct machine *m, int st, int ev, int depth)
{
	struct fsm_row r;

	if (depth > m->states * m->events)
		return 1;
	if (!m->row(st, ev, &r))
		return 0;
	EACH_EVENT(m, n)
		if ((r.follow & 1u << n) && has_cycle(m, r.next, n, depth + 1))
			return 1;
	return 0;
}

static void
follow_ups_form_no_cycle(void **st)
{
	(void)st;
	EACH_MACHINE(m)
		EACH_STATE(m, s)
			EACH_EVENT(m, e)
				assert_false(has_cycle(m, s, e, 0));
}

/* Every follow-up of every row that enters a transient state leaves it. A stream whose client
 * speaks HTTP/2 stays NEW, and is the session's. */
static void
transient_states_are_always_left(void **st)
{
	struct fsm_row r;

	(void)st;
	EACH_STATE(&machines[1], s)
		EACH_EVENT(&machines[1], e)
			if (stream_row(s, e, &r) && !stream_rests(r.next) &&
				r.next != STREAM_CLOSED && e != STREAM_EV_MULTIPLEX)
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
