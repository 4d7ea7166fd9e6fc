/* Heads by example, each in all ways that it may arrive. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "unit/http/http_rig.h"
#include "unit/test.h"

/* The result of the last text, whole and in pieces; valid until the next one. */
static struct fed got;
static char *kept;

static void
feed(enum http_kind kind, unsigned int max, const char *text, size_t len)
{
	const char *differs;

	free(kept);
	kept = malloc(len ? len : 1);
	assert_non_null(kept);
	differs = feed_all_ways(&got, kind, max, kept, text, len, 0);
	if (differs)
		fail_msg("%s it is another verdict: %.*s", differs, (int)len, text);
}

static int
forget(void **st)
{
	(void)st;
	free(kept);
	kept = NULL;
	return 0;
}

static void
refused_len(enum http_kind kind, const char *text, size_t len, enum http_bad why)
{
	feed(kind, 8, text, len);
	if (got.verdict != HTTP_BAD || got.bad != why)
		fail_msg("verdict %d, %s: %.*s", (int)got.verdict, http_bad_text(got.bad), (int)len,
			text);
	assert_true(got.bad_at < len);
}

struct vector {
	const char *text;
	size_t len;
	enum http_bad why;
};
#define V(text, why) { text, sizeof(text) - 1, HTTP_BAD_##why }
#define HOST "Host: a\r\n"
#define GET "GET / HTTP/1.1\r\n" HOST
#define OK "HTTP/1.1 200 OK\r\n"

static void
all_refused(enum http_kind kind, const struct vector *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		refused_len(kind, v[i].text, v[i].len, v[i].why);
}

static void
taken(enum http_kind kind, const char *text)
{
	feed(kind, 8, text, strlen(text));
	if (got.verdict != HTTP_COMPLETE)
		fail_msg("%d, %s at %u: %s", (int)got.verdict, http_bad_text(got.bad), got.bad_at,
			text);
	assert_int_equal(got.used, strlen(text));
}

static void
assert_str(struct str s, const char *want)
{
	if (!str_is(s, str_of(want)))
		fail_msg("'%.*s' is not '%s'", (int)s.len, s.p, want);
}

static void
assert_field(unsigned int place, enum http_field_id id, const char *name, const char *value)
{
	assert_true(place < got.head.n);
	assert_int_equal(got.head.field[place].id, id);
	assert_int_equal(got.head.field[place].dropped, 0);
	assert_str(got.head.field[place].name, name);
	assert_str(got.head.field[place].value, value);
}

static void
a_request(void **st)
{
	(void)st;
	taken(HTTP_REQUEST, "POST /p/a?q=1 HTTP/1.1\r\nhOST: example.com:80\r\nX-A:\t b c\t \r\n"
			    "Empty:\r\nBlank: \t\r\ncontent-length: 5\r\n\r\n");
	assert_int_equal(got.head.kind, HTTP_REQUEST);
	assert_int_equal(got.head.version, HTTP_1_1);
	assert_int_equal(got.head.method, HTTP_POST);
	assert_str(got.head.method_text, "POST");
	assert_str(got.head.target, "/p/a?q=1");
	assert_int_equal(got.head.n, 5);
	assert_field(0, HTTP_F_HOST, "hOST", "example.com:80");
	assert_field(1, HTTP_F_OTHER, "X-A", "b c");
	assert_field(2, HTTP_F_OTHER, "Empty", "");
	assert_field(3, HTTP_F_OTHER, "Blank", "");
	assert_field(4, HTTP_F_CONTENT_LENGTH, "content-length", "5");
	taken(HTTP_REQUEST, "GET / HTTP/1.0\r\n\r\n");
	assert_int_equal(got.head.version, HTTP_1_0);
	assert_int_equal(got.head.n, 0);
	taken(HTTP_REQUEST, "!#$%&'*+-.^_`|~09azAZ / HTTP/1.0\r\n\r\n");
	assert_int_equal(got.head.method, HTTP_OTHER);
	assert_str(got.head.method_text, "!#$%&'*+-.^_`|~09azAZ");
	taken(HTTP_REQUEST, "get / HTTP/1.0\r\n\r\n");
	assert_int_equal(got.head.method, HTTP_OTHER);
}

