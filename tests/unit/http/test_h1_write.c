#include <string.h>

#include "base/compiler.h"
#include "http/h1_write.h"
#include "unit/http/http_rig.h"
#include "unit/test.h"

static void
test_write(void **state)
{
	struct http_head h = request_head();

	(void)state;
	assert_written(&h, "GET / HTTP/1.1\r\n\r\n");
	h.version = HTTP_1_0;
	h.method_text = STR("BREW");
	h.target = STR("coffee://pot");
	add(&h, "A", "");
	add(&h, "host", "x");
	add(&h, "B", "y z");
	http_drop(&h, 1);
	assert_written(&h, "BREW coffee://pot HTTP/1.0\r\nA: \r\nB: y z\r\n\r\n");
	http_head_init(&h, HTTP_RESPONSE, places, PLACES);
	h.status = 205;
	assert_written(&h, "HTTP/1.1 205 \r\n\r\n");
	h.reason = STR("Reset Content");
	add(&h, "Via", "1.1 a");
	assert_written(&h, "HTTP/1.1 205 Reset Content\r\nVia: 1.1 a\r\n\r\n");
	h.version = HTTP_1_0;
	h.status = 999;
	assert_written(&h, "HTTP/1.0 999 Reset Content\r\nVia: 1.1 a\r\n\r\n");
	http_head_init(&h, HTTP_TRAILERS, places, PLACES);
	assert_written(&h, "\r\n");
	add(&h, "A", "b");
	assert_written(&h, "A: b\r\n\r\n");
}

/* A text of parsed fields, which stand in it as they are written. */
static struct http_head
parsed_head(const char *text)
{
	struct h1_parser p = { 0 };
	struct http_head h;
	size_t used;

	http_head_init(&h, HTTP_REQUEST, places, PLACES);
	assert_int_equal(h1_parse_request(&p, text, strlen(text), &h, &used), HTTP_COMPLETE);
	return h;
}

/* Lines are copied as they are; what was changed, dropped or written otherwise is not. */
static void
test_parsed_lines(void **state)
{
	static const char text[] = "GET / HTTP/1.1\r\nHost: a\r\nB: one, two\r\nC:  blanks \r\n"
				   "D:\r\nE: e\r\nF: f\r\n\r\n";
	struct http_head h = parsed_head(text);

	(void)state;
	assert_written(&h, "GET / HTTP/1.1\r\nHost: a\r\nB: one, two\r\nC: blanks\r\nD: \r\n"
			   "E: e\r\nF: f\r\n\r\n");
	http_drop(&h, 0);
	http_drop(&h, 5);
	h.field[1].value.len = 3;
	add(&h, "G", "g");
	assert_written(&h, "GET / HTTP/1.1\r\nB: one\r\nC: blanks\r\nD: \r\nE: e\r\n"
			   "G: g\r\n\r\n");
	h = parsed_head(text);
	assert_int_equal(http_set_value(&h, 1, STR("new")), 0);
	h.field[5].name = STR("Other");
	assert_written(&h, "GET / HTTP/1.1\r\nHost: a\r\nB: new\r\nC: blanks\r\nD: \r\nE: e\r\n"
			   "Other: f\r\n\r\n");
}

/* Lines that do not stand side by side: those between them are gone. */
static void
test_lines_apart(void **state)
{
	struct http_head h =
		parsed_head("GET / HTTP/1.1\r\nHost: a\r\nB: b\r\nC: c\r\nD: d\r\n\r\n");

	(void)state;
	h.field[1] = h.field[3];
	h.n = 3;
	assert_written(&h, "GET / HTTP/1.1\r\nHost: a\r\nD: d\r\nC: c\r\n\r\n");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_write),
		cmocka_unit_test(test_parsed_lines),
		cmocka_unit_test(test_lines_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
