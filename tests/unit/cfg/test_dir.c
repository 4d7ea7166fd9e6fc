#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sys.h"
#include "cfg/diag.h"
#include "cfg/files.h"
#include "unit/test.h"
/* The unit itself, instead of the library's. */
#include "cfg/files.c"

static char top[] = "/tmp/tacit-dir-XXXXXX";
static struct sys sys;

/* The directory of the process, without the name of the temporary one before it. */
static const char *
here(void)
{
	static char path[4096];

	assert_non_null(getcwd(path, sizeof(path)));
	return strncmp(path, top, strlen(top)) == 0 ? path + strlen(top) : path;
}

static int
set_up(void **state)
{
	(void)state;
	sys_init(&sys, &sys_linux, NULL);
	return !mkdtemp(top) || chdir(top) < 0 || mkdir("a", 0700) < 0 || mkdir("a/b", 0700) < 0 ||
		mkdir("c", 0700) < 0;
}

static int
tear_down(void **state)
{
	(void)state;
	return chdir(top) < 0 || rmdir("a/b") < 0 || rmdir("a") < 0 || rmdir("c") < 0 ||
		chdir("/") < 0 || rmdir(top) < 0;
}

static void
each_policy_has_its_directory(void **state)
{
	static const struct {
		enum cfg_dir_policy policy;
		const char *path, *origin, *want;
	} t[] = {
		{ CFG_DIR_CURRENT, "a/b/x.cfg", "", "" },
		{ CFG_DIR_CONFIG, "a/b/x.cfg", "", "/a/b" },
		{ CFG_DIR_CONFIG, "x.cfg", "", "" },
		{ CFG_DIR_CONFIG, "/x.cfg", "", "/" },
		{ CFG_DIR_CONFIG, "./a/x.cfg", "", "/a" },
		{ CFG_DIR_PARENT, "a/b/x.cfg", "", "/a" },
		{ CFG_DIR_PARENT, "a/x.cfg", "", "" },
		{ CFG_DIR_ORIGIN, "a/x.cfg", "c", "/c" },
		{ CFG_DIR_ORIGIN, "a/x.cfg", "/usr", "/usr" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct cfg_dir d = { 0 };

		assert_int_equal(cfg_dir_begin(&d, &sys, t[i].path, 0), 0);
		assert_string_equal(here(), "");
		assert_int_equal(cfg_dir_set(&d, &sys, t[i].policy, t[i].origin), 0);
		assert_string_equal(here(), t[i].want);
		assert_int_equal(cfg_dir_enter(&d, &sys, NULL), 0);
		assert_string_equal(here(), "");
		cfg_dir_fini(&d);
	}
}

/* Each file has its own directory, and keeps it for what is read later. */
static void
each_file_has_its_own_directory(void **state)
{
	struct cfg_file first = { .number = 0 }, second = { .number = 1 }, third = { .number = 7 };
	struct cfg_dir d = { 0 };

	(void)state;
	assert_int_equal(cfg_dir_begin(&d, &sys, "a/x.cfg", 0), 0);
	assert_int_equal(cfg_dir_set(&d, &sys, CFG_DIR_CONFIG, ""), 0);
	assert_string_equal(here(), "/a");
	assert_int_equal(cfg_dir_enter(&d, &sys, NULL), 0);
	assert_int_equal(cfg_dir_begin(&d, &sys, "c/y.cfg", 1), 0);
	assert_string_equal(here(), "/c");
	assert_int_equal(cfg_dir_set(&d, &sys, CFG_DIR_ORIGIN, "a/b"), 0);
	assert_int_equal(cfg_dir_enter(&d, &sys, &first), 0);
	assert_string_equal(here(), "/a");
	assert_int_equal(cfg_dir_enter(&d, &sys, &second), 0);
	assert_string_equal(here(), "/a/b");
	assert_int_equal(cfg_dir_enter(&d, &sys, &third), 0);
	assert_string_equal(here(), "");
	cfg_dir_fini(&d);
}

static void
a_directory_that_fails_is_an_error(void **state)
{
	struct cfg_dir d = { 0 };

	(void)state;
	/* text that is in no file */
	assert_int_equal(cfg_dir_set(&d, &sys, CFG_DIR_CONFIG, ""), 0);
	assert_string_equal(here(), "");
	cfg_dir_fini(&d);
	assert_int_equal(cfg_dir_begin(&d, &sys, "a/x.cfg", 0), 0);
	assert_int_equal(cfg_dir_set(&d, &sys, CFG_DIR_ORIGIN, "nowhere"), -ENOENT);
	assert_string_equal(here(), "");
	assert_int_equal(cfg_dir_set(&d, &sys, CFG_DIR_ORIGIN, "c"), 0);
	assert_int_equal(cfg_dir_set(&d, &sys, CFG_DIR_ORIGIN, "nowhere"), -ENOENT);
	assert_string_equal(here(), "/c");
	assert_int_equal(cfg_dir_enter(&d, &sys, NULL), 0);
	assert_string_equal(here(), "");
	cfg_dir_fini(&d);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_policy_has_its_directory),
		cmocka_unit_test(each_file_has_its_own_directory),
		cmocka_unit_test(a_directory_that_fails_is_an_error),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
