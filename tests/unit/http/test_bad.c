/* Reasons of rejection: each has a status code for the client, and a text. */
#include <string.h>

#include "http/h1_parse.h"
#include "unit/test.h"

static void
each_has_a_status_and_words(void **st)
{
	(void)st;
	for (int b = 1; b < HTTP_BADS; b++) {
		assert_in_range(http_bad_status((enum http_bad)b), 400, 599);
		assert_true(strlen(http_bad_text((enum http_bad)b)) > 5);
	}
}

static void
the_texts_are_distinct(void **st)
{
	(void)st;
	for (int a = 1; a < HTTP_BADS; a++)
		for (int b = 1; b < a; b++)
			assert_string_not_equal(http_bad_text((enum http_bad)a),
				http_bad_text((enum http_bad)b));
}

static void
the_statuses_of_the_rfc(void **st)
{
	(void)st;
	assert_int_equal(http_bad_status(HTTP_BAD_NONE), 200);
	assert_string_equal(http_bad_text(HTTP_BAD_NONE), "");
	assert_int_equal(http_bad_status(HTTP_BAD_HOST), 400);
	assert_int_equal(http_bad_status(HTTP_BAD_TARGET_LONG), 414);
	assert_int_equal(http_bad_status(HTTP_BAD_FIELDS), 431);
	assert_int_equal(http_bad_status(HTTP_BAD_HEAD_LONG), 431);
	assert_int_equal(http_bad_status(HTTP_BAD_VERSION), 505);
	/* Not a reason. */
	assert_int_equal(http_bad_status(HTTP_BADS), 400);
	assert_string_equal(http_bad_text(HTTP_BADS), "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_has_a_status_and_words),
		cmocka_unit_test(the_texts_are_distinct),
		cmocka_unit_test(the_statuses_of_the_rfc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
