#include "unit/rule/expr_rig.h"

#include <unistd.h>

#include "rule/match/acl.h"

static struct cond_rig rig;

/* Errors have the right column: the line "acl a ..." begins in column 1. */
static void
bad_acls_are_refused(void **state)
{
	static const struct {
		const char *line;
		unsigned int col;
		const char *why;
	} t[] = {
		{ "acl", 4, "expects <name> <criterion>" },
		{ "acl a", 6, "expects <name> <criterion>" },
		{ "acl a/b t.path x", 5, "character '/' is not permitted in acl name 'a/b'" },
		{ "acl or t.path x", 5, "logical or" },
		{ "acl a t.pth x", 7, "'t.pth'" },
		{ "acl a t.path,nope x", 14, "'nope'" },
		{ "acl a t.path(5) x", 14, "'t.path' takes no argument" },
		{ "acl a t.path_bog x", 7, "'t.path_bog'" },
		{ "acl a t.raw x", 7, "matching method must be specified with '-m'" },
		{ "acl a var(txn.x) x", 7,
			"'var(txn.x)' gives samples of any type: the matching method must be "
			"specified with '-m'" },
		{ "acl a var(txn.x),set-var(txn.y)", 7, "samples of any type" },
		{ "acl a t.path -x", 14, "'-x' is not a valid ACL option" },
		{ "acl a t.path -m", 16, "unknown matching method ''" },
		{ "acl a t.path -m regm x", 17, "unknown matching method 'regm'" },
		{ "acl a t.path -m ver 1.1", 17, "unknown matching method 'ver'" },
		{ "acl a t.raw -m bool", 16,
			"'bool' cannot be used with samples of type 'binary'" },
		{ "acl a t.path -m reg a(b", 24, "regex 'a(b' : missing closing" },
		{ "acl a t.path -m int 5 x6", 23, "'x6' is not a number" },
		{ "acl a t.path -m int gt", 21, "an operator expects a value" },
		{ "acl a t.path -m int gt 1:5", 24, "is a range" },
		{ "acl a t.path -m bin 0g", 21, "is not hexadecimal" },
		{ "acl a t.src -n 10.0.0.0/33", 16, "has a mask" },
		{ "acl a t.src -n some.host", 16, "is not an IPv4 or IPv6 address" },
		{ "acl a t.path -f", 14, "'-f' expects the name of a file" },
		{ "acl a t.path -f /none/x", 17, "cannot read '/none/x'" },
		{ "acl a t.raw -f /dev/null", 13, "'-m' must stand before '-f'" },
		{ "acl a t.path -f /dev/null -m str", 27, "'-m' must stand before '-f'" },
		{ "acl a t.path -u x y", 14, "'-u' expects a number" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		char place[32];
		const char *said;

		cond_rig_init(&rig);
		said = cond_rig_read(&rig, t[i].line);
		snprintf(place, sizeof(place), "[t:2:%u]", t[i].col);
		if (!said || !strstr(said, t[i].why) || !strstr(said, place))
			fail_msg("%s: want %s %s, got %s", t[i].line, place, t[i].why,
				said ? said : "nothing");
		assert_int_equal(rig.diag.count[CFG_ALERT], 1);
		cond_rig_fini(&rig);
	}
}

static void
doubtful_acls_cause_a_warning(void **state)
{
	static const struct {
		const char *line, *why;
	} t[] = {
		{ "acl a t.path", "no pattern at all" },
		{ "acl a bool(true) 1", "ignores values" },
		{ "acl a t.path -m found x", "ignores values" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		const char *said;

		cond_rig_init(&rig);
		said = cond_rig_read(&rig, t[i].line);
		if (!said || !strstr(said, t[i].why))
			fail_msg("%s: %s", t[i].line, said ? said : "nothing");
		assert_int_equal(rig.diag.count[CFG_ALERT], 0);
		cond_rig_fini(&rig);
	}
}

static int
ask(const char *cond)
{
	int truth = cond_rig_ask(&rig, "", cond);

	if (truth < 0)
		fail_msg("%s: %s", cond, rig.printed);
	cond_rig_fini(&rig);
	return truth;
}

/* The results of Debian's haproxy 2.6 for the same conditions. */
static void
acls_match_as_in_haproxy(void **state)
{
	static const struct {
		const char *cond;
		int want;
	} t[] = {
		{ "{ int(5) gt 3 }", 1 },
		{ "{ int(5) gt 3 lt 1 }", 1 },
		{ "{ int(5) eq 3 gt 4 }", 1 },
		{ "{ int(5) gt 5 lt 5 }", 0 },
		{ "{ int(5) -m int 5 }", 1 },
		{ "{ var(txn.none) -m str 5 }", 0 },
		{ "{ var(txn.none,5) -m found }", 1 },
		{ "{ var(txn.none,5) -i -m str 5 }", 1 },
		{ "{ var(txn.none,X),lower x }", 1 },
		{ "{ int(-5) -m int -- -5 }", 1 },
		{ "{ int(-5) lt 0 }", 1 },
		{ "{ str(abc) -m len 3 }", 1 },
		{ "{ str(abc) -m len gt 2 }", 1 },
		{ "{ str(abc) -m len gt 3 }", 0 },
		{ "{ str(12abc) -m int 12 }", 1 },
		{ "{ str(abc) abc }", 1 },
		{ "{ str(ABC) abc }", 0 },
		{ "{ str(ABC) -i abc }", 1 },
		{ "{ str(gt) gt }", 1 },
		{ "{ str(abc) -m bin 616263 }", 1 },
		{ "{ int(5) 4 5 }", 1 },
		{ "{ int(5) -m str 5 }", 1 },
		{ "{ bool(true) }", 1 },
		{ "{ bool(false) }", 0 },
		{ "{ bool(false) -m int 0 }", 1 },
		{ "{ int(5) -m bool }", 1 },
		{ "{ str(0) -m bool }", 0 },
		{ "{ int(0) -m found }", 1 },
		{ "{ str(abc) -m reg -i B }", 1 },
		{ "{ str(abc) -i -m reg B }", 1 },
		{ "{ str(abc) -m reg B -i b }", 1 },
		{ "{ t.src -n 127.0.0.0/8 }", 1 },
		{ "{ t.src 127.0.0.1/8 ::1 }", 1 },
		{ "{ t.src 10.0.0.0/8 }", 0 },
		{ "{ str(abc) -- -i }", 0 },
		{ "{ str(-i) -- -i }", 1 },
		{ "{ str(-i) x -i }", 1 },
		{ "{ t.path_beg /static }", 1 },
		{ "{ t.path_end .gif .jpg }", 1 },
		{ "{ t.path_end .GIF }", 0 },
		{ "{ t.path_end -i .GIF }", 1 },
		{ "{ t.path_dir static }", 1 },
		{ "{ t.path_sub tati }", 1 },
		{ "{ t.path_reg \\.gif$ }", 1 },
		{ "{ t.path_len 13 }", 1 },
		{ "{ t.path_len lt 5 }", 0 },
		{ "{ t.path_beg -m end .gif }", 1 },
		{ "{ t.path -m beg /static }", 1 },
		{ "{ t.raw -m str ab }", 1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++)
		if (ask(t[i].cond) != t[i].want)
			fail_msg("%s: not %d", t[i].cond, t[i].want);
}

/* -i applies to the arguments after it; -M reads the first column. */
static void
flags_apply_to_files_after_them(void **state)
{
	char path[] = "/tmp/tacit-acl-XXXXXX", cond[200];
	static const struct {
		const char *fmt;
		int want;
	} t[] = {
		{ "{ str(Two) -f %s }", 0 },
		{ "{ str(two) -f %s }", 0 },
		{ "{ str(\"two 2\") -f %s }", 1 },
		{ "{ str(two) -M -f %s }", 1 },
		{ "{ str(TWO) -M -f %s }", 0 },
		{ "{ str(TWO) -M -f %s -i }", 0 },
		{ "{ str(TWO) -i -M -f %s }", 1 },
		{ "{ str(three) -f %s -f %s three }", 1 },
		{ "{ str(THREE) -f %s -i three }", 1 },
		{ "{ str(xtwo) -m end -M -f %s }", 1 },
	};
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "one 1\ntwo 2\n", 12), 12);
	close(fd);
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		snprintf(cond, sizeof(cond), t[i].fmt, path, path);
		if (ask(cond) != t[i].want)
			fail_msg("%s: not %d", cond, t[i].want);
	}
	unlink(path);
}

