#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "base/err.h"
#include "http/reply.h"
#include "unit/test.h"

static struct http_field
field(const char *name, const char *value)
{
	return (struct http_field){ .name = str_of(name), .value = str_of(value) };
}

static void
assert_sent(const struct http_reply *r, enum http_conn conn, enum http_method m,
	const char *expected)
{
	size_t len = strlen(expected);
	char out[1024];

	memset(out, '#', sizeof(out));
	assert_int_equal(http_reply_write(r, conn, m, out, len), len);
	assert_memory_equal(out, expected, len);
	assert_int_equal(out[len], '#');
	assert_int_equal(http_reply_write(r, conn, m, out, len - 1), -ERR_RANGE);
}

/* As HAProxy 2.6 sends them, except for the case of names. */
static void
test_errors(void **state)
{
	(void)state;
	assert_sent(http_error(HTTP_ERROR_403), HTTP_CONN_CLOSE, HTTP_GET,
		"HTTP/1.1 403 Forbidden\r\nContent-Length: 93\r\nCache-Control: no-cache\r\n"
		"Content-Type: text/html\r\nConnection: close\r\n\r\n"
		"<html><body><h1>403 Forbidden</h1>\nRequest forbidden by administrative rules.\n"
		"</body></html>\n");
	assert_sent(http_error(HTTP_ERROR_405), HTTP_CONN_UNSAID, HTTP_OTHER,
		"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 146\r\n"
		"Cache-Control: no-cache\r\nContent-Type: text/html\r\n\r\n"
		"<html><body><h1>405 Method Not Allowed</h1>\nA request was made of a resource "
		"using a request method not supported by that resource\n</body></html>\n");
	assert_sent(http_error(HTTP_ERROR_408), HTTP_CONN_KEEP_ALIVE, HTTP_HEAD,
		"HTTP/1.1 408 Request Time-out\r\nContent-Length: 110\r\n"
		"Cache-Control: no-cache\r\nContent-Type: text/html\r\n"
		"Connection: keep-alive\r\n\r\n");
}

/* Each has a correct Content-Length, and there is one for each status code. */
static void
test_table(void **state)
{
	unsigned int before = 0;

	(void)state;
	for (int i = 0; i < HTTP_ERRORS; i++) {
		const struct http_reply *r = http_error((enum http_error_id)i);
		char text[32];
		struct http_head h;
		struct http_field places[8];
		int at;

		assert_true(r->status > before);
		before = r->status;
		assert_int_equal(http_error_id(r->status), i);
		http_head_init(&h, HTTP_RESPONSE, places, ARRAY_LEN(places));
		assert_int_equal(http_reply_head(r, HTTP_CONN_CLOSE, &h), 0);
		at = http_find_id(&h, HTTP_F_CONTENT_LENGTH, 0);
		assert_true(at >= 0);
		assert_int_equal(http_find(&h, STR("content-length"), 0), at);
		snprintf(text, sizeof(text), "%zu", r->body.len);
		assert_true(str_is(h.field[at].value, str_of(text)));
		assert_int_equal(h.framing, HTTP_BODY_LENGTH);
		assert_int_equal(h.length, r->body.len);
		snprintf(text, sizeof(text), "<h1>%u ", r->status);
		assert_non_null(strstr(r->body.p, text));
		assert_true(http_find_id(&h, HTTP_F_CACHE_CONTROL, 0) >= 0);
		assert_true(http_find_id(&h, HTTP_F_CONTENT_TYPE, 0) >= 0);
		snprintf(text, sizeof(text), "%u", r->status);
		assert_non_null(strstr(http_error_list(), text));
	}
	assert_int_equal(strncmp(http_error_list(), "200 400 ", 8), 0);
	assert_int_equal(http_error_id(0), -1);
	assert_int_equal(http_error_id(299), -1);
}

