#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/sys.h"
#include "cfg/diag.h"
#include "rule/sample/regex.h"
#include "rule/sample/sample.h"
#include "rule/sample/shortfall.h"
#include "unit/test.h"

static struct sample_ctx cx;
static struct shortfalls shortfalls;
static char told[SHORTFALL_TEXT_MAX];

static void
keep_text(void *arg, enum shortfall_kind kind, const char *text)
{
	(void)arg;
	assert_int_equal(kind, SHORTFALL_REGEX);
	snprintf(told, sizeof(told), "%s", text);
}

static int
open_work(void **state)
{
	(void)state;
	shortfalls.tell = keep_text;
	cx.shortfalls = &shortfalls;
	cx.regex = regex_work_new();
	return cx.regex ? 0 : -1;
}

static int
close_work(void **state)
{
	(void)state;
	regex_work_free(&cx.regex);
	regex_work_free(&cx.regex);
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
expressions_match_as_in_haproxy(void **state)
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
		int got = regex_match(r, &cx, str_of(t[i].subject), 0, NULL);

		if (got != t[i].want)
			fail_msg("<%s> on <%s>: %d", t[i].regex, t[i].subject, got);
		regex_free(&r);
		assert_null(r);
	}
}

static void
groups_are_captured(void **state)
{
	struct regex *r = compile("(a)(x)?(b*)", 0);
	struct sample_ctx without = { 0 };
	struct regex_match m;

	(void)state;
	assert_int_equal(regex_match(r, &cx, STR("--abb-"), 0, &m), 1);
	assert_true(str_is(m.group[0], STR("abb")));
	assert_true(str_is(m.group[1], STR("a")));
	assert_int_equal(m.group[2].len, 0);
	assert_true(str_is(m.group[3], STR("bb")));
	assert_int_equal(m.group[9].len, 0);
	assert_int_equal(regex_match(r, &cx, STR("a-ab"), 1, &m), 1);
	assert_true(str_is(m.group[0], STR("ab")));
	regex_free(&r);

	/* The text before `from` is context, and cannot match. */
	r = compile("^b", 0);
	assert_int_equal(regex_match(r, &cx, STR("ab"), 1, &m), 0);
	regex_free(&r);
	/* More groups than can be referenced. */
	r = compile("(1)(2)(3)(4)(5)(6)(7)(8)(9)(0)(a)", 0);
	assert_int_equal(regex_match(r, &cx, STR("1234567890a"), 0, &m), 1);
	assert_true(str_is(m.group[9], STR("9")));
	regex_free(&r);
	/* Without memory for it nothing matches. */
	r = compile("x", 0);
	assert_int_equal(regex_match(r, &without, STR("x"), 0, &m), 0);
	regex_free(&r);
}

static void
bad_expressions_are_refused(void **state)
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

/* --- the bounds --- */

static uint64_t clock_ns, clock_step_ns;

/* A processor's clock that advances by clock_step_ns whenever it is read. */
static long
read_clock(void *arg, clockid_t id, struct timespec *ts)
{
	(void)arg;
	assert_int_equal(id, CLOCK_THREAD_CPUTIME_ID);
	clock_ns += clock_step_ns;
	ts->tv_sec = (time_t)(clock_ns / 1000000000);
	ts->tv_nsec = (long)(clock_ns % 1000000000);
	return 0;
}

static const struct sys_ops clock_ops = { .clock_gettime = read_clock };

/* HAProxy 2.6 matches with 22 letters, which takes 6 million steps, and not with 23. */
static void
takes_as_many_steps_as_haproxy(void **state)
{
	struct regex *r = compile("^(a+)+$|^a*!$", 0);
	struct sys sys;

	(void)state;
	sys_init(&sys, &clock_ops, NULL);
	clock_step_ns = 1000;
	cx.sys = &sys;
	assert_int_equal(regex_match(r, &cx, STR("aaaaaaaaaaaaaaaaaaaaaa!"), 0, NULL), 1);
	assert_int_equal(shortfalls.n[SHORTFALL_REGEX], 0);
	assert_int_equal(regex_match(r, &cx, STR("aaaaaaaaaaaaaaaaaaaaaaaa!"), 0, NULL), 0);
	assert_int_equal(shortfalls.n[SHORTFALL_REGEX], 1);
	cx.sys = NULL;
	regex_free(&r);
}