/* A thousand lines that differ only in their patterns make one test. */
static void
lines_with_one_sample_are_one_test(void **state)
{
	struct rule_acl *a;
	struct acl_test *first;
	char line[64];

	(void)state;
	cond_rig_init(&rig);
	for (int i = 0; i < 1000; i++) {
		snprintf(line, sizeof(line), "acl a t.path_beg /dir%d/", i);
		assert_null(cond_rig_read(&rig, line));
	}
	assert_null(cond_rig_read(&rig, "acl a t.path_end .gif\nacl a t.path_beg -m str /x"));
	a = rule_acl_find(&rig.acls, "a");
	first = list_first(&a->tests, struct acl_test, link);
	assert_int_equal(first->own->n, 1000);
	assert_ptr_equal(first->link.next->next->next, &a->tests);
	cond_rig_fini(&rig);
}

/* Lines whose criteria differ, more than are looked through one by one, and each of them again. */
static void
merged_among_many(void **state)
{
	enum { CRITERIA = 40 };
	struct rule_acl *a;
	unsigned int n = 0;
	char line[64];

	(void)state;
	cond_rig_init(&rig);
	for (int i = 0; i < 3 * CRITERIA; i++) {
		snprintf(line, sizeof(line), "acl a var(txn.v%d) -m str %d", i % CRITERIA, i);
		assert_null(cond_rig_read(&rig, line));
	}
	a = rule_acl_find(&rig.acls, "a");
	list_each(it, &a->tests) {
		const struct acl_test *t = list_entry(it, const struct acl_test, link);

		snprintf(line, sizeof(line), "var(txn.v%u)", n++);
		assert_string_equal(t->criterion->text, line);
		assert_int_equal(t->own->n, 3);
	}
	assert_int_equal(n, CRITERIA);
	cond_rig_fini(&rig);
}