static void
test_new(void **state)
{
	struct http_field f[] = { field("X-A", "b"), field("Content-Type", "text/plain") };
	struct http_reply *r = NULL, *again;

	(void)state;
	assert_int_equal(http_reply_new(404, f, 2, STR("hello"), &r), 0);
	f[0].value = STR("no");
	assert_sent(r, HTTP_CONN_CLOSE, HTTP_GET,
		"HTTP/1.1 404 Not Found\r\nX-A: b\r\nContent-Type: text/plain\r\n"
		"Content-Length: 5\r\nConnection: close\r\n\r\nhello");
	again = http_reply_get(r);
	http_reply_put(&r);
	assert_null(r);
	assert_int_equal(again->body.len, 5);
	http_reply_put(&again);
	http_reply_put(&again);
	assert_int_equal(http_reply_new(302, NULL, 0, STR(""), &r), 0);
	assert_sent(r, HTTP_CONN_UNSAID, HTTP_GET,
		"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n");
	http_reply_put(&r);
	assert_int_equal(http_reply_new(204, NULL, 0, STR(""), &r), 0);
	assert_sent(r, HTTP_CONN_UNSAID, HTTP_GET, "HTTP/1.1 204 No Content\r\n\r\n");
	http_reply_put(&r);
	assert_int_equal(http_reply_new(599, NULL, 0, STR(""), &r), 0);
	assert_sent(r, HTTP_CONN_UNSAID, HTTP_GET,
		"HTTP/1.1 599 Server Error\r\nContent-Length: 0\r\n\r\n");
	http_reply_put(&r);
}

static void
test_new_refuses(void **state)
{
	static const char *const bad[][2] = {
		{ "a b", "c" }, { "", "c" }, { "a", "b\r\nc: d" }, { "Content-Length", "1" },
		{ "transfer-encoding", "chunked" }, { "Connection", "x" },
	};
	struct http_field many[HTTP_REPLY_FIELDS];
	struct http_reply *r = NULL;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_LEN(bad); i++) {
		many[0] = field(bad[i][0], bad[i][1]);
		assert_int_equal(http_reply_new(200, many, 1, STR("x"), &r), -ERR_INVAL);
	}
	for (unsigned int i = 0; i < HTTP_REPLY_FIELDS; i++)
		many[i] = field("a", "b");
	assert_int_equal(http_reply_new(200, many, HTTP_REPLY_FIELDS, STR("x"), &r), -ERR_RANGE);
	assert_int_equal(http_reply_new(199, NULL, 0, STR(""), &r), -ERR_INVAL);
	assert_int_equal(http_reply_new(600, NULL, 0, STR(""), &r), -ERR_INVAL);
	assert_int_equal(http_reply_new(204, NULL, 0, STR("x"), &r), -ERR_INVAL);
	assert_int_equal(http_reply_new(304, NULL, 0, STR("x"), &r), -ERR_INVAL);
	assert_null(r);
	/* The maximum number of fields, and one more. */
	assert_int_equal(http_reply_new(200, many, HTTP_REPLY_FIELDS - 1, STR("x"), &r), 0);
	{
		struct http_field places[HTTP_REPLY_FIELDS];
		struct http_head h;

		http_head_init(&h, HTTP_RESPONSE, places, ARRAY_LEN(places));
		assert_int_equal(http_reply_head(r, HTTP_CONN_CLOSE, &h), -ERR_RANGE);
		assert_int_equal(http_reply_head(r, HTTP_CONN_UNSAID, &h), 0);
		assert_int_equal(h.n, HTTP_REPLY_FIELDS);
	}
	http_reply_put(&r);
}

/* However the reply was made, the connection is closed without a response. */
static void
test_silent(void **state)
{
	struct http_reply *r = NULL;
	char out[8];

	(void)state;
	assert_int_equal(http_reply_make(0, STR(""), NULL, 0, STR(""), &r), 0);
	assert_int_equal(http_reply_write(r, HTTP_CONN_CLOSE, HTTP_GET, out, sizeof(out)), 0);
	http_reply_put(&r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_new),
		cmocka_unit_test(test_new_refuses),
		cmocka_unit_test(test_silent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
