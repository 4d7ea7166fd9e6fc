#include "cfg/diag.c"
#include "unit/test.h"

static void
places_are_a_sorted_set(void **state)
{
	static const struct cfg_file first = { .number = 0 }, second = { .number = 1 };
	const struct cfg_where added[] = { { &second, 2, 1 }, { &first, 9, 1 }, { &first, 3, 4 },
		{ &second, 1, 1 }, { &first, 3, 8 }, { &first, 9, 1 } };
	const struct cfg_where expected[] = { { &first, 3, 4 }, { &first, 9, 1 },
		{ &second, 1, 1 }, { &second, 2, 1 } };
	const struct cfg_where missing = { &second, 3, 1 };
	struct cfg_places p = { 0 };

	(void)state;
	assert_false(cfg_places_has(&p, &missing));
	for (size_t i = 0; i < sizeof(added) / sizeof(added[0]); i++) {
		cfg_places_add(&p, &added[i]);
		assert_true(cfg_places_has(&p, &added[i]));
	}
	assert_int_equal(p.n, 4);
	for (unsigned i = 0; i < p.n; i++) {
		assert_ptr_equal(p.at[i].file, expected[i].file);
		assert_int_equal(p.at[i].line, expected[i].line);
		assert_int_equal(p.at[i].col, expected[i].col);
	}
	assert_false(cfg_places_has(&p, &missing));
	cfg_places_fini(&p);
	assert_int_equal(p.n, 0);
}

static void
the_number_of_places_is_bounded(void **state)
{
	static const struct cfg_file file;
	struct cfg_where w = { &file, 0, 1 };
	struct cfg_places p = { 0 };

	(void)state;
	while (w.line < CFG_PLACES_MAX + 10) {
		w.line++;
		cfg_places_add(&p, &w);
	}
	assert_int_equal(p.n, CFG_PLACES_MAX);
	assert_false(cfg_places_has(&p, &w));
	cfg_places_fini(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places_are_a_sorted_set),
		cmocka_unit_test(the_number_of_places_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