static void
a_response(void **st)
{
	(void)st;
	taken(HTTP_RESPONSE, "HTTP/1.1 404 Not \x80\t Found\r\nDate: x\r\n\r\n");
	assert_int_equal(got.head.kind, HTTP_RESPONSE);
	assert_int_equal(got.head.version, HTTP_1_1);
	assert_int_equal(got.head.status, 404);
	assert_str(got.head.reason, "Not \x80\t Found");
	assert_int_equal(got.head.n, 1);
	assert_field(0, HTTP_F_DATE, "Date", "x");
	taken(HTTP_RESPONSE, "HTTP/1.0 999 \r\n\r\n");
	assert_int_equal(got.head.version, HTTP_1_0);
	assert_int_equal(got.head.status, 999);
	assert_str(got.head.reason, "");
	taken(HTTP_RESPONSE, "HTTP/1.1 100\r\n\r\n");
	assert_int_equal(got.head.status, 100);
	assert_str(got.head.reason, "");
	/* In a response neither Host nor a target is checked. */
	taken(HTTP_RESPONSE, OK "Host: a b\r\nHost: c\r\n\r\n");
}

static void
one_empty_line_before_a_request(void **st)
{
	static const struct vector bad[] = {
		V("\r\n\r\n" GET "\r\n", REQUEST_LINE),
		V("\n" GET "\r\n", LINE_END),
		V("\r" GET "\r\n", LINE_END),
		V("\r\r\n" GET "\r\n", LINE_END),
		V("\r\n\n" GET "\r\n", LINE_END),
		V(" " GET "\r\n", METHOD),
	};

	(void)st;
	taken(HTTP_REQUEST, "\r\n" GET "\r\n");
	assert_str(got.head.method_text, "GET");
	assert_str(got.head.target, "/");
	all_refused(HTTP_REQUEST, bad, ARRAY_LEN(bad));
	refused_len(HTTP_RESPONSE, "\r\n" OK "\r\n", sizeof("\r\n" OK "\r\n") - 1,
		HTTP_BAD_STATUS_LINE);
}

static void
minor_versions_are_one_point_one(void **st)
{
	char text[] = "GET / HTTP/1.x\r\nHost: a\r\n\r\n";

	(void)st;
	for (char minor = '1'; minor <= '9'; minor++) {
		text[13] = minor;
		taken(HTTP_REQUEST, text);
		assert_int_equal(got.head.version, HTTP_1_1);
	}
	taken(HTTP_RESPONSE, "HTTP/1.7 200 OK\r\n\r\n");
	assert_int_equal(got.head.version, HTTP_1_1);
}

