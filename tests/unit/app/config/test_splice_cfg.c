#include <stdio.h>
#include <string.h>

#include "unit/app/app_rig.h"
#include "unit/test.h"

#include "proxy/model/session.h"

static void
values(void **state)
{
	const struct splice_conf *s = &cfg.global.splice;

	(void)state;
	assert_int_equal(s->maxpipes | s->pipesize | s->off, 0);
	assert_int_equal(s->after, BULK_AFTER_DEFAULT);
	assert_int_equal(s->bulk_bufsize, GLOBAL_BULK_BUFSIZE_DEFAULT);
	assert_int_equal(s->bulk_turn, GLOBAL_BULK_TURN_DEFAULT);
	assert_int_equal(world_global("tune.bulk.bufsize 1m\ntune.bulk.turn 32k"), 0);
	assert_int_equal(s->bulk_bufsize, 1 << 20);
	assert_int_equal(s->bulk_turn, 32768);
	assert_int_equal(world_global("tune.bulk.bufsize 0\ntune.bulk.turn 0"), 0);
	assert_int_equal(s->bulk_bufsize | s->bulk_turn, 0);
	assert_int_equal(world_global("maxpipes 10\ntune.pipesize 256k\nnosplice\n"
				      "tune.splice.after 1m"),
		0);
	assert_int_equal(s->maxpipes, 10);
	assert_int_equal(s->pipesize, 256 << 10);
	assert_int_equal(s->off, 1);
	assert_int_equal(s->after, 1 << 20);
	assert_int_equal(world_global("no nosplice\ntune.pipesize 0\ntune.splice.after 0"), 0);
	assert_int_equal(s->pipesize | s->off | s->after, 0);
	assert_int_equal(world_global("tune.pipesize 4096"), 0);
	assert_int_equal(s->pipesize, 16384);
	assert_int_equal(cfg.diag.count[CFG_WARNING], 0);
}

/* The first line counts, with a warning, as in HAProxy. 0 is the same as no line. */
static void
the_first_maxpipes_counts(void **state)
{
	(void)state;
	assert_int_equal(world_global("maxpipes 0\nmaxpipes 5\nmaxpipes 6"), 0);
	assert_int_equal(cfg.global.splice.maxpipes, 5);
	assert_int_equal(cfg.diag.count[CFG_WARNING], 1);
	assert_non_null(strstr(world_diagnostic(), "it is already set to 5"));
}

static void
mistakes(void **state)
{
	static const char *const bad[] = {
		"maxpipes", "maxpipes -1", "maxpipes x", "maxpipes 10 20", "maxpipes 10000001",
		"maxpipes 4294967296", "maxpipes 1e99", "nosplice x", "tune.pipesize",
		"tune.pipesize x", "tune.pipesize -5",
		"tune.pipesize 2g", "tune.pipesize 1e99", "tune.splice.after",
		"tune.splice.after -1", "tune.splice.after 2g", "tune.splice.after 10x",
		"tune.splice.after 9223372036854775808", "tune.bulk.bufsize",
		"tune.bulk.bufsize 17m", "tune.bulk.bufsize -1", "tune.bulk.turn x",
		"tune.bulk.turn 2g", "tune.bulk.turn 1 2",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		if (world_global(bad[i]) != -1)
			fail_msg("%s was accepted", bad[i]);
		assert_true(world_diagnostic()[0] != '\0');
	}
	assert_int_equal(cfg.global.splice.maxpipes | cfg.global.splice.pipesize, 0);
	assert_int_equal(cfg.global.splice.after, BULK_AFTER_DEFAULT);
}

int
main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, world_open, world_close)
	const struct CMUnitTest tests[] = { T(values), T(the_first_maxpipes_counts), T(mistakes) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
