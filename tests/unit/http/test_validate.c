/* Host, Content-Length and Transfer-Encoding: valid values, alone and together. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "http/validate.h"
#include "unit/http/http_rig.h"
#include "system/tools/hostile.h"
#include "unit/test.h"

/* Parsed in all ways, since the parser checks at the end of each line. */
static enum http_bad
verdict_of(enum http_kind kind, const char *line, const char *fields)
{
	static struct fed f;
	char text[512], keep[512];
	int n = snprintf(text, sizeof(text), "%s\r\n%s\r\n", line, fields);
	const char *differs;

	assert_in_range(n, 1, sizeof(text) - 1);
	differs = feed_all_ways(&f, kind, 16, keep, text, (size_t)n, 0);
	if (differs)
		fail_msg("%s it is another verdict: %s", differs, text);
	assert_int_not_equal(f.verdict, HTTP_MORE);
	return f.verdict == HTTP_BAD ? f.bad : HTTP_BAD_NONE;
}

struct row {
	const char *line, *fields;
	enum http_bad bad;
};

static void
all(enum http_kind kind, const struct row *row, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		enum http_bad b = verdict_of(kind, row[i].line, row[i].fields);

		if (b != row[i].bad)
			fail_msg("'%s' for %s %s", http_bad_text(b), row[i].line, row[i].fields);
	}
}

#define POST "POST / HTTP/1.1"
#define GET "GET / HTTP/1.1"
#define H "Host: a\r\n"
#define CL "Content-Length: 5\r\n"
#define TE "Transfer-Encoding: chunked\r\n"

static void
lengths(void **st)
{
	static const struct row rows[] = {
		{ POST, H CL, HTTP_BAD_NONE },
		{ POST, H "Content-Length:5\t \r\n", HTTP_BAD_NONE },
		{ POST, H "Content-Length: 0\r\n", HTTP_BAD_NONE },
		{ POST, H "Content-Length: 9223372036854775807\r\n", HTTP_BAD_NONE },
		{ POST, H "Content-Length: 9223372036854775808\r\n", HTTP_BAD_CONTENT_LENGTH },
		{ POST, H "Content-Length: 18446744073709551616\r\n", HTTP_BAD_CONTENT_LENGTH },
		{ POST, H "Content-Length: 18446744073709551621\r\n", HTTP_BAD_CONTENT_LENGTH },
		{ POST, H "Content-Length: 000000000000000000005\r\n", HTTP_BAD_CONTENT_LENGTH },
		{ POST, H "Content-Length:\r\n", HTTP_BAD_CONTENT_LENGTH },
		{ POST, H "Content-Length: \t\r\n", HTTP_BAD_CONTENT_LENGTH },
		{ POST, H "Content-Length: 5, 5\r\n", HTTP_BAD_CONTENT_LENGTH },
		{ POST, H "Content-Length: 5,\r\n", HTTP_BAD_CONTENT_LENGTH },
		{ POST, H "Content-Length: ,5\r\n", HTTP_BAD_CONTENT_LENGTH },
		{ POST, H "Content-Length: 5 5\r\n", HTTP_BAD_CONTENT_LENGTH },
		{ POST, H "Content-Length: +5\r\n", HTTP_BAD_CONTENT_LENGTH },
		{ POST, H "Content-Length: -5\r\n", HTTP_BAD_CONTENT_LENGTH },
		{ POST, H "Content-Length: 0x5\r\n", HTTP_BAD_CONTENT_LENGTH },
		{ POST, H "Content-Length: 5.0\r\n", HTTP_BAD_CONTENT_LENGTH },
		{ POST, H "Content-Length: \"5\"\r\n", HTTP_BAD_CONTENT_LENGTH },
		{ POST, H "Content-Length: 5;x\r\n", HTTP_BAD_CONTENT_LENGTH },
		{ POST, H "Content-Length: \xd9\xa5\r\n", HTTP_BAD_CONTENT_LENGTH },
		{ POST, H CL CL, HTTP_BAD_CONTENT_LENGTH },
		{ POST, H CL "content-length: 6\r\n", HTTP_BAD_CONTENT_LENGTH },
		{ POST, H CL "X: y\r\n" CL, HTTP_BAD_CONTENT_LENGTH },
	};

	(void)st;
	all(HTTP_REQUEST, rows, ARRAY_LEN(rows));
}

