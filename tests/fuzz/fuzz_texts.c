/*
 * The parsers of the texts in heads: targets, parameters, lists, cookies, and complete error
 * files. The first byte selects how the rest is used. Results are slices of the input, and a
 * change affects only the named part.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "http/cookie.h"
#include "http/errorfile.h"
#include "http/scan.h"
#include "http/uri.h"

static void
expect(int ok)
{
	if (!ok)
		abort();
}

static void
expect_inside(struct str part, struct str whole)
{
	expect(!part.len || (part.p >= whole.p && part.p + part.len <= whole.p + whole.len));
}

static void
fuzz_target(struct str text, char *out, size_t cap)
{
	struct str rest = http_params(text, '?'), name, value;
	struct http_field places[2];
	struct http_head h;
	struct http_uri u;

	http_uri_split(text, &u);
	expect_inside(u.authority, text);
	expect_inside(u.pathq, text);
	expect_inside(u.query, u.pathq);
	while (http_param_next(&rest, '?', &name, &value)) {
		expect_inside(name, text);
		expect_inside(value, text);
	}
	http_head_init(&h, HTTP_REQUEST, places, ARRAY_LEN(places));
	h.method = u.form == HTTP_FORM_AUTHORITY ? HTTP_CONNECT : HTTP_OPTIONS;
	for (int part = HTTP_PART_PATH; part <= HTTP_PART_URI; part++) {
		h.target = STR("/a?b");
		if (http_set_part(&h, (enum http_part)part, text, out, cap) == 0)
			expect(http_scan_target(h.target.p, h.target.len) == h.target.len);
	}
}

/* The last cookie is removed: the others are left. */
static void
fuzz_cookies(struct str text, char *copy)
{
	struct http_field places[1] = { { .name = STR("Cookie"), .id = HTTP_F_COOKIE } };
	struct http_head h = { .kind = HTTP_REQUEST, .field = places, .n = 1,
		.max = 1, .had = (uint64_t)1 << HTTP_F_COOKIE };
	struct http_cookie_walk w = { 0 }, last = { 0 }, again = { 0 };
	struct http_cookie c;
	unsigned int n = 0, left = 0;

	memcpy(copy, text.p, text.len);
	places[0].value = (struct str){ copy, text.len };
	while (http_cookie_next(&h, &w, &c)) {
		expect_inside(c.name, places[0].value);
		expect_inside(c.value, places[0].value);
		n++;
	}
	if (!n)
		return;
	for (unsigned int i = 0; i < n; i++)
		expect(http_cookie_next(&h, &last, &c) == 1);
	http_cookie_erase(&h, &last, &c);
	while (http_cookie_next(&h, &again, &c))
		left++;
	expect(left + 1 == n);
}

static void
fuzz_list(struct str text)
{
	struct str rest = text, one;

	while (http_list_next(&rest, &one)) {
		expect(one.len > 0);
		expect_inside(one, text);
	}
	expect(rest.len == 0);
}

static void
fuzz_errorfile(struct str text)
{
	struct http_reply *r = NULL;
	const char *why = NULL;

	if (http_errorfile(text, &r, &why) == 0) {
		size_t cap = http_reply_size(r);
		char *out = malloc(cap + 1);

		expect(out && http_reply_write(r, HTTP_CONN_KEEP_ALIVE, HTTP_GET, out, cap) ==
			(long)cap);
		free(out);
	} else {
		expect(why != NULL && !r);
	}
	http_reply_put(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data + 1, size - 1 };
	char *out;

	if (size < 1 || size > 4096)
		return 0;
	out = malloc(size + 8);
	expect(out != NULL);
	switch (data[0] % 4) {
	case 0:
		fuzz_target(text, out, size + 8);
		break;
	case 1:
		fuzz_cookies(text, out);
		break;
	case 2:
		fuzz_list(text);
		break;
	default:
		fuzz_errorfile(text);
		break;
	}
	free(out);
	return 0;
}
