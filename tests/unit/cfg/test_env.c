#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cfg/env.c"
#include "unit/test.h"

static void
set_and_get(void **state)
{
	struct cfg_env env;

	(void)state;
	cfg_env_init(&env);
	assert_null(cfg_env_get(&env, "A"));
	assert_int_equal(cfg_env_set(&env, "B", "2"), 0);
	assert_int_equal(cfg_env_set(&env, "A", "1"), 0);
	assert_int_equal(cfg_env_set(&env, "C", ""), 0);
	assert_int_equal(cfg_env_set(&env, "B", "3"), 0);
	assert_string_equal(cfg_env_get(&env, "A"), "1");
	assert_string_equal(cfg_env_get(&env, "B"), "3");
	assert_string_equal(cfg_env_get(&env, "C"), "");
	assert_int_equal(env.nvar, 3);
	assert_int_equal(cfg_env_preset(&env, "A", "9"), 0);
	assert_string_equal(cfg_env_get(&env, "A"), "1");
	assert_int_equal(cfg_env_preset(&env, "D", "4"), 0);
	assert_string_equal(cfg_env_get(&env, "D"), "4");
	cfg_env_unset(&env, "B");
	cfg_env_unset(&env, "NOPE");
	assert_null(cfg_env_get(&env, "B"));
	assert_int_equal(env.nvar, 3);
	cfg_env_fini(&env);
}

static void
bad_names_are_refused(void **state)
{
	static const char *const bad[] = { "", "1A", "A-B", "A=B", ".FILE", "A B" };
	struct cfg_env env;

	(void)state;
	cfg_env_init(&env);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(cfg_env_set(&env, bad[i], "x"), -EINVAL);
	assert_int_equal(env.nvar, 0);
	cfg_env_fini(&env);
}

static void
import_and_reset(void **state)
{
	static const char *const from[] = {
		"PATH=/bin", "EMPTY=", "=odd", "novalue", "EQ=a=b", "PATH=/sbin", NULL,
	};
	static const char *const keep[] = { "EQ", "NOPE" };
	struct cfg_env env;

	(void)state;
	cfg_env_init(&env);
	assert_int_equal(cfg_env_import(&env, NULL), 0);
	assert_int_equal(cfg_env_import(&env, from), 0);
	assert_int_equal(env.nvar, 3);
	assert_string_equal(cfg_env_get(&env, "EQ"), "a=b");
	assert_string_equal(cfg_env_get(&env, "PATH"), "/sbin");
	cfg_env_reset(&env, keep, 2);
	assert_int_equal(env.nvar, 1);
	assert_string_equal(cfg_env_get(&env, "EQ"), "a=b");
	cfg_env_fini(&env);
}

static void
names_and_values_are_bounded(void **state)
{
	char *big = calloc(1, CFG_ENV_VALUE_MAX + 2);
	struct cfg_env env;
	char name[16];

	(void)state;
	cfg_env_init(&env);
	memset(big, 'v', CFG_ENV_VALUE_MAX + 1);
	assert_int_equal(cfg_env_set(&env, "A", big), -E2BIG);
	assert_int_equal(env.nvar, 0);
	big[CFG_ENV_VALUE_MAX] = '\0';
	assert_int_equal(cfg_env_set(&env, "A", big), 0);
	assert_int_equal(cfg_env_set(&env, "A", ""), 0);
	for (int i = 1; i < CFG_ENV_MAX; i++) {
		snprintf(name, sizeof(name), "V%d", i);
		assert_int_equal(cfg_env_set(&env, name, ""), 0);
	}
	assert_int_equal(cfg_env_set(&env, "ONE_MORE", ""), -E2BIG);
	assert_int_equal(cfg_env_set(&env, "V7", "still"), 0);
	cfg_env_fini(&env);
	free(big);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(set_and_get),
		cmocka_unit_test(bad_names_are_refused),
		cmocka_unit_test(import_and_reset),
		cmocka_unit_test(names_and_values_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