static void
encodings(void **st)
{
	static const struct row rows[] = {
		{ POST, H TE, HTTP_BAD_NONE },
		{ POST, H "transfer-encoding:CHUNKED\r\n", HTTP_BAD_NONE },
		{ POST, H TE CL, HTTP_BAD_TRANSFER_ENCODING },
		{ POST, H CL TE, HTTP_BAD_TRANSFER_ENCODING },
		{ POST, H CL "Transfer-Encoding: x\r\n", HTTP_BAD_TRANSFER_ENCODING },
		{ POST, H TE TE, HTTP_BAD_TRANSFER_ENCODING },
		{ POST, H TE "Transfer-Encoding: identity\r\n", HTTP_BAD_TRANSFER_ENCODING },
		{ POST, H "Transfer-Encoding: gzip\r\n" TE, HTTP_BAD_TRANSFER_ENCODING },
		{ POST, H "Transfer-Encoding:\r\n", HTTP_BAD_TRANSFER_ENCODING },
		{ POST, H "Transfer-Encoding: gzip\r\n", HTTP_BAD_TRANSFER_ENCODING },
		{ POST, H "Transfer-Encoding: gzip, chunked\r\n", HTTP_BAD_TRANSFER_ENCODING },
		{ POST, H "Transfer-Encoding: chunked, chunked\r\n", HTTP_BAD_TRANSFER_ENCODING },
		{ POST, H "Transfer-Encoding: chunked, gzip\r\n", HTTP_BAD_TRANSFER_ENCODING },
		{ POST, H "Transfer-Encoding: ,chunked\r\n", HTTP_BAD_TRANSFER_ENCODING },
		{ POST, H "Transfer-Encoding: chunked,\r\n", HTTP_BAD_TRANSFER_ENCODING },
		{ POST, H "Transfer-Encoding: identity\r\n", HTTP_BAD_TRANSFER_ENCODING },
		{ POST, H "Transfer-Encoding: xchunked\r\n", HTTP_BAD_TRANSFER_ENCODING },
		{ POST, H "Transfer-Encoding: chunkedx\r\n", HTTP_BAD_TRANSFER_ENCODING },
		{ POST, H "Transfer-Encoding: chunked;a=b\r\n", HTTP_BAD_TRANSFER_ENCODING },
		{ POST, H "Transfer-Encoding: \"chunked\"\r\n", HTTP_BAD_TRANSFER_ENCODING },
		{ "POST / HTTP/1.0", H TE, HTTP_BAD_TRANSFER_ENCODING },
	};

	(void)st;
	all(HTTP_REQUEST, rows, ARRAY_LEN(rows));
}

static void
hosts(void **st)
{
	static const struct row rows[] = {
		{ GET, H, HTTP_BAD_NONE },
		{ GET, "Host:\r\n", HTTP_BAD_NONE },
		{ GET, "Host: a:80\r\n", HTTP_BAD_NONE },
		{ GET, "", HTTP_BAD_HOST },
		{ GET, "X: y\r\n", HTTP_BAD_HOST },
		{ "GET / HTTP/1.0", "", HTTP_BAD_NONE },
		{ "GET / HTTP/1.0", "Host: a b\r\n", HTTP_BAD_HOST },
		{ GET, H H, HTTP_BAD_HOST },
		{ GET, H "host: b\r\n", HTTP_BAD_HOST },
		{ GET, "Host: a, b\r\n", HTTP_BAD_HOST },
		{ GET, "Host: a,b\r\n", HTTP_BAD_HOST },
		{ GET, "Host: a b\r\n", HTTP_BAD_HOST },
		{ GET, "Host: u@a\r\n", HTTP_BAD_HOST },
		{ GET, "Host: a/b\r\n", HTTP_BAD_HOST },
		{ GET, "Host: :80\r\n", HTTP_BAD_HOST },
		{ GET, "Host: a:b\r\n", HTTP_BAD_HOST },
		{ GET, "Host: http://a\r\n", HTTP_BAD_HOST },
		{ "GET http://a/ HTTP/1.1", H, HTTP_BAD_NONE },
		{ "GET http://a/ HTTP/1.0", "", HTTP_BAD_NONE },
		{ "GET http://a/ HTTP/1.1", "", HTTP_BAD_HOST },
		{ "GET http://b/ HTTP/1.1", H, HTTP_BAD_HOST },
		{ "GET http://a:8080/ HTTP/1.1", H, HTTP_BAD_HOST },
		{ "GET http://a/ HTTP/1.1", "Host:\r\n", HTTP_BAD_HOST },
		{ "CONNECT a:443 HTTP/1.1", "Host: a:443\r\n", HTTP_BAD_NONE },
		{ "CONNECT a:443 HTTP/1.1", H, HTTP_BAD_NONE },
		{ "CONNECT b:443 HTTP/1.1", H, HTTP_BAD_HOST },
	};

	(void)st;
	all(HTTP_REQUEST, rows, ARRAY_LEN(rows));
}

