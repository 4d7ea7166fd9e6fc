/* Whole responses in memory: each is given byte by byte, as it would come. */
#include "http/whole.h"

#include <string.h>

#include "base/compiler.h"
#include "unit/test.h"

struct row {
	const char *text;
	unsigned int status; /* 0: it cannot be used */
	const char *body;
	int needs_end;       /* it is complete only when the connection has ended */
};

static const struct row rows[] = {
	{ "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef", 200, "abc", 0 },
	{ "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 200, "", 0 },
	{ "HTTP/1.0 200 OK\r\n\r\nabc", 200, "abc", 1 },
	{ "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	  "2\r\nab\r\n1;x=y\r\nc\r\n0\r\n\r\n", 200, "abc", 0 },
	{ "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 503 No\r\nContent-Length: 1\r\n\r\nx", 503, "x",
		0 },
	{ "HTTP/1.1 204 None\r\n\r\n", 204, "", 0 },
	{ "HTTP/1.1 101 Other\r\nUpgrade: x\r\n\r\n", 0, NULL, 0 },
	{ "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabc", 0, NULL, 1 },
	{ "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", 0, NULL, 1 },
	{ "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nz\r\n", 0, NULL, 0 },
	{ "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", 0, NULL, 0 },
	{ "HTTP/1.1 200", 0, NULL, 1 },
	{ "", 0, NULL, 1 },
	{ "SSH-2.0-x\r\n", 0, NULL, 0 },
};

static void
assert_whole(const struct row *r)
{
	size_t n = strlen(r->text);
	enum http_whole got = HTTP_WHOLE_MORE;
	unsigned int status = 0;
	struct str body = { NULL, 0 };
	char p[256];

	memcpy(p, r->text, n);
	for (size_t len = 0; got == HTTP_WHOLE_MORE && len <= n; len++) {
		got = http_whole_response(p, len, 0, &status, &body);
		if (got != HTTP_WHOLE)
			assert_memory_equal(p, r->text, n);
	}
	assert_int_equal(got == HTTP_WHOLE_MORE, r->needs_end);
	if (r->needs_end)
		got = http_whole_response(p, n, 1, &status, &body);
	assert_int_equal(got, r->status ? HTTP_WHOLE : HTTP_WHOLE_BAD);
	if (!r->status)
		return;
	assert_int_equal(status, r->status);
	assert_int_equal(body.len, strlen(r->body));
	assert_memory_equal(body.p, r->body, body.len);
}

static void
test_rows(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++)
		assert_whole(&rows[i]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_rows) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
