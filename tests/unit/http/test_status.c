#include "base/compiler.h"
#include "http/head.h"
#include "http/status.h"
#include "unit/test.h"

static void
test_reason(void **state)
{
	(void)state;
	assert_string_equal(http_status_reason(100), "Continue");
	assert_string_equal(http_status_reason(200), "OK");
	assert_string_equal(http_status_reason(404), "Not Found");
	assert_string_equal(http_status_reason(431), "Request Header Fields Too Large");
	assert_string_equal(http_status_reason(511), "Network Authentication Required");
	assert_string_equal(http_status_reason(499), "client has closed connection");
	/* Codes without a phrase. */
	assert_string_equal(http_status_reason(0), "Other");
	assert_string_equal(http_status_reason(199), "Informational");
	assert_string_equal(http_status_reason(299), "Success");
	assert_string_equal(http_status_reason(399), "Redirection");
	assert_string_equal(http_status_reason(498), "Client Error");
	assert_string_equal(http_status_reason(599), "Server Error");
	assert_string_equal(http_status_reason(600), "Other");
	assert_string_equal(http_status_reason(999), "Other");
}

/* Sorted and unique, and each phrase is valid in a start line. */
static void
test_table(void **state)
{
	static const struct {
		unsigned int code;
		const char *phrase;
	} rows[] = {
#define HTTP_STATUS(code, phrase) { code, phrase },
#include "http/status.tbl.h"
#undef HTTP_STATUS
	};
	unsigned int before = 99;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		assert_true(rows[i].code > before && rows[i].code < 600);
		assert_true(rows[i].phrase[0] && http_value_is_valid(str_of(rows[i].phrase)));
		assert_string_equal(http_status_reason(rows[i].code), rows[i].phrase);
		before = rows[i].code;
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reason),
		cmocka_unit_test(test_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
