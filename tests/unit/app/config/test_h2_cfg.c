/* tune.h2.*, and what connections of each side get of it. */
#include <string.h>

#include "app/config/h2_cfg.h"
#include "unit/app/app_rig.h"
#include "unit/test.h"

static struct h2_config fe, be;

static void
apply(const char *lines)
{
	assert_int_equal(world_global(lines), 0);
	h2_tune_apply(&cfg.global.h2, H2_FE, &fe);
	h2_tune_apply(&cfg.global.h2, H2_BE, &be);
}

static void
without_lines_the_defaults_apply(void **state)
{
	struct h2_config usual;

	(void)state;
	apply("");
	h2_config_default(&usual);
	assert_memory_equal(&fe, &usual, sizeof(usual));
	assert_memory_equal(&be, &usual, sizeof(usual));
	/* These are the defaults of the manual. */
	apply("tune.h2.header-table-size 4096\ntune.h2.initial-window-size 65536\n"
	      "tune.h2.max-concurrent-streams 100\ntune.h2.fe.rxbuf 1600k\n"
	      "tune.h2.be.rxbuf 1600k\ntune.h2.fe.max-frames-at-once 64\n"
	      "tune.h2.be.max-frames-at-once 64\ntune.h2.fe.max-rst-at-once 4\n"
	      "tune.h2.fe.glitches-threshold 0\ntune.h2.be.glitches-threshold 0\n"
	      "tune.h2.fe.max-total-streams 0");
	assert_memory_equal(&fe, &usual, sizeof(usual));
	assert_memory_equal(&be, &usual, sizeof(usual));
}

static void
a_line_of_one_side_has_priority(void **state)
{
	(void)state;
	apply("tune.h2.fe.initial-window-size 1000\ntune.h2.initial-window-size 2000\n"
	      "tune.h2.max-concurrent-streams 7\ntune.h2.be.max-concurrent-streams 9\n"
	      "tune.h2.header-table-size 100\ntune.h2.fe.rxbuf 1m\n"
	      "tune.h2.be.max-frames-at-once 3\ntune.h2.fe.max-rst-at-once 2\n"
	      "tune.h2.be.glitches-threshold 5\ntune.h2.fe.max-total-streams 4");
	assert_int_equal(fe.window, 1000);
	assert_int_equal(be.window, 2000);
	assert_int_equal(fe.max_streams, 7);
	assert_int_equal(be.max_streams, 9);
	assert_int_equal(fe.header_table, 100);
	assert_int_equal(be.header_table, 100);
	assert_int_equal(fe.rxbuf, 1 << 20);
	assert_int_equal(be.max_frames, 3);
	assert_int_equal(fe.max_resets, 2);
	assert_int_equal(be.max_glitches, 5);
	assert_int_equal(fe.max_total, 4);
	assert_int_equal(be.max_total, 0);
	assert_false(fe.no_extended);
}

static void
zero_sets_no_limit_of_streams(void **state)
{
	(void)state;
	apply("tune.h2.max-concurrent-streams 0\nh2-workaround-bogus-websocket-clients");
	assert_int_equal(fe.max_streams, 0x7fffffff);
	assert_true(fe.no_extended);
}

static void
values_out_of_range_are_errors(void **state)
{
	(void)state;
	assert_int_not_equal(world_global("tune.h2.header-table-size 70000"), 0);
	assert_int_not_equal(world_global("tune.h2.fe.rxbuf x"), 0);
	assert_int_not_equal(world_global("tune.h2.initial-window-size -1"), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			without_lines_the_defaults_apply, world_open, world_close),
		cmocka_unit_test_setup_teardown(
			a_line_of_one_side_has_priority, world_open, world_close),
		cmocka_unit_test_setup_teardown(
			zero_sets_no_limit_of_streams, world_open, world_close),
		cmocka_unit_test_setup_teardown(
			values_out_of_range_are_errors, world_open, world_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
