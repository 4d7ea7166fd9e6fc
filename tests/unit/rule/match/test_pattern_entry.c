#include <string.h>

#include "base/err.h"
#include "rule/match/pattern_entry.c"
#include "unit/test.h"

static struct pattern_set texts, numbers;
static struct pattern_feed feeds[2] = { { NULL, &texts, 0, NULL }, { NULL, &numbers, 0, NULL } };
static struct pattern_feed *const feed[2] = { &feeds[0], &feeds[1] };
static struct rule_err why;

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
	struct pattern_entry *e =
		pattern_entry_new_for(&keyhash_known, str_of(text), str_of(value), &texts, 0);
	struct pattern *t;

	assert_non_null(e);
	for (size_t i = 0; i < ARRAY_LEN(feed); i++) {
		assert_int_equal(
			pattern_entry_feed(e, feed[i]->set, PATTERN_EQ, 0, &t, &why), 0);
		assert_ptr_equal(pattern_entry_of(t), e);
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
	assert_true(str_is(pattern_entry_text(e), STR("key")));
	assert_string_equal(e->bytes, "key");
	assert_string_equal(e->value, "value");
	assert_int_equal(e->hash, keyhash(&keyhash_known, "key", 3));
	pattern_entry_free(e);
	e = pattern_entry_new(&keyhash_known, STR("key"), (struct str){ NULL, 0 });
	assert_null(e->value);
	assert_null(pattern_entry_first(e));
	pattern_entry_free(e);
}

static void
entries_are_added_to_and_removed_from_sets(void **state)
{
	struct pattern_entry *e = made("a", "1");

	(void)state;
	assert_int_equal(texts.n, 0);
	assert_int_equal(pattern_entry_enter(e, feed, &why), 0);
	assert_int_equal(texts.n, 1);
	assert_int_equal(numbers.n, 1);
	pattern_entry_leave(e, feed);
	assert_int_equal(texts.n, 0);
	assert_int_equal(numbers.n, 0);
	pattern_entry_free(e);
}

static void
a_failure_in_one_set_changes_none(void **state)
{
	struct pattern_entry *e = made("a", "1");

	(void)state;
	numbers.n = PATTERN_SET_MAX;
	assert_int_equal(pattern_entry_enter(e, feed, &why), -ERR_FULL);
	assert_int_equal(texts.n, 0);
	numbers.n = 0;
	assert_int_equal(pattern_entry_enter(e, feed, &why), 0);
	pattern_entry_leave(e, feed);
	pattern_entry_free(e);
}

static void
values(void **state)
{
	struct pattern_entry *e = made("a", "1");

	(void)state;
	assert_int_equal(pattern_entry_change(e, STR("23"), &why), 0);
	assert_string_equal(e->value, "23");
	assert_true(str_is(pattern_value(pattern_entry_first(e)).u.str, STR("23")));
	assert_int_equal(pattern_value(pattern_entry_first(e)->next).u.sint, 23);
	/* the second set rejects this value */
	assert_int_equal(pattern_entry_change(e, STR("x"), &why), -ERR_SYNTAX);
	assert_string_equal(why.text, "the value 'x' is not a number");
	assert_string_equal(e->value, "23");
	assert_true(str_is(pattern_value(pattern_entry_first(e)).u.str, STR("23")));
	assert_int_equal(pattern_value(pattern_entry_first(e)->next).u.sint, 23);
	pattern_entry_free(e);
}

/* An entry made before it has a set, or whose first set needs bytes for a key in lower case and a
 * typed value. */
static void
patterns_inside_and_outside_of_the_entry(void **state)
{
	struct pattern_entry *without = pattern_entry_new(&keyhash_known, STR("LONGER"), STR("7")),
			     *with = pattern_entry_new_for(&keyhash_known, STR("LONGER"), STR("7"),
				     &numbers, PATTERN_NOCASE);
	struct pattern *t[2];

	(void)state;
	assert_int_equal(
		pattern_entry_feed(without, &numbers, PATTERN_EQ, PATTERN_NOCASE, &t[0], &why), 0);
	assert_int_equal(
		pattern_entry_feed(with, &numbers, PATTERN_EQ, PATTERN_NOCASE, &t[1], &why), 0);
	assert_ptr_not_equal(t[0], &without->first);
	assert_ptr_equal(t[1], &with->first);
	assert_int_equal(
		pattern_entry_change(with, STR("a value that is longer, and no number"), &why),
		-ERR_SYNTAX);
	assert_int_equal(pattern_entry_change(with, STR("00000000000000000000000008"), &why), 0);
	for (int i = 0; i < 2; i++) {
		assert_true(str_is(pattern_key(t[i]), STR("longer")));
		assert_int_equal(pattern_value(t[i]).type, SAMPLE_SINT);
		assert_int_equal(pattern_value(t[i]).u.sint, 7 + i);
		assert_ptr_equal(pattern_entry_first(pattern_entry_of(t[i])), t[i]);
		assert_int_equal((uintptr_t)pattern_entry_bytes(t[i], 8) % sizeof(int64_t), 0);
	}
	pattern_entry_free(without);
	pattern_entry_free(with);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns_inside_and_outside_of_the_entry),
		cmocka_unit_test(an_entry_copies_its_texts),
		cmocka_unit_test(entries_are_added_to_and_removed_from_sets),
		cmocka_unit_test(a_failure_in_one_set_changes_none),
		cmocka_unit_test(values),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
