#include <string.h>

#include "base/compiler.h"
#include "base/err.h"
#include "http/scan.h"
#include "http/uri.h"
#include "sim/dice.h"
#include "unit/test.h"

static struct http_field places[4];

static struct http_head
request(const char *method, const char *target, const char *host)
{
	struct http_head h;

	http_head_init(&h, HTTP_REQUEST, places, ARRAY_LEN(places));
	h.method_text = str_of(method);
	h.method = http_method_of(h.method_text);
	h.target = str_of(target);
	if (host)
		assert_int_equal(http_add(&h, STR("Host"), str_of(host)), 0);
	return h;
}

/* NULL: the part must be missing. */
static void
assert_part(struct str s, const char *expected)
{
	if (!expected) {
		assert_null(s.p);
		return;
	}
	assert_non_null(s.p);
	assert_int_equal(s.len, strlen(expected));
	assert_memory_equal(s.p, expected, s.len);
}

static void
test_split(void **state)
{
	static const struct {
		const char *target;
		enum http_form form;
		const char *scheme, *authority, *path, *pathq, *query;
	} rows[] = {
		{ "/", HTTP_FORM_ORIGIN, NULL, NULL, "/", "/", NULL },
		{ "/a/b?c=d?e", HTTP_FORM_ORIGIN, NULL, NULL, "/a/b", "/a/b?c=d?e", "c=d?e" },
		{ "/a?", HTTP_FORM_ORIGIN, NULL, NULL, "/a", "/a?", "" },
		{ "/http://x/", HTTP_FORM_ORIGIN, NULL, NULL, "/http://x/", "/http://x/", NULL },
		{ "//x/y", HTTP_FORM_ORIGIN, NULL, NULL, "//x/y", "//x/y", NULL },
		{ "*", HTTP_FORM_ASTERISK, NULL, NULL, NULL, NULL, NULL },
		{ "h:80", HTTP_FORM_AUTHORITY, NULL, "h:80", NULL, NULL, NULL },
		{ "http://h/p?q", HTTP_FORM_ABSOLUTE, "http", "h", "/p", "/p?q", "q" },
		{ "http://h", HTTP_FORM_ABSOLUTE, "http", "h", "", "", NULL },
		{ "http://h?q", HTTP_FORM_ABSOLUTE, "http", "h", "", "?q", "q" },
		{ "a+b-1.2://[::1]:8/", HTTP_FORM_ABSOLUTE, "a+b-1.2", "[::1]:8", "/", "/", NULL },
		{ "a/b://x", HTTP_FORM_AUTHORITY, NULL, "a/b://x", NULL, NULL, NULL },
		{ "http:/x", HTTP_FORM_AUTHORITY, NULL, "http:/x", NULL, NULL, NULL },
		{ "http:/", HTTP_FORM_AUTHORITY, NULL, "http:/", NULL, NULL, NULL },
		{ "x", HTTP_FORM_AUTHORITY, NULL, "x", NULL, NULL, NULL },
	};
	struct http_uri u;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		http_uri_split(str_of(rows[i].target), &u);
		assert_int_equal(u.form, rows[i].form);
		assert_part(u.scheme, rows[i].scheme);
		assert_part(u.authority, rows[i].authority);
		assert_part(u.path, rows[i].path);
		assert_part(u.pathq, rows[i].pathq);
		assert_part(u.query, rows[i].query);
	}
}

static void
test_authority(void **state)
{
	static const struct {
		const char *text, *host;
		int bracketed, port;
	} rows[] = {
		{ "h", "h", 0, -1 },
		{ "h:80", "h", 0, 80 },
		{ "h:", "h", 0, -1 },
		{ "", "", 0, -1 },
		{ "h:65535", "h", 0, 65535 },
		{ "[::1]", "::1", 1, -1 },
		{ "[::1]:0", "::1", 1, 0 },
		{ "[fe80::1]:8", "fe80::1", 1, 8 },
	};
	static const char *const bad[] = { "h:65536", "h:8x", "h:80:81", "[::1", "[::1]x", "::1",
		"[::1]:99999999999999999999", "h:-1", "u@h" };
	struct http_authority a;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(http_authority_parse(str_of(rows[i].text), &a), 0);
		assert_part(a.host, rows[i].host);
		assert_int_equal(a.bracketed, rows[i].bracketed);
		assert_int_equal(a.port, rows[i].port);
	}
	for (unsigned int i = 0; i < ARRAY_LEN(bad); i++)
		assert_int_equal(http_authority_parse(str_of(bad[i]), &a), -ERR_SYNTAX);
}

