#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "base/err.h"
#include "base/mem.h"
#include "http/errorfile.h"
#include "unit/test.h"

/* The text is in a block of its own length, so that ASan detects reads beyond it. */
static int
parse(const char *text, size_t len, struct http_reply **out, const char **why)
{
	char *copy = mem_alloc(len + !len);
	int rc;

	assert_non_null(copy);
	memcpy(copy, text, len);
	rc = http_errorfile((struct str){ copy, len }, out, why);
	mem_free(copy);
	return rc;
}

static void
assert_makes(const char *text, const char *sent)
{
	struct http_reply *r = NULL;
	const char *why = NULL;
	char out[512];
	long n;

	assert_int_equal(parse(text, strlen(text), &r, &why), 0);
	n = http_reply_write(r, HTTP_CONN_UNSAID, HTTP_GET, out, sizeof(out));
	assert_int_equal(n, strlen(sent));
	assert_memory_equal(out, sent, strlen(sent));
	http_reply_put(&r);
}

static void
test_good(void **state)
{
	(void)state;
	assert_makes("HTTP/1.0 403 Foo bar\r\nCache-Control: no-cache\r\nConnection: close\r\n"
		"Content-Type: text/html\r\n\r\nBODY\n",
		"HTTP/1.1 403 Foo bar\r\nCache-Control: no-cache\r\nContent-Type: text/html\r\n"
		"Content-Length: 5\r\n\r\nBODY\n");
	assert_makes("HTTP/1.1 200 OK\nA: b\n\nx\r\ny\n",
		"HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 5\r\n\r\nx\r\ny\n");
	assert_makes("HTTP/1.1 200 OK\nA: b\r\n\nx",
		"HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 1\r\n\r\nx");
	assert_makes("HTTP/1.1 403 \ncontent-length: 3\n\n\n\n\n",
		"HTTP/1.1 403 \r\nContent-Length: 3\r\n\r\n\n\n\n");
	assert_makes("HTTP/1.1 403 x\nContent-Length: 0\n\n",
		"HTTP/1.1 403 x\r\nContent-Length: 0\r\n\r\n");
	assert_makes("HTTP/1.1 204 No\n\n", "HTTP/1.1 204 No\r\n\r\n");
	assert_makes("", "");
}

static void
test_bad(void **state)
{
	static const struct {
		const char *text, *why;
	} rows[] = {
		{ "hello", "no empty line" },
		{ "hello\n\n", NULL },
		{ "\n\nhello", NULL },
		{ "HTTP/1.1 403 x\r\nA: b\r\n", "no empty line" },
		{ "HTTP/1.1 403 x\nA: b", "no empty line" },
		{ "HTTP/1.1 403 x\n A: b\n\n", NULL },
		{ "HTTP/1.1 403 x\nA : b\n\n", NULL },
		{ "HTTP/1.1 403 x\nA: b\rc\n\n", NULL },
		{ "HTTP/1.1 403 x\nContent-Length: 3\n\nBODY", "Content-Length" },
		{ "HTTP/1.1 403 x\nContent-Length: 5\n\nBODY", "Content-Length" },
		{ "HTTP/1.1 403 x\nContent-Length: 1\n\n", "Content-Length" },
		{ "HTTP/1.1 403 x\nTransfer-Encoding: chunked\n\n0\r\n\r\n", "chunks" },
		{ "HTTP/1.1 204 x\n\nBODY", "no body" },
		{ "HTTP/1.1 304 x\n\nBODY", "no body" },
		{ "HTTP/1.1 100 x\n\n", "no body" },
		{ "HTTP/2.0 403 x\n\n", NULL },
		{ "HTTP/1.1 1000 x\n\n", NULL },
		{ "GET / HTTP/1.1\nHost: x\n\n", NULL },
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		struct http_reply *r = NULL;
		const char *why = NULL;

		assert_int_equal(parse(rows[i].text, strlen(rows[i].text), &r, &why), -ERR_SYNTAX);
		assert_null(r);
		assert_non_null(why);
		if (rows[i].why)
			assert_non_null(strstr(why, rows[i].why));
	}
}

/* The maximum number of fields of a reply, and one more. */
static void
test_many_fields(void **state)
{
	for (int n = HTTP_REPLY_FIELDS - 1; n <= HTTP_REPLY_FIELDS; n++) {
		struct http_reply *r = NULL;
		const char *why = NULL;
		char text[1024];
		size_t len = (size_t)snprintf(text, sizeof(text), "HTTP/1.1 200 OK\n");

		(void)state;
		for (int i = 0; i < n; i++)
			len += (size_t)snprintf(text + len, sizeof(text) - len, "a: %d\n", i);
		text[len++] = '\n';
		assert_int_equal(
			parse(text, len, &r, &why), n < HTTP_REPLY_FIELDS ? 0 : -ERR_SYNTAX);
		http_reply_put(&r);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_many_fields),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