static void
request_lines_refused(void **st)
{
	static const struct vector bad[] = {
		V("GET / HTTP/2.0\r\n" HOST "\r\n", VERSION),
		V("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", VERSION),
		V("GET / HTTP/0.9\r\n\r\n", VERSION),
		V("GET / HTTP/3.1\r\n\r\n", VERSION),
		V("GET / HTTP/1.10\r\n\r\n", REQUEST_LINE),
		V("GET / HTTP/10.1\r\n\r\n", REQUEST_LINE),
		V("GET / HTTP/1\r\n\r\n", REQUEST_LINE),
		V("GET / HTTP/1.\r\n\r\n", REQUEST_LINE),
		V("GET / HTTP/.1\r\n\r\n", REQUEST_LINE),
		V("GET / HTTP/1,1\r\n\r\n", REQUEST_LINE),
		V("GET / HTTP/+.1\r\n\r\n", REQUEST_LINE),
		V("GET / http/1.1\r\n\r\n", REQUEST_LINE),
		V("GET / HTTP 1.1\r\n\r\n", REQUEST_LINE),
		V("GET / HTTP/1.1 \r\n\r\n", REQUEST_LINE),
		V("GET / HTTP/1.1\t\r\n\r\n", REQUEST_LINE),
		V("GET /  HTTP/1.1\r\n\r\n", REQUEST_LINE),
		V("GET  / HTTP/1.1\r\n\r\n", REQUEST_LINE),
		V("GET / \r\n\r\n", REQUEST_LINE),
		V("GET /\r\n\r\n", REQUEST_LINE),
		V("GET / /b HTTP/1.1\r\n\r\n", REQUEST_LINE),
		V("GET\r\n\r\n", METHOD),
		V("GET\t/ HTTP/1.1\r\n\r\n", METHOD),
		V("GE\x01T / HTTP/1.1\r\n\r\n", METHOD),
		V("G\x80T / HTTP/1.1\r\n\r\n", METHOD),
		V("\0GET / HTTP/1.1\r\n\r\n", METHOD),
		V("(GET) / HTTP/1.1\r\n\r\n", METHOD),
		V("\x16\x03\x01\x02", METHOD),
		V("GET /\t HTTP/1.1\r\n\r\n", TARGET),
		V("GET /#a HTTP/1.1\r\n\r\n", TARGET),
		V("GET /\x7f HTTP/1.1\r\n\r\n", TARGET),
		V("GET /\x80 HTTP/1.1\r\n\r\n", TARGET),
		V("GET /\0 HTTP/1.1\r\n\r\n", TARGET),
		V("GET /\x0b HTTP/1.1\r\n\r\n", TARGET),
		V("GET /\n HTTP/1.1\r\n\r\n", LINE_END),
		V("GET / HTTP/1.1\n" HOST "\r\n", LINE_END),
		V("GET / HTTP/1.1\r" HOST "\r\n", LINE_END),
		V("GET / HTTP/1.1\r\r\n" HOST "\r\n", LINE_END),
		V("GET a HTTP/1.1\r\n" HOST "\r\n", TARGET),
		V("GET * HTTP/1.1\r\n" HOST "\r\n", TARGET),
		V("GET a:80 HTTP/1.1\r\n" HOST "\r\n", TARGET),
	};

	(void)st;
	all_refused(HTTP_REQUEST, bad, ARRAY_LEN(bad));
}

static void
status_lines_refused(void **st)
{
	static const struct vector bad[] = {
		V("HTTP/1.1  200 OK\r\n\r\n", STATUS_LINE),
		V("HTTP/1.1 20 OK\r\n\r\n", STATUS_LINE),
		V("HTTP/1.1 2000 OK\r\n\r\n", STATUS_LINE),
		V("HTTP/1.1 099 OK\r\n\r\n", STATUS_LINE),
		V("HTTP/1.1 000 OK\r\n\r\n", STATUS_LINE),
		V("HTTP/1.1 2x0 OK\r\n\r\n", STATUS_LINE),
		V("HTTP/1.1 +20 OK\r\n\r\n", STATUS_LINE),
		V("HTTP/1.1 200\tOK\r\n\r\n", STATUS_LINE),
		V("HTTP/1.1\t200 OK\r\n\r\n", STATUS_LINE),
		V("HTTP/1.1 200 O\x01K\r\n\r\n", STATUS_LINE),
		V("HTTP/1.1 200 O\0K\r\n\r\n", STATUS_LINE),
		V("HTTP/1.1 200 O\x7fK\r\n\r\n", STATUS_LINE),
		V("HTTP/1.1\r\n\r\n", STATUS_LINE),
		V("HTTP/1.1 200 OK\n\r\n", LINE_END),
		V("HTTP/1.1 200\n\r\n", LINE_END),
		V("HTTP/1.1 200 OK\r\r\n\r\n", LINE_END),
		V("HTTP/2.0 200 OK\r\n\r\n", VERSION),
		V("HTTP/0.9 200 OK\r\n\r\n", VERSION),
		V("HTTP/1.11 200 OK\r\n\r\n", STATUS_LINE),
		V("ICY 200 OK\r\n\r\n", STATUS_LINE),
		V("http/1.1 200 OK\r\n\r\n", STATUS_LINE),
		V("<html>", STATUS_LINE),
	};

	(void)st;
	all_refused(HTTP_RESPONSE, bad, ARRAY_LEN(bad));
}

