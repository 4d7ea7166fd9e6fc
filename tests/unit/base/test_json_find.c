#include "base/json_find.h"
#include "unit/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A copy without a byte behind it, so that sanitizers see a read beyond the end. */
static int
find_exact(const char *text, size_t len, const struct json_step *step, size_t n,
	struct json_value *v)
{
	char *p = len ? malloc(len) : NULL;
	int r;

	if (len)
		memcpy(p, text, len);
	r = json_find((struct str){ p, len }, step, n, v);
	free(p);
	return r;
}

/* The number 1 behind a value, which has to be skipped. */
static int
is_skipped(const char *value)
{
	static const struct json_step to_b = { .name = { "b", 1 } };
	struct json_value v;
	char text[1024];

	snprintf(text, sizeof(text), "{\"a\":%s,\"b\":1}", value);
	return find_exact(text, strlen(text), &to_b, 1, &v) && v.kind == JSON_NUMBER;
}

static void
values(void **state)
{
	static const char *const good[] = {
		"0", "-0", "10", "0.5", "1e5", "1E+5", "1.25e-7", "\"\"", "\"a\\\"b\"",
		"\"\\u12aB\\/\"", "true", "false", "null", "[]", "{}", " [ ] ", " { } ",
		"[1,[2,{\"x\":[]}],3]", "{\"x\":{\"y\":{}},\"z\":[{}]}", "\t\r\n1 " };
	static const char *const bad[] = {
		"", "01", "-", "+1", ".5", "1.", "1e", "1e+", "--1", "0x1", "tru", "True",
		"nul", "[", "]", "[1", "[1,]", "[,1]", "[1 2]", "{", "{\"x\"}", "{\"x\":}",
		"{\"x\":1,}", "{x:1}", "{1:1}", "[}", "{]", "[1}", "\"", "\"\\x\"", "\"\\u12\"",
		"\"\\u123g\"", "\"\t\"", "'a'", "1,,2" };

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		if (!is_skipped(good[i]))
			fail_msg("%s", good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (is_skipped(bad[i]))
			fail_msg("%s", bad[i]);
}

static void
depth(void **state)
{
	char text[4 * JSON_DEPTH_MAX];

	(void)state;
	for (int n = 1; n < JSON_DEPTH_MAX + 3; n++) {
		memset(text, '[', (size_t)n);
		memset(text + n, ']', (size_t)n);
		text[2 * n] = '\0';
		assert_int_equal(is_skipped(text), n <= JSON_DEPTH_MAX);
	}
}

/* A cut text is not read beyond its end, and no other value is found. */
static void
cut_texts(void **state)
{
	static const char text[] = "{\"x\":[1,{\"y\":\"\\u00e9\\n\"},tr, true, 1.5e-3],"
				   "\"l\":[0,{\"k\":\"va\\\\l\"}]}";
	static const char whole[] = "{\"x\":[1,{\"y\":\"\\u00e9\\n\"},true, 1.5e-3],"
				    "\"l\":[0,{\"k\":\"va\\\\l\"}]}";
	static const struct json_step path[] = { { .name = { "l", 1 } }, { .nth = 1 },
		{ .name = { "k", 1 } } };
	struct json_value v;

	(void)state;
	for (size_t n = 0; n < sizeof(text); n++)
		assert_int_equal(find_exact(text, n, path, 3, &v), 0);
	for (size_t n = 0; n < sizeof(whole); n++) {
		int found = find_exact(whole, n, path, 3, &v);

		assert_int_equal(found, n >= sizeof(whole) - 4);
		assert_true(!found || (v.kind == JSON_STRING && v.text.len == 5));
	}
}

static void
escapes(void **state)
{
	static const struct {
		const char *raw, *want; /* NULL: none */
	} rows[] = {
		{ "", "" },
		{ "abc", "abc" },
		{ "\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t" },
		{ "\\u0041\\u00e9\\u07ff\\u0800\\uffff",
			"A\xc3\xa9\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf" },
		{ "\\ud800\\udc00\\uDBFF\\uDFFF", "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf" },
		{ "a\\u0000", NULL },
		{ "\\ud800", NULL },
		{ "\\ud800a", NULL },
		{ "\\ud800\\n", NULL },
		{ "\\ud800\\u0041", NULL },
		{ "\\ud800\\ud800", NULL },
		{ "\\udc00", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char out[64];
		long n = json_unescape(str_of(rows[i].raw), out);

		if (!rows[i].want) {
			assert_int_equal(n, -1);
			continue;
		}
		assert_int_equal(n, strlen(rows[i].want));
		assert_memory_equal(out, rows[i].want, (size_t)n);
	}
}

static void
integers(void **state)
{
	static const struct {
		const char *text;
		int fits;
		int64_t want;
	} rows[] = {
		{ "0", 1, 0 },
		{ "-0", 1, 0 },
		{ "12", 1, 12 },
		{ "-12.99", 1, -12 },
		{ "0.999", 1, 0 },
		{ "1e3", 1, 1000 },
		{ "1.2345e2", 1, 123 },
		{ "0.00123E5", 1, 123 },
		{ "12345e-2", 1, 123 },
		{ "12345e-9", 1, 0 },
		{ "0e999999999999999999999", 1, 0 },
		{ "1e-999999999999999999999", 1, 0 },
		{ "1e999999999999999999999", 0, 0 },
		{ "9223372036854775807", 1, INT64_MAX },
		{ "9223372036854775808", 0, 0 },
		{ "-9223372036854775808", 1, INT64_MIN },
		{ "-9223372036854775809", 0, 0 },
		{ "922337203685477580.7e1", 1, INT64_MAX },
		{ "1e18", 1, INT64_C(1000000000000000000) },
		{ "1e19", 0, 0 },
		{ "10000000000000000000000e-20", 1, 100 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		int64_t n = 0;

		if (json_to_int(str_of(rows[i].text), &n) != (rows[i].fits ? 0 : -1) ||
			(rows[i].fits && n != rows[i].want))
			fail_msg("%s: %lld", rows[i].text, (long long)n);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values),
		cmocka_unit_test(depth),
		cmocka_unit_test(cut_texts),
		cmocka_unit_test(escapes),
		cmocka_unit_test(integers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
