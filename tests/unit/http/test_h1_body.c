/* Framing from heads; bodies by example, each in all ways that it may arrive. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/err.h"
#include "unit/http/http_rig.h"
#include "unit/test.h"

static struct fed_body got;
static const struct h1_body chunked = { .framing = HTTP_BODY_CHUNKED };

static void
feed_len(const struct h1_body *b, const char *text, size_t len)
{
	const char *differs = feed_body_all_ways(&got, b, text, len, 0);

	if (differs)
		fail_msg("%s it is another verdict: %.*s", differs, (int)len, text);
}

static void
feed(const struct h1_body *b, const char *text)
{
	feed_len(b, text, strlen(text));
}

static uint64_t
sum_of(const char *p, size_t n)
{
	uint64_t sum = 0;

	while (n--)
		sum = 31 * sum + (unsigned char)*p++;
	return sum;
}

/* The body ends at the last byte of the text, and has that payload. */
static void
complete(const char *text, const char *payload)
{
	feed(&chunked, text);
	if (got.bad || !got.over)
		fail_msg("%d '%s' for %s", got.over, http_bad_text((enum http_bad)got.bad), text);
	assert_int_equal(got.used, strlen(text));
	assert_int_equal(got.data_len, strlen(payload));
	assert_true(got.data_sum == sum_of(payload, strlen(payload)));
}

static void
refused(const char *text, size_t len, enum http_bad why)
{
	feed_len(&chunked, text, len);
	if (got.bad != (int)why)
		fail_msg("%d '%s' for %.*s", got.over, http_bad_text((enum http_bad)got.bad),
			(int)len, text);
	assert_int_equal(got.over, 0);
}

#define REFUSED(text, why) refused(text, sizeof(text) - 1, HTTP_BAD_##why)

/* The parser of a head has set its framing. */
static void
assert_parsed_framing(const struct http_head *parsed)
{
	struct http_head h = *parsed;

	h.framing = HTTP_BODY_TUNNEL;
	h.length = 0;
	h1_framing_from_fields(&h);
	assert_int_equal(parsed->framing, h.framing);
	assert_true(parsed->length == h.length);
}

/* The framing by a head with this line of fields; "" for none. */
static struct h1_body
body_of(enum http_kind kind, unsigned int status, enum http_method method, const char *fields)
{
	static struct fed f;
	char text[256], keep[256];
	struct h1_body b;
	int n = kind == HTTP_REQUEST
			? snprintf(text, sizeof(text), "PUT / HTTP/1.1\r\nHost: a\r\n%s\r\n",
				  fields)
			: snprintf(text, sizeof(text), "HTTP/1.1 %u x\r\n%s\r\n", status, fields);

	feed_pieces(&f, kind, 8, keep, text, (size_t)n, (size_t)n, 0);
	assert_int_equal(f.verdict, HTTP_COMPLETE);
	assert_parsed_framing(&f.head);
	if (kind == HTTP_RESPONSE) {
		f.head.method = method;
		h1_framing_from_fields(&f.head);
	}
	h1_body_begin(&b, &f.head);
	return b;
}

#define CL "Content-Length: 5\r\n"
#define CL0 "Content-Length: 0\r\n"
#define TE "Transfer-Encoding: chunked\r\n"

static void
framing_of_requests(void **st)
{
	struct h1_body b;

	(void)st;
	b = body_of(HTTP_REQUEST, 0, HTTP_GET, "");
	assert_int_equal(b.framing, HTTP_BODY_NONE);
	assert_true(h1_body_is_over(&b));
	b = body_of(HTTP_REQUEST, 0, HTTP_GET, CL0);
	assert_int_equal(b.framing, HTTP_BODY_LENGTH);
	assert_true(h1_body_is_over(&b));
	b = body_of(HTTP_REQUEST, 0, HTTP_GET, CL);
	assert_int_equal(b.framing, HTTP_BODY_LENGTH);
	assert_int_equal(b.left, 5);
	assert_false(h1_body_is_over(&b));
	b = body_of(HTTP_REQUEST, 0, HTTP_GET, TE);
	assert_int_equal(b.framing, HTTP_BODY_CHUNKED);
	assert_false(h1_body_is_over(&b));
}

