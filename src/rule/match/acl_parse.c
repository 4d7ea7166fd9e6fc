/* A test of an ACL: criterion, flags, operators, values (manual 7.1). */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "rule/match/acl.h"
#include "rule/match/pattern_file.h"
#include "rule/match/pattern_number.h"

enum { FEW_TESTS = 8 }; /* so many have no index */

struct parsing {
	struct rule_acls *acls; /* of the section; NULL: an anonymous ACL */
	struct rule_acl *acl;
	struct acl_test *test; /* new, or an existing one with the same criterion */
	const struct rule_vocab *vocab;
	const struct acl_words *words;
	int i;              /* the next word */
	unsigned int flags; /* PATTERN_x for the values that follow */
	int two_columns;    /* -M */
	int64_t id;         /* -u */
	int is_new;
};

static const char *
acl_word(const struct parsing *ps, int i)
{
	if (i >= ps->words->n)
		return "";
	return ps->words->fixed ? ps->words->fixed[i]
				: cfg_arg(ps->words->ctx, ps->words->first + i);
}

static int
is_end(const struct parsing *ps)
{
	return ps->i >= ps->words->n;
}

/* Reports an error at byte `at` of word i. */
static int
fail_at(const struct parsing *ps, int i, size_t at, const char *text)
{
	struct cfg_ctx *ctx = ps->words->ctx;
	int fixed = ps->words->fixed != NULL;
	struct cfg_where where = cfg_arg_where(ctx, ps->words->first + (fixed ? 0 : i));

	if (!fixed && where.col)
		where.col += (unsigned int)MIN(at, strlen(acl_word(ps, i)));
	if (ps->acl->name)
		cfg_diag_add(ctx->diag, CFG_ALERT, &where,
			"error detected while parsing ACL '%.60s' : %s", ps->acl->name, text);
	else
		cfg_diag_add(ctx->diag, CFG_ALERT, &where,
			"error detected in the condition of '%s' : %s", cfg_kw_name(ctx), text);
	return -1;
}

static int
fail_about(const struct parsing *ps, int i, const char *fmt, const char *arg)
{
	char text[RULE_ERR_MAX];

	snprintf(text, sizeof(text), fmt, arg);
	return fail_at(ps, i, 0, text);
}

/* --- flags --- */

static int
take_method(struct parsing *ps)
{
	enum pattern_method m = pattern_method_of(str_of(acl_word(ps, ps->i + 1)));
	enum sample_type type = rule_expr_type(ps->test->expr);
	char text[RULE_ERR_MAX];

	if (m == PATTERN_METHODS)
		return fail_about(ps, ps->i + 1,
			"unknown matching method '%.40s': found, bool, int, ip, "
			"bin, len, str, beg, end, sub, dir, dom and reg are known",
			acl_word(ps, ps->i + 1));
	if (!pattern_method_fits(m, type)) {
		snprintf(text, sizeof(text),
			"matching method '%s' cannot be used with samples of "
			"type '%s'",
			pattern_method_name(m), sample_type_name(type));
		return fail_at(ps, ps->i + 1, 0, text);
	}
	if (ps->test->n_files)
		return fail_at(ps, ps->i, 0, "'-m' must stand before '-f'");
	ps->test->method = m;
	ps->test->is_method = 0;
	ps->i += 2;
	return 0;
}

static int
keep_file(struct acl_test *t, const struct pattern_set *set)
{
	const struct pattern_set **grown;

	for (unsigned int i = 0; i < t->n_files; i++)
		if (t->file[i] == set)
			return 0;
	grown = mem_resize(t->file, t->n_files + 1, sizeof(struct pattern_set *));
	if (!grown)
		return -ERR_NOMEM;
	t->file = grown;
	t->file[t->n_files++] = set;
	return 0;
}

static int
no_method(const struct parsing *ps)
{
	int any = rule_expr_type(ps->test->expr) == SAMPLE_ANY;

	return fail_about(ps, 0,
		any ? "'%.60s' gives samples of any type: the matching method must be "
		      "specified with '-m'"
		    : "'%.60s' gives binary samples: the matching method must be "
		      "specified with '-m'",
		ps->test->criterion->text);
}

static int
take_file(struct parsing *ps)
{
	struct pattern_file_use use = {
		.path = acl_word(ps, ps->i + 1),
		.method = ps->test->method,
		.out = SAMPLE_ANY,
		.flags = ps->flags,
		.two_columns = ps->two_columns,
	};
	const struct pattern_set *set;

	if (!*use.path)
		return fail_at(ps, ps->i, 0, "'-f' expects the name of a file");
	if (use.method == PATTERN_METHODS)
		return fail_at(ps, ps->i, 0, "'-m' must stand before '-f'");
	if (!ps->vocab->files)
		return fail_at(ps, ps->i, 0, "files cannot be read here");
	set = pattern_files_get(ps->vocab->files, &use);
	if (!set)
		return fail_at(ps, ps->i + 1, 0, ps->vocab->files->why.text);
	ps->i += 2;
	return keep_file(ps->test, set) < 0 ? cfg_nomem(ps->words->ctx) : 0;
}

