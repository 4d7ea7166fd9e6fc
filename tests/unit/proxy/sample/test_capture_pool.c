/* The memory of captures: its owner, its limit, and that all of it is released. */
#include "unit/proxy/log_rig.h"

#include "proxy/model/memory.h"

static struct log_world w;

static void
test_only_where_there_are_slots(void **state)
{
	(void)state;
	log_world_init(&w);
	engine_allow_captures(&w.engine, 100);
	assert_true(captures_have_room(&w.s));
	captures_begin(&w.s);
	assert_null(w.s.captures);
	captures_end(&w.s);
	capture_close(&w);
}

static void
test_begins_empty(void **state)
{
	(void)state;
	capture_open(&w);
	assert_int_equal(w.engine.pools.capture.live, 1);
	assert_int_equal(memory_live(&w.engine), w.fe.captures.size);
	capture_put(&w.s, CAPTURE_REQUEST, 0, STR("x"));
	captures_end(&w.s);
	captures_end(&w.s);
	assert_null(w.s.captures);
	assert_int_equal(memory_live(&w.engine), 0);
	captures_begin(&w.s);
	capture_is(&w, CAPTURE_REQUEST, 0, NULL);
	capture_is(&w, CAPTURE_RESPONSE, 0, NULL);
	capture_is(&w, CAPTURE_COOKIE, 0, NULL);
	capture_close(&w);
}

/* Captures are limited by tune.memory; without memory a session has none. */
static void
test_is_bounded(void **state)
{
	(void)state;
	capture_open(&w);
	captures_end(&w.s);
	pool_fini(&w.engine.pools.capture);
	engine_allow_captures(&w.engine, w.fe.captures.size);
	w.engine.limits.max_memory = w.fe.captures.size - 1;
	assert_false(captures_have_room(&w.s));
	captures_begin(&w.s);
	assert_null(w.s.captures);
	w.engine.limits.max_memory++;
	assert_true(captures_have_room(&w.s));
	captures_begin(&w.s);
	assert_non_null(w.s.captures);
	w.engine.limits.max_memory = 0;
	capture_close(&w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_only_where_there_are_slots),
		cmocka_unit_test(test_begins_empty),
		cmocka_unit_test(test_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