static void
framing_of_responses(void **st)
{
	static const struct {
		unsigned int status;
		enum http_method method;
		const char *fields;
		enum http_framing framing;
	} rows[] = {
		{ 200, HTTP_GET, "", HTTP_BODY_CLOSE },
		{ 200, HTTP_GET, CL, HTTP_BODY_LENGTH },
		{ 200, HTTP_GET, TE, HTTP_BODY_CHUNKED },
		{ 404, HTTP_OTHER, CL, HTTP_BODY_LENGTH },
		{ 200, HTTP_HEAD, "", HTTP_BODY_NONE },
		{ 200, HTTP_HEAD, CL, HTTP_BODY_NONE },
		{ 200, HTTP_HEAD, TE, HTTP_BODY_NONE },
		{ 304, HTTP_GET, CL, HTTP_BODY_NONE },
		{ 304, HTTP_GET, TE, HTTP_BODY_NONE },
		{ 204, HTTP_GET, "", HTTP_BODY_NONE },
		{ 204, HTTP_GET, CL0, HTTP_BODY_NONE },
		{ 100, HTTP_GET, "", HTTP_BODY_NONE },
		{ 103, HTTP_GET, "", HTTP_BODY_NONE },
		{ 101, HTTP_GET, "", HTTP_BODY_TUNNEL },
		{ 101, HTTP_HEAD, "", HTTP_BODY_TUNNEL },
		{ 200, HTTP_CONNECT, "", HTTP_BODY_TUNNEL },
		{ 299, HTTP_CONNECT, CL, HTTP_BODY_TUNNEL },
		{ 200, HTTP_CONNECT, TE, HTTP_BODY_TUNNEL },
		{ 100, HTTP_CONNECT, "", HTTP_BODY_NONE },
		{ 407, HTTP_CONNECT, CL, HTTP_BODY_LENGTH },
		{ 502, HTTP_CONNECT, "", HTTP_BODY_CLOSE },
	};

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct h1_body b = body_of(HTTP_RESPONSE, rows[i].status, rows[i].method,
			rows[i].fields);

		if (b.framing != rows[i].framing)
			fail_msg("%u to method %d with %s: %d", rows[i].status, (int)rows[i].method,
				rows[i].fields, (int)b.framing);
		assert_int_equal(h1_body_is_over(&b), b.framing == HTTP_BODY_NONE);
	}
}