static void
fields_refused(void **st)
{
	static const struct vector bad[] = {
		V(":\r\n\r\n", FIELD_NAME),
		V(": v\r\n\r\n", FIELD_NAME),
		V("A\r\n\r\n", FIELD_NAME),
		V("A B: c\r\n\r\n", FIELD_NAME),
		V("A : c\r\n\r\n", FIELD_NAME),
		V("A\t: c\r\n\r\n", FIELD_NAME),
		V("A\x80: c\r\n\r\n", FIELD_NAME),
		V("A\0: c\r\n\r\n", FIELD_NAME),
		V("(A): c\r\n\r\n", FIELD_NAME),
		V("A\r: c\r\n\r\n", FIELD_NAME),
		V("A: b\0c\r\n\r\n", FIELD_VALUE),
		V("A: b\x0b\r\n\r\n", FIELD_VALUE),
		V("A: \x7f\r\n\r\n", FIELD_VALUE),
		V("A: b\n\r\n", LINE_END),
		V("A\n: b\r\n\r\n", LINE_END),
		V("A: b\rc\r\n\r\n", LINE_END),
		V("A: b\r\r\n\r\n", LINE_END),
		V("\n", LINE_END),
		V("\r\r\n", LINE_END),
		V("\rA: b\r\n\r\n", LINE_END),
		V(" A: b\r\n\r\n", FOLD),
		V("\tA: b\r\n\r\n", FOLD),
		V("A: b\r\n c\r\n\r\n", FOLD),
		V("A: b\r\n\tc\r\n\r\n", FOLD),
		V("A: b\r\n \r\n\r\n", FOLD),
	};

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		/* As the first field, in the middle, and last; in both kinds of heads. */
		static const char *const before[] = { "GET / HTTP/1.1\r\n", GET,
			GET "X: y\r\n", OK };

		for (size_t k = 0; k < ARRAY_LEN(before); k++) {
			char text[128];
			size_t n = strlen(before[k]);

			memcpy(text, before[k], n);
			memcpy(text + n, bad[i].text, bad[i].len);
			refused_len(k < 3 ? HTTP_REQUEST : HTTP_RESPONSE, text, n + bad[i].len,
				bad[i].why);
		}
	}
}

static void
values_are_validated_too(void **st)
{
	static const struct vector bad[] = {
		V("GET / HTTP/1.1\r\n\r\n", HOST),
		V(GET HOST "\r\n", HOST),
		V("GET / HTTP/1.1\r\nHost: a b\r\n\r\n", HOST),
		V("GET http://b/ HTTP/1.1\r\n" HOST "\r\n", HOST),
		V(GET "Content-Length: +1\r\n\r\n", CONTENT_LENGTH),
		V(GET "Transfer-Encoding: x\r\n\r\n", TRANSFER_ENCODING),
	};
	static const struct vector bad_204 =
		V("HTTP/1.1 204 No\r\nContent-Length: 1\r\n\r\n", CONTENT_LENGTH);

	(void)st;
	all_refused(HTTP_REQUEST, bad, ARRAY_LEN(bad));
	all_refused(HTTP_RESPONSE, &bad_204, 1);
}

