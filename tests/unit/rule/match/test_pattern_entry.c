#include <string.h>

#include "base/err.h"
#include "rule/match/pattern_entry.h"
#include "unit/test.h"

static struct pattern_set texts, numbers;
static struct pattern_feed feeds[2] = { { &texts, 0 }, { &numbers, 0 } };
static struct rule_err why;
static const int owner;

static int
setup(void **state)
{
	(void)state;
	pattern_set_init(&texts, PATTERN_STR, SAMPLE_STR, &keyhash_known);
	pattern_set_init(&numbers, PATTERN_STR, SAMPLE_SINT, &keyhash_known);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	pattern_set_forget(&texts);
	pattern_set_forget(&numbers);
	return 0;
}

static struct pattern_entry *
made(const char *text, const char *value)
{
	struct pattern_entry *e = pattern_entry_new(&keyhash_known, str_of(text), str_of(value));
	struct pattern *t;

	assert_non_null(e);
	for (size_t i = 0; i < ARRAY_LEN(feeds); i++) {
		assert_int_equal(pattern_entry_feed(e, &feeds[i], &owner, &t, &why), 0);
		assert_ptr_equal(t->owner, &owner);
		assert_ptr_equal(t->set, feeds[i].set);
	}
	return e;
}

static void
an_entry_copies_its_texts(void **state)
{
	char text[] = "key", value[] = "value";
	struct pattern_entry *e = pattern_entry_new(&keyhash_known, str_of(text), str_of(value));

	(void)state;
	memset(text, 'x', 3);
	memset(value, 'x', 5);
	assert_string_equal(e->text.p, "key");
	assert_string_equal(e->value.p, "value");
	assert_true(pattern_entry_is(e, STR("key"), keyhash(&keyhash_known, "key", 3)));
	assert_false(pattern_entry_is(e, STR("kex"), keyhash(&keyhash_known, "kex", 3)));
	assert_false(pattern_entry_is(e, STR("kex"), e->hash));
	pattern_entry_free(e, 0);
	e = pattern_entry_new(&keyhash_known, STR("key"), (struct str){ NULL, 0 });
	assert_null(e->value.p);
	pattern_entry_free(e, 0);
}

static void
entries_are_added_to_and_removed_from_sets(void **state)
{
	struct pattern_entry *e = made("a", "1");

	(void)state;
	assert_int_equal(texts.n, 0);
	assert_int_equal(pattern_entry_enter(e, &why), 0);
	assert_int_equal(texts.n, 1);
	assert_int_equal(numbers.n, 1);
	pattern_entry_free(e, 1);
	assert_int_equal(texts.n, 0);
	assert_int_equal(numbers.n, 0);
}

static void
a_failure_in_one_set_changes_none(void **state)
{
	struct pattern_entry *e = made("a", "1");

	(void)state;
	numbers.n = PATTERN_SET_MAX;
	assert_int_equal(pattern_entry_enter(e, &why), -ERR_FULL);
	assert_int_equal(texts.n, 0);
	numbers.n = 0;
	assert_int_equal(pattern_entry_enter(e, &why), 0);
	pattern_entry_free(e, 1);
}

static void
values(void **state)
{
	struct pattern_entry *e = made("a", "1");

	(void)state;
	assert_int_equal(pattern_entry_change(e, STR("23"), &why), 0);
	assert_string_equal(e->value.p, "23");
	assert_string_equal(e->patterns->value.p, "23");
	assert_int_equal(e->patterns->next->data.u.sint, 23);
	/* the second set rejects this value */
	assert_int_equal(pattern_entry_change(e, STR("x"), &why), -ERR_SYNTAX);
	assert_string_equal(why.text, "the value 'x' is not a number");
	assert_string_equal(e->value.p, "23");
	assert_string_equal(e->patterns->value.p, "23");
	assert_int_equal(e->patterns->next->data.u.sint, 23);
	pattern_entry_free(e, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_entry_copies_its_texts),
		cmocka_unit_test(entries_are_added_to_and_removed_from_sets),
		cmocka_unit_test(a_failure_in_one_set_changes_none),
		cmocka_unit_test(values),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