/* The line's name in the admin socket. */
static int
take_acl_id(struct parsing *ps)
{
	int64_t id;

	if (cfg_value_int(acl_word(ps, ps->i + 1), 0, PATTERN_ID_MAX, &id, NULL) < 0)
		return fail_at(ps, ps->i, 0, "'-u' expects a number");
	ps->id = id;
	ps->i += 2;
	return 0;
}

static int
take_flags(struct parsing *ps)
{
	int rc = 0;

	while (rc == 0 && !is_end(ps)) {
		const char *w = acl_word(ps, ps->i);

		if (w[0] != '-' || !w[1])
			break;
		if (strcmp(w, "--") == 0) {
			ps->i++;
			break;
		}
		if (strcmp(w, "-m") == 0)
			rc = take_method(ps);
		else if (strcmp(w, "-f") == 0)
			rc = take_file(ps);
		else if (strcmp(w, "-u") == 0)
			rc = take_acl_id(ps);
		else if (strcmp(w, "-i") == 0 || strcmp(w, "-n") == 0 || strcmp(w, "-M") == 0) {
			ps->flags |= w[1] == 'i' ? PATTERN_NOCASE
				: w[1] == 'n'    ? PATTERN_NO_DNS
						 : 0;
			ps->two_columns |= w[1] == 'M';
			ps->i++;
		} else {
			rc = fail_about(ps, ps->i,
				"'%.40s' is not a valid ACL option. Please use '--' "
				"before any pattern beginning with a '-'.",
				w);
		}
	}
	return rc;
}

/* --- values --- */

static int
is_number(enum pattern_method m)
{
	return m == PATTERN_INT || m == PATTERN_VER || m == PATTERN_LEN;
}

/*
 * One value, stored as the admin socket shows it: `gt 100` is the range "101:".
 */
static int
add_acl_value(struct parsing *ps, struct pattern_ref *ref, enum pattern_op op, struct rule_err *why)
{
	const struct str value = { NULL, 0 };
	struct str text = str_of(acl_word(ps, ps->i));
	char range[PATTERN_RANGE_MAX];
	struct pattern_set scratch;
	int rc;

	if (op == PATTERN_EQ)
		return pattern_ref_add(ref, 0, text, value, why);
	pattern_set_init(&scratch, ps->test->method, SAMPLE_ANY, &ref->table.key);
	rc = pattern_set_add(&scratch, text, op, ps->flags, value, why);
	/* No number is above the largest one: no pattern is added. */
	if (rc == 0 &&
		pattern_range_text(pattern_range(scratch.all[0])->lo,
			pattern_range(scratch.all[0])->hi, ps->test->method == PATTERN_VER,
			range) == 0)
		rc = pattern_ref_add(ref, 0, str_of(range), value, why);
	pattern_set_fini(&scratch);
	return rc;
}

static int
take_values(struct parsing *ps, struct pattern_ref *ref)
{
	struct acl_test *t = ps->test;
	enum pattern_op op = PATTERN_EQ, given;
	struct rule_err why = { 0 };
	int n = 0;

	for (; !is_end(ps); ps->i++) {
		const char *w = acl_word(ps, ps->i);

		given = is_number(t->method) ? pattern_op_of(str_of(w)) : PATTERN_OPS;
		if (given != PATTERN_OPS) {
			op = given;
			n = 0;
			continue;
		}
		if (add_acl_value(ps, ref, op, &why) < 0)
			return fail_at(ps, ps->i, why.at, why.text);
		n++;
	}
	if (op != PATTERN_EQ && !n)
		return fail_at(ps, ps->i - 1, 0, "an operator expects a value");
	if (!t->own->n && !t->n_files && !n)
		cfg_warn(ps->words->ctx, ps->words->first,
			"'%s' is compared with no pattern at all, and so never matches",
			t->criterion->text);
	return 0;
}

/* Adds the line to the list of the admin socket, before its values are parsed. */
static struct pattern_ref *
open_line(struct parsing *ps)
{
	const char *criterion = ps->test->criterion->text;
	struct pattern_line line = {
		.method = ps->test->method,
		.flags = ps->flags,
		.name = { criterion, strcspn(criterion, "(,") },
		.id = ps->id,
		.join = ps->test->own,
	};
	struct pattern_ref *ref;

	if (!ps->vocab->files) {
		(void)fail_at(ps, 0, 0, "patterns cannot be stored here");
		return NULL;
	}
	ref = pattern_files_line(ps->vocab->files, &line, &ps->test->own);
	if (!ref)
		(void)fail_at(ps, 0, 0, ps->vocab->files->why.text);
	return ref;
}

