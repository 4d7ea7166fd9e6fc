/* Pieces of a walk through sessions that come and go. */
#include <string.h>

#include "proxy/session/session_walk.h"
#include "unit/test.h"

enum { SESSIONS = 50 };

static struct engine engine;
static struct session session[SESSIONS];
static unsigned int seen[SESSIONS];

/* Of two workers: every other number. */
static int
setup(void **state)
{
	(void)state;
	memset(&engine, 0, sizeof(engine));
	memset(session, 0, sizeof(session));
	memset(seen, 0, sizeof(seen));
	list_init(&engine.sessions);
	for (unsigned int i = 0; i < SESSIONS; i++) {
		session[i].id = i * 2 + 1;
		list_append(&engine.sessions, &session[i].link);
	}
	return 0;
}

static void
leave(struct session *s)
{
	cursors_leave(&engine.walks, &s->link);
	list_remove(&s->link);
}

static int
is_odd(const struct session *s, const void *arg)
{
	(void)arg;
	return (s - session) % 2 == 1;
}

static void
see(struct session *s, void *arg)
{
	seen[s - session]++;
	if (arg)
		leave(s);
}

static void
pieces_are_bounded(void **state)
{
	struct session_walk w = { .pick = is_odd, .fn = see, .max = 3, .max_looks = 100 };

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
what_stays_is_seen_once(void **state)
{
	struct session_walk w = { .pick = is_odd, .fn = see, .max = 2, .max_looks = 100 };
	unsigned int first = 0;

	(void)state;
	while (engine_walk(&engine, &w)) {
		/* The one that it stands at goes, and one that it has seen. */
		if (first + 5 < SESSIONS) {
			leave(&session[first + 4]);
			leave(&session[first]);
			first += 4;
		}
	}
	for (unsigned int i = 0; i < SESSIONS; i++)
		assert_int_equal(seen[i], i % 2);
}

/* The place of a walk may be forgotten for others'; its number is enough. */
static void
a_forgotten_place_is_found_again(void **state)
{
	struct session_walk w = { .pick = is_odd, .fn = see, .max = 2, .max_looks = 100 };

	(void)state;
	do
		memset(&engine.walks, 0, sizeof(engine.walks));
	while (engine_walk(&engine, &w));
	for (unsigned int i = 0; i < SESSIONS; i++)
		assert_int_equal(seen[i], i % 2);
}

static void
those_that_are_seen_may_leave(void **state)
{
	struct session_walk w = { .pick = is_odd, .fn = see, .fn_arg = &w, .max = 7,
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
		cmocka_unit_test_setup(pieces_are_bounded, setup),
		cmocka_unit_test_setup(what_stays_is_seen_once, setup),
		cmocka_unit_test_setup(a_forgotten_place_is_found_again, setup),
		cmocka_unit_test_setup(those_that_are_seen_may_leave, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
