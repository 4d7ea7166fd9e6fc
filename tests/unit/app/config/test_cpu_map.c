#include <stdio.h>
#include <string.h>

#include "unit/app/app_rig.h"
#include "unit/test.h"

/* The CPUs of a thread (1..) as text, such as "0-1,3"; "" when it is not bound. */
static const char *
cpus_of(unsigned int thread)
{
	const cpu_set_t *set = global_cpus(&cfg.global, thread - 1);
	static char text[256];
	size_t n = 0;

	text[0] = '\0';
	for (int i = 0; set && i < CPU_SETSIZE; i++) {
		int last = i;

		if (!CPU_ISSET(i, set))
			continue;
		while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, set))
			last++;
		n += (size_t)snprintf(text + n, sizeof(text) - n, last > i ? "%s%d-%d" : "%s%d",
			n ? "," : "", i, last);
		i = last;
	}
	return text;
}

struct want {
	const char *lines;
	unsigned int thread;
	const char *cpus;
	unsigned int thread2;
	const char *cpus2;
};

static void
check(const struct want *t, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		void *none = NULL;

		if (world_global(t[i].lines))
			fail_msg("%s: %s", t[i].lines, world_diagnostic());
		if (strcmp(cpus_of(t[i].thread), t[i].cpus))
			fail_msg("%s: thread %u on '%s'", t[i].lines, t[i].thread,
				cpus_of(t[i].thread));
		if (t[i].thread2 && strcmp(cpus_of(t[i].thread2), t[i].cpus2))
			fail_msg("%s: thread %u on '%s'", t[i].lines, t[i].thread2,
				cpus_of(t[i].thread2));
		assert_int_equal(cfg.diag.count[CFG_WARNING], 0);
		world_close(&none);
		assert_int_equal(world_open(&none), 0);
	}
}

static void
examples_of_the_manual(void **state)
{
	static const struct want t[] = {
		{ "cpu-map 1/all 0-3", 1, "0-3", 64, "0-3" },
		{ "cpu-map 1/1- 0-", 1, "0-1023", 64, "0-1023" },
		{ "cpu-map auto:1/1-4 0-3", 1, "0", 4, "3" },
		{ "cpu-map auto:1/1-4 0-3", 2, "1", 5, "" },
		{ "cpu-map auto:1/1-4 0-1 2-3", 3, "2", 4, "3" },
		{ "cpu-map auto:1/1-4 3 2 1 0", 1, "0", 4, "3" },
		{ "cpu-map auto:1/all 0-63", 1, "0", 64, "63" },
		{ "cpu-map auto:1/even 0-31", 2, "0", 64, "31" },
		{ "cpu-map auto:1/even 0-31", 1, "", 63, "" },
		{ "cpu-map auto:1/odd 32-63", 1, "32", 63, "63" },
		{ "cpu-map auto:1/odd 32-63", 2, "", 64, "" },
	};

	(void)state;
	check(t, ARRAY_LEN(t));
	assert_int_equal(world_global("cpu-map auto:1/1-4 0"), -1);
	assert_non_null(strstr(world_diagnostic(), "takes 4 CPUs, not 1"));
	assert_int_equal(world_global("cpu-map auto:1/1 0-3"), -1);
	assert_non_null(strstr(world_diagnostic(), "takes 1 CPUs, not 4"));
	assert_null(global_cpus(&cfg.global, 0));
}

static void
sets(void **state)
{
	static const struct want t[] = {
		{ "cpu-map 1 0", 1, "0", 64, "0" },
		{ "cpu-map auto:1 0-63", 1, "0", 64, "63" },
		{ "cpu-map all 5", 1, "5", 64, "5" },
		{ "cpu-map odd/3 5", 3, "5", 4, "" },
		{ "cpu-map 1-2/3 5", 3, "5", 4, "" },
		{ "cpu-map 1-/3 5", 3, "5", 4, "" },
		{ "cpu-map all/all 5", 3, "5", 64, "5" },
		{ "cpu-map 1/3-1 7-5 1", 1, "1,5-7", 3, "1,5-7" },
		{ "cpu-map 1/1 0-1 1-2 1023", 1, "0-2,1023", 2, "" },
		{ "cpu-map 1/1 64", 1, "64", 2, "" },
		{ "cpu-map 1/62- 1020-", 61, "", 64, "1020-1023" },
		{ "cpu-map auto:1/4-2 9-7", 2, "7", 4, "9" },
		{ "cpu-map auto:1/1-4 0-1 1-3", 2, "1", 4, "3" },
		{ "cpu-map auto:1/1-4 0 0 1 100 7", 3, "7", 4, "100" },
		{ "cpu-map auto:1/2 5", 2, "5", 1, "" },
		/* the first CPU belongs to the first group, the only one */
		{ "cpu-map auto:1-4/2 3-6", 2, "3", 1, "" },
		{ "cpu-map auto:all/1 0-63", 1, "0", 2, "" },
	};

	(void)state;
	check(t, ARRAY_LEN(t));
}

