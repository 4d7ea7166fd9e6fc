/* Rules of caches; most rows are as HAProxy 2.6 answers (tests/system/test_cache.py). */

#include "base/compiler.h"
#include "base/err.h"
#include "http/caching.h"
#include "unit/test.h"

#define FIELDS 6
#define NOW 784111777 /* Sun, 06 Nov 1994 08:49:37 GMT */
#define MAX_AGE 60

static void
add_fields(struct http_head *h, struct http_field *place, enum http_kind kind,
	const char *const *fields, size_t n)
{
	http_head_init(h, kind, place, FIELDS);
	h->version = HTTP_1_1;
	h->status = 200;
	h->framing = HTTP_BODY_LENGTH;
	h->length = kind == HTTP_RESPONSE ? 3 : 0;
	h->target = STR("/p?q");
	for (size_t i = 0; i < n && fields[i]; i++) {
		struct str name = { fields[i], strcspn(fields[i], ":") };

		assert_int_equal(http_add(h, name, str_of(name.p + name.len + 2)), 0);
	}
}

/* Fields of a response, and its lifetime; 0: it is not stored. */
static const struct {
	const char *field[3];
	unsigned int lifetime;
} stored[] = {
	{ { NULL }, 0 },
	{ { "Cache-Control: max-age=20" }, 20 },
	{ { "Cache-Control: MAX-AGE=20" }, 20 },
	{ { "Cache-Control: max-age=\"20\"" }, 20 },
	{ { "Cache-Control: max-age = 20" }, 20 },
	{ { "Cache-Control: max-age=20x" }, 0 },
	{ { "Cache-Control: max-age=-1" }, 0 },
	{ { "Cache-Control: max-age" }, 0 },
	{ { "Cache-Control: max-age=99999999999999999999" }, MAX_AGE },
	{ { "Cache-Control: max-age=0" }, 0 },
	{ { "Cache-Control: max-age=10, max-age=0" }, 0 },
	{ { "Cache-Control: max-age=10, max-age=5" }, 5 },
	{ { "Cache-Control: s-maxage=10, max-age=5" }, 10 },
	{ { "Cache-Control: max-age=5", "Cache-Control: s-maxage=10" }, 10 },
	{ { "Cache-Control: s-maxage=10, max-age=0" }, 0 },
	{ { "Cache-Control: s-maxage=0, max-age=5" }, 0 },
	{ { "Cache-Control: no-store, max-age=5" }, 0 },
	{ { "Cache-Control: private, max-age=5" }, 0 },
	{ { "Cache-Control: private=\"x, y\", max-age=5" }, 0 },
	{ { "Cache-Control: no-cache, max-age=5" }, 0 },
	{ { "Cache-Control: no-cache=\"set-cookie\", max-age=5" }, 0 },
	{ { "Cache-Control: must-revalidate, max-age=5" }, 5 },
	{ { "Cache-Control: public" }, 0 },
	{ { "Cache-Control: max-age=5", "Pragma: no-cache" }, 0 },
	{ { "ETag: \"a\"" }, MAX_AGE },
	{ { "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT" }, MAX_AGE },
	{ { "ETag: \"a\"", "Age: 5" }, 0 },
	{ { "ETag: \"a\"", "Pragma: no-cache" }, 0 },
	{ { "Expires: Sun, 06 Nov 1994 08:49:57 GMT" }, 20 },
	{ { "Expires: Sun, 06 Nov 1994 08:49:57 GMT", "Date: Sun, 06 Nov 1994 08:49:47 GMT" },
		10 },
	{ { "Expires: Sun, 06 Nov 1994 08:49:37 GMT" }, 0 },
	{ { "Expires: 0" }, 0 },
	{ { "Expires: 0", "ETag: \"a\"" }, 0 },
	{ { "Expires: 0", "Cache-Control: max-age=5" }, 5 },
	{ { "Age: 5", "Cache-Control: max-age=20" }, 15 },
	{ { "Age: 20", "Cache-Control: max-age=20" }, 0 },
	{ { "Age: x", "Cache-Control: max-age=20" }, 0 },
	{ { "Age: -5", "Cache-Control: max-age=20" }, 0 },
	{ { "Set-Cookie: a=b", "Cache-Control: max-age=20" }, 0 },
	{ { "Set-Cookie: a=b", "Cache-Control: max-age=20, public" }, 20 },
	{ { "Set-Cookie: a=b", "Cache-Control: s-maxage=20" }, 20 },
};