static void
test_base(void **state)
{
	struct http_head h = request("GET", "http://u.x/p?q", "h.x:81");
	char out[32];

	(void)state;
	assert_int_equal(http_base(&h, 0, out, sizeof(out)), 8);
	assert_memory_equal(out, "h.x:81/p", 8);
	assert_int_equal(http_base(&h, 1, out, sizeof(out)), 10);
	assert_memory_equal(out, "h.x:81/p?q", 10);
	assert_int_equal(http_base(&h, 1, out, 10), 10);
	assert_int_equal(http_base(&h, 1, out, 9), -ERR_RANGE);
	h = request("OPTIONS", "*", "h");
	assert_int_equal(http_base(&h, 0, out, sizeof(out)), 1);
	h = request("GET", "/n", NULL);
	assert_int_equal(http_base(&h, 0, out, sizeof(out)), 2);
	assert_memory_equal(out, "/n", 2);
}

static int
find_param(struct str target, char delim, struct str name, struct str *value)
{
	struct str rest = http_params(target, delim), one;

	while (http_param_next(&rest, delim, &one, value))
		if (str_is(one, name))
			return 1;
	return 0;
}

/* The answers of HAProxy 2.6 to url_param(a), url_param, url_param(a,;); NULL for none. */
static void
test_params(void **state)
{
	static const struct {
		const char *target, *a, *any, *a_semicolon;
	} rows[] = {
		{ "/", NULL, NULL, NULL },
		{ "/a?x", NULL, NULL, NULL },
		{ "/a?a=1&b=2", "1", "1", NULL },
		{ "/p;a=5?a=6&a=7;b", "6", "6", "5?a=6" },
		{ "/p?b&a&a=3", "3", "3", NULL },
		{ "/p?aa=1&a=", "", "1", NULL },
		{ "/p?a=1?a=2", "1", "1", NULL },
		{ "/p?x=1;a=2&y", "2", "1", "2" },
		{ "/p?=3", NULL, "3", NULL },
		{ "/p?b=;a=9", "9", "", "9" },
		{ "/p;b=1;a=2", NULL, NULL, "2" },
		{ "http://u.x?&&a==b=&", "=b=", "=b=", NULL },
	};
	struct str name, value, rest;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		struct str target = str_of(rows[i].target);

		assert_int_equal(find_param(target, '?', STR("a"), &value), !!rows[i].a);
		if (rows[i].a)
			assert_part(value, rows[i].a);
		assert_int_equal(
			find_param(target, ';', STR("a"), &value), !!rows[i].a_semicolon);
		if (rows[i].a_semicolon)
			assert_part(value, rows[i].a_semicolon);
		rest = http_params(target, '?');
		assert_int_equal(http_param_next(&rest, '?', &name, &value), !!rows[i].any);
		if (rows[i].any)
			assert_part(value, rows[i].any);
	}
	rest = http_params(STR("/?a=1;b=2&c=3"), '?');
	for (int i = 0; i < 3; i++) {
		assert_int_equal(http_param_next(&rest, '?', &name, &value), 1);
		assert_int_equal(name.p[0], 'a' + i);
		assert_int_equal(value.p[0], '1' + i);
	}
	assert_int_equal(http_param_next(&rest, '?', &name, &value), 0);
}

/* The target can be set in a request with this method. */
static int
can_be_set(enum http_method method, struct str target)
{
	struct http_head h = request("GET", "/", NULL);
	char out[64];

	h.method = method;
	return http_set_part(&h, HTTP_PART_URI, target, out, sizeof(out)) == 0;
}

static void
test_valid(void **state)
{
	static const char *const good[] = { "/", "/a?b=c;d&e", "http://h", "https://h:1/?",
		"/%00\"<>\\^`{|}" };
	static const char *const bad[] = { "", " ", "/a b", "/a\r\nb", "/a#b", "/\x7f", "/\xc3\xa9",
		"http://", "http:///x", "http://h:x/", "h", "h:", "a/b", "?x", "http://[::1/",
		"http://u@h/", "ftp://h/" };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_LEN(good); i++)
		assert_true(can_be_set(HTTP_GET, str_of(good[i])));
	for (unsigned int i = 0; i < ARRAY_LEN(bad); i++)
		assert_false(can_be_set(HTTP_OPTIONS, str_of(bad[i])));
	assert_false(can_be_set(HTTP_GET, STR("/a\0b")));
	assert_true(can_be_set(HTTP_OPTIONS, STR("*")));
	assert_false(can_be_set(HTTP_GET, STR("*")));
	assert_true(can_be_set(HTTP_CONNECT, STR("[::1]:80")));
	assert_false(can_be_set(HTTP_CONNECT, STR("h")));
	assert_false(can_be_set(HTTP_CONNECT, STR("/")));
}

