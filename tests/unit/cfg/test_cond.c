#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cfg/cond.h"
#include "unit/test.h"

static const char *
lookup(void *arg, const char *name)
{
	(void)arg;
	return strcmp(name, "HOME") == 0 ? "/root" : strcmp(name, "EMPTY") == 0 ? "" : NULL;
}

static const char *const features[] = { "THREAD", "EPOLL", NULL };
static const char *const enabled[] = { "SPLICE", NULL };
static const struct cfg_facts facts = {
	.version = "3.4.0", .ssl_name = "OpenSSL 3.0.17 1 Jul 2025", .ssl_version = "3.0.17",
	.features = features, .enabled = enabled, .getenv = lookup,
};

struct row {
	const char *expr;
	int want;
};

static void
check(const struct row *t, size_t n, int (*eval)(const struct cfg_facts *, const char *,
						 struct cfg_cond_err *))
{
	for (size_t i = 0; i < n; i++) {
		struct cfg_cond_err err = { 0 };
		int got = eval(&facts, t[i].expr, &err);

		if (got != t[i].want)
			fail_msg("<%s>: got %d, want %d (%s)", t[i].expr, got, t[i].want, err.text);
		if (got < 0) {
			assert_true(strlen(err.text) > 10);
			assert_true(err.at <= strlen(t[i].expr));
		}
	}
}

/* The answers of Debian's haproxy -cc to the same conditions. */
static void
conditions_are_haproxys(void **state)
{
	static const struct row t[] = {
		{ "1", 1 },
		{ "0", 0 },
		{ "", 0 },
		{ "  ", 0 },
		{ "foo", -1 },
		{ "feature(X)", 0 },
		{ "!!1", 1 },
		{ "! 1", 0 },
		{ "1 &&0", 0 },
		{ "1&&1||0", 1 },
		{ "(1", -1 },
		{ "1)", -1 },
		{ "-1", 1 },
		{ "+1", 1 },
		{ "1a", -1 },
		{ "  1  ", 1 },
		{ "defined(HOME)", 1 },
		{ "defined( HOME )", 0 },
		{ "defined(EMPTY)", 1 },
		{ "defined(NOPE)", 0 },
		{ "defined", 0 },
		{ "defined()", 0 },
		{ "streq()", -1 },
		{ "streq(a)", -1 },
		{ "streq(a,a,a)", -1 },
		{ "streq(a,b", -1 },
		{ "feature(THREAD)", 1 },
		{ "feature(-THREAD)", 0 },
		{ "feature(+THREAD)", 0 },
		{ "((((((1))))))", 1 },
		{ "00", 0 },
		{ "2", 1 },
		{ "99999999999999999999", 1 },
		{ "1 1", -1 },
		{ "1 || foo", -1 },
		{ "0 && foo", -1 },
		{ "version_atleast(x)", 1 },
		{ "version_atleast()", 1 },
		{ "streq('a',a)", 1 },
		{ "!", -1 },
		{ "1 &&", -1 },
		{ "&& 1", -1 },
		{ "()", -1 },
		{ "((1)", -1 },
		{ "defined(a b)", 0 },
		{ "streq(a b,a b)", 1 },
		{ "defined(HOME", -1 },
		{ "defined (HOME)", -1 },
		{ "streq( a,a)", 0 },
		{ "defined(HOME)1", -1 },
		{ "defined(HOME,HOME)", -1 },
		{ "1&0", -1 },
		{ "1|0", -1 },
		{ "streq('','')", 1 },
		{ "streq(,)", 1 },
		{ "feature(THREAD)&&1", 1 },
		{ "! (0)", 1 },
	};

	(void)state;
	check(t, sizeof(t) / sizeof(t[0]), cfg_cond_eval);
}

static void
predicates_are_evaluated(void **state)
{
	static const struct row t[] = {
		{ "streq(a,b)", 0 },
		{ "strneq(a,b)", 1 },
		{ "strneq(a,a)", 0 },
		{ "strstr(abc,b)", 1 },
		{ "strstr(abc,x)", 0 },
		{ "strstr(abc,)", 1 },
		{ "enabled(SPLICE)", 1 },
		{ "enabled(FAST-FORWARD)", 0 },
		{ "version_atleast(2.6)", 1 },
		{ "version_atleast(3.4)", 1 },
		{ "version_atleast(3.4-dev10)", 1 },
		{ "version_atleast(3.4.1)", 0 },
		{ "version_atleast(3.5-dev0)", 0 },
		{ "version_before(3.5-dev0)", 1 },
		{ "version_before(3.4)", 0 },
		{ "openssl_version_atleast(1.1.1)", 1 },
		{ "openssl_version_before(3.0.17)", 0 },
		{ "openssl_version_before(3.0.18)", 1 },
		{ "ssllib_name_startswith(OpenSSL)", 1 },
		{ "ssllib_name_startswith(wolfSSL)", 0 },
		{ "awslc_api_atleast(1)", 0 },
		{ "featur(X)", -1 },
		{ "features(X)", -1 },
		{ "streq(\"a,b\",'a,b')", 1 },
		{ "streq(a\\,b,a\\,b)", -1 },
		{ "streq(\\\\,\\)", 1 },
		{ "streq(\"a,b)", -1 },
		{ "0 || 1 && 0 || 1", 1 },
		{ "0 && 0 || 1", 1 },
		{ "1 || 0 && 0", 1 },
		{ "!0 && !0", 1 },
		{ "!(1 && 0) && (0 || 1)", 1 },
	};
	const struct cfg_facts none = { 0 };
	struct cfg_cond_err err;

	(void)state;
	check(t, sizeof(t) / sizeof(t[0]), cfg_cond_eval);
	for (size_t i = 0; i < 14; i++)
		if (strncmp(t[i].expr, "str", 3) != 0)
			assert_int_equal(cfg_cond_eval(&none, t[i].expr, &err), 0);
	assert_int_equal(cfg_cond_eval(&none, "defined(HOME)", &err), 0);
	assert_int_equal(cfg_cond_eval(&none, "ssllib_name_startswith()", &err), 0);
}

