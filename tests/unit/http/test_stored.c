/* Fields of stored heads are read as they were written; damaged bytes are refused. */

#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "http/stored.h"
#include "unit/test.h"

#define FIELDS 4

static size_t
write_fields(char *to)
{
	static const char *const texts[][2] = { { "ETag", "\"a\"" }, { "X-Empty", "" },
		{ "Cache-Control", "max-age=5" } };
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct http_field f = { .name = str_of(texts[i][0]), .value = str_of(texts[i][1]) };

		assert_int_equal(http_stored_size(&f, to + n), 0);
		n += HTTP_STORED_FIELD;
		memcpy(to + n, f.name.p, f.name.len);
		memcpy(to + n + f.name.len, f.value.p, f.value.len);
		n += f.name.len + f.value.len;
	}
	return n;
}

static int
read_fields(const char *p, size_t n, struct http_head *h, struct http_field *place)
{
	http_head_init(h, HTTP_RESPONSE, place, FIELDS);
	return http_stored_read((struct str){ p, n }, h);
}

static void
fields_are_read_as_written(void **state)
{
	struct http_field place[FIELDS];
	struct http_head h;
	char bytes[256];

	(void)state;
	assert_int_equal(read_fields(bytes, write_fields(bytes), &h, place), 0);
	assert_int_equal(h.n, 3);
	assert_true(str_is(h.field[http_find(&h, STR("etag"), 0)].value, STR("\"a\"")));
	assert_true(http_lists(&h, HTTP_F_CACHE_CONTROL, STR("max-age=5")));
}

/* The bytes have no room behind them: a sanitizer sees each read beyond. */
static void
damaged_fields_are_refused(void **state)
{
	struct http_field place[FIELDS];
	struct http_head h;
	char bytes[256];
	size_t n = write_fields(bytes);

	(void)state;
	for (size_t cut = 1; cut < n; cut++) {
		char *copy = malloc(n - cut);

		assert_non_null(copy);
		memcpy(copy, bytes, n - cut);
		(void)!read_fields(copy, n - cut, &h, place);
		for (size_t at = 0; at < n - cut; at++) {
			copy[at] = (char)~copy[at];
			(void)!read_fields(copy, n - cut, &h, place);
			copy[at] = (char)~copy[at];
		}
		free(copy);
	}
	assert_true(read_fields(bytes, n - 1, &h, place) < 0);
	bytes[0] = 0x7f;
	assert_true(read_fields(bytes, n, &h, place) < 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_are_read_as_written),
		cmocka_unit_test(damaged_fields_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
