#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "base/err.h"
#include "http/head.h"
#include "http/h1_write.h"
#include "sim/dice.h"
#include "unit/http/http_rig.h"
#include "unit/test.h"

static void
assert_str(struct str s, const char *expected)
{
	assert_int_equal(s.len, strlen(expected));
	assert_memory_equal(s.p, expected, s.len);
}

static void
test_methods(void **state)
{
	(void)state;
	assert_int_equal(http_method_of(STR("GET")), HTTP_GET);
	assert_int_equal(http_method_of(STR("POST")), HTTP_POST);
	assert_int_equal(http_method_of(STR("HEAD")), HTTP_HEAD);
	assert_int_equal(http_method_of(STR("CONNECT")), HTTP_CONNECT);
	assert_int_equal(http_method_of(STR("get")), HTTP_OTHER);
	assert_int_equal(http_method_of(STR("GE")), HTTP_OTHER);
	assert_int_equal(http_method_of(STR("GETS")), HTTP_OTHER);
	assert_int_equal(http_method_of(STR("")), HTTP_OTHER);
}

/* Every name has its id, and no text of another length or with another byte has it. */
static void
test_field_ids(void **state)
{
	size_t before = 0;
	char text[64];

	(void)state;
	for (int id = HTTP_F_OTHER + 1; id < HTTP_FIELD_IDS; id++) {
		size_t n = strlen(http_field_name((enum http_field_id)id));

		assert_true(n >= before);
		before = n;
		snprintf(text, sizeof(text), "%s", http_field_name((enum http_field_id)id));
		assert_true(http_name_is_valid(str_of(text)));
		assert_int_equal(http_field_id(str_of(text)), id);
		for (size_t i = 0; i < n; i++) {
			char c = text[i];

			text[i] = (char)(c ^ ((c | 0x20) >= 'a' && (c | 0x20) <= 'z' ? 0x20 : 0));
			assert_int_equal(http_field_id(str_of(text)), id);
			text[i] = '_';
			assert_int_equal(http_field_id(str_of(text)), HTTP_F_OTHER);
			text[i] = c;
		}
		assert_int_equal(http_field_id((struct str){ text, n - 1 }), HTTP_F_OTHER);
		text[n] = 's';
		assert_int_equal(http_field_id((struct str){ text, n + 1 }), HTTP_F_OTHER);
	}
	assert_int_equal(http_field_id(STR("")), HTTP_F_OTHER);
	memset(text, 'x', sizeof(text));
	for (size_t n = 0; n <= sizeof(text); n++)
		assert_int_equal(http_field_id((struct str){ text, n }), HTTP_F_OTHER);
}

static void
test_valid_bytes(void **state)
{
	(void)state;
	for (int i = 0; i < 256; i++) {
		char c[3] = { 'a', (char)i, 'b' };
		int token = i && i < 128 && (strchr("!#$%&'*+-.^_`|~0123456789", i) ||
			((i | 0x20) >= 'a' && (i | 0x20) <= 'z'));

		assert_int_equal(http_name_is_valid((struct str){ c, 3 }), token);
		assert_int_equal(http_value_is_valid((struct str){ c, 3 }),
			i == '\t' || (i >= 0x20 && i != 0x7f));
	}
	assert_false(http_name_is_valid(STR("")));
	assert_true(http_value_is_valid(STR("")));
}

/* --- framing --- */

