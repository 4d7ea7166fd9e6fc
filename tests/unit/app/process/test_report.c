#include <stdio.h>
#include <string.h>

#include <stdlib.h>
#include <sys/stat.h>

#include "app/process/report.h"
#include "base/sys.h"
#include "unit/test.h"

static char *text;
static size_t len;

static void
say(int quiet, int verbose)
{
	struct report r = { .pid = 42, .quiet = quiet, .verbose = verbose };

	free(text);
	r.to = open_memstream(&text, &len);
	report_msg(&r, REPORT_ALERT, "a%d", 1);
	report_msg(&r, REPORT_WARNING, "b");
	report_msg(&r, REPORT_NOTICE, "c");
	fclose(r.to);
}

/* A line that continues another one has its priority. */
static void
priorities_for_the_journal(void **state)
{
	struct report r = { .pid = 42, .has_priorities = 1 };

	(void)state;
	r.to = open_memstream(&text, &len);
	report_text(&r, "hm\n[ALERT]    (1) : x\n  y\n[NOTICE]   (1) : z");
	report_msg(&r, REPORT_WARNING, "b");
	fclose(r.to);
	assert_string_equal(text, "<6>hm\n<1>[ALERT]    (1) : x\n<1>  y\n<5>[NOTICE]   (1) : z"
		"<4>[WARNING]  (42) : b\n");
	free(text);
	text = NULL;
}

static void
the_journal_is_known_by_its_stream(void **state)
{
	static const char *const others[] = { NULL, "", ":", "1:1", "x" };
	struct report r = { .pid = 42 };
	struct sys sys;
	struct stat st;
	char name[80];

	(void)state;
	sys_init(&sys, &sys_linux, NULL);
	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		report_find_journal(&r, &sys, others[i]);
		assert_int_equal(r.has_priorities, 0);
	}
	assert_int_equal(fstat(2, &st), 0);
	snprintf(name, sizeof(name), "%llu:%llu", (unsigned long long)st.st_dev,
		(unsigned long long)st.st_ino);
	report_find_journal(&r, &sys, name);
	assert_int_equal(r.has_priorities, 1);
}

static void
levels(void **state)
{
	(void)state;
	say(0, 0);
	assert_string_equal(text, "[ALERT]    (42) : a1\n[WARNING]  (42) : b\n");
	say(0, 1);
	assert_string_equal(
		text, "[ALERT]    (42) : a1\n[WARNING]  (42) : b\n[NOTICE]   (42) : c\n");
	say(1, 0);
	assert_string_equal(text, "[ALERT]    (42) : a1\n");
	say(1, 1);
	assert_string_equal(text, "[ALERT]    (42) : a1\n");
	free(text);
	text = NULL;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels),
		cmocka_unit_test(priorities_for_the_journal),
		cmocka_unit_test(the_journal_is_known_by_its_stream),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
