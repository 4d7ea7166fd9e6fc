#include "proxy/config/vocab.h"
#include "unit/test.h"

#include "proxy/log/log_alias.h"
/* The unit itself, instead of the library's. */
#include "rule/sample/expr.c"

static void
test_tables(void **state)
{
	struct rule_vocab v;

	(void)state;
	proxy_vocab_init(&v);
	assert_true(v.n_fetch > 0 && v.n_action > 0);
	assert_ptr_equal(v.aliases, log_aliases);
	assert_non_null(rule_find_fetch(&v, STR("var")));
	assert_null(v.env);
	assert_null(v.hostname);
}

/* All words are distinct; otherwise the second one would never be found. */
static void
test_words_are_distinct(void **state)
{
	struct rule_vocab v;

	(void)state;
	proxy_vocab_init(&v);
	for (unsigned int t = 0; t < v.n_fetch; t++)
		for (const struct rule_fetch *f = v.fetch[t]; f->name; f++)
			assert_ptr_equal(rule_find_fetch(&v, str_of(f->name)), f);
	for (unsigned int t = 0; t < v.n_conv; t++)
		for (const struct rule_conv *c = v.conv[t]; c->name; c++)
			assert_ptr_equal(rule_find_conv(&v, str_of(c->name)), c);
	for (const struct rule_alias *a = v.aliases; a->name; a++)
		assert_ptr_equal(log_alias_find(a->name), a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_words_are_distinct),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