static const struct acl_criterion *
criterion_of(const char *name)
{
	const struct rule_acl *a = rule_acl_find(&rig.acls, name);

	return list_first(&a->tests, const struct acl_test, link)->criterion;
}

/* ACLs of a section with the same sample share it, but not their methods and patterns. */
static void
acls_with_one_sample_share_it(void **state)
{
	(void)state;
	cond_rig_init(&rig);
	assert_null(cond_rig_read(&rig, "acl a t.path_beg /static\nacl b t.path_beg -m end .gif\n"
					"acl c t.path_end .gif\n"
					"acl d t.path,lower /static/x.gif\nacl e t.path,lower /y\n"
					"when if a\nwhen if b\nwhen if !c\nwhen if d\nwhen if e"));
	assert_ptr_equal(criterion_of("a"), criterion_of("b"));
	assert_ptr_not_equal(criterion_of("a"), criterion_of("c"));
	assert_ptr_not_equal(criterion_of("d"), criterion_of("e"));
	for (unsigned int i = 0; i < 5; i++)
		assert_int_equal(rule_cond_eval(rig.cond[i], &rig.expr.cx),
			i == 2 || i == 4 ? RULE_NO : RULE_YES);
	cond_rig_fini(&rig);
}

static void
versions_are_read_in_acls(void **state)
{
	(void)state;
	cond_rig_init(&rig);
	assert_null(cond_rig_read(&rig, "acl a t.ver 3:3.1"));
	assert_non_null(cond_rig_read(&rig, "acl b t.ver 3.x"));
	assert_non_null(strstr(rig.printed, "is not a version"));
	cond_rig_fini(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bad_acls_are_refused),
		cmocka_unit_test(doubtful_acls_cause_a_warning),
		cmocka_unit_test(acls_match_as_in_haproxy),
		cmocka_unit_test(flags_apply_to_files_after_them),
		cmocka_unit_test(lines_with_one_sample_are_one_test),
		cmocka_unit_test(merged_among_many),
		cmocka_unit_test(acls_with_one_sample_share_it),
		cmocka_unit_test(versions_are_read_in_acls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
