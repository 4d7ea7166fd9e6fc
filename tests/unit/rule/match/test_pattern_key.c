#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rule/match/pattern_key.h"
#include "unit/test.h"

/* The methods that find entries by hash, and those that do not. */
static void
indexed(void **state)
{
	static const struct {
		enum pattern_method method;
		const char *text;
		int index; /* -1: none */
		int nocase;
	} t[] = {
		{ PATTERN_STR, "a", 0, 0 },
		{ PATTERN_STR, "a", 1, 1 },
		{ PATTERN_BEG, "a", 0, 0 },
		{ PATTERN_BEG, "", 0, 0 },
		{ PATTERN_END, "a", 1, 1 },
		{ PATTERN_DIR, "/a/", 0, 0 },
		{ PATTERN_DIR, "/", -1, 0 },
		{ PATTERN_DOM, "a", 1, 1 },
		{ PATTERN_SUB, "a", -1, 0 },
		{ PATTERN_REG, "a", -1, 0 },
		{ PATTERN_BIN, "00ff", 0, 0 },
		{ PATTERN_INT, "5", 0, 0 },
		{ PATTERN_INT, "5:5", 0, 0 },
		{ PATTERN_INT, "5:6", -1, 0 },
		{ PATTERN_LEN, "5", 0, 0 },
		{ PATTERN_VER, "1.1", 0, 0 },
		{ PATTERN_IP, "10.0.0.0/8", 0, 0 },
		{ PATTERN_IP, "::1", 1, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		struct pattern_set p;
		struct rule_err why;

		pattern_set_init(&p, t[i].method, SAMPLE_ANY, &keyhash_known);
		assert_int_equal(pattern_set_add(&p, str_of(t[i].text), PATTERN_EQ,
					 t[i].nocase ? PATTERN_NOCASE : 0, (struct str){ NULL, 0 },
					 &why), 0);
		for (int k = 0; k < 2; k++)
			if (p.index[k].n != (unsigned int)(t[i].index == k))
				fail_msg("%d <%s>: index %d", t[i].method, t[i].text, k);
		assert_int_equal(p.n_list, t[i].index == -1);
		pattern_set_fini(&p);
	}
}

static void
delimiters(void **state)
{
	(void)state;
	for (int c = 0; c < 256; c++) {
		assert_int_equal(pattern_is_delimiter(PATTERN_DIR, (char)c), c == '/' || c == '?');
		assert_int_equal(pattern_is_delimiter(PATTERN_DOM, (char)c),
			c == '/' || c == '?' || c == '.' || c == ':');
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(indexed),
		cmocka_unit_test(delimiters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
