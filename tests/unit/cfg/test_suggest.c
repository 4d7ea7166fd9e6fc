#include <string.h>

#include "cfg/suggest.h"
#include "unit/test.h"

static void
distances_count_changes(void **state)
{
	static const struct {
		const char *a, *b;
		unsigned d;
	} t[] = {
		{ "", "", 0 },
		{ "a", "", 1 },
		{ "", "abc", 3 },
		{ "abc", "abc", 0 },
		{ "abc", "abd", 1 },
		{ "abc", "acb", 1 },
		{ "abcd", "badc", 2 },
		{ "kitten", "sitting", 3 },
		{ "ca", "abc", 3 },
		{ "maxcon", "maxconn", 1 },
		{ "abcdef", "uvwxyz", 6 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		assert_int_equal(cfg_distance(t[i].a, t[i].b, 10), t[i].d);
		assert_int_equal(cfg_distance(t[i].b, t[i].a, 10), t[i].d);
		/* above the limit the result is limit + 1 */
		for (unsigned limit = 0; limit < 8; limit++)
			assert_int_equal(cfg_distance(t[i].a, t[i].b, limit),
					 t[i].d <= limit ? t[i].d : limit + 1);
	}
}

static void
long_names_are_not_compared(void **state)
{
	char a[CFG_SUGGEST_MAX + 2], b[CFG_SUGGEST_MAX + 1];

	(void)state;
	memset(a, 'x', sizeof(a));
	memset(b, 'x', sizeof(b));
	a[CFG_SUGGEST_MAX + 1] = b[CFG_SUGGEST_MAX] = '\0';
	assert_int_equal(cfg_distance(a, b, 4), 5);
	assert_int_equal(cfg_distance(a, "x", 4), 5);
	assert_int_equal(cfg_distance(b, b, 4), 0);
}

static const char *
nearest(const char *given)
{
	static const char *const names[] = { "timeout", "server", "bind", "maxconn", "mode", "id" };
	struct cfg_suggest s;

	cfg_suggest_init(&s, given);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		cfg_suggest_offer(&s, names[i]);
	return s.best ? s.best : "-";
}

static void
the_nearest_name_is_suggested(void **state)
{
	struct cfg_suggest s;

	(void)state;
	/* a name whose distance is its own length is not suggested */
	cfg_suggest_init(&s, "xa");
	cfg_suggest_offer(&s, "a");
	assert_null(s.best);
	assert_string_equal(nearest("tiemout"), "timeout");
	assert_string_equal(nearest("sevrer"), "server");
	assert_string_equal(nearest("bnid"), "bind");
	assert_string_equal(nearest("mod"), "mode");
	assert_string_equal(nearest("maxconns"), "maxconn");
	assert_string_equal(nearest("xyzzy"), "-");
	assert_string_equal(nearest("ix"), "id");
	assert_string_equal(nearest("x"), "-");
	assert_string_equal(nearest(""), "-");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distances_count_changes),
		cmocka_unit_test(long_names_are_not_compared),
		cmocka_unit_test(the_nearest_name_is_suggested),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
