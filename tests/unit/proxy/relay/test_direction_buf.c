/* Buffers of directions: when a direction has one, what it holds, and when it is released. */
#include "unit/proxy/session_rig.h"

#include "proxy/relay/direction.h"
#include "proxy/model/memory.h"

static const struct world_config cfg = { RIG_WORLD, .bufsize = 1024 };
static struct direction h;

static struct engine *
fresh(void)
{
	rig_open(&cfg, NULL);
	direction_init(&h);
	return &w.engine;
}

static void
done(void)
{
	direction_fini(&w.engine, &h);
	assert_null(h.buf);
	assert_int_equal(w.engine.pools.buf.live, 0);
	rig_close();
}

static void
buffered_bytes_stay_in_order(void **st)
{
	struct engine *e = fresh();

	(void)st;
	assert_true(direction_has_room(e, &h) && direction_reserve_room(e, &h));
	assert_int_equal(e->pools.buf.live, 0);
	direction_buf_append(e, &h, "one ", 4);
	direction_buf_append(e, &h, "two", 3);
	assert_int_equal(e->pools.buf.live, 1);
	assert_int_equal(direction_buffered(&h), 7);
	assert_memory_equal(h.buf + h.head, "one two", 7);
	done();
}

/* Lookahead, and a request that may be retried, keep the buffer. */
static void
an_unneeded_buffer_is_released(void **st)
{
	struct engine *e = fresh();

	(void)st;
	direction_buf_append(e, &h, "abc", 3);
	h.head = h.tail;
	h.lookahead = 1;
	direction_buf_free_if_empty(e, &h);
	assert_non_null(h.buf);
	h.lookahead = 0;
	h.keeps_buf = 1;
	direction_buf_free_if_empty(e, &h);
	assert_non_null(h.buf);
	h.keeps_buf = 0;
	direction_buf_free_if_empty(e, &h);
	assert_null(h.buf);
	assert_int_equal(h.head | h.tail, 0);
	assert_int_equal(e->pools.buf.live, 0);
	done();
}

static void
a_full_buffer_has_no_room(void **st)
{
	static const char text[1024];
	struct engine *e = fresh();

	(void)st;
	direction_buf_append(e, &h, text, 1000);
	assert_true(direction_has_room(e, &h));
	h.lookahead = 24;
	assert_false(direction_has_room(e, &h));
	h.lookahead = 0;
	direction_buf_append(e, &h, text, 24);
	assert_false(direction_has_room(e, &h));
	done();
}

/* Bytes that will not be sent any more are dropped; the buffer is released with the direction. */
static void
discarded_bytes_are_not_pending(void **st)
{
	struct engine *e = fresh();

	(void)st;
	direction_buf_append(e, &h, "abc", 3);
	h.left_in_kernel = 1;
	assert_false(direction_has_room(e, &h));
	direction_discard_pending(e, &h);
	assert_false(direction_has_pending(&h));
	assert_non_null(h.buf);
	done();
}

/* At the limit of tune.memory nothing is read that might have to be buffered; a direction that has
 * a buffer continues. */
static void
without_memory_nothing_is_buffered(void **st)
{
	struct engine *e = fresh();

	(void)st;
	assert_int_equal(direction_buf_get(e, &h), 0);
	assert_int_equal(direction_buf_get(e, &h), 0);
	assert_int_equal(e->pools.buf.live, 1);
	memory_bound(e, 1);
	assert_true(direction_reserve_room(e, &h));
	direction_buf_free_if_empty(e, &h);
	assert_false(direction_reserve_room(e, &h));
	assert_int_equal(e->stat.buf_waits, 1);
	memory_bound(e, 0);
	done();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buffered_bytes_stay_in_order),
		cmocka_unit_test(an_unneeded_buffer_is_released),
		cmocka_unit_test(a_full_buffer_has_no_room),
		cmocka_unit_test(discarded_bytes_are_not_pending),
		cmocka_unit_test(without_memory_nothing_is_buffered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
