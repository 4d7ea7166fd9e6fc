#include "base/json.h"
#include "unit/test.h"

#include <stdlib.h>
#include <string.h>

static const char *
put(const char *p, size_t len, size_t max)
{
	static char room[256];
	struct sbuf b;

	sbuf_init_fixed(&b, room, sizeof(room));
	json_put(&b, (struct str){ p, len }, max);
	assert_false(b.failed);
	return room;
}

static void
test_texts(void **state)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ "", "\"\"" },
		{ "a b", "\"a b\"" },
		{ "\"\\/", "\"\\\"\\\\/\"" },
		{ "\t\n\x01\x1f\x7f~", "\"\\u0009\\u000a\\u0001\\u001f\\u007f~\"" },
		{ "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
			"\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"" },
		{ "\xe9t\xe9", "\"\\ufffdt\\ufffd\"" },
		/* overlong, surrogate, beyond the last code point, continuation byte alone, first
		 * byte alone */
		{ "\xc0\xaf", "\"\\ufffd\\ufffd\"" },
		{ "\xe0\x9f\xbf", "\"\\ufffd\\ufffd\\ufffd\"" },
		{ "\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"" },
		{ "\xf0\x8f\xbf\xbf", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"" },
		{ "\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"" },
		{ "\x80", "\"\\ufffd\"" },
		{ "\xe2\x82", "\"\\ufffd\\ufffd\"" },
		{ "\xff", "\"\\ufffd\"" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_string_equal(put(rows[i].text, strlen(rows[i].text), SIZE_MAX),
			rows[i].want);
	assert_string_equal(put("a\0b", 3, SIZE_MAX), "\"a\\u0000b\"");
	assert_string_equal(put(NULL, 0, SIZE_MAX), "null");
}

static void
test_cut(void **state)
{
	(void)state;
	assert_string_equal(put("abc", 3, 2), "\"ab\"");
	assert_string_equal(put("abc", 3, 0), "\"\"");
	/* A truncated text contains no partial character. */
	assert_string_equal(put("a\xe2\x82\xac", 4, 4), "\"a\xe2\x82\xac\"");
	assert_string_equal(put("a\xe2\x82\xac", 4, 3), "\"a\"");
	assert_string_equal(put("a\xe2\x82\xac", 4, 2), "\"a\"");
}

/* With any bytes, the output contains only what a JSON string may contain. */
static void
test_random(void **state)
{
	char text[32];

	(void)state;
	srand(1);
	for (int i = 0; i < 100000; i++) {
		const char *p;

		for (size_t k = 0; k < sizeof(text); k++)
			text[k] = (char)(rand() % (i % 2 ? 256 : 20) + (i % 2 ? 0 : 0xe0));
		for (p = put(text, sizeof(text), SIZE_MAX) + 1; p[1]; p++) {
			assert_true((unsigned char)*p >= 0x20 && *p != '"');
			if (*p == '\\')
				p += p[1] == 'u' ? 5 : 1;
		}
		assert_int_equal(*p, '"');
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