static void
responses_are_stored_for_their_lifetime(void **state)
{
	struct http_field place[FIELDS];
	struct http_freshness fresh;
	struct http_head h;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(stored); i++) {
		int is;

		add_fields(&h, place, HTTP_RESPONSE, stored[i].field, 3);
		is = http_caching_of_response(&h, 0, NOW, MAX_AGE, &fresh);
		if (is != (stored[i].lifetime != 0) ||
			(is && fresh.lifetime_s != stored[i].lifetime))
			fail_msg("row %zu", i);
	}
}

static void
status_and_framing_matter(void **state)
{
	static const char *const fields[] = { "Cache-Control: max-age=20" };
	static const char *const public[] = { "Cache-Control: max-age=20, public" };
	struct http_field place[FIELDS];
	struct http_freshness fresh;
	struct http_head h;

	(void)state;
	add_fields(&h, place, HTTP_RESPONSE, fields, 1);
	h.framing = HTTP_BODY_CHUNKED;
	assert_true(http_caching_of_response(&h, 0, NOW, MAX_AGE, &fresh));
	h.framing = HTTP_BODY_CLOSE;
	assert_false(http_caching_of_response(&h, 0, NOW, MAX_AGE, &fresh));
	h.framing = HTTP_BODY_LENGTH;
	h.status = 203;
	assert_false(http_caching_of_response(&h, 0, NOW, MAX_AGE, &fresh));
	h.status = 200;
	assert_false(http_caching_of_response(&h, 1, NOW, MAX_AGE, &fresh));
	assert_false(http_caching_of_response(&h, 0, NOW, 0, &fresh));
	add_fields(&h, place, HTTP_RESPONSE, public, 1);
	assert_true(http_caching_of_response(&h, 1, NOW, MAX_AGE, &fresh));
}

static void
requests_are_served_and_stored(void **state)
{
	enum { SERVE = HTTP_CACHE_SERVES, STORE = HTTP_CACHE_STORES };
	static const struct {
		enum http_method asked;
		const char *field[2];
		unsigned int is;
	} t[] = {
		{ HTTP_GET, { NULL }, SERVE | STORE },
		{ HTTP_HEAD, { NULL }, SERVE },
		{ HTTP_POST, { NULL }, HTTP_CACHE_FORGETS },
		{ HTTP_OTHER, { NULL }, HTTP_CACHE_FORGETS },
		{ HTTP_OPTIONS, { NULL }, 0 },
		{ HTTP_GET, { "Cache-Control: no-cache" }, STORE },
		{ HTTP_GET, { "Cache-Control: x, Max-Age=100" }, STORE },
		{ HTTP_GET, { "Cache-Control: x", "Cache-Control: min-fresh=1" }, STORE },
		{ HTTP_GET, { "Cache-Control: max-stale" }, STORE },
		{ HTTP_GET, { "Cache-Control: no-store" }, SERVE },
		{ HTTP_GET, { "Cache-Control: only-if-cached" }, SERVE | STORE },
		{ HTTP_GET, { "Pragma: no-cache" }, STORE },
		{ HTTP_GET, { "Pragma: no-cache", "Cache-Control: x" }, SERVE | STORE },
		{ HTTP_GET, { "Authorization: x" }, STORE | HTTP_CACHE_IF_PUBLIC },
	};
	struct http_field place[FIELDS];
	struct http_head h;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		add_fields(&h, place, HTTP_REQUEST, t[i].field, 2);
		if (http_caching_of_request(&h, t[i].asked) != t[i].is)
			fail_msg("row %zu", i);
	}
	h.version = HTTP_1_0;
	assert_int_equal(http_caching_of_request(&h, HTTP_GET), 0);
	h.version = HTTP_1_1;
	h.length = 1;
	assert_int_equal(http_caching_of_request(&h, HTTP_GET), 0);
}