static void
later_lines_replace(void **state)
{
	static const struct want t[] = {
		{ "cpu-map 1/1-2 0\ncpu-map 1/2-3 1", 1, "0", 2, "1" },
		{ "cpu-map 1/1-2 0\ncpu-map 1/2-3 1", 3, "1", 4, "" },
		{ "cpu-map 1 0\ncpu-map 1/1 1", 1, "1", 2, "0" },
		{ "cpu-map 1/1 1\ncpu-map 1 0", 1, "0", 2, "0" },
		{ "cpu-map auto:1/1-4 0-3\nglobal\ncpu-map 1/2 8-9", 2, "8-9", 3, "2" },
		{ "cpu-map 1/all 5\ncpu-map auto:1/1-2 0-1", 2, "1", 3, "5" },
	};

	(void)state;
	check(t, ARRAY_LEN(t));
}

/* Only one thread group exists: lines about others are checked, reported and ignored. */
static void
other_groups(void **state)
{
	static const char *const lines[] = { "cpu-map 2 0", "cpu-map 2/1 0", "cpu-map 64 0",
		"cpu-map even 0", "cpu-map 2-/1 0", "cpu-map auto:2/1-2 0-1",
		"cpu-map auto:1-4 0-3", "cpu-map auto:2-3 0-1" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		assert_int_equal(world_global(lines[i]), 0);
		assert_int_equal(cfg.diag.count[CFG_NOTICE], i + 1);
		assert_null(global_cpus(&cfg.global, 0));
	}
	assert_int_equal(world_global("cpu-map auto:2/1-2 0-3"), -1);
	assert_int_equal(world_global("cpu-map auto:1-4 0-2"), -1);
	assert_non_null(strstr(world_diagnostic(), "takes 4 CPUs, not 3"));
	assert_int_equal(world_global("cpu-map 2/1 x"), -1);
}

static void
mistakes(void **state)
{
	static const struct { const char *args, *why;
	} t[] = {
		{ "", "expects" },
		{ "1/1", "expects" },
		{ "0 0", "'0' is out of range (1..64)" },
		{ "65 0", "'65' is out of range" },
		{ "65/1 0", "'65' is out of range" },
		{ "1/0 0", "'0' is out of range" },
		{ "1/65 0", "'65' is out of range" },
		{ "1/1-65 0", "'1-65' is out of range" },
		{ "1/65- 0", "'65-' is out of range" },
		{ "1/4294967297 0", "out of range" },
		{ "1/-3 0", "'-3' is not" },
		{ "1/ 0", "'' is not" },
		{ "/1 0", "'' is not" },
		{ "auto: 0", "'' is not" },
		{ "auto:/ 0", "'' is not" },
		{ "AUTO:1 0", "'AUTO:1' is not" },
		{ "x 0", "'x' is not" },
		{ "1/x 0", "'x' is not" },
		{ "1/1x 0", "'1x' is not" },
		{ "1/1-2-3 0", "'1-2-3' is not" },
		{ "1/1,2 0", "'1,2' is not" },
		{ "1/1/1 0", "'1/1' is not" },
		{ "1/ALL 0", "'ALL' is not" },
		{ "1/+1 0", "'+1' is not" },
		{ "00000000000000000000000000000000001/1 0", "not a set of thread groups" },
		{ "1/1 all", "'all' is not" },
		{ "1/1 -1", "'-1' is not" },
		{ "1/1 x", "'x' is not" },
		{ "1/1 0 x", "'x' is not" },
		{ "1/1 1x", "'1x' is not" },
		{ "1/1 0,1", "'0,1' is not" },
		{ "1/1 5-6-7", "'5-6-7' is not" },
		{ "1/1 \"\"", "expects" },
		{ "1/1 \"\" 0", "'' is not" },
		{ "1/1 1024", "CPU '1024' is out of range (0..1023)" },
		{ "1/1 1024-", "CPU '1024-' is out of range" },
		{ "1/1 5-2000", "CPU '5-2000' is out of range" },
		{ "1/1 4294967296", "out of range" },
		{ "auto:1/1-4 0-1 1-2", "takes 4 CPUs, not 3" },
		{ "auto:1/1-4 0 0 1 1", "takes 4 CPUs, not 2" },
		{ "auto:1/1- 0-", "takes 64 CPUs, not 1024" },
		{ "auto:1 0", "takes 64 CPUs, not 1" },
		{ "auto:1-2/1 0-3", "takes 2 CPUs, not 4" },
		{ "auto:1-2/1-2 0-3", "not both" },
		{ "auto:1-2/1-2 0-1", "not both" },
		{ "auto:all 0-62", "takes 64 CPUs, not 63" },
	};
	char line[128];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		snprintf(line, sizeof(line), "cpu-map %s", t[i].args);
		assert_int_equal(world_global(line), -1);
		if (!strstr(world_diagnostic(), t[i].why))
			fail_msg("%s: %s", line, world_diagnostic());
	}
	assert_int_equal(world_global("no cpu-map 1/1 0"), -1);
	assert_null(global_cpus(&cfg.global, 0));
}

int
main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, world_open, world_close)
	const struct CMUnitTest tests[] = { T(examples_of_the_manual), T(sets),
					    T(later_lines_replace), T(other_groups), T(mistakes) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
