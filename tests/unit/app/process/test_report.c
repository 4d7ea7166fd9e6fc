#include <stdio.h>
#include <string.h>

#include <stdlib.h>

#include "app/process/report.h"
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
	const struct CMUnitTest tests[] = { cmocka_unit_test(levels) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
