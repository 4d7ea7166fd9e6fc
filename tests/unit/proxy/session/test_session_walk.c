/* Slices of a walk through sessions that are created and end. */
#include <string.h>

#include "proxy/session/session_walk.h"
#include "unit/test.h"

enum { SESSIONS = 50 };

static struct engine engine;
static struct stream session[SESSIONS];
static unsigned int seen[SESSIONS];

/* With two workers: every other number. */
static int
setup(void **state)
{
	(void)state;
	memset(&engine, 0, sizeof(engine));
	memset(session, 0, sizeof(session));
	memset(seen, 0, sizeof(seen));
	list_init(&engine.streams);
	for (unsigned int i = 0; i < SESSIONS; i++) {
		session[i].id = i * 2 + 1;
		list_append(&engine.streams, &session[i].link);
	}
	return 0;
}

static void
leave(struct stream *s)
{
	cursors_leave(&engine.walks, &s->link);
	list_remove(&s->link);
}

static int
is_odd(const struct stream *s, const void *arg)
{
	(void)arg;
	return (s - session) % 2 == 1;
}

static void
visit(struct stream *s, void *arg)
{
	seen[s - session]++;
	if (arg)
		leave(s);
}

static void
slices_are_bounded(void **state)
{
	struct session_walk w = { .pick = is_odd, .fn = visit, .max = 3, .max_looks = 100 };

	(void)state;
	assert_int_equal(engine_walk(&engine, &w), 1);
	assert_int_equal(w.after, session[5].id);
	w.max_looks = 4;
	assert_int_equal(engine_walk(&engine, &w), 1);
	assert_int_equal(w.after, session[9].id);
	for (unsigned int i = 0; i < SESSIONS; i++)
		assert_int_equal(seen[i], i < 10 && i % 2);
}

static void
sessions_that_stay_are_visited_once(void **state)
{
	struct session_walk w = { .pick = is_odd, .fn = visit, .max = 2, .max_looks = 100 };
	unsigned int first = 0;

	(void)state;
	while (engine_walk(&engine, &w)) {
		/* The session at the cursor ends, and one that was visited. */
		if (first + 5 < SESSIONS) {
			leave(&session[first + 4]);
			leave(&session[first]);
			first += 4;
		}
	}
	for (unsigned int i = 0; i < SESSIONS; i++)
		assert_int_equal(seen[i], i % 2);
}

/* The cursor of a walk may be reused for others; the session's number is enough to continue. */
static void
a_lost_cursor_is_restored(void **state)
{
	struct session_walk w = { .pick = is_odd, .fn = visit, .max = 2, .max_looks = 100 };

	(void)state;
	do
		memset(&engine.walks, 0, sizeof(engine.walks));
	while (engine_walk(&engine, &w));
	for (unsigned int i = 0; i < SESSIONS; i++)
		assert_int_equal(seen[i], i % 2);
}

static void
visited_sessions_may_end(void **state)
{
	struct session_walk w = { .pick = is_odd, .fn = visit, .fn_arg = &w, .max = 7,
		.max_looks = 9 };

	(void)state;
	while (engine_walk(&engine, &w))
		;
	for (unsigned int i = 0; i < SESSIONS; i++)
		assert_int_equal(seen[i], i % 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(slices_are_bounded, setup),
		cmocka_unit_test_setup(sessions_that_stay_are_visited_once, setup),
		cmocka_unit_test_setup(a_lost_cursor_is_restored, setup),
		cmocka_unit_test_setup(visited_sessions_may_end, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
