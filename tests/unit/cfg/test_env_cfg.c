#include "unit/cfg/cfg_rig.h"

static void
keywords_change_the_environment(void **state)
{
	struct world w;

	(void)state;
	world_init(&w);
	assert_int_equal(cfg_env_set(&w.env, "OLD", "1"), 0);
	assert_int_equal(cfg_env_set(&w.env, "KEEP", "2"), 0);
	assert_int_equal(
		world_read(&w, "t",
			"global\n setenv A \"x y\"\n presetenv A z\n presetenv B b\n setenv A2 a\n"
			" unsetenv A2 NOPE\n resetenv A B KEEP\n setenv EMPTY \"\"\n"),
		0);
	assert_int_equal(w.env.nvar, 4);
	assert_string_equal(cfg_env_get(&w.env, "A"), "x y");
	assert_string_equal(cfg_env_get(&w.env, "B"), "b");
	assert_string_equal(cfg_env_get(&w.env, "KEEP"), "2");
	assert_string_equal(cfg_env_get(&w.env, "EMPTY"), "");
	world_fini(&w);
}

static void
bad_lines_are_refused(void **state)
{
	static const char *const bad[] = {
		"setenv\n",
		"setenv A\n",
		"presetenv A\n",
		"setenv A b c\n",
		"setenv 1A b\n",
		"presetenv .FILE b\n",
		"unsetenv\n",
		"no setenv A\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct world w;

		world_init(&w);
		world_read(&w, "t", "global\n");
		assert_int_equal(w.diag.count[CFG_ALERT], 0);
		{
			char text[64];

			snprintf(text, sizeof(text), "global\n %s", bad[i]);
			assert_int_equal(world_read(&w, "t", text), -1);
		}
		assert_int_equal(w.diag.count[CFG_ALERT], 1);
		assert_int_equal(w.env.nvar, 0);
		world_fini(&w);
	}
}

static void
too_many_variables_are_refused(void **state)
{
	struct world w;
	struct sbuf b;

	(void)state;
	sbuf_init(&b, 0);
	sbuf_adds(&b, "global\n");
	for (int i = 0; i < CFG_ENV_MAX + 1; i++)
		sbuf_addf(&b, " setenv V%d x\n", i);
	world_init(&w);
	assert_int_equal(world_read(&w, "t", b.p), -1);
	assert_int_equal(w.diag.count[CFG_ALERT], 1);
	assert_string_equal(w.diag.entry[0].text,
			    "'setenv': too many variables; the limit is 4096.");
	sbuf_reset(&b);
	sbuf_adds(&b, "global\n resetenv");
	for (int i = 0; i < 300; i++)
		sbuf_addf(&b, " V%d", i);
	sbuf_adds(&b, "\n");
	assert_int_equal(world_read(&w, "t", b.p), -1);
	assert_int_equal(w.diag.count[CFG_ALERT], 2);
	world_fini(&w);
	sbuf_fini(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keywords_change_the_environment),
		cmocka_unit_test(bad_lines_are_refused),
		cmocka_unit_test(too_many_variables_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
