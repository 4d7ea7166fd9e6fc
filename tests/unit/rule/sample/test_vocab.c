#include "unit/rule/expr_rig.h"

#include "base/err.h"
/* The unit itself, instead of the library's. */
#include "rule/sample/expr.c"

static const struct rule_fetch fetches[] = {
	{ .name = "req.hdr", .match = "str", .derives = 1 },
	{ .name = "hdr", .acl = "req.hdr", .match = "str", .derives = 1 },
	{ .name = "src" },
	{ .name = "payload", .match = "bin" },
	{ .name = NULL },
};

static const struct rule_conv convs[] = { { .name = "lower" }, { .name = "upper" },
	{ .name = NULL } };

static void
words_are_found_by_name(void **state)
{
	struct rule_vocab v = { 0 };

	(void)state;
	assert_null(rule_find_fetch(&v, STR("src")));
	assert_int_equal(rule_vocab_add_fetches(&v, fetches), 0);
	assert_int_equal(rule_vocab_add_convs(&v, convs), 0);
	assert_ptr_equal(rule_find_fetch(&v, STR("src")), &fetches[2]);
	assert_ptr_equal(rule_find_fetch(&v, (struct str){ "srcx", 3 }), &fetches[2]);
	assert_null(rule_find_fetch(&v, STR("sr")));
	assert_null(rule_find_fetch(&v, STR("srcx")));
	assert_null(rule_find_fetch(&v, STR("lower")));
	assert_ptr_equal(rule_find_conv(&v, STR("upper")), &convs[1]);
	assert_null(rule_find_conv(&v, STR("src")));
	assert_null(rule_find_conv(&v, STR("")));
}

static const char *
criterion(const struct rule_vocab *v, const char *name)
{
	static char out[64];
	const char *match;
	const struct rule_fetch *f = rule_find_acl_fetch(v, str_of(name), &match);

	if (!f)
		return "-";
	snprintf(out, sizeof(out), "%s %s", f->name, match ? match : "?");
	return out;
}

static void
criteria_are_found_by_name(void **state)
{
	struct rule_vocab v = { 0 };

	(void)state;
	assert_int_equal(rule_vocab_add_fetches(&v, fetches), 0);
	assert_string_equal(criterion(&v, "src"), "src ?");
	assert_string_equal(criterion(&v, "hdr"), "req.hdr str");
	assert_string_equal(criterion(&v, "hdr_beg"), "req.hdr beg");
	assert_string_equal(criterion(&v, "req.hdr_len"), "req.hdr len");
	assert_string_equal(criterion(&v, "hdr_sub"), "req.hdr sub");
	assert_string_equal(criterion(&v, "hdr_foo"), "-");
	assert_string_equal(criterion(&v, "src_beg"), "-");
	assert_string_equal(criterion(&v, "_beg"), "-");
	assert_string_equal(criterion(&v, "payload"), "payload bin");
}

static void
the_nearest_word_is_suggested(void **state)
{
	struct rule_vocab v = { 0 };
	char big[200];

	(void)state;
	assert_int_equal(rule_vocab_add_fetches(&v, fetches), 0);
	assert_int_equal(rule_vocab_add_convs(&v, convs), 0);
	assert_string_equal(rule_suggest_fetch(&v, STR("payloda")), "payload");
	assert_string_equal(rule_suggest_conv(&v, STR("lowr")), "lower");
	assert_null(rule_suggest_fetch(&v, STR("zzz")));
	memset(big, 'x', sizeof(big));
	assert_null(rule_suggest_fetch(&v, (struct str){ big, sizeof(big) }));
	assert_null(rule_suggest_conv(&v, (struct str){ big, sizeof(big) }));
}

static void
the_number_of_tables_is_bounded(void **state)
{
	struct rule_vocab v = { 0 };

	(void)state;
	for (int i = 0; i < RULE_TABLES_MAX; i++) {
		assert_int_equal(rule_vocab_add_fetches(&v, fetches), 0);
		assert_int_equal(rule_vocab_add_convs(&v, convs), 0);
		assert_int_equal(rule_vocab_add_actions(&v, NULL), 0);
	}
	assert_int_equal(rule_vocab_add_fetches(&v, fetches), -ERR_RANGE);
	assert_int_equal(rule_vocab_add_convs(&v, convs), -ERR_RANGE);
	assert_int_equal(rule_vocab_add_actions(&v, NULL), -ERR_RANGE);
}

static void
known_words_are_no_mistakes(void **state)
{
	(void)state;
	assert_true(rule_is_known_fetch(STR("ssl_fc_npn")));
	assert_false(rule_is_known_fetch(STR("ssl_c_s_d")));
	assert_true(rule_is_known_conv(STR("aes_cbc_dec")));
	assert_false(rule_is_known_conv(STR("ssl_fc_npn")));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_found_by_name),
		cmocka_unit_test(criteria_are_found_by_name),
		cmocka_unit_test(the_nearest_word_is_suggested),
		cmocka_unit_test(the_number_of_tables_is_bounded),
		cmocka_unit_test(known_words_are_no_mistakes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