static void
test_lengths(void **state)
{
	static const struct {
		const char *text;
		int err;
		uint64_t n;
	} rows[] = {
		{ "0", 0, 0 },
		{ "5", 0, 5 },
		{ "0005", 0, 5 },
		{ "00000000000000000005", 0, 5 },
		{ "000000000000000000005", -ERR_SYNTAX, 0 },
		{ "9223372036854775807", 0, INT64_MAX },
		{ "9223372036854775808", -ERR_RANGE, 0 },
		{ "9223372036854775810", -ERR_RANGE, 0 },
		{ "18446744073709551615", -ERR_RANGE, 0 },
		{ "99999999999999999999", -ERR_RANGE, 0 },
		{ "", -ERR_SYNTAX, 0 },
		{ " 5", -ERR_SYNTAX, 0 },
		{ "5a", -ERR_SYNTAX, 0 },
		{ "-1", -ERR_SYNTAX, 0 },
		{ "+1", -ERR_SYNTAX, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		uint64_t n = 0;

		assert_int_equal(http_length_of(str_of(rows[i].text), &n), rows[i].err);
		assert_true(n == rows[i].n);
	}
}

static void
test_find(void **state)
{
	struct http_head h = request_head();

	(void)state;
	add(&h, "host", "a");
	add(&h, "X-One", "1");
	add(&h, "x-one", "2");
	add(&h, "X-Onf", "3");
	assert_int_equal(h.field[0].id, HTTP_F_HOST);
	assert_int_equal(http_find_id(&h, HTTP_F_HOST, 0), 0);
	assert_int_equal(http_find_id(&h, HTTP_F_HOST, 1), -1);
	assert_int_equal(http_find(&h, STR("HOST"), 0), 0);
	assert_int_equal(http_find(&h, STR("X-ONE"), 0), 1);
	assert_int_equal(http_find(&h, STR("X-ONE"), 2), 2);
	assert_int_equal(http_find(&h, STR("X-ONE"), 3), -1);
	http_drop(&h, 1);
	assert_int_equal(http_find(&h, STR("X-One"), 0), 2);
	assert_int_equal(http_drop_all(&h, STR("x-one")), 1);
	assert_int_equal(http_find(&h, STR("X-One"), 0), -1);
	assert_int_equal(http_drop_all(&h, STR("x-one")), 0);
	http_drop(&h, 0);
	assert_int_equal(http_find_id(&h, HTTP_F_HOST, 0), -1);
	assert_int_equal(http_find(&h, STR("x-on"), 0), -1);
}

static void
test_list(void **state)
{
	static const char *const expected[] = { "a", "b c", "\"x, \\\",y\"", "d=\"1,2\";e" };
	struct str rest = STR(" a,\t,,b c ,\"x, \\\",y\" , d=\"1,2\";e,  "), one;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_LEN(expected); i++) {
		assert_true(http_list_next(&rest, &one));
		assert_str(one, expected[i]);
	}
	assert_false(http_list_next(&rest, &one));
	assert_false(http_list_next(&rest, &one));
	/* An unterminated quoted string extends to the end. */
	rest = STR("a,\"b,c\\");
	assert_true(http_list_next(&rest, &one));
	assert_true(http_list_next(&rest, &one));
	assert_str(one, "\"b,c\\");
	assert_false(http_list_next(&rest, &one));
	rest = STR("");
	assert_false(http_list_next(&rest, &one));
}

static void
test_lists(void **state)
{
	struct http_head h = request_head();

	(void)state;
	add(&h, "Connection", "foo, Keep-Alive");
	add(&h, "Upgrade", "close");
	add(&h, "connection", "closed, x-close");
	assert_true(http_lists(&h, HTTP_F_CONNECTION, STR("keep-alive")));
	assert_true(http_lists(&h, HTTP_F_CONNECTION, STR("X-Close")));
	assert_false(http_lists(&h, HTTP_F_CONNECTION, STR("close")));
	assert_true(http_lists(&h, HTTP_F_UPGRADE, STR("close")));
	http_drop(&h, 0);
	assert_false(http_lists(&h, HTTP_F_CONNECTION, STR("keep-alive")));
}

/* Sets the length of the body. */
static void
test_set_length(void **state)
{
	struct http_head h = request_head();
	char digits[HTTP_LENGTH_DIGITS];

	(void)state;
	assert_str(http_length_text(0, digits), "0");
	assert_str(http_length_text(9, digits), "9");
	assert_str(http_length_text(10, digits), "10");
	assert_str(http_length_text(UINT64_MAX, digits), "18446744073709551615");
	add(&h, "Transfer-Encoding", "chunked");
	add(&h, "A", "");
	h.framing = HTTP_BODY_CHUNKED;
	assert_int_equal(http_set_length(&h, 120, digits), 0);
	assert_int_equal(h.framing, HTTP_BODY_LENGTH);
	assert_int_equal(h.length, 120);
	assert_int_equal(http_find_id(&h, HTTP_F_TRANSFER_ENCODING, 0), -1);
	assert_int_equal(http_find_id(&h, HTTP_F_CONTENT_LENGTH, 0), 2);
	assert_str(h.field[2].value, "120");
	assert_int_equal(http_set_length(&h, 0, digits), 0);
	assert_int_equal(http_find(&h, STR("content-length"), 0), 3);
	assert_str(h.field[3].value, "0");
	while (h.n < PLACES)
		add(&h, "A", "");
	http_head_init(&h, HTTP_RESPONSE, places, 0);
	assert_int_equal(http_set_length(&h, 1, digits), -ERR_RANGE);
}

static void
test_add_refuses(void **state)
{
	struct http_head h = request_head();

	(void)state;
	assert_int_equal(http_add(&h, STR(""), STR("v")), -ERR_INVAL);
	assert_int_equal(http_add(&h, STR("a b"), STR("v")), -ERR_INVAL);
	assert_int_equal(http_add(&h, STR("a"), STR("v\r\nb: c")), -ERR_INVAL);
	assert_int_equal(http_add(&h, STR("a"), STR("v\0")), -ERR_INVAL);
	assert_int_equal(h.n, 0);
	add(&h, "a", " v\t");
	assert_str(h.field[0].value, "v");
	assert_int_equal(http_set_value(&h, 0, STR("x\ny")), -ERR_INVAL);
	assert_str(h.field[0].value, "v");
	assert_int_equal(http_set_value(&h, 0, STR(" x ")), 0);
	assert_str(h.field[0].value, "x");
}

