#include "proxy/sample/http_line.h"
#include "unit/test.h"

#include <string.h>

static struct http_txn room;
static char kept[HTTP_LINE_MAX];
static char text[2 * HTTP_LINE_MAX];

/* A request whose method and target are padded with 'x' to these lengths. */
static const struct http_txn *
with(const char *method, size_t method_len, const char *target, size_t target_len,
	enum http_version version)
{
	memset(&room, 0, sizeof(room));
	room.line = kept;
	room.line_max = sizeof(kept);
	memset(text, 'x', sizeof(text));
	memcpy(text, method, strlen(method));
	memcpy(text + method_len, target, strlen(target));
	room.req.method_text = (struct str){ text, method_len };
	room.req.target = (struct str){ text + method_len, target_len };
	room.req.version = version;
	http_line_keep(&room);
	return &room;
}

static void
assert_kept(const struct http_txn *t, const char *line)
{
	assert_true(str_is((struct str){ t->line, t->line_len }, str_of(line)));
	assert_true(str_is(http_line_method(t), t->req.method_text));
	assert_true(str_is(http_line_target(t), t->req.target));
}

static void
a_line_is_put_together_from_its_parts(void **state)
{
	const struct http_txn *t;

	(void)state;
	assert_kept(with("GET", 3, "/a?b", 4, HTTP_1_1), "GET /a?b HTTP/1.1");
	assert_kept(with("OPTIONS", 7, "*", 1, HTTP_1_0), "OPTIONS * HTTP/1.0");
	http_line_drop(&room);
	t = &room;
	assert_int_equal(t->line_len, 0);
	assert_true(str_is(http_line_method(t), STR("")));
	assert_true(str_is(http_line_target(t), STR("")));
	assert_non_null(http_line_target(t).p);
	assert_null(http_line_method(NULL).p);
	assert_null(http_line_target(NULL).p);
}

/* Lines that are truncated in each of their parts. */
static void
long_lines_are_cut_in_each_part(void **state)
{
	static const struct {
		size_t method, target;           /* as received */
		size_t kept_method, kept_target;
	} rows[] = {
		{ 3, HTTP_LINE_MAX - 4 - 8, 3, HTTP_LINE_MAX - 4 - 8 },
		{ 3, HTTP_LINE_MAX - 4, 3, HTTP_LINE_MAX - 4 },
		{ 3, HTTP_LINE_MAX - 3, 3, HTTP_LINE_MAX - 4 },
		{ 3, HTTP_LINE_MAX + 99, 3, HTTP_LINE_MAX - 4 },
		{ HTTP_LINE_MAX - 1, 4, HTTP_LINE_MAX - 1, 0 },
		{ HTTP_LINE_MAX, 4, HTTP_LINE_MAX, 0 },
		{ HTTP_LINE_MAX + 9, 4, HTTP_LINE_MAX, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct http_txn *t =
			with("GET", rows[i].method, "/a", rows[i].target, HTTP_1_1);
		struct str method = t->req.method_text, target = t->req.target;

		method.len = rows[i].kept_method;
		target.len = rows[i].kept_target;
		assert_int_equal(t->line_len, HTTP_LINE_MAX);
		assert_true(str_is(http_line_method(t), method));
		assert_true(str_is(http_line_target(t), target));
		assert_true(http_line_target(t).p <= t->line + HTTP_LINE_MAX);
	}
}

/* tune.http.logurilen */
static void
logurilen_shortens_the_line(void **state)
{
	(void)state;
	memset(&room, 0, sizeof(room));
	room.line = kept;
	room.line_max = 9;
	room.req.method_text = STR("GET");
	room.req.target = STR("/abcdefgh");
	room.req.version = HTTP_1_1;
	http_line_keep(&room);
	assert_true(str_is((struct str){ kept, room.line_len }, STR("GET /abcd")));
	assert_true(str_is(http_line_target(&room), STR("/abcd")));
	room.line_max = 2;
	http_line_keep(&room);
	assert_true(str_is(http_line_method(&room), STR("GE")));
	assert_true(str_is(http_line_target(&room), STR("")));
	assert_int_equal(room.line_len, room.line_method);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_is_put_together_from_its_parts),
		cmocka_unit_test(long_lines_are_cut_in_each_part),
		cmocka_unit_test(logurilen_shortens_the_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
