/* The order of waiting sessions: class, then arrival and offset, then id. */
#include "proxy/model/stream_queue.h"

#include <string.h>

#include "proxy/model/session.h"
#include "unit/test.h"

#define SESSIONS 8

static struct stream s[SESSIONS];
static struct stream_queue q;

static int
setup(void **st)
{
	(void)st;
	memset(s, 0, sizeof(s));
	for (int i = 0; i < SESSIONS; i++) {
		list_init(&s[i].queue_link);
		s[i].id = (uint64_t)i;
		s[i].waits_since_ms = 1000;
	}
	stream_queue_init(&q);
	assert_true(stream_queue_is_empty(&q));
	assert_null(stream_queue_first(&q));
	assert_null(stream_queue_first_prioritized(&q));
	return 0;
}

static int
teardown(void **st)
{
	(void)st;
	assert_true(stream_queue_is_empty(&q));
	return 0;
}

static void
enqueue(int i, int class, int offset)
{
	s[i].prio_class = class;
	s[i].prio_offset = offset;
	stream_queue_add(&q, &s[i]);
	assert_false(stream_queue_is_empty(&q));
}

static void
next_is(int i)
{
	assert_ptr_equal(stream_queue_first(&q), &s[i]);
	stream_queue_remove(&q, &s[i]);
}

static void
without_priorities_it_is_a_list(void **st)
{
	(void)st;
	for (int i = 0; i < 3; i++)
		enqueue(i, 0, 0);
	assert_null(stream_queue_first_prioritized(&q));
	for (int i = 0; i < 3; i++)
		next_is(i);
}

static void
classes_go_before_times(void **st)
{
	(void)st;
	enqueue(0, 1, -524287);
	enqueue(1, -2047, 524287);
	enqueue(2, 0, 0);
	enqueue(3, -1, 0);
	assert_ptr_equal(stream_queue_first_prioritized(&q), &s[1]);
	next_is(1);
	next_is(3);
	next_is(2);
	next_is(0);
}

static void
offsets_shift_the_arrival(void **st)
{
	(void)st;
	s[2].waits_since_ms = 1010;
	enqueue(0, 0, 0);
	enqueue(1, 0, 5);
	enqueue(2, 0, -10);
	enqueue(3, 0, -2000);
	next_is(3);
	/* The same time as the oldest one without a priority: the id decides. */
	next_is(0);
	next_is(2);
	next_is(1);
}

static void
the_same_class_is_served_in_order(void **st)
{
	(void)st;
	for (int i = 0; i < SESSIONS; i++)
		enqueue(i, 3, 0);
	stream_queue_remove(&q, &s[4]);
	for (int i = 0; i < SESSIONS; i++)
		if (i != 4)
			next_is(i);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		CASE(without_priorities_it_is_a_list),
		CASE(classes_go_before_times),
		CASE(offsets_shift_the_arrival),
		CASE(the_same_class_is_served_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