/* The fields for a receiver of each version. */
static void
framing_in_fields(void **st)
{
	static const struct {
		enum http_framing framing;
		unsigned int status; /* 0: a request */
		const char *fields[3];
		enum http_version receiver;
		const char *expected; /* names of fields, "|" behind each */
		enum http_framing becomes;
		enum http_method method;
	} rows[] = {
		{ HTTP_BODY_NONE, 0, { "A" }, HTTP_1_1, "A|", HTTP_BODY_NONE, HTTP_GET },
		{ HTTP_BODY_LENGTH, 0, { "Content-Length" }, HTTP_1_1, "Content-Length|",
			HTTP_BODY_LENGTH, HTTP_GET },
		{ HTTP_BODY_CHUNKED, 0, { "Transfer-Encoding", "A" }, HTTP_1_1,
			"Transfer-Encoding|A|", HTTP_BODY_CHUNKED, HTTP_GET },
		/* HTTP/2 has no such field. */
		{ HTTP_BODY_CHUNKED, 0, { "A" }, HTTP_1_1, "A|Transfer-Encoding|",
			HTTP_BODY_CHUNKED, HTTP_GET },
		{ HTTP_BODY_CHUNKED, 200, { "A" }, HTTP_1_1, "A|Transfer-Encoding|",
			HTTP_BODY_CHUNKED, HTTP_GET },
		{ HTTP_BODY_CLOSE, 200, { "A" }, HTTP_1_1, "A|", HTTP_BODY_CLOSE, HTTP_GET },
		{ HTTP_BODY_CHUNKED, 200, { "Transfer-Encoding", "Trailer", "A" }, HTTP_1_0, "A|",
			HTTP_BODY_CLOSE, HTTP_GET },
		{ HTTP_BODY_CHUNKED, 200, { "A" }, HTTP_1_0, "A|", HTTP_BODY_CLOSE, HTTP_GET },
		{ HTTP_BODY_LENGTH, 200, { "Content-Length" }, HTTP_1_0, "Content-Length|",
			HTTP_BODY_LENGTH, HTTP_GET },
		{ HTTP_BODY_NONE, 200, { "Transfer-Encoding" }, HTTP_1_1, "Transfer-Encoding|",
			HTTP_BODY_NONE, HTTP_HEAD },
		{ HTTP_BODY_NONE, 200, { "Transfer-Encoding", "A" }, HTTP_1_0, "A|", HTTP_BODY_NONE,
			HTTP_HEAD },
		/* An empty stream of HTTP/2. */
		{ HTTP_BODY_NONE, 200, { "A" }, HTTP_1_1, "A|Content-Length|", HTTP_BODY_NONE,
			HTTP_GET },
		{ HTTP_BODY_NONE, 404, { "Content-Length" }, HTTP_1_0, "Content-Length|",
			HTTP_BODY_NONE, HTTP_GET },
		{ HTTP_BODY_NONE, 204, { "A" }, HTTP_1_1, "A|", HTTP_BODY_NONE, HTTP_GET },
		{ HTTP_BODY_NONE, 304, { "A" }, HTTP_1_1, "A|", HTTP_BODY_NONE, HTTP_GET },
		{ HTTP_BODY_TUNNEL, 200, { "Content-Length", "A" }, HTTP_1_1, "A|",
			HTTP_BODY_TUNNEL, HTTP_GET },
		{ HTTP_BODY_TUNNEL, 299, { "Transfer-Encoding" }, HTTP_1_1, "", HTTP_BODY_TUNNEL,
			HTTP_GET },
		{ HTTP_BODY_TUNNEL, 101, { "A" }, HTTP_1_1, "A|", HTTP_BODY_TUNNEL, HTTP_GET },
	};

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct http_field field[8];
		struct http_head h;
		char names[256] = "";

		http_head_init(&h, rows[i].status ? HTTP_RESPONSE : HTTP_REQUEST, field, 8);
		h.framing = rows[i].framing;
		h.status = rows[i].status;
		h.method = rows[i].method;
		for (size_t k = 0; k < 3 && rows[i].fields[k]; k++)
			assert_int_equal(
				http_add(&h, str_of(rows[i].fields[k]), STR("chunked")), 0);
		assert_int_equal(h1_framing_to_fields(&h, rows[i].receiver), 0);
		for (unsigned int k = 0; k < h.n; k++)
			if (!field[k].dropped)
				snprintf(names + strlen(names), sizeof(names) - strlen(names),
					"%.*s|", (int)field[k].name.len, field[k].name.p);
		if (strcmp(names, rows[i].expected) != 0 || h.framing != rows[i].becomes)
			fail_msg("row %zu: '%s', %d", i, names, (int)h.framing);
		h.n = h.max = 1;
		if (strcmp(rows[i].expected, "A|Transfer-Encoding|") == 0)
			assert_int_equal(h1_framing_to_fields(&h, HTTP_1_1), -ERR_RANGE);
	}
}

static void
persistence(void **st)
{
	static const struct {
		const char *text;
		int persists;
	} rows[] = {
		{ "HTTP/1.1 200 x\r\n\r\n", 1 },
		{ "HTTP/1.0 200 x\r\n\r\n", 0 },
		{ "HTTP/1.1 200 x\r\nConnection: close\r\n\r\n", 0 },
		{ "HTTP/1.1 200 x\r\nConnection: a, CLOSE ,b\r\n\r\n", 0 },
		{ "HTTP/1.1 200 x\r\nConnection: a\r\nConnection: close\r\n\r\n", 0 },
		{ "HTTP/1.1 200 x\r\nConnection: closed\r\n\r\n", 1 },
		{ "HTTP/1.1 200 x\r\nConnection: keep-alive, close\r\n\r\n", 0 },
		{ "HTTP/1.0 200 x\r\nConnection: Keep-Alive\r\n\r\n", 1 },
		{ "HTTP/1.0 200 x\r\nConnection: keep-alive, close\r\n\r\n", 0 },
		{ "HTTP/1.0 200 x\r\nProxy-Connection: keep-alive\r\n\r\n", 0 },
		{ "HTTP/1.1 200 x\r\nProxy-Connection: close\r\n\r\n", 1 },
	};

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		static struct fed f;
		size_t n = strlen(rows[i].text);
		char keep[128];

		feed_pieces(&f, HTTP_RESPONSE, 8, keep, rows[i].text, n, n, 0);
		assert_int_equal(f.verdict, HTTP_COMPLETE);
		assert_int_equal(h1_persists(&f.head), rows[i].persists);
	}
}

