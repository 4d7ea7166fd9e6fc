#include "unit/rule/action_rig.h"

#include "rule/action/act.h"

static void
test_bytes(void **state)
{
	(void)state;
	assert_true(act_is_token(STR("X-a!#$%&'*+-.^_`|~9")));
	assert_false(act_is_token(STR("")));
	assert_false(act_is_token(STR("a b")));
	assert_false(act_is_token(STR("a:")));
	assert_true(act_is_value(STR("")));
	assert_true(act_is_value(STR("a \t\xe9\"")));
	for (int c = 0; c < 256; c++) {
		char b = (char)c;

		assert_int_equal(act_is_value((struct str){ &b, 1 }),
			c == '\t' || (c >= 0x20 && c != 0x7f));
	}
}

/* The text of a format is kept, and the memory used to make it is released. */
static void
test_write(void **state)
{
	struct rule_fmt *f;
	struct rule_err why;
	struct str s;

	(void)state;
	assert_int_equal(rule_fmt_compile(&r.x.vocab, "<%[int(123)]>", 0, 0, &f, &why), 0);
	assert_int_equal(act_write(f, &r.x.cx, &s), 0);
	assert_true(str_is(s, STR("<123>")));
	assert_int_equal(arena_mark(&r.x.arena), 5);
	assert_ptr_equal(r.x.cx.arena, &r.x.arena);
	for (size_t cap = 0; cap < 9; cap++) {
		r.x.arena = (struct arena){ .p = r.x.mem, .cap = cap };
		assert_int_equal(act_write(f, &r.x.cx, &s), -1);
		assert_int_equal(arena_mark(&r.x.arena), 0);
		assert_true(r.x.arena.refused > 0);
		assert_ptr_equal(r.x.cx.arena, &r.x.arena);
	}
	rule_fmt_free(&f);
	/* Plain text needs no memory. */
	assert_int_equal(rule_fmt_compile(&r.x.vocab, "abc", 0, 0, &f, &why), 0);
	assert_int_equal(act_write(f, &r.x.cx, &s), 0);
	assert_true(str_is(s, STR("abc")));
	rule_fmt_free(&f);
}

static void
test_failed(void **state)
{
	struct rule rule = { 0 };
	struct rule_outcome v = { .non_strict = 1 };

	(void)state;
	assert_int_equal(act_failed(&rule, &v), RULE_CONT);
	assert_int_equal(v.what, RULE_END_NONE);
	v.non_strict = 0;
	assert_int_equal(act_failed(&rule, &v), RULE_FINAL);
	assert_int_equal(v.what, RULE_END_ERROR);
	assert_ptr_equal(v.by, &rule);
	assert_int_equal(v.failed_rewrites, 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		ACTION_CASE(test_bytes),
		ACTION_CASE(test_write),
		ACTION_CASE(test_failed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