static void
places_are_bounded(void **st)
{
	static const char text[] = GET "A: 1\r\nB: 2\r\nC: 3\r\n\r\n";

	(void)st;
	feed(HTTP_REQUEST, 4, text, sizeof(text) - 1);
	assert_int_equal(got.verdict, HTTP_COMPLETE);
	assert_int_equal(got.head.n, 4);
	feed(HTTP_REQUEST, 3, text, sizeof(text) - 1);
	assert_int_equal(got.verdict, HTTP_BAD);
	assert_int_equal(got.bad, HTTP_BAD_FIELDS);
	assert_int_equal(got.bad_at, strstr(text, "C: 3") - text);
	feed(HTTP_REQUEST, 0, "GET / HTTP/1.0\r\n\r\n", 18);
	assert_int_equal(got.verdict, HTTP_COMPLETE);
}

/* For each prefix of an incomplete head: more is needed, and the error for a full buffer names the
 * part that is too long. */
static void
each_prefix_wants_more(void **st)
{
	static const char text[] = "\r\nGET /abc HTTP/1.1\r\nHost: a\r\nX-Y: z\r\n\r\n";
	char *buf = malloc(sizeof(text));

	(void)st;
	assert_non_null(buf);
	for (size_t n = 0; n < sizeof(text) - 1; n++) {
		struct h1_parser p = { 0 };
		struct http_field field[8];
		struct http_head h;
		size_t used;
		int in_target = n >= strlen("\r\nGET ") && n <= strlen("\r\nGET /abc");

		memcpy(buf, text, n);
		http_head_init(&h, HTTP_REQUEST, field, 8);
		assert_int_equal(h1_parse_request(&p, buf, n, &h, &used), HTTP_MORE);
		assert_int_equal(h1_parse_full(&p),
			in_target ? HTTP_BAD_TARGET_LONG : HTTP_BAD_HEAD_LONG);
	}
	free(buf);
}

/* Without the last bytes of the text the head is incomplete, and with them it is complete. */
static void
needs_is_a_lower_bound(void **st)
{
	static const struct {
		const char *have, *rest;
	} v[] = {
		{ "", "M / HTTP/1.0\r\n\r\n" },
		{ "\r", "\nM / HTTP/1.0\r\n\r\n" },
		{ "GET", " / HTTP/1.0\r\n\r\n" },
		{ "GET /a", " HTTP/1.0\r\n\r\n" },
		{ "GET / ", "HTTP/1.0\r\n\r\n" },
		{ "GET / HTTP/1", ".0\r\n\r\n" },
		{ "GET / HTTP/1.0", "\r\n\r\n" },
		{ "GET / HTTP/1.0\r", "\n\r\n" },
		{ "GET / HTTP/1.0\r\n", "\r\n" },
		{ "GET / HTTP/1.0\r\nA", ":\r\n\r\n" },
		{ "GET / HTTP/1.0\r\nA:", "\r\n\r\n" },
		{ "GET / HTTP/1.0\r\nA: b", "\r\n\r\n" },
		{ "GET / HTTP/1.0\r\nA: b\r", "\n\r\n" },
		{ "GET / HTTP/1.0\r\nA: b\r\n", "\r\n" },
		{ "GET / HTTP/1.0\r\nA: b\r\n\r", "\n" },
	};

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(v); i++) {
		size_t have = strlen(v[i].have), used;
		struct h1_parser p = { 0 };
		struct http_field field[8];
		struct http_head h;
		char buf[64];

		(void)snprintf(buf, sizeof(buf), "%s%s", v[i].have, v[i].rest);
		http_head_init(&h, HTTP_REQUEST, field, 8);
		assert_int_equal(h1_parse_request(&p, buf, have, &h, &used), HTTP_MORE);
		assert_int_equal(h1_parse_needs(&p, &h), strlen(v[i].rest));
		assert_true(h1_parse_needs(&p, &h) <= H1_NEEDS_MAX);
		assert_int_equal(h1_parse_request(&p, buf, strlen(buf), &h, &used),
			HTTP_COMPLETE);
	}
}