/* --- lengths, close-delimited bodies, tunnels --- */

static void
by_length(void **st)
{
	struct h1_body b = { .framing = HTTP_BODY_LENGTH, .left = 5 };
	size_t len;

	(void)st;
	feed(&b, "abcde");
	assert_int_equal(got.over, 1);
	assert_int_equal(got.used, 5);
	feed(&b, "abcd");
	assert_int_equal(got.over, 0);
	feed(&b, "abcdefgh");
	assert_int_equal(got.over, 1);
	assert_int_equal(got.used, 5);
	assert_true(got.data_sum == sum_of("abcde", 5));
	assert_int_equal(h1_body_take(&b, "abcdefgh", 8), 5);
	assert_int_equal(h1_body_take(&b, "f", 1), 0);
	assert_int_equal(h1_body_next(&b, "f", 1, &len), H1_PIECE_MORE);
	assert_int_equal(len, 0);
	b = (struct h1_body){ .framing = HTTP_BODY_LENGTH, .left = INT64_MAX };
	assert_int_equal(h1_body_next(&b, "abc", 3, &len), H1_PIECE_DATA);
	assert_int_equal(len, 3);
	assert_true(b.left == INT64_MAX - 3);
}

static void
bytes_can_be_skipped(void **st)
{
	struct h1_body b = { .framing = HTTP_BODY_LENGTH, .left = 5 };

	(void)st;
	h1_body_skip(&b, 4);
	assert_int_equal(h1_body_is_over(&b), 0);
	assert_int_equal(h1_body_take(&b, "abc", 3), 1);
	b.left = 2;
	h1_body_skip(&b, 2);
	assert_int_equal(h1_body_is_over(&b), 1);
	b = (struct h1_body){ .framing = HTTP_BODY_CLOSE };
	h1_body_skip(&b, 1000);
	assert_int_equal(h1_body_is_over(&b), 0);
	assert_int_equal(b.left, 0);
}

static void
a_body_to_the_end_of_the_connection(void **st)
{
	static const enum http_framing endless[] = { HTTP_BODY_CLOSE, HTTP_BODY_TUNNEL };

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(endless); i++) {
		struct h1_body b = { .framing = endless[i] };
		size_t len;

		assert_int_equal(h1_body_next(&b, "\0\r\n", 3, &len), H1_PIECE_DATA);
		assert_int_equal(len, 3);
		assert_int_equal(h1_body_take(&b, "abc", 3), 3);
		assert_false(h1_body_is_over(&b));
		assert_int_equal(h1_body_next(&b, "", 0, &len), H1_PIECE_MORE);
	}
}

/* --- chunks --- */

static void
chunks(void **st)
{
	(void)st;
	complete("0\r\n\r\n", "");
	complete("000\r\n\r\n", "");
	complete("5\r\nabcde\r\n0\r\n\r\n", "abcde");
	complete("1\r\na\r\n1\r\nb\r\n0\r\n\r\n", "ab");
	complete("0000000000000003\r\nabc\r\n0\r\n\r\n", "abc");
	complete("A\r\n0123456789\r\n00\r\n\r\n", "0123456789");
	complete("a\r\n\r\n0\r\n\r\n012\r\n0\r\n\r\n", "\r\n0\r\n\r\n012");
	complete("1\r\nx\r\n0000000000000000\r\n\r\n", "x");
	/* Incomplete, and correct so far. */
	feed(&chunked, "5\r\nabcde\r\n0\r\n\r");
	assert_int_equal(got.over, 0);
	assert_int_equal(got.bad, HTTP_BAD_NONE);
	feed(&chunked, "7fffffffffffffff\r\nabc");
	assert_int_equal(got.bad, HTTP_BAD_NONE);
	assert_int_equal(got.data_len, 3);
}