static int
take_patterns(struct parsing *ps)
{
	enum pattern_method m = ps->test->method;
	struct pattern_ref *ref;

	if (m == PATTERN_METHODS)
		return no_method(ps);
	ref = open_line(ps);
	if (!ref)
		return -1;
	if (m != PATTERN_FOUND && m != PATTERN_BOOL)
		return take_values(ps, ref);
	if (!is_end(ps))
		cfg_note(ps->words->ctx, ps->words->first + ps->i,
			"matching method '%s' ignores values", pattern_method_name(m));
	return 0;
}

/* --- the criterion --- */

/* Makes the criterion of the test, which owns it. */
static int
make_criterion(struct parsing *ps, const char *text)
{
	struct acl_criterion *c = mem_zalloc(sizeof(*c));
	const char *match = NULL;
	struct rule_err why = { 0 };

	ps->test->criterion = c;
	if (c) {
		list_init(&c->link);
		c->text = mem_strdup(text);
	}
	if (!c || !c->text)
		return cfg_nomem(ps->words->ctx);
	/* Evaluated wherever its section's rules run; see rule_acl_can_hold(). */
	if (rule_expr_parse_acl(ps->vocab, text, strlen(text), ~0u, &c->expr, &match, &why) < 0)
		return fail_at(ps, 0, why.at, why.text);
	if (match)
		c->method =
			strcmp(match, "ver") == 0 ? PATTERN_VER : pattern_method_of(str_of(match));
	else
		c->method = pattern_method_default(rule_expr_type(c->expr));
	c->is_method = strcmp(text, "method") == 0;
	return 0;
}

/* The section owns it from now on. */
static int
share_criterion(struct parsing *ps, struct acl_criterion *c)
{
	if (!ps->acls || rule_expr_has_convs(c->expr))
		return 0;
	if (name_index_add(&ps->acls->by_criterion, c->text, c) < 0)
		return cfg_nomem(ps->words->ctx);
	list_append(&ps->acls->criteria, &c->link);
	return 0;
}

static int
parse_criterion(struct parsing *ps)
{
	const char *text = acl_word(ps, 0);
	struct acl_test *t = ps->test;

	if (ps->acls)
		t->criterion = name_index_find(&ps->acls->by_criterion, text);
	if (!t->criterion && (make_criterion(ps, text) || share_criterion(ps, t->criterion)))
		return -1;
	t->expr = t->criterion->expr;
	t->method = t->criterion->method;
	t->is_method = t->criterion->is_method;
	ps->i = 1;
	return 0;
}

/* An earlier test that differs only in its patterns: the new ones are added to its set. */
static void
merge_test(struct parsing *ps)
{
	const char *text = ps->test->criterion->text;

	if (ps->acl->n_tests > FEW_TESTS && !name_index_find(&ps->acl->criteria, text))
		return;
	list_each(it, &ps->acl->tests) {
		struct acl_test *t = list_entry(it, struct acl_test, link);

		if (t->method != ps->test->method || t->is_method != ps->test->is_method ||
			strcmp(t->criterion->text, text) != 0)
			continue;
		acl_test_free(ps->test);
		ps->test = t;
		ps->is_new = 0;
		return;
	}
}

static int
append_test(struct rule_acl *a, struct acl_test *t)
{
	list_append(&a->tests, &t->link);
	if (!a->name || ++a->n_tests <= FEW_TESTS)
		return 0;
	if (a->n_tests > FEW_TESTS + 1)
		return name_index_add(&a->criteria, t->criterion->text, t);
	list_each(it, &a->tests) {
		t = list_entry(it, struct acl_test, link);
		if (name_index_add(&a->criteria, t->criterion->text, t) < 0)
			return -ERR_NOMEM;
	}
	return 0;
}

int
rule_acl_add(struct rule_acls *acls, struct rule_acl *a, const struct rule_vocab *v,
	const struct acl_words *words)
{
	struct parsing ps = {
		.acls = acls, .acl = a, .vocab = v, .words = words, .id = PATTERN_ID_NONE,
		.is_new = 1
	};
	int rc;

	ps.test = mem_zalloc(sizeof(*ps.test));
	if (!ps.test)
		return cfg_nomem(words->ctx);
	rc = parse_criterion(&ps);
	if (rc == 0)
		rc = take_flags(&ps);
	if (rc == 0) {
		if (!ps.test->n_files)
			merge_test(&ps);
		rc = take_patterns(&ps);
	}
	if (rc < 0 && ps.is_new)
		acl_test_free(ps.test);
	if (rc < 0 || !ps.is_new)
		return rc;
	return append_test(a, ps.test) < 0 ? cfg_nomem(words->ctx) : 0;
}