/* -cc resolves quotes and variables first. */
static void
quotes_and_variables_come_first(void **state)
{
	static const struct row t[] = {
		{ "streq(\"$HOME\",/root)", 1 },
		{ "streq($HOME,/root)", 0 },
		{ "streq(\"$NOPE\",)", 1 },
		{ "streq(a  b,a\\ b)", 1 },
		{ "streq(a  b,\"a  b\")", 0 },
		{ "1 # foo", -1 },
		{ "streq(\"a", -1 },
		{ "streq(\"a,b\",\"a,b\")", -1 },
		{ "", 0 },
		{ "  feature(THREAD)  &&  1 ", 1 },
	};

	(void)state;
	check(t, sizeof(t) / sizeof(t[0]), cfg_cond_line);
}

/* version_atleast() of a program with this version; version_before() is the opposite. */
static int
is_at_least(const char *version, const char *wanted)
{
	const struct cfg_facts f = { .version = version };
	struct cfg_cond_err err;
	char text[80];
	int r;

	(void)snprintf(text, sizeof(text), "version_atleast(%s)", wanted);
	r = cfg_cond_eval(&f, text, &err);
	(void)snprintf(text, sizeof(text), "version_before(%s)", wanted);
	assert_int_equal(cfg_cond_eval(&f, text, &err), !r);
	return r;
}

static void
versions_are_ordered(void **state)
{
	static const char *const up[] = {
		"",
		"0.1",
		"1",
		"1.9.9",
		"2.6-dev1",
		"2.6-dev12",
		"2.6",
		"2.6.1",
		"2.6.12",
		"2.10",
		"3.4-dev0",
		"3.4.0",
		"99999999999999.1",
	};
	const int n = (int)(sizeof(up) / sizeof(up[0]));

	(void)state;
	for (int i = 0; i < n; i++)
		for (int j = 1; j < n; j++)
			assert_int_equal(is_at_least(up[i], up[j]), i >= j);
	assert_true(is_at_least("3.4", "3.4.0"));
	assert_true(is_at_least("3.4.0", "3.4"));
	assert_true(is_at_least("2.6.12-1+deb12u4", "2.6.12"));
	assert_true(is_at_least("2.6.12", "2.6.12-1+deb12u4"));
}

static void
depth_and_arguments_are_bounded(void **state)
{
	static char text[CFG_COND_ARG_MAX + 64];
	struct cfg_cond_err err;

	(void)state;
	memset(text, '(', CFG_COND_DEPTH_MAX);
	text[CFG_COND_DEPTH_MAX] = '1';
	memset(text + CFG_COND_DEPTH_MAX + 1, ')', CFG_COND_DEPTH_MAX);
	assert_int_equal(cfg_cond_eval(&facts, text, &err), 1);
	memset(text, '(', sizeof(text) - 1);
	assert_int_equal(cfg_cond_eval(&facts, text, &err), -1);
	assert_non_null(strstr(err.text, "nested"));
	memset(text, '!', sizeof(text) - 1);
	text[sizeof(text) - 2] = '1';
	assert_true(cfg_cond_eval(&facts, text, &err) >= 0);
	memset(text, 'a', sizeof(text) - 1);
	memcpy(text, "defined(", 8);
	text[sizeof(text) - 2] = ')';
	assert_int_equal(cfg_cond_eval(&facts, text, &err), -1);
	assert_non_null(strstr(err.text, "longer"));
	assert_int_equal(cfg_cond_eval(&facts, "foo", NULL), -1);
}

static void
errors_have_their_place(void **state)
{
	static const struct row t[] = {
		{ "1 && foo", 5 }, { "  bar", 2 }, { "1 x", 2 }, { "(1", 2 }, { "streq(a", 7 },
		{ "!baz", 1 },
	};
	struct cfg_cond_err err;

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		assert_int_equal(cfg_cond_eval(&facts, t[i].expr, &err), -1);
		assert_int_equal(err.at, t[i].want);
	}
}

static void
words_are_joined_by_blanks(void **state)
{
	const struct cfg_word w[] = { { "a", 1 }, { "", 2 }, { "b c", 3 } };
	char *s = cfg_cond_join(w, 3);

	(void)state;
	assert_string_equal(s, "a  b c");
	mem_free(s);
	s = cfg_cond_join(w, 0);
	assert_string_equal(s, "");
	mem_free(s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(conditions_are_haproxys),
		cmocka_unit_test(predicates_are_evaluated),
		cmocka_unit_test(quotes_and_variables_come_first),
		cmocka_unit_test(versions_are_ordered),
		cmocka_unit_test(depth_and_arguments_are_bounded),
		cmocka_unit_test(errors_have_their_place),
		cmocka_unit_test(words_are_joined_by_blanks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
