#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "http/cookie.h"
#include "sim/dice.h"
#include "unit/test.h"

static struct http_field places[8];

static struct http_head
head(enum http_kind kind)
{
	struct http_head h;

	http_head_init(&h, kind, places, ARRAY_LEN(places));
	return h;
}

static void
add(struct http_head *h, const char *name, const char *value)
{
	assert_int_equal(http_add(h, str_of(name), str_of(value)), 0);
}

static struct http_head
request(const char *value)
{
	struct http_head h = head(HTTP_REQUEST);

	add(&h, "Host", "x");
	add(&h, "Cookie", value);
	return h;
}

/* "name=value|...|" */
static const char *
all(const struct http_head *h)
{
	static char text[512];
	struct http_cookie_walk w = { 0 };
	struct http_cookie c;
	size_t n = 0;

	text[0] = '\0';
	while (h->kind == HTTP_REQUEST ? http_cookie_next(h, &w, &c)
				       : http_set_cookie_next(h, &w, &c))
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%.*s=%.*s|", (int)c.name.len,
			c.name.p, (int)c.value.len, c.value.p);
	return text;
}

/* Compared with HAProxy 2.6 (its fetches cook and cook_cnt). */
static void
test_request(void **state)
{
	static const char *const rows[][2] = {
		{ "a=1", "a=1|" },
		{ "a=1; b=2", "a=1|b=2|" },
		{ "a=1,b=2", "a=1|b=2|" },
		{ "b=2;a=1;a=3", "b=2|a=1|a=3|" },
		{ " a = 1 ; b=2", "a=1|b=2|" },
		{ "a", "" },
		{ "a; b=1", "b=1|" },
		{ "a=\"x;y\"; b=2", "a=\"x;y\"|b=2|" },
		{ "a=\"x,y\";b=2", "a=\"x,y\"|b=2|" },
		{ "=1;a=2", "=1|a=2|" },
		{ "a=", "a=|" },
		{ "a=1; ; b", "a=1|" },
		{ "a=b=c", "a=b=c|" },
		{ "\"a=1;b=2\"", "\"a=1|b=2\"|" },
		{ "a=x y; b=2", "a=x y|b=2|" },
		{ "a=x\"y;z\";b=3", "a=x\"y;z\"|b=3|" },
		{ "; a=1", "a=1|" },
		{ "a=\"x\\\";y\";b=1", "a=\"x\\\";y\"|b=1|" },
		{ "a=\"x;b=1", "a=\"x;b=1|" },
		{ "", "" },
		{ ";,; ,", "" },
	};
	struct http_head h;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		h = request(rows[i][0]);
		assert_string_equal(all(&h), rows[i][1]);
	}
	h = request("a=1; b=2");
	add(&h, "X", "c=3");
	add(&h, "cookie", "d=4");
	assert_string_equal(all(&h), "a=1|b=2|d=4|");
	http_drop(&h, 1);
	assert_string_equal(all(&h), "d=4|");
}

static void
test_response(void **state)
{
	struct http_head h = head(HTTP_RESPONSE);

	(void)state;
	add(&h, "Set-Cookie", "a=1; Path=/");
	add(&h, "Set-Cookie", "nothing; x=1");
	add(&h, "Cookie", "z=1");
	add(&h, "set-cookie", "b=x,y;expires=Sun, 06 Nov 1994");
	add(&h, "Set-Cookie", "c=\"1;2\" ;Secure");
	assert_string_equal(all(&h), "a=1|b=x,y|c=\"1;2\"|");
}

static void
assert_field(const struct http_head *h, const char *expected)
{
	assert_int_equal(h->field[1].value.len, strlen(expected));
	assert_memory_equal(h->field[1].value.p, expected, strlen(expected));
}

/* Removes cookie s of a request with this field, whose text it copies to buf. */
static struct http_head
without_s(const char *text, char *buf, size_t cap)
{
	struct http_cookie_walk w = { 0 };
	struct http_cookie c;
	struct http_head h;

	snprintf(buf, cap, "%s", text);
	h = request(buf);
	do
		assert_int_equal(http_cookie_next(&h, &w, &c), 1);
	while (!str_is(c.name, STR("s")));
	http_cookie_erase(&h, &w, &c);
	return h;
}