/* Where a step takes long, the time ends the match. */
static void
takes_no_more_time_than_it_has(void **state)
{
	struct regex *r = compile("^(a+)+$|^a*!$", 0);
	uint64_t before = shortfalls.n[SHORTFALL_REGEX];
	struct sys sys;

	(void)state;
	sys_init(&sys, &clock_ops, NULL);
	clock_step_ns = REGEX_TIME_MS * UINT64_C(1000000) / 2;
	cx.sys = &sys;
	assert_int_equal(regex_match(r, &cx, STR("aaaaaaaaaaaa!"), 0, NULL), 1);
	assert_int_equal(regex_match(r, &cx, STR("aaaaaaaaaaaaaaaaaaaaaa!"), 0, NULL), 0);
	assert_int_equal(shortfalls.n[SHORTFALL_REGEX], before + 1);
	cx.sys = NULL;
	regex_free(&r);
}

/* An expression that needs more memory than the stack of machine code has is interpreted. */
static void
long_subjects_match(void **state)
{
	struct regex *r = compile("^(?:(a)|(b)|ab)*c$", 0);
	uint64_t before = shortfalls.n[SHORTFALL_REGEX];
	char much[16384];

	(void)state;
	memset(much, 'a', sizeof(much));
	much[sizeof(much) - 1] = 'c';
	assert_int_equal(regex_match(r, &cx, (struct str){ much, sizeof(much) }, 0, NULL), 1);
	assert_int_equal(shortfalls.n[SHORTFALL_REGEX], before);
	regex_free(&r);
}

/* A match that is given up is reported with the place of its rule. The next match works. */
static void
a_match_that_gives_up_is_reported(void **state)
{
	struct regex *r = compile("^(a+)+$", 0);
	struct cfg_file file = { .name = (char *)(uintptr_t)"web.cfg" };
	struct cfg_where where = { .file = &file, .line = 7 };

	(void)state;
	cx.where = &where;
	assert_int_equal(
		regex_match(r, &cx, STR("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"), 0, NULL), 0);
	assert_string_equal(told, "[web.cfg:7] : regex '^(a+)+$' is given up and counts as no "
				  "match: match limit exceeded.");
	cx.where = NULL;
	assert_int_equal(regex_match(r, &cx, STR("aaa"), 0, NULL), 1);
	regex_free(&r);
}

static void
matches_are_replaced(void **state)
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
		n = regex_replace(r, &cx, str_of(t[i].in), str_of(t[i].subst), t[i].all, &b);
		if (n != t[i].n || strcmp(b.p ? b.p : "", t[i].out) != 0)
			fail_msg("s/%s/%s/ of <%s>: <%s> %u", t[i].regex, t[i].subst, t[i].in, b.p,
				n);
		sbuf_fini(&b);
		regex_free(&r);
	}
}

static void
replacements_are_checked(void **state)
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
a_result_without_room_fails(void **state)
{
	struct regex *r = compile("a", 0);
	char room[8] = "";
	struct sbuf b;

	(void)state;
	sbuf_init_fixed(&b, room, sizeof(room));
	(void)regex_replace(r, &cx, STR("aaaaaaaa"), STR("bbb"), 1, &b);
	assert_true(b.failed);
	assert_true(b.len < sizeof(room));
	regex_free(&r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(expressions_match_as_in_haproxy),
		cmocka_unit_test(groups_are_captured),
		cmocka_unit_test(bad_expressions_are_refused),
		cmocka_unit_test(takes_as_many_steps_as_haproxy),
		cmocka_unit_test(takes_no_more_time_than_it_has),
		cmocka_unit_test(long_subjects_match),
		cmocka_unit_test(a_match_that_gives_up_is_reported),
		cmocka_unit_test(matches_are_replaced),
		cmocka_unit_test(replacements_are_checked),
		cmocka_unit_test(a_result_without_room_fails),
	};

	return cmocka_run_group_tests(tests, open_work, close_work);
}
