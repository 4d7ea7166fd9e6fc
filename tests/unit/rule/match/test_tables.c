#include "unit/rule/expr_rig.h"

#include "base/err.h"
/* The unit itself, instead of the library's. */
#include "rule/sample/expr.c"

/* Properties of all rows that the parser and the manual page rely on. */

static void
check_args(const enum rule_arg_type *arg, unsigned int min, const char *syntax)
{
	unsigned int n = 0;

	while (n < RULE_ARGS_MAX && arg[n] != ARG_END)
		n++;
	assert_true(min <= n);
	/* a word with arguments has a syntax text */
	assert_int_equal(n > 0, syntax != NULL);
}

static void
rows(void **state)
{
	struct rule_vocab v = { 0 };

	(void)state;
	assert_int_equal(rule_tables_add(&v), 0);
	for (unsigned int t = 0; t < v.n_fetch; t++) {
		for (const struct rule_fetch *f = v.fetch[t]; f->name; f++) {
			/* names are unique, and not listed as unsupported */
			assert_ptr_equal(rule_find_fetch(&v, str_of(f->name)), f);
			assert_false(rule_is_known_fetch(str_of(f->name)));
			assert_non_null(f->fetch);
			assert_non_null(f->doc);
			check_args(f->arg, f->min, f->syntax);
			if (f->acl)
				assert_non_null(rule_find_fetch(&v, str_of(f->acl)));
		}
	}
	for (unsigned int t = 0; t < v.n_conv; t++) {
		for (const struct rule_conv *c = v.conv[t]; c->name; c++) {
			assert_ptr_equal(rule_find_conv(&v, str_of(c->name)), c);
			assert_false(rule_is_known_conv(str_of(c->name)));
			assert_non_null(c->conv);
			assert_non_null(c->doc);
			check_args(c->arg, c->min, c->syntax);
		}
	}
}

static void
tables_are_bounded(void **state)
{
	struct rule_vocab v = { .n_fetch = RULE_TABLES_MAX };

	(void)state;
	assert_int_equal(rule_tables_add(&v), -ERR_RANGE);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows),
		cmocka_unit_test(tables_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