struct set_row {
	const char *method, *target;
	enum http_part part;
	const char *value, *result, *host; /* result NULL: rejected */
};

static void
assert_set(const struct set_row *r)
{
	struct http_head h = request(r->method, r->target, "u.x");
	size_t need = strlen(r->target) + strlen(r->value) + 1;
	char out[128];
	int rc;

	memset(out, '~', sizeof(out));
	rc = http_set_part(&h, r->part, str_of(r->value), out, need);
	assert_int_equal(out[need], '~');
	assert_int_equal(rc, r->result ? 0 : -ERR_INVAL);
	assert_part(h.target, r->result ? r->result : r->target);
	assert_part(h.field[0].value, r->host ? r->host : "u.x");
	if (!r->result || strlen(r->result) < 1)
		return;
	h = request(r->method, r->target, "u.x");
	rc = http_set_part(&h, r->part, str_of(r->value), out, strlen(r->result) - 1);
	assert_int_equal(rc, -ERR_RANGE);
	assert_part(h.target, r->target);
}

static void
test_set_part(void **state)
{
	static const struct set_row rows[] = {
		{ "GET", "/p?q", HTTP_PART_PATH, "/n", "/n?q", NULL },
		{ "GET", "/p", HTTP_PART_PATH, "/n", "/n", NULL },
		{ "GET", "/p?", HTTP_PART_PATH, "/n", "/n?", NULL },
		{ "GET", "/p?q", HTTP_PART_PATH, "/n?z", "/n?z?q", NULL },
		{ "GET", "http://u.x/p?q", HTTP_PART_PATH, "/n", "http://u.x/n?q", NULL },
		{ "GET", "http://u.x", HTTP_PART_PATH, "/n", "http://u.x/n", NULL },
		{ "OPTIONS", "*", HTTP_PART_PATH, "/n", "/n", NULL },
		{ "GET", "/p?q", HTTP_PART_PATHQ, "/n", "/n", NULL },
		{ "GET", "/p?q", HTTP_PART_PATHQ, "/n?m", "/n?m", NULL },
		{ "GET", "http://u.x/p?q", HTTP_PART_PATHQ, "/n", "http://u.x/n", NULL },
		{ "GET", "http://u.x/p?q", HTTP_PART_PATHQ, "?n", "http://u.x?n", NULL },
		{ "GET", "/p?q", HTTP_PART_QUERY, "k=1", "/p?k=1", NULL },
		{ "GET", "/p", HTTP_PART_QUERY, "k=1", "/p?k=1", NULL },
		{ "GET", "/p?q", HTTP_PART_QUERY, "", "/p?", NULL },
		{ "GET", "/p", HTTP_PART_QUERY, "", "/p", NULL },
		{ "GET", "http://u.x", HTTP_PART_QUERY, "k", "http://u.x?k", NULL },
		{ "GET", "/p?q", HTTP_PART_URI, "/n", "/n", NULL },
		{ "GET", "/p?q", HTTP_PART_URI, "http://n:8/x", "http://n:8/x", "n:8" },
		{ "CONNECT", "u.x:80", HTTP_PART_URI, "n:81", "n:81", "n:81" },
		{ "OPTIONS", "/p", HTTP_PART_URI, "*", "*", NULL },
		/* The result would not be a valid request. */
		{ "GET", "/p?q", HTTP_PART_PATH, "n", NULL, NULL },
		{ "GET", "/p?q", HTTP_PART_PATH, "", NULL, NULL },
		{ "GET", "/p?q", HTTP_PART_PATH, "/a b", NULL, NULL },
		{ "GET", "/p?q", HTTP_PART_PATH, "/a HTTP/1.1\r\nX: y\r\n", NULL, NULL },
		{ "GET", "http://u.x/p", HTTP_PART_PATH, ".evil/", NULL, NULL },
		{ "GET", "http://u.x/p", HTTP_PART_PATHQ, ":80/", NULL, NULL },
		{ "GET", "/p", HTTP_PART_PATHQ, "?q", NULL, NULL },
		{ "GET", "/p", HTTP_PART_QUERY, "a#b", NULL, NULL },
		{ "GET", "/p", HTTP_PART_URI, "n:81", NULL, NULL },
		{ "GET", "/p", HTTP_PART_URI, "*", NULL, NULL },
		{ "OPTIONS", "*", HTTP_PART_QUERY, "a", NULL, NULL },
		{ "CONNECT", "u.x:80", HTTP_PART_PATH, "/n", NULL, NULL },
		{ "CONNECT", "u.x:80", HTTP_PART_URI, "/n", NULL, NULL },
		{ "CONNECT", "u.x:80", HTTP_PART_URI, "n", NULL, NULL },
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++)
		assert_set(&rows[i]);
}

