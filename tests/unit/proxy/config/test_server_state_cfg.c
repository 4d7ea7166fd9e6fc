#include "unit/proxy/proxies_rig.h"

static const struct world_line lines[] = {
	{ "load-server-state-from-file global", NULL },
	{ "load-server-state-from-file local", NULL },
	{ "load-server-state-from-file none", NULL },
	{ "load-server-state-from-file x", "expects 'global', 'local' or 'none'. Got 'x'" },
	{ "load-server-state-from-file", "{ global | local | none }" },
	{ "server-state-file-name", NULL },
	{ "server-state-file-name use-backend-name", NULL },
	{ "server-state-file-name a/b", NULL },
	{ "server-state-file-name a b", "'b'" },
};

static struct world w;

static void
lines_load_or_are_refused(void **state)
{
	(void)state;
	world_lines("backend b\n ", lines, ARRAY_LEN(lines), "");
}

static void
values_are_stored(void **state)
{
	const struct proxy *p;

	(void)state;
	world_good(&w, WORLD_DEFAULTS " load-server-state-from-file global\n"
				      "backend a\nbackend b\n load-server-state-from-file local\n"
				      " server-state-file-name x\n server-state-file-name y\n"
				      "backend c\n server-state-file-name x\n"
				      " server-state-file-name use-backend-name\n"
				      " load-server-state-from-file none\n");
	p = world_proxy(&w, "a");
	assert_int_equal(p->state_file, STATE_FILE_GLOBAL);
	assert_null(p->state_file_name);
	p = world_proxy(&w, "b");
	assert_int_equal(p->state_file, STATE_FILE_LOCAL);
	assert_string_equal(p->state_file_name, "y");
	p = world_proxy(&w, "c");
	assert_int_equal(p->state_file, STATE_FILE_NONE);
	assert_null(p->state_file_name);
	world_fini(&w);
}

static void
test_defaults(void **state)
{
	(void)state;
	world_good(&w, WORLD_DEFAULTS " server-state-file-name x\nbackend a\n"
				      "backend b\n server-state-file-name use-backend-name\n");
	assert_string_equal(world_proxy(&w, "a")->state_file_name, "x");
	assert_null(world_proxy(&w, "b")->state_file_name);
	world_fini(&w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(lines_load_or_are_refused),
					    cmocka_unit_test(values_are_stored),
					    cmocka_unit_test(test_defaults) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