static void
pieces_by_kind(void **st)
{
	static const char text[] = "3;a\r\nabc\r\n0\r\nX: y\r\n\r\nGET";
	struct h1_body b = chunked;
	size_t len, at = 0;

	(void)st;
	assert_int_equal(h1_body_next(&b, text, sizeof(text) - 1, &len), H1_PIECE_FRAME);
	assert_int_equal(len, 5);
	at += len;
	assert_int_equal(h1_body_next(&b, text + at, sizeof(text) - 1 - at, &len),
		H1_PIECE_DATA);
	assert_int_equal(len, 3);
	at += len;
	assert_int_equal(h1_body_next(&b, text + at, sizeof(text) - 1 - at, &len),
		H1_PIECE_FRAME);
	assert_int_equal(at + len, strlen("3;a\r\nabc\r\n0\r\nX: y\r\n\r\n"));
	assert_true(h1_body_is_over(&b));
	b = chunked;
	assert_int_equal(h1_body_take(&b, text, sizeof(text) - 1), sizeof(text) - 1 - 3);
	/* An error is final. */
	b = chunked;
	assert_int_equal(h1_body_next(&b, "3x", 2, &len), H1_PIECE_BAD);
	assert_int_equal(len, 1);
	assert_int_equal(h1_body_next(&b, "\r\n", 2, &len), H1_PIECE_BAD);
	assert_int_equal(b.bad, HTTP_BAD_CHUNK_SIZE);
	assert_int_equal(h1_body_take(&b, "\r\n", 2), -1);
}

static void
sizes_refused(void **st)
{
	(void)st;
	REFUSED("\r\n", CHUNK_SIZE);
	REFUSED("\n", CHUNK_SIZE);
	REFUSED("x\r\n", CHUNK_SIZE);
	REFUSED("3x\r\nabc", CHUNK_SIZE);
	REFUSED("0x3\r\nabc", CHUNK_SIZE);
	REFUSED("+3\r\nabc", CHUNK_SIZE);
	REFUSED("-1\r\nabc", CHUNK_SIZE);
	REFUSED(" 3\r\nabc", CHUNK_SIZE);
	REFUSED("3 \r\nabc", CHUNK_SIZE);
	REFUSED("3\t\r\nabc", CHUNK_SIZE);
	REFUSED("3 3\r\nabc", CHUNK_SIZE);
	REFUSED("3\nabc", CHUNK_SIZE);
	REFUSED("3\rabc", CHUNK_SIZE);
	REFUSED("3\r\r\nabc", CHUNK_SIZE);
	REFUSED("3\0\r\nabc", CHUNK_SIZE);
	REFUSED("3,3\r\nabc", CHUNK_SIZE);
	REFUSED("g\r\n", CHUNK_SIZE);
	REFUSED("8000000000000000\r\n", CHUNK_SIZE);
	REFUSED("ffffffffffffffff\r\n", CHUNK_SIZE);
	REFUSED("10000000000000000\r\n", CHUNK_SIZE);
	REFUSED("00000000000000003\r\nabc", CHUNK_SIZE);
	REFUSED("3\r\nabc\r\n\r\n", CHUNK_SIZE);
}

static void
chunk_ends_refused(void **st)
{
	(void)st;
	REFUSED("3\r\nabcd\r\n0\r\n\r\n", CHUNK_END);
	REFUSED("3\r\nabc0\r\n\r\n", CHUNK_END);
	REFUSED("3\r\nabc\n0\r\n\r\n", CHUNK_END);
	REFUSED("3\r\nabc\r0\r\n\r\n", CHUNK_END);
	REFUSED("3\r\nabc\r\r\n0\r\n\r\n", CHUNK_END);
	REFUSED("3\r\nabc \r\n0\r\n\r\n", CHUNK_END);
	REFUSED("3\r\nab\r\n0\r\n\r\n", CHUNK_END);
}

