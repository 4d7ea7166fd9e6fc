#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "rule/sample/regex.h"
#include "unit/test.h"

static struct regex_work *work;

static int
open_work(void **state)
{
	(void)state;
	work = regex_work_new();
	return work ? 0 : -1;
}

static int
close_work(void **state)
{
	(void)state;
	regex_work_free(&work);
	regex_work_free(&work);
	return 0;
}

static struct regex *
compile(const char *text, unsigned int flags)
{
	struct regex_err why = { 0 };
	struct regex *r = NULL;

	if (regex_new(str_of(text), flags, &r, &why) < 0)
		fail_msg("<%s>: %s", text, why.text);
	return r;
}

static void
matches(void **state)
{
	static const struct {
		const char *regex, *subject;
		unsigned int flags;
		int want;
	} t[] = {
		{ "^/img/.*\\.gif$", "/img/a.gif", 0, 1 },
		{ "^/img/.*\\.gif$", "/img/a.GIF", 0, 0 },
		{ "^/img/.*\\.gif$", "/img/a.GIF", REGEX_NOCASE, 1 },
		{ "b", "abc", 0, 1 },
		{ "", "", 0, 1 },
		{ "", "abc", 0, 1 },
		{ "a$", "", 0, 0 },
		{ "^\xe4$", "\xe4", 0, 1 }, /* bytes, not UTF-8 */
		{ "^.$", "\xc3\xa4", 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		struct regex *r = compile(t[i].regex, t[i].flags);
		int got = regex_match(r, work, str_of(t[i].subject), 0, NULL);

		if (got != t[i].want)
			fail_msg("<%s> on <%s>: %d", t[i].regex, t[i].subject, got);
		regex_free(&r);
		assert_null(r);
	}
}

static void
groups(void **state)
{
	struct regex *r = compile("(a)(x)?(b*)", 0);
	struct regex_match m;

	(void)state;
	assert_int_equal(regex_match(r, work, STR("--abb-"), 0, &m), 1);
	assert_true(str_is(m.group[0], STR("abb")));
	assert_true(str_is(m.group[1], STR("a")));
	assert_int_equal(m.group[2].len, 0);
	assert_true(str_is(m.group[3], STR("bb")));
	assert_int_equal(m.group[9].len, 0);
	assert_int_equal(regex_match(r, work, STR("a-ab"), 1, &m), 1);
	assert_true(str_is(m.group[0], STR("ab")));
	regex_free(&r);

	/* The text before `from` is context, and cannot match. */
	r = compile("^b", 0);
	assert_int_equal(regex_match(r, work, STR("ab"), 1, &m), 0);
	regex_free(&r);
	/* More groups than can be referenced. */
	r = compile("(1)(2)(3)(4)(5)(6)(7)(8)(9)(0)(a)", 0);
	assert_int_equal(regex_match(r, work, STR("1234567890a"), 0, &m), 1);
	assert_true(str_is(m.group[9], STR("9")));
	regex_free(&r);
	/* Without memory for it nothing matches. */
	r = compile("x", 0);
	assert_int_equal(regex_match(r, NULL, STR("x"), 0, &m), 0);
	regex_free(&r);
}

static void
refused(void **state)
{
	static const struct {
		const char *text;
		size_t at;
	} t[] = {
		{ "(", 1 },
		{ "a)", 1 },
		{ "[b", 2 },
		{ "a**b(", 2 },
		{ "(*UTF)a", 6 },
	};
	char *longest = calloc(1, REGEX_TEXT_MAX + 2);
	struct regex_err why = { 0 };
	struct regex *r;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		assert_int_equal(regex_new(str_of(t[i].text), 0, &r, &why), -ERR_SYNTAX);
		assert_null(r);
		assert_true(strlen(why.text) > 5);
		if (why.at != t[i].at)
			fail_msg("<%s>: %s at %zu", t[i].text, why.text, why.at);
	}
	memset(longest, 'a', REGEX_TEXT_MAX + 1);
	assert_int_equal(regex_new((struct str){ longest, REGEX_TEXT_MAX + 1 }, 0, &r, &why),
		-ERR_RANGE);
	assert_int_equal(regex_new((struct str){ longest, REGEX_TEXT_MAX }, 0, &r, &why), 0);
	regex_free(&r);
	free(longest);
}