static void
connect_has_no_content(void **st)
{
	static const struct row rows[] = {
		{ "CONNECT a:1 HTTP/1.1", "Host: a:1\r\nContent-Length: 0\r\n", HTTP_BAD_NONE },
		{ "CONNECT a:1 HTTP/1.1", "Host: a:1\r\n" CL, HTTP_BAD_CONTENT_LENGTH },
		{ "CONNECT a:1 HTTP/1.1", "Host: a:1\r\n" TE, HTTP_BAD_TRANSFER_ENCODING },
	};

	(void)st;
	all(HTTP_REQUEST, rows, ARRAY_LEN(rows));
}

static void
responses(void **st)
{
	static const struct row rows[] = {
		{ "HTTP/1.1 200 OK", CL, HTTP_BAD_NONE },
		{ "HTTP/1.1 200 OK", TE, HTTP_BAD_NONE },
		{ "HTTP/1.1 200 OK", "", HTTP_BAD_NONE },
		{ "HTTP/1.1 304 No", CL, HTTP_BAD_NONE },
		{ "HTTP/1.1 304 No", TE, HTTP_BAD_NONE },
		{ "HTTP/1.1 204 No", "Content-Length: 0\r\n", HTTP_BAD_NONE },
		{ "HTTP/1.1 101 Up", "Content-Length: 0\r\n", HTTP_BAD_NONE },
		{ "HTTP/1.1 204 No", CL, HTTP_BAD_CONTENT_LENGTH },
		{ "HTTP/1.1 100 Go", CL, HTTP_BAD_CONTENT_LENGTH },
		{ "HTTP/1.1 101 Up", CL, HTTP_BAD_CONTENT_LENGTH },
		{ "HTTP/1.1 204 No", TE, HTTP_BAD_TRANSFER_ENCODING },
		{ "HTTP/1.1 100 Go", TE, HTTP_BAD_TRANSFER_ENCODING },
		{ "HTTP/1.1 101 Up", TE, HTTP_BAD_TRANSFER_ENCODING },
		{ "HTTP/1.0 200 OK", TE, HTTP_BAD_TRANSFER_ENCODING },
		{ "HTTP/1.1 200 OK", CL TE, HTTP_BAD_TRANSFER_ENCODING },
		{ "HTTP/1.1 200 OK", CL CL, HTTP_BAD_CONTENT_LENGTH },
		{ "HTTP/1.1 200 OK", "Content-Length: 5, 5\r\n", HTTP_BAD_CONTENT_LENGTH },
		{ "HTTP/1.1 200 OK", "Transfer-Encoding: gzip\r\n", HTTP_BAD_TRANSFER_ENCODING },
	};

	(void)st;
	all(HTTP_RESPONSE, rows, ARRAY_LEN(rows));
}

static void
old_requests_without_content(void **st)
{
	static const struct row rows[] = {
		{ "GET / HTTP/1.0", CL, HTTP_BAD_OLD_CONTENT },
		{ "HEAD / HTTP/1.0", CL, HTTP_BAD_OLD_CONTENT },
		{ "DELETE / HTTP/1.0", CL, HTTP_BAD_OLD_CONTENT },
		{ "GET / HTTP/1.0", "Content-Length: 0\r\n", HTTP_BAD_NONE },
		{ "POST / HTTP/1.0", CL, HTTP_BAD_NONE },
		{ "OPTIONS / HTTP/1.0", CL, HTTP_BAD_NONE },
		{ GET, H CL, HTTP_BAD_NONE },
	};
	struct http_field length = { .name = STR("Content-Length"), .value = STR("5"),
		.id = HTTP_F_CONTENT_LENGTH };
	struct http_head h;

	(void)st;
	all(HTTP_REQUEST, rows, ARRAY_LEN(rows));
	http_head_init(&h, HTTP_REQUEST, &length, 1);
	h.version = HTTP_1_0;
	h.method = HTTP_GET;
	h.target = STR("/");
	http_count_field(&h, &length);
	assert_int_equal(http_validate_head(&h), HTTP_BAD_OLD_CONTENT);
	h.takes_old_content = 1;
	assert_int_equal(http_validate_head(&h), HTTP_BAD_NONE);
}

/* Fields that do not concern framing are not checked; a dropped one does not count. */
static void
other_fields_are_ignored(void **st)
{
	struct http_field field[2] = {
		{ STR("Host"), STR("a"), HTTP_F_HOST, 1, 0, 0, 0 },
	};
	struct http_field other = { STR("X"), STR("\1"), HTTP_F_OTHER, 0, 0, 0, 0 };
	struct http_field host = { STR("Host"), STR("b"), HTTP_F_HOST, 0, 0, 0, 0 };
	struct http_head h;

	(void)st;
	http_head_init(&h, HTTP_REQUEST, field, 2);
	http_count_field(&h, field);
	assert_int_equal(http_validate_field(&h, &other), HTTP_BAD_NONE);
	assert_int_equal(http_validate_field(&h, &host), HTTP_BAD_NONE);
	field[0].dropped = 0;
	assert_int_equal(http_validate_field(&h, &host), HTTP_BAD_HOST);
	h.kind = HTTP_RESPONSE;
	assert_int_equal(http_validate_field(&h, &host), HTTP_BAD_NONE);
}