static void
extensions(void **st)
{
	static const char *const good[] = { ";a", ";a=b", ";a=\"b\"", ";a;b", ";a=b;c=d", " ;a",
		"\t; a", "; a = b", ";a =b", ";a= b", ";a=b ;c", ";a ;c", ";a=\"b\" ;c", ";a=\"\"",
		";a=\";\\\" \t\x80\";b", ";a=\"\\\\\"", ";chunk-signature=0123456789abcdef" };
	static const char *const bad[] = { ";", ";;a", ";a;", ";=b", ";a=", ";a=;b", ";a b",
		";a=b c", ";a ", ";a=b ", ";a=\"b\" ", ";a=\"b\"c", ";a=\"b", ";a=\"b\\\"", ";a==b",
		";a=b=c",
		";\x80", ";a=\x80", ";a=(b)", "; ", ";a=\"\x01\"", ";a=\"\\\x01\"", ";a\"b\"",
		" ; ", "  a", ";a=\"b\n\"", ";a\n", ";\n", ";a=b\n", ";a=\"b\"\n" };

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		char text[80];

		snprintf(text, sizeof(text), "3%s\r\nabc\r\n0%s\r\n\r\n", good[i], good[i]);
		complete(text, "abc");
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		char text[80];
		int n = snprintf(text, sizeof(text), "3%s\r\nabc\r\n0\r\n\r\n", bad[i]);

		refused(text, (size_t)n, HTTP_BAD_CHUNK_SIZE);
		n = snprintf(text, sizeof(text), "0%s\r\n\r\n", bad[i]);
		refused(text, (size_t)n, HTTP_BAD_CHUNK_SIZE);
	}
	REFUSED("3;a\0\r\nabc", CHUNK_SIZE);
	REFUSED("3;a\rabc", CHUNK_SIZE);
}

static void
trailers(void **st)
{
	static const char *const forbidden[] = { "Content-Length", "TRANSFER-ENCODING", "host",
		"Connection", "Set-Cookie", "te", "Trailer", "Authorization", "X-Forwarded-For",
		"Expect", "Upgrade", "Cookie", "Content-Type", "Proxy-Authorization" };

	(void)st;
	complete("0\r\nA: b\r\n\r\n", "");
	complete("1\r\nx\r\n0\r\nServer-Timing:a\tb\x80\r\nEmpty:\r\n\r\n", "x");
	complete("0\r\nHos: b\r\nHostt: b\r\nContent-Lengt: 1\r\n\r\n", "");
	complete("0\r\nProxy-Authorizations: b\r\nA-Name-That-Is-Longer-Than-All: 1\r\n\r\n", "");
	for (size_t i = 0; i < ARRAY_LEN(forbidden); i++) {
		char text[80];
		int n = snprintf(text, sizeof(text), "0\r\nA: b\r\n%s: 1\r\n\r\n", forbidden[i]);

		refused(text, (size_t)n, HTTP_BAD_TRAILER);
	}
	REFUSED("0\r\n: b\r\n\r\n", TRAILER);
	REFUSED("0\r\nA : b\r\n\r\n", TRAILER);
	REFUSED("0\r\nA b: c\r\n\r\n", TRAILER);
	REFUSED("0\r\nA\r\n\r\n", TRAILER);
	REFUSED("0\r\n A: b\r\n\r\n", TRAILER);
	REFUSED("0\r\nA: b\r\n c\r\n\r\n", TRAILER);
	REFUSED("0\r\nA: b\n\r\n", TRAILER);
	REFUSED("0\r\nA: b\rc\r\n\r\n", TRAILER);
	REFUSED("0\r\nA: b\0\r\n\r\n", TRAILER);
	REFUSED("0\r\nA: b\r\n\n", TRAILER);
	REFUSED("0\r\n\n", TRAILER);
	REFUSED("0\r\n\rx", TRAILER);
	REFUSED("0\r\nGET / HTTP/1.1\r\n", TRAILER);
}

/* --- bounds --- */

