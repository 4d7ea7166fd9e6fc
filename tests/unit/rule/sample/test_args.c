#include <stdlib.h>
#include "unit/rule/expr_rig.h"

#include "base/err.h"
#include "rule/sample/args.h"
/* The unit itself, instead of the library's. */
#include "rule/sample/expr.c"

static struct rule_args args;
static struct rule_err why;

static int
parse(const enum rule_arg_type *types, unsigned int min, const char *text)
{
	size_t at = 0;
	int r = rule_args_parse(types, min, "x", str_of(text), &at, &args, &why);

	if (!r)
		assert_int_equal(at, strcspn(text, "|"));
	return r;
}

#define ONE_STR ((enum rule_arg_type[RULE_ARGS_MAX]){ ARG_STR })

/* Quotes and backslashes, as in HAProxy 2.6. */
static void
quotes_and_backslashes_are_haproxys(void **state)
{
	static const struct {
		const char *text, *is;
	} t[] = {
		{ "(a\\bc)", "a\\bc" },
		{ "(a\\nb)", "a\nb" },
		{ "(a\\tb)", "a\tb" },
		{ "(a\\rb)", "a\rb" },
		{ "(a\\\\b)", "a\\b" },
		{ "(a\\ b)", "a b" },
		{ "(a\\'b)", "a'b" },
		{ "(\"a,b)c\")", "a,b)c" },
		{ "('a,b)c')", "a,b)c" },
		{ "(\"a\\bc\")", "a\\bc" },
		{ "(\"a\\nc\")", "a\nc" },
		{ "(\"a\\\"c\")", "a\"c" },
		{ "(\"a\\\\c\")", "a\\c" },
		{ "(\"a\\'c\")", "a'c" },
		{ "('a\\bc')", "a\\bc" },
		{ "('a\\\\c')", "a\\\\c" },
		{ "(\"a'c\")", "a'c" },
		{ "('a\"c')", "a\"c" },
		{ "(ab\"c,d\"ef'g)h')", "abc,defg)h" },
		{ "(a\\x41b)", "a\\x41b" },
		{ "(a\\#b)", "a\\#b" },
		{ "(a\\$b)", "a\\$b" },
		{ "(a$b)", "a$b" },
		{ "()", "" },
		{ "(a b)", "a b" },
		{ "( a )", " a " },
		{ "(a(b)", "a(b" },
		{ "(\"\")", "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		assert_int_equal(parse(ONE_STR, 1, t[i].text), 0);
		assert_int_equal(args.n, 1);
		assert_string_equal(args.arg[0].text.p, t[i].is);
		assert_int_equal(args.arg[0].text.len, strlen(t[i].is));
		rule_args_free(&args);
	}
}

#define BAD(min, list, offset, reason, says, ...)                                         \
	do {                                                                              \
		const enum rule_arg_type types_[RULE_ARGS_MAX] = { __VA_ARGS__ };         \
		assert_int_equal(parse(types_, min, list), -ERR_##reason);                \
		assert_string_equal(why.text, says);                                      \
		assert_int_equal(why.at, offset);                                         \
		rule_args_free(&args);                                                    \
	} while (0)

static void
mistakes_have_their_place(void **state)
{
	(void)state;
	BAD(1, "(a", 2, SYNTAX, "')' is missing behind the arguments of 'x'", ARG_STR);
	BAD(1, "(", 1, SYNTAX, "')' is missing behind the arguments of 'x'", ARG_STR);
	BAD(1, "(a\"bc", 2, SYNTAX, "this quote is not closed", ARG_STR);
	BAD(1, "(a,'b)", 3, SYNTAX, "this quote is not closed", ARG_STR, ARG_STR);
	BAD(1, "(a,b)", 3, SYNTAX, "'x' takes no more than 1 argument", ARG_STR);
	BAD(1, "(a,b,c)", 5, SYNTAX, "'x' takes no more than 2 arguments", ARG_STR, ARG_STR);
	/* a backslash does not escape a comma or a parenthesis */
	BAD(1, "(a\\,b)", 4, SYNTAX, "'x' takes no more than 1 argument", ARG_STR);
	BAD(0, "(a)", 1, SYNTAX, "'x' takes no argument", ARG_END);
	BAD(1, "", 0, MISSING, "'x' needs a string as argument 1", ARG_STR);
	BAD(2, "(a)", 2, MISSING, "'x' needs an integer as argument 2", ARG_STR, ARG_INT);
	BAD(1, "()", 1, MISSING, "'x' needs an integer as argument 1", ARG_INT);
	BAD(1, "(,a)", 1, MISSING, "'x' needs an integer as argument 1", ARG_INT, ARG_STR);
	BAD(1, "(12a)", 1, INVAL, "'12a' is not an integer", ARG_INT);
	BAD(1, "( 12)", 1, INVAL, "' 12' is not an integer", ARG_INT);
	BAD(1, "(a,-)", 3, INVAL, "'-' is not an integer", ARG_STR, ARG_INT);
	BAD(1, "(9223372036854775808)", 1, RANGE, "'9223372036854775808' is out of range",
		ARG_INT);
	BAD(1, "(1.2.3)", 1, INVAL, "'1.2.3' is not an IPv4 address", ARG_IPV4);
	BAD(1, "(zz)", 1, INVAL, "'zz' is not an IPv6 address", ARG_IPV6);
	BAD(1, "(33)", 1, RANGE, "'33' is out of range", ARG_IPMASK4);
	BAD(1, "(-1)", 1, RANGE, "'-1' is out of range", ARG_IPMASK4);
	BAD(1, "(129)", 1, RANGE, "'129' is out of range", ARG_IPMASK6);
	BAD(1, "(x)", 1, INVAL, "'x' is not an IPv4 mask", ARG_IPMASK4);
	BAD(1, "(foo.x)", 1, INVAL, "'foo.x': a variable's name begins with its scope: "
				    "proc. sess. txn. req. res. or check.", ARG_VAR);
	BAD(1, "(x)", 1, INVAL, "'x' is not an integer or a variable", ARG_INTVAR);
}

#define GOOD(min, list, ...)                                                              \
	do {                                                                              \
		const enum rule_arg_type types_[RULE_ARGS_MAX] = { __VA_ARGS__ };         \
		assert_int_equal(parse(types_, min, list), 0);                            \
	} while (0)

static void
arguments_are_read_by_type(void **state)
{
	struct in6_addr mask;

	(void)state;
	GOOD(1, "(-9223372036854775808,+5)", ARG_INT, ARG_INT);
	assert_int_equal(args.arg[0].num, INT64_MIN);
	assert_int_equal(args.arg[1].num, 5);
	rule_args_free(&args);
	GOOD(2, "(24,65)", ARG_IPMASK4, ARG_IPMASK6);
	assert_memory_equal(&args.arg[0].u.ipv4, "\xff\xff\xff\0", 4);
	memset(&mask, 0, sizeof(mask));
	memset(&mask, 0xff, 8);
	mask.s6_addr[8] = 0x80;
	assert_memory_equal(&args.arg[1].u.ipv6, &mask, 16);
	rule_args_free(&args);
	GOOD(2, "(255.255.0.0,ffff::)", ARG_IPMASK4, ARG_IPMASK6);
	assert_memory_equal(&args.arg[0].u.ipv4, "\xff\xff\0\0", 4);
	rule_args_free(&args);
	GOOD(2, "(0,128)", ARG_IPMASK4, ARG_IPMASK6);
	assert_memory_equal(&args.arg[0].u.ipv4, "\0\0\0\0", 4);
	memset(&mask, 0xff, 16);
	assert_memory_equal(&args.arg[1].u.ipv6, &mask, 16);
	rule_args_free(&args);
	GOOD(1, "(txn.a,7)", ARG_INTVAR, ARG_INTVAR);
	assert_int_equal(args.arg[0].type, ARG_VAR);
	assert_int_equal(args.arg[0].u.var.scope, VAR_TXN);
	assert_int_equal(args.arg[1].type, ARG_INT);
	assert_int_equal(args.arg[1].num, 7);
	rule_args_free(&args);
	GOOD(1, "(req.a,abc)", ARG_STRVAR, ARG_STRVAR);
	assert_int_equal(args.arg[0].type, ARG_VAR);
	assert_int_equal(args.arg[1].type, ARG_STR);
	rule_args_free(&args);
}

static void
optional_arguments_may_be_missing(void **state)
{
	(void)state;
	GOOD(0, "", ARG_INT);
	assert_int_equal(args.n, 0);
	GOOD(0, "()", ARG_STR);
	assert_int_equal(args.n, 0);
	GOOD(0, "()", ARG_END);
	GOOD(0, "(,ms)", ARG_INT, ARG_ENUM);
	assert_int_equal(args.n, 2);
	assert_int_equal(args.arg[0].type, ARG_END);
	assert_string_equal(args.arg[1].text.p, "ms");
	rule_args_free(&args);
	/* an empty text is an argument */
	GOOD(1, "(a,)", ARG_STR, ARG_STR);
	assert_int_equal(args.n, 2);
	assert_int_equal(args.arg[1].type, ARG_STR);
	rule_args_free(&args);
	/* text after the arguments is not read */
	GOOD(1, "(a)|,lower", ARG_STR);
	rule_args_free(&args);
}

/* A copy has the declared arguments, given or not, and at least so many as each may read. */
static void
a_copy_has_the_declared_arguments(void **state)
{
	static const enum rule_arg_type types[][RULE_ARGS_MAX] = {
		{ ARG_END },
		{ ARG_STR, ARG_INT },
		{ ARG_STR, ARG_INT, ARG_STR, ARG_STR, ARG_STR, ARG_STR },
	};

	(void)state;
	for (unsigned int declared = 0; declared < ARRAY_LEN(types); declared++) {
		unsigned int given = MIN(2 * declared, 3), n = declared == 2 ? 6 : 2;
		struct rule_args *copy;

		assert_int_equal(parse(types[declared], 0,
					 given == 0           ? ""
						 : given == 2 ? "(a,7)"
							      : "(a,7,b)"),
			0);
		args.kind = 5;
		copy = malloc(rule_args_size(types[declared]));
		assert_non_null(copy);
		rule_args_keep(&args, types[declared], copy);
		assert_int_equal(copy->kind, 5);
		assert_int_equal(copy->n, given);
		for (unsigned int i = 0; i < n; i++)
			assert_memory_equal(&copy->arg[i], &args.arg[i], sizeof(args.arg[i]));
		rule_args_drop(copy);
		free(copy);
	}
}

static void
arguments_have_their_place(void **state)
{
	struct str t = STR("f(a,'b,)',c)");

	(void)state;
	assert_int_equal(rule_args_place(t, 1, 0), 2);
	assert_int_equal(rule_args_place(t, 1, 1), 4);
	assert_int_equal(rule_args_place(t, 1, 2), 10);
	assert_int_equal(rule_args_place(t, 1, 3), 11);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quotes_and_backslashes_are_haproxys),
		cmocka_unit_test(mistakes_have_their_place),
		cmocka_unit_test(arguments_are_read_by_type),
		cmocka_unit_test(optional_arguments_may_be_missing),
		cmocka_unit_test(a_copy_has_the_declared_arguments),
		cmocka_unit_test(arguments_have_their_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