static void
conditions_are_compared(void **state)
{
	static const char date[] = "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT";
	static const struct {
		const char *res[2], *req[2];
		int is;
	} t[] = {
		{ { "ETag: \"a\"", date }, { "If-None-Match: \"a\"" }, 1 },
		{ { "ETag: \"a\"", date }, { "If-None-Match: \"b\", W/\"a\"" }, 1 },
		{ { "ETag: W/\"a\"", date }, { "If-None-Match: \"a\"" }, 1 },
		{ { "ETag: \"a\"", date }, { "If-None-Match: \"b\"", "If-None-Match: \"a\"" }, 1 },
		{ { "ETag: \"a\"", date }, { "If-None-Match: a" }, 0 },
		{ { NULL }, { "If-None-Match: *" }, 1 },
		{ { NULL }, { "If-None-Match: \"a\"" }, 0 },
		{ { "ETag: \"a\"", date }, { "If-None-Match: \"b\"",
			"If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT" }, 0 },
		{ { date }, { "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT" }, 1 },
		{ { date }, { "If-Modified-Since: Sun, 06 Nov 1994 08:49:38 GMT" }, 1 },
		{ { date }, { "If-Modified-Since: Sun, 06 Nov 1994 08:49:36 GMT" }, 0 },
		{ { date }, { "If-Modified-Since: x" }, 0 },
		{ { date }, { NULL }, 0 },
		{ { NULL }, { "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT" }, 1 },
		{ { NULL }, { "If-Modified-Since: Sun, 06 Nov 1994 08:49:36 GMT" }, 0 },
	};
	struct http_field place[FIELDS], other[FIELDS];
	struct http_head req, res;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		add_fields(&req, place, HTTP_REQUEST, t[i].req, 2);
		add_fields(&res, other, HTTP_RESPONSE, t[i].res, 2);
		if (http_caching_is_unmodified(&req, &res, NOW) != t[i].is)
			fail_msg("row %zu", i);
	}
}

static void
some_responses_are_for_one_client(void **state)
{
	static const struct {
		const char *field[1];
		int is;
	} rows[] = {
		{ { NULL }, 0 }, { { "Accept: a" }, 0 }, { { "Range: bytes=0-1" }, 1 },
		{ { "If-None-Match: \"a\"" }, 1 }, { { "If-Match: *" }, 1 },
		{ { "If-Modified-Since: x" }, 1 }, { { "If-Unmodified-Since: x" }, 1 },
	};
	struct http_field place[FIELDS];
	struct http_head h;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		add_fields(&h, place, HTTP_REQUEST, rows[i].field, 1);
		assert_int_equal(http_caching_is_partial(&h), rows[i].is);
	}
}

static void
keys_have_scheme_host_and_path(void **state)
{
	static const char *const fields[] = { "Host: ExAmple.com:80" };
	struct http_field place[FIELDS];
	struct http_head h;
	char key[64];

	(void)state;
	add_fields(&h, place, HTTP_REQUEST, fields, 1);
	assert_int_equal(http_caching_key(&h, 0, key, sizeof(key)), 25);
	assert_memory_equal(key, "http://example.com:80/p?q", 25);
	h.target = STR("http://ExAmple.com:80/P?q");
	assert_int_equal(http_caching_key(&h, 1, key, sizeof(key)), 26);
	assert_memory_equal(key, "https://example.com:80/P?q", 26);
	assert_int_equal(http_caching_key(&h, 1, key, 20), -ERR_RANGE);
	assert_true(http_caching_key(&h, 1, key, 4) < 0);
	add_fields(&h, place, HTTP_REQUEST, fields, 0);
	assert_int_equal(http_caching_key(&h, 0, key, sizeof(key)), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(responses_are_stored_for_their_lifetime),
		cmocka_unit_test(status_and_framing_matter),
		cmocka_unit_test(requests_are_served_and_stored),
		cmocka_unit_test(conditions_are_compared),
		cmocka_unit_test(some_responses_are_for_one_client),
		cmocka_unit_test(keys_have_scheme_host_and_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
