#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "rule/match/pattern_entry.c"
#include "unit/test.h"

static const struct str NO_VALUE = { NULL, 0 };

static void
bad_patterns_are_refused(void **state)
{
	static const struct {
		enum pattern_method method;
		const char *text;
		enum pattern_op op;
		const char *why;
		size_t at;
	} t[] = {
		{ PATTERN_INT, "x", PATTERN_EQ, "'x' is not a number", 0 },
		{ PATTERN_INT, "", PATTERN_EQ, "not a number", 0 },
		{ PATTERN_INT, "1:2", PATTERN_GT, "range", 0 },
		{ PATTERN_LEN, "3.1", PATTERN_EQ, "not a number", 0 },
		{ PATTERN_VER, "1.x", PATTERN_EQ, "version", 0 },
		{ PATTERN_IP, "1.2.3.4/40", PATTERN_EQ, "mask", 0 },
		{ PATTERN_IP, "no.such.host.invalid", PATTERN_EQ, "address", 0 },
		{ PATTERN_BIN, "abc", PATTERN_EQ, "odd", 0 },
		{ PATTERN_BIN, "abcg", PATTERN_EQ, "hexadecimal", 2 },
		{ PATTERN_REG, "a(b", PATTERN_EQ, "regex 'a(b'", 3 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		struct rule_err why = { 99, "" };
		struct pattern_set p;

		pattern_set_init(&p, t[i].method, SAMPLE_ANY, &keyhash_known);
		assert_true(pattern_set_add(&p, str_of(t[i].text), t[i].op, PATTERN_NO_DNS,
				    NO_VALUE, &why) < 0);
		if (!strstr(why.text, t[i].why) || why.at != t[i].at)
			fail_msg("<%s>: %s at %zu", t[i].text, why.text, why.at);
		assert_int_equal(p.n, 0);
		pattern_set_fini(&p);
	}
}

static void
a_long_pattern_is_refused(void **state)
{
	char *text = calloc(1, PATTERN_TEXT_MAX + 2);
	struct pattern_set p;
	struct rule_err why;

	(void)state;
	memset(text, 'a', PATTERN_TEXT_MAX + 1);
	pattern_set_init(&p, PATTERN_STR, SAMPLE_ANY, &keyhash_known);
	assert_int_equal(pattern_set_add(&p, (struct str){ text, PATTERN_TEXT_MAX + 1 },
				 PATTERN_EQ, 0, NO_VALUE, &why), -ERR_RANGE);
	assert_int_equal(pattern_set_add(&p, (struct str){ text, PATTERN_TEXT_MAX }, PATTERN_EQ, 0,
				 NO_VALUE, &why), 0);
	pattern_set_fini(&p);
	free(text);
}

static void
values_have_the_type_of_the_map(void **state)
{
	static const struct {
		enum sample_type out;
		const char *value;
		int ok;
	} t[] = {
		{ SAMPLE_STR, "any thing", 1 },
		{ SAMPLE_STR, "", 1 },
		{ SAMPLE_SINT, "-7", 1 },
		{ SAMPLE_SINT, "7x", 0 },
		{ SAMPLE_SINT, "", 0 },
		{ SAMPLE_ADDR, "10.0.0.1", 1 },
		{ SAMPLE_ADDR, "::1", 1 },
		{ SAMPLE_ADDR, "10.0.0.0/8", 0 },
		{ SAMPLE_ADDR, "x", 0 },
		{ SAMPLE_ADDR, "10.1", 0 }, /* patterns may omit bytes, values may not */
		{ SAMPLE_ADDR, "1", 0 },
		{ SAMPLE_ADDR, "", 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		struct pattern_set p;
		struct rule_err why = { 0 };
		int r;

		pattern_set_init(&p, PATTERN_STR, t[i].out, &keyhash_known);
		r = pattern_set_add(&p, STR("k"), PATTERN_EQ, 0, str_of(t[i].value), &why);
		if ((r == 0) != t[i].ok)
			fail_msg("<%s>: %s", t[i].value, why.text);
		if (t[i].ok)
			assert_true(str_is(pattern_entry_value(pattern_entry_of(p.all[0])),
				str_of(t[i].value)));
		pattern_set_fini(&p);
	}
}

static void
values_are_stored_with_their_type(void **state)
{
	struct pattern_set p;
	struct rule_err why;

	(void)state;
	pattern_set_init(&p, PATTERN_STR, SAMPLE_SINT, &keyhash_known);
	assert_int_equal(pattern_set_add(&p, STR("k"), PATTERN_EQ, 0, STR("-7"), &why), 0);
	assert_int_equal(pattern_value(p.all[0]).type, SAMPLE_SINT);
	assert_int_equal(pattern_value(p.all[0]).u.sint, -7);
	pattern_set_fini(&p);
	pattern_set_init(&p, PATTERN_STR, SAMPLE_ADDR, &keyhash_known);
	assert_int_equal(pattern_set_add(&p, STR("k"), PATTERN_EQ, 0, STR("10.0.0.1"), &why), 0);
	assert_int_equal(pattern_set_add(&p, STR("l"), PATTERN_EQ, 0, STR("::1"), &why), 0);
	assert_int_equal(pattern_value(p.all[0]).type, SAMPLE_IPV4);
	assert_int_equal(ntohl(pattern_value(p.all[0]).u.ipv4.s_addr), 0x0a000001);
	assert_int_equal(pattern_value(p.all[1]).type, SAMPLE_IPV6);
	pattern_set_fini(&p);
}

/* The value may be replaced later, if the new one is of the set's type. */
static void
a_value_is_replaced_by_one_of_its_type(void **state)
{
	struct pattern_set p;
	struct rule_err why;

	(void)state;
	pattern_set_init(&p, PATTERN_STR, SAMPLE_SINT, &keyhash_known);
	assert_int_equal(
		pattern_set_add(&p, STR("Key"), PATTERN_EQ, PATTERN_NOCASE, STR("7"), &why), 0);
	assert_true(str_is(pattern_key(p.all[0]), STR("key")));
	assert_true(str_is(pattern_entry_text(pattern_entry_of(p.all[0])), STR("Key")));
	assert_int_equal(pattern_change(p.all[0], STR("8"), &why), 0);
	assert_int_equal(pattern_value(p.all[0]).u.sint, 8);
	assert_true(pattern_change(p.all[0], STR("x"), &why) < 0);
	assert_int_equal(pattern_value(p.all[0]).u.sint, 8);
	pattern_set_fini(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bad_patterns_are_refused),
		cmocka_unit_test(a_long_pattern_is_refused),
		cmocka_unit_test(values_have_the_type_of_the_map),
		cmocka_unit_test(values_are_stored_with_their_type),
		cmocka_unit_test(a_value_is_replaced_by_one_of_its_type),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