/* A full array reuses the places of dropped fields, and keeps the order of fields with one name. */
static void
test_full(void **state)
{
	struct http_head h = request_head();

	(void)state;
	for (unsigned int i = 0; i < PLACES; i++)
		add(&h, i % 2 ? "odd" : "even", "v");
	assert_int_equal(http_add(&h, STR("x"), STR("1")), -ERR_RANGE);
	http_drop(&h, 2);
	/* There is a field "Even" after place 2. */
	assert_int_equal(http_add(&h, STR("Even"), STR("1")), -ERR_RANGE);
	add(&h, "x", "1");
	assert_int_equal(http_find(&h, STR("x"), 0), 2);
	assert_int_equal(http_drop_all(&h, STR("even")), 3);
	add(&h, "Host", "2");
	assert_int_equal(http_find_id(&h, HTTP_F_HOST, 0), 6);
	assert_int_equal(h.n, PLACES);
	assert_written(&h, "GET / HTTP/1.1\r\nodd: v\r\nx: 1\r\nodd: v\r\nodd: v\r\nHost: 2\r\n"
		"odd: v\r\n\r\n");
}

/* The texts are where the caller copies them; a dropped field has none. */
static void
test_pack(void **state)
{
	char out[64], home[64];
	struct http_head h = request_head();
	size_t n;

	(void)state;
	add(&h, "A", "1");
	add(&h, "B", "2");
	add(&h, "C", "");
	http_drop(&h, 1);
	n = http_pack(&h, out, home);
	assert_int_equal(n, strlen("GET/A1C"));
	assert_true(n <= h1_size(&h));
	memcpy(home, out, n);
	memset(out, '#', sizeof(out));
	assert_ptr_equal(h.method_text.p, home);
	assert_null(h.field[1].name.p);
	assert_written(&h, "GET / HTTP/1.1\r\nA: 1\r\nC: \r\n\r\n");
}

/* --- random changes, compared with a list --- */

#define MODEL_MAX 4096

struct model {
	unsigned int n;
	struct {
		unsigned int name, value;
	} field[MODEL_MAX];
};

static const char *const model_names[] = { "Host", "x-a", "X-B", "Connection", "Via" };
static char model_values[MODEL_MAX][8];

static void
model_drop(struct model *m, unsigned int i)
{
	memmove(&m->field[i], &m->field[i + 1], (m->n - i - 1) * sizeof(m->field[0]));
	m->n--;
}

static void
model_drop_all(struct model *m, unsigned int name)
{
	for (unsigned int i = 0; i < m->n;)
		if (m->field[i].name == name)
			model_drop(m, i);
		else
			i++;
}

/* The k-th field of that name in both, for each k. */
static void
assert_like_model(const struct http_head *h, const struct model *m)
{
	size_t total = strlen("GET / HTTP/1.1\r\n\r\n"), live = 0;
	char out[16384];

	for (unsigned int name = 0; name < ARRAY_LEN(model_names); name++) {
		int place = -1;

		for (unsigned int i = 0; i < m->n; i++) {
			const char *value = model_values[m->field[i].value];

			if (m->field[i].name != name)
				continue;
			place = http_find(h, str_of(model_names[name]), (unsigned int)(place + 1));
			assert_true(place >= 0);
			assert_str(h->field[place].value, value);
			total += strlen(model_names[name]) + strlen(value) + 4;
			live++;
		}
		assert_int_equal(
			http_find(h, str_of(model_names[name]), (unsigned int)(place + 1)), -1);
	}
	assert_int_equal(live, m->n);
	assert_int_equal(h1_size(h), total);
	assert_int_equal(h1_write(h, out), total);
	assert_memory_equal(out + total - 4, "\r\n\r\n", 4);
}

static void
test_property(void **state)
{
	struct http_field field[101];
	struct http_head h = request_head();
	struct model m = { .n = 0 };
	struct dice d = dice_seed(7);

	(void)state;
	h.field = field;
	h.max = ARRAY_LEN(field);
	for (unsigned int step = 0; step < MODEL_MAX; step++) {
		unsigned int name = dice(&d, ARRAY_LEN(model_names));
		unsigned int what = dice(&d, 100);

		snprintf(model_values[step], sizeof(model_values[step]), "v%u", step);
		if (what < 60) {
			int rc = http_add(&h, str_of(model_names[name]),
				str_of(model_values[step]));

			assert_true(rc == 0 || (rc == -ERR_RANGE && h.n == h.max));
			if (rc == 0) {
				m.field[m.n].name = name;
				m.field[m.n++].value = step;
			}
		} else if (what < 97) {
			int place = http_find(&h, str_of(model_names[name]), 0);

			if (place >= 0)
				http_drop(&h, (unsigned int)place);
			for (unsigned int i = 0; i < m.n; i++)
				if (m.field[i].name == name) {
					model_drop(&m, i);
					break;
				}
		} else {
			http_drop_all(&h, str_of(model_names[name]));
			model_drop_all(&m, name);
		}
		assert_like_model(&h, &m);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_methods),
		cmocka_unit_test(test_field_ids),
		cmocka_unit_test(test_valid_bytes),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_set_length),
		cmocka_unit_test(test_add_refuses),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_pack),
		cmocka_unit_test(test_property),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