static void
test_remove(void **state)
{
	static const char *const rows[][2] = {
		{ "s=1", NULL },
		{ "s=1;", NULL },
		{ "; s=1 ;", NULL },
		{ "s=1; a=2", "a=2" },
		{ "s=1,a=2", "a=2" },
		{ "a=2; s=1", "a=2" },
		{ "a=2;s=1 ;", "a=2" },
		{ "a=2; s=1; b=3", "a=2; b=3" },
		{ "a=2;s=1;b=3", "a=2;b=3" },
		{ "a=2; s = \"1;2\" ; b=3", "a=2; b=3" },
		{ "ss=2; s=; s1=3", "ss=2; s1=3" },
		{ "a; s=1", "a" },
	};
	struct http_head h;
	char text[64];

	(void)state;
	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		h = without_s(rows[i][0], text, sizeof(text));
		assert_int_equal(h.field[1].dropped, !rows[i][1]);
		if (rows[i][1])
			assert_field(&h, rows[i][1]);
	}
}

/* Editing while iterating: each cookie s is removed, or its value loses what precedes a '~'. */
static void
test_edit_on_the_way(void **state)
{
	static const char *const rows[][3] = {
		/* the field, without s, s shortened */
		{ "s=1~a", "", "s=a" },
		{ "s=1~a~b; b=2", "b=2", "s=a~b; b=2" },
		{ "b=1~2; s=1~; s=~x;s=y", "b=1~2", "b=1~2; s=; s=x;s=y" },
		{ "a=1;s=1~2;   b=2", "a=1;b=2", "a=1;s=2;   b=2" },
		{ "s=1~2; s=3~4", "", "s=2; s=4" },
		{ "s=1~2; a=5; s = 3~4 ; b", "a=5; b", "s=2; a=5; s = 4 ; b" },
		{ "a=1~2", "a=1~2", "a=1~2" },
	};
	struct http_cookie c;
	struct http_head h;
	char text[64];

	(void)state;
	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++)
		for (int cut = 0; cut < 2; cut++) {
			struct http_cookie_walk w = { 0 };

			snprintf(text, sizeof(text), "%s", rows[i][0]);
			h = request(text);
			add(&h, "Cookie", "z=9");
			while (http_cookie_next(&h, &w, &c)) {
				const char *mark = memchr(c.value.p, '~', c.value.len);

				if (!str_is(c.name, STR("s")))
					continue;
				if (!cut)
					http_cookie_erase(&h, &w, &c);
				else if (mark)
					http_cookie_cut(&h, &w, &c, (size_t)(mark + 1 - c.value.p));
			}
			assert_int_equal(h.field[1].dropped, !rows[i][1 + cut][0]);
			if (!h.field[1].dropped)
				assert_field(&h, rows[i][1 + cut]);
			assert_string_equal(h.field[2].value.p, "z=9");
			assert_int_equal(c.place, 2);
		}
}

/* The text of all cookies except the k-th. */
static void
but(const struct http_head *h, int k, char *text, size_t cap)
{
	const char *p = all(h);

	text[0] = '\0';
	for (int i = 0; *p; i++) {
		const char *bar = strchr(p, '|') + 1;

		if (i != k)
			snprintf(text + strlen(text), cap - strlen(text), "%.*s", (int)(bar - p),
				p);
		p = bar;
	}
}

/* One cookie is removed from any field, and all others stay unchanged. */
static void
test_property(void **state)
{
	static const char bytes[] = "abc==;;, \"\\";
	struct dice d = dice_seed(5);
	char text[32], expected[512];

	(void)state;
	for (int i = 0; i < 200000; i++) {
		uint32_t n = dice(&d, sizeof(text) - 1);
		struct http_cookie_walk w = { 0 };
		struct http_cookie c;
		struct http_head h;
		int k = (int)dice(&d, 4);

		for (uint32_t b = 0; b < n; b++)
			text[b] = bytes[dice(&d, sizeof(bytes) - 1)];
		text[n] = '\0';
		h = request(text);
		but(&h, k, expected, sizeof(expected));
		for (int at = 0; at <= k; at++)
			if (!http_cookie_next(&h, &w, &c)) {
				c.place = -1;
				break;
			}
		if (c.place < 0)
			continue;
		http_cookie_erase(&h, &w, &c);
		assert_string_equal(all(&h), expected);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_request),
		cmocka_unit_test(test_response),
		cmocka_unit_test(test_remove),
		cmocka_unit_test(test_edit_on_the_way),
		cmocka_unit_test(test_property),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