/* Names and values with lengths near the limits of bytes, words and 16-bit numbers. */
static void
lengths_do_not_wrap(void **st)
{
	static const size_t lens[] = { 1, 15, 16, 17, 255, 256, 257, 4095, 65535, 65536, 65537 };
	char *text = malloc(1 << 18);

	(void)st;
	assert_non_null(text);
	for (size_t i = 0; i < ARRAY_LEN(lens); i++) {
		for (size_t k = 0; k < ARRAY_LEN(lens); k++) {
			size_t n = strlen(GET), end;
			struct fed f;

			memcpy(text, GET, n);
			memset(text + n, 'n', lens[i]);
			memcpy(text + n + lens[i], ": ", 2);
			memset(text + n + lens[i] + 2, 'v', lens[k]);
			end = n + lens[i] + 2 + lens[k];
			memcpy(text + end, "\r\n\r\n", 4);
			free(kept);
			kept = malloc(end + 4);
			assert_non_null(kept);
			feed_pieces(&f, HTTP_REQUEST, 8, kept, text, end + 4, end / 2, 1 + end / 7);
			assert_int_equal(f.verdict, HTTP_COMPLETE);
			assert_int_equal(f.used, end + 4);
			assert_int_equal(f.head.n, 2);
			assert_int_equal(f.head.field[1].name.len, lens[i]);
			assert_int_equal(f.head.field[1].value.len, lens[k]);
			assert_ptr_equal(f.head.field[1].value.p, kept + n + lens[i] + 2);
		}
	}
	free(text);
}

/* One byte at a time, no byte is read twice: parsed bytes may be overwritten. */
static void
parsed_bytes_are_not_read_again(void **st)
{
	static const char text[] = "GET /abcdefgh HTTP/1.1\r\nX-Long-Name: some longer value\r\n";
	char buf[sizeof(text)];
	struct h1_parser p = { 0 };
	struct http_field field[4];
	struct http_head h;
	size_t used;

	(void)st;
	http_head_init(&h, HTTP_REQUEST, field, 4);
	for (size_t n = 1; n < sizeof(text); n++) {
		uint32_t was = p.at;

		memcpy(buf, text, n);
		assert_int_equal(h1_parse_request(&p, buf, n, &h, &used), HTTP_MORE);
		/* At most the byte that its state waits for is left. */
		assert_true(p.at >= was && p.at == n);
	}
}

/* A request that is only peeked at. */
static void
requests_can_be_peeked_at(void **st)
{
	static const char text[] = "GET /a HTTP/1.1\r\nHost: a\r\n\r\nbody";
	size_t end = sizeof(text) - sizeof("body");
	struct http_field field[4];
	struct http_head h;

	(void)st;
	for (size_t n = 0; n < sizeof(text); n++) {
		http_head_init(&h, HTTP_REQUEST, field, 4);
		assert_int_equal(h1_peek_request(text, n, &h), n < end ? HTTP_MORE : HTTP_COMPLETE);
	}
	assert_true(str_is(h.target, STR("/a")));
	assert_int_equal(h.n, 1);
	http_head_init(&h, HTTP_REQUEST, field, 4);
	assert_int_equal(h1_peek_request("\x16\x03", 2, &h), HTTP_BAD);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_request, forget),
		cmocka_unit_test_teardown(a_response, forget),
		cmocka_unit_test_teardown(one_empty_line_before_a_request, forget),
		cmocka_unit_test_teardown(minor_versions_are_one_point_one, forget),
		cmocka_unit_test_teardown(request_lines_refused, forget),
		cmocka_unit_test_teardown(status_lines_refused, forget),
		cmocka_unit_test_teardown(fields_refused, forget),
		cmocka_unit_test_teardown(values_are_validated_too, forget),
		cmocka_unit_test_teardown(places_are_bounded, forget),
		cmocka_unit_test(each_prefix_wants_more),
		cmocka_unit_test(needs_is_a_lower_bound),
		cmocka_unit_test_teardown(lengths_do_not_wrap, forget),
		cmocka_unit_test(parsed_bytes_are_not_read_again),
		cmocka_unit_test(requests_can_be_peeked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