/* A million steps, between our limit and the default: the match is given up and counted; the next
 * match works. */
static void
bounded(void **state)
{
	struct regex *r = compile("^(a+)+$", 0), *deep = compile("^(?:(a)|b)*?c", 0);
	static char much[60001];
	uint64_t before = regex_work_limited(work);

	(void)state;
	assert_int_equal(
		regex_match(r, work, STR("aaaaaaaaaaaaaaaaaaaa!"), 0, NULL), 0);
	assert_int_equal(regex_work_limited(work), before + 1);
	memset(much, 'a', sizeof(much) - 1);
	(void)regex_match(deep, work, str_of(much), 0, NULL);
	assert_int_equal(regex_match(r, work, STR("aaa"), 0, NULL), 1);
	regex_free(&r);
	regex_free(&deep);
}

static void
replaced(void **state)
{
	static const struct {
		const char *regex, *subst, *in;
		int all;
		const char *out;
		unsigned int n;
	} t[] = {
		/* the examples of the manual, of regsub and replace-header */
		{ "/+", "/", "/////a///b/c/xzxyz/", 1, "/a/b/c/xzxyz/", 5 },
		{ "foo=([^;]*);(.*)", "foo=\\1;ip=1.2.3.4;\\2", "foo=foobar; expires=Tue", 0,
			"foo=foobar;ip=1.2.3.4; expires=Tue", 1 },
		{ "(foo|bar)([0-9]+)?", "\\2\\1", "a-bar12-foo", 1, "a-12bar-foo", 2 },
		{ "/+", "/", "//a//", 0, "/a//", 1 },
		{ "x", "y", "abc", 1, "abc", 0 },
		{ "x", "y", "", 1, "", 0 },
		{ ".*", "[\\0]", "abc", 0, "[abc]", 1 },
		/* as in sed */
		{ "x*", "-", "abxc", 1, "-a-b-c-", 4 },
		{ "x*", "-", "", 1, "-", 1 },
		{ "^a", "", "aaa", 1, "aa", 1 },
		{ "b*", "<\\0>", "abba", 1, "<>a<bb>a<>", 3 },
		{ "a", "\\x41\\\\\\.\\9", "a", 0, "A\\.", 1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		struct regex *r = compile(t[i].regex, 0);
		unsigned int n;
		struct sbuf b;

		sbuf_init(&b, 0);
		assert_null(regex_subst_why_not(str_of(t[i].subst)));
		n = regex_replace(r, work, str_of(t[i].in), str_of(t[i].subst), t[i].all, &b);
		if (n != t[i].n || strcmp(b.p ? b.p : "", t[i].out) != 0)
			fail_msg("s/%s/%s/ of <%s>: <%s> %u", t[i].regex, t[i].subst, t[i].in, b.p,
				n);
		sbuf_fini(&b);
		regex_free(&r);
	}
}

static void
replacements_checked(void **state)
{
	(void)state;
	assert_null(regex_subst_why_not(STR("")));
	assert_non_null(regex_subst_why_not(STR("a\\")));
	assert_non_null(regex_subst_why_not(STR("\\x4")));
	assert_non_null(regex_subst_why_not(STR("\\xg0")));
	assert_null(regex_subst_why_not(STR("\\x4a\\0\\\\")));
}

/* A result that does not fit ends the substitution, and nothing is written beyond the space. */
static void
too_small(void **state)
{
	struct regex *r = compile("a", 0);
	char room[8] = "";
	struct sbuf b;

	(void)state;
	sbuf_init_fixed(&b, room, sizeof(room));
	(void)regex_replace(r, work, STR("aaaaaaaa"), STR("bbb"), 1, &b);
	assert_true(b.failed);
	assert_true(b.len < sizeof(room));
	regex_free(&r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(matches),
		cmocka_unit_test(groups),
		cmocka_unit_test(refused),
		cmocka_unit_test(bounded),
		cmocka_unit_test(replaced),
		cmocka_unit_test(replacements_checked),
		cmocka_unit_test(too_small),
	};

	return cmocka_run_group_tests(tests, open_work, close_work);
}