static void
test_follow_host(void **state)
{
	struct http_head h = request("GET", "http://u.x/p?q", "u.x");
	char out[64];

	(void)state;
	assert_int_equal(http_follow_host(&h, out, sizeof(out)), 0);
	assert_part(h.target, "http://u.x/p?q");
	h.field[0].value = STR("n:8");
	assert_int_equal(http_follow_host(&h, out, 13), -ERR_RANGE);
	assert_part(h.target, "http://u.x/p?q");
	assert_int_equal(http_follow_host(&h, out, 14), 0);
	assert_part(h.target, "http://n:8/p?q");
	h.field[0].value = STR("n:x");
	assert_int_equal(http_follow_host(&h, out + 14, 32), -ERR_INVAL);
	assert_part(h.target, "http://n:8/p?q");
	h = request("CONNECT", "u.x:80", "n:81");
	assert_int_equal(http_follow_host(&h, out, sizeof(out)), 0);
	assert_part(h.target, "n:81");
	h = request("GET", "/p", "n");
	assert_int_equal(http_follow_host(&h, out, sizeof(out)), 0);
	assert_part(h.target, "/p");
	h = request("GET", "http://u.x/", NULL);
	assert_int_equal(http_follow_host(&h, out, sizeof(out)), 0);
	assert_part(h.target, "http://u.x/");
}

/* True if the parser accepts it as a target. */
static int
is_valid(enum http_method method, struct str target)
{
	struct str authority;

	return target.len && http_scan_target(target.p, target.len) == target.len &&
		http_target_form(method, target, &authority) != HTTP_FORM_NONE;
}

/* The parts are in the target, in order, and together they are the target; replacing a part by
 * itself changes nothing. */
static void
test_property(void **state)
{
	static const char bytes[] = "/?:@[]a1*.#; ";
	struct dice d = dice_seed(3);
	char text[24], out[64], again[64];

	(void)state;
	for (int i = 0; i < 200000; i++) {
		size_t lead = dice(&d, 3) ? 0 : 7, n = lead + dice(&d, sizeof(text) - 6);
		struct http_head h;
		struct http_uri u;
		size_t sum;

		memcpy(text, "http://", 7);
		for (size_t k = lead; k < n; k++)
			text[k] = bytes[dice(&d, sizeof(bytes) - 1)];
		http_head_init(&h, HTTP_REQUEST, places, ARRAY_LEN(places));
		h.target = (struct str){ text, n };
		http_uri_split(h.target, &u);
		sum = u.authority.len + u.pathq.len + (u.scheme.p ? u.scheme.len + 3 : 0);
		assert_int_equal(sum + (u.form == HTTP_FORM_ASTERISK), n);
		assert_int_equal(u.path.len + (u.query.p ? u.query.len + 1 : 0), u.pathq.len);
		h.method = u.form == HTTP_FORM_AUTHORITY ? HTTP_CONNECT : HTTP_OPTIONS;
		assert_int_equal(http_set_part(&h, HTTP_PART_URI, h.target, out, sizeof(out)),
			is_valid(h.method, (struct str){ text, n }) ? 0 : -ERR_INVAL);
		if (h.target.p == text || !u.pathq.p)
			continue;
		assert_int_equal(
			http_set_part(&h, HTTP_PART_PATH, u.path, again, sizeof(again)), 0);
		assert_int_equal(h.target.len, n);
		assert_memory_equal(h.target.p, text, n);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_authority),
		cmocka_unit_test(test_base),
		cmocka_unit_test(test_params),
		cmocka_unit_test(test_valid),
		cmocka_unit_test(test_set_part),
		cmocka_unit_test(test_follow_host),
		cmocka_unit_test(test_property),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