/* --- hostile messages --- */

/* The least number of different ones. */
#define HOSTILE_REQUESTS 1000
#define HOSTILE_RESPONSES 200

struct hostile_count {
	unsigned int n[2];
	unsigned int taken;
	unsigned int hashes;
	uint64_t hash[8192];
};

/* True if the text differs from all before it. */
static int
is_new(struct hostile_count *count, const char *text, size_t len)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
	for (unsigned int i = 0; i < count->hashes; i++)
		if (count->hash[i] == h)
			return 0;
	assert_true(count->hashes < ARRAY_LEN(count->hash));
	count->hash[count->hashes++] = h;
	return 1;
}

static int
body_is_refused(const struct fed *f, const char *name, const char *text, size_t len)
{
	struct fed_body got;
	struct h1_body b;
	const char *differs;

	h1_body_begin(&b, &f->head);
	differs = feed_body_all_ways(&got, &b, text, len, 0);
	if (differs)
		fail_msg("%s: %s the result for its body differs", name, differs);
	return got.bad != HTTP_BAD_NONE;
}

static void
is_refused(void *arg, const char *name, int is_response, const char *text, size_t len)
{
	static struct fed f;
	struct hostile_count *count = arg;
	char *keep = malloc(len);
	const char *differs;

	assert_non_null(keep);
	differs = feed_all_ways(&f, is_response ? HTTP_RESPONSE : HTTP_REQUEST, 16, keep, text, len,
		0);
	if (differs)
		fail_msg("%s: %s the result differs", name, differs);
	if (f.verdict == HTTP_MORE ||
		(f.verdict == HTTP_COMPLETE &&
			!body_is_refused(&f, name, text + f.used, len - f.used))) {
		print_error("%s: not refused (%d): %.*s\n", name, (int)f.verdict, (int)len, text);
		count->taken++;
	}
	count->n[is_response] += (unsigned int)is_new(count, text, len);
	free(keep);
}

static void
all_hostile_messages_are_rejected(void **st)
{
	static struct hostile_count count;

	(void)st;
	hostile_all(is_refused, &count);
	print_message("%u requests, %u responses\n", count.n[0], count.n[1]);
	assert_int_equal(count.taken, 0);
	assert_true(count.n[0] >= HOSTILE_REQUESTS);
	assert_true(count.n[1] >= HOSTILE_RESPONSES);
}

/* For names that arrive in pieces see test_h1_body.c. */
static void
trailers(void **st)
{
	static const struct {
		struct http_field field;
		enum http_bad bad;
	} rows[] = {
		{ { .name = { "A", 1 } }, HTTP_BAD_NONE },
		{ { .name = { "Server-Timing", 13 } }, HTTP_BAD_NONE },
		{ { .name = { "Content-Length", 14 }, .id = HTTP_F_CONTENT_LENGTH },
			HTTP_BAD_TRAILER },
		{ { .name = { "transfer-encoding", 17 }, .id = HTTP_F_TRANSFER_ENCODING },
			HTTP_BAD_TRAILER },
		{ { .name = { "HOST", 4 }, .id = HTTP_F_HOST }, HTTP_BAD_TRAILER },
		{ { .name = { "Proxy-Authorization", 19 } }, HTTP_BAD_TRAILER },
		{ { .name = { "Proxy-Authorizations", 20 } }, HTTP_BAD_NONE },
		{ { .name = { "Content-Range", 13 } }, HTTP_BAD_TRAILER },
	};
	struct http_field field[1];
	struct http_head h;

	(void)st;
	http_head_init(&h, HTTP_TRAILERS, field, 1);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_int_equal(http_validate_field(&h, &rows[i].field), rows[i].bad);
	assert_int_equal(http_validate_head(&h), HTTP_BAD_NONE);
	h.kind = HTTP_REQUEST;
	assert_int_equal(http_validate_head(&h), HTTP_BAD_HOST);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lengths),
		cmocka_unit_test(encodings),
		cmocka_unit_test(hosts),
		cmocka_unit_test(connect_has_no_content),
		cmocka_unit_test(responses),
		cmocka_unit_test(old_requests_without_content),
		cmocka_unit_test(other_fields_are_ignored),
		cmocka_unit_test(all_hostile_messages_are_rejected),
		cmocka_unit_test(trailers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