/* `n` bytes of `c` between two texts. */
static void
long_one(const char *before, char c, size_t n, const char *behind)
{
	size_t b = strlen(before), e = strlen(behind);
	char *text = malloc(b + n + e);

	assert_non_null(text);
	memcpy(text, before, b);
	memset(text + b, c, n);
	memcpy(text + b + n, behind, e);
	assert_null(feed_body_all_ways(&got, &chunked, text, b + n + e, 50));
	free(text);
}

static void
lines_are_bounded(void **st)
{
	(void)st;
	long_one("3;", 'a', H1_CHUNK_LINE_MAX - 4, "\r\nabc\r\n0\r\n\r\n");
	assert_int_equal(got.over, 1);
	long_one("3;", 'a', H1_CHUNK_LINE_MAX - 3, "\r\nabc\r\n0\r\n\r\n");
	assert_int_equal(got.bad, HTTP_BAD_OVERHEAD);
	long_one("3;a=\"", '\\', H1_CHUNK_LINE_MAX, "");
	assert_int_equal(got.bad, HTTP_BAD_OVERHEAD);
	long_one("3", ' ', 1 << 20, ";a\r\nabc\r\n0\r\n\r\n");
	assert_int_equal(got.bad, HTTP_BAD_OVERHEAD);
	/* A trailer may be as long as all of them together. */
	long_one("0\r\nA:", 'a', H1_CHUNK_EXCESS_MAX - 20, "\r\n\r\n");
	assert_int_equal(got.over, 1);
	long_one("0\r\nA:", 'a', H1_CHUNK_EXCESS_MAX, "\r\n\r\n");
	assert_int_equal(got.bad, HTTP_BAD_OVERHEAD);
	long_one("", '0', 1 << 20, "\r\n\r\n");
	assert_int_equal(got.bad, HTTP_BAD_CHUNK_SIZE);
}

/* The same chunk repeated: the result after that many. */
static enum http_bad
repeated(const char *first, const char *chunk, unsigned int times)
{
	struct h1_body b = chunked;
	size_t n = strlen(chunk);

	assert_int_equal(h1_body_take(&b, first, strlen(first)), strlen(first));
	while (times--)
		if (h1_body_take(&b, chunk, n) != (long)n)
			return (enum http_bad)b.bad;
	return HTTP_BAD_NONE;
}

static void
framing_is_bounded_by_payload(void **st)
{
	(void)st;
	/* Some senders use chunks of one byte. */
	assert_int_equal(repeated("", "1\r\nx\r\n", 100000), HTTP_BAD_NONE);
	assert_int_equal(repeated("", "1;abcdefghi\r\nx\r\n", 100000), HTTP_BAD_NONE);
	assert_int_equal(repeated("", "1;abcdefghijklmnop\r\nx\r\n", 100000), HTTP_BAD_OVERHEAD);
	assert_int_equal(repeated("", "0000000000000001\r\nx\r\n", 100000), HTTP_BAD_OVERHEAD);
	/* Earlier payload does not permit more overhead. */
	assert_int_equal(repeated("5\r\nabcde\r\n0\r\n", "A: b\r\n", 100000), HTTP_BAD_OVERHEAD);
	assert_int_equal(repeated("0\r\n", "A: b\r\n", H1_CHUNK_EXCESS_MAX / 6 - 1),
		HTTP_BAD_NONE);
	assert_int_equal(repeated("0\r\n", "A: b\r\n", H1_CHUNK_EXCESS_MAX / 6 + 1),
		HTTP_BAD_OVERHEAD);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(framing_of_requests),
		cmocka_unit_test(framing_of_responses),
		cmocka_unit_test(framing_in_fields),
		cmocka_unit_test(persistence),
		cmocka_unit_test(by_length),
		cmocka_unit_test(bytes_can_be_skipped),
		cmocka_unit_test(a_body_to_the_end_of_the_connection),
		cmocka_unit_test(chunks),
		cmocka_unit_test(pieces_by_kind),
		cmocka_unit_test(sizes_refused),
		cmocka_unit_test(chunk_ends_refused),
		cmocka_unit_test(extensions),
		cmocka_unit_test(trailers),
		cmocka_unit_test(lines_are_bounded),
		cmocka_unit_test(framing_is_bounded_by_payload),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
