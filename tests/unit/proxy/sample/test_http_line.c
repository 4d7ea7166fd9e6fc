#include "proxy/sample/http_line.h"
#include "unit/test.h"

#include <string.h>

static struct http_txn room;

static struct http_txn *
with(const char *line)
{
	memset(&room, 0, sizeof(room));
	room.line_len = (uint32_t)strlen(line);
	memcpy(room.line, line, room.line_len);
	return &room;
}

static void
test_parts(void **state)
{
	static const struct {
		const char *line, *method, *target;
	} rows[] = {
		{ "GET /a?b HTTP/1.1", "GET", "/a?b" },
		{ "OPTIONS * HTTP/1.0", "OPTIONS", "*" },
		/* Truncated. */
		{ "GET /a", "GET", "/a" },
		{ "GET ", "GET", "" },
		{ "GET", "GET", "" },
		{ "", "", "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct http_txn *t = with(rows[i].line);

		assert_true(str_is(http_line_method(t), str_of(rows[i].method)));
		assert_true(str_is(http_line_target(t), str_of(rows[i].target)));
		assert_non_null(http_line_target(t).p);
	}
	assert_null(http_line_method(NULL).p);
	assert_null(http_line_target(NULL).p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
