/* Evaluates ACLs: a test takes samples until one matches. Workers share the tests without a
 * lock; the samples lie in the worker's arena. */
#include "rule/match/acl.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "cfg/suggest.h"
#include "rule/match/pattern.h"
#include "rule/match/pattern_file.h"
#include "rule/match/pattern_net.h"
#include "rule/match/pattern_ref.h"

/* The words of each predefined ACL (manual 7.4). */
static const struct {
	const char *name;
	const char *words[5];
} predefined[] = {
	{ "FALSE", { "always_false" } },
	{ "HTTP", { "req.proto_http" } },
	{ "HTTP_1.0", { "req.ver", "1.0" } },
	{ "HTTP_1.1", { "req.ver", "1.1" } },
	{ "HTTP_2.0", { "req.ver", "2.0" } },
	{ "HTTP_CONTENT", { "req.hdr_val(content-length)", "gt", "0" } },
	{ "HTTP_URL_ABS", { "url_reg", "^[^/:]*://" } },
	{ "HTTP_URL_SLASH", { "url_beg", "/" } },
	{ "HTTP_URL_STAR", { "url", "*" } },
	{ "LOCALHOST", { "src", "127.0.0.1/8", "::1" } },
	{ "METH_CONNECT", { "method", "CONNECT" } },
	{ "METH_DELETE", { "method", "DELETE" } },
	{ "METH_GET", { "method", "GET", "HEAD" } },
	{ "METH_HEAD", { "method", "HEAD" } },
	{ "METH_OPTIONS", { "method", "OPTIONS" } },
	{ "METH_POST", { "method", "POST" } },
	{ "METH_PUT", { "method", "PUT" } },
	{ "METH_TRACE", { "method", "TRACE" } },
	{ "RDP_COOKIE", { "req.rdp_cookie_cnt", "gt", "0" } },
	{ "REQ_CONTENT", { "req.len", "gt", "0" } },
	{ "TRUE", { "always_true" } },
	{ "WAIT_END", { "wait_end" } },
};

const char *const *
rule_acl_predefined(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(predefined); i++)
		if (strcmp(predefined[i].name, name) == 0)
			return predefined[i].words;
	return NULL;
}

const char *
rule_acl_predefined_name(size_t i)
{
	return i < ARRAY_LEN(predefined) ? predefined[i].name : NULL;
}

struct rule_acl *
rule_acl_find(const struct rule_acls *acls, const char *name)
{
	return acls ? name_index_find(&acls->by_name, name) : NULL;
}

const char *
rule_acl_suggest(const struct rule_acls *acls, const char *name)
{
	struct cfg_suggest near;

	cfg_suggest_init(&near, name);
	if (acls)
		list_each(it, &acls->all)
			cfg_suggest_offer(&near, list_entry(it, struct rule_acl, link)->name);
	for (size_t i = 0; i < ARRAY_LEN(predefined); i++)
		cfg_suggest_offer(&near, predefined[i].name);
	return near.best;
}

/* --- life --- */

struct rule_acl *
rule_acl_new(const char *name)
{
	struct rule_acl *a = mem_zalloc(sizeof(*a));

	if (!a)
		return NULL;
	list_init(&a->link);
	list_init(&a->tests);
	if (mem_copy_string(&a->name, name) < 0) {
		mem_free(a);
		return NULL;
	}
	return a;
}

static void
free_criterion(struct acl_criterion *c)
{
	rule_expr_free(&c->expr);
	mem_free(c->text);
	mem_free(c);
}

static void
acl_test_free(struct acl_test *t)
{
	if (t->criterion && list_is_empty(&t->criterion->link))
		free_criterion(t->criterion);
	mem_free(t->file);
	mem_free(t);
}

void
rule_acl_free(struct rule_acl **a)
{
	if (!*a)
		return;
	list_each_safe(it, &(*a)->tests) {
		list_remove(it);
		acl_test_free(list_entry(it, struct acl_test, link));
	}
	name_index_fini(&(*a)->criteria);
	mem_free((*a)->name);
	mem_free(*a);
	*a = NULL;
}

void
rule_acls_init(struct rule_acls *a)
{
	memset(a, 0, sizeof(*a));
	list_init(&a->all);
	list_init(&a->criteria);
}

void
rule_acls_fini(struct rule_acls *a)
{
	list_each_safe(it, &a->all) {
		struct rule_acl *acl = list_entry(it, struct rule_acl, link);

		list_remove(it);
		rule_acl_free(&acl);
	}
	list_each_safe(it, &a->criteria)
		free_criterion(list_entry(it, struct acl_criterion, link));
	name_index_fini(&a->by_name);
	name_index_fini(&a->by_criterion);
}

/* --- the line "acl" --- */

static int
check_acl_name(struct cfg_ctx *ctx, const char *name)
{
	for (const char *p = name; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("-_.:", *p))
			return cfg_error(ctx, 0,
				"character '%c' is not permitted in acl name '%.60s'", *p, name);
	if (strcasecmp(name, "or") == 0)
		return cfg_error(ctx, 0,
			"acl name '%s' cannot be used: conditions have it for a logical or", name);
	return 0;
}

int
rule_acl_parse(struct rule_acls *acls, const struct rule_vocab *v, struct cfg_ctx *ctx)
{
	const char *name = cfg_arg(ctx, 0);
	struct acl_words words = { .ctx = ctx, .first = 1, .n = ctx->argc - 1 };
	struct rule_acl *a;

	if (!*name || ctx->argc < 2)
		return cfg_error(ctx, ctx->argc,
			"'acl' expects <name> <criterion> [<flags>] [<operator>] [<value>...]");
	if (check_acl_name(ctx, name))
		return -1;
	a = rule_acl_find(acls, name);
	if (a)
		return rule_acl_add(acls, a, v, &words);
	a = rule_acl_new(name);
	if (!a)
		return cfg_nomem(ctx);
	/* Kept even if it is invalid: conditions may refer to it. */
	list_append(&acls->all, &a->link);
	if (name_index_add(&acls->by_name, a->name, a) < 0)
		return cfg_nomem(ctx);
	return rule_acl_add(acls, a, v, &words);
}

/* --- parsing --------------------------------------------------------------------------------- */

/* A test of an ACL: criterion, flags, operators, values (manual 7.1). */

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

/* PATTERN_OPS: unknown operator. */
static enum pattern_op
pattern_op_of(struct str word)
{
	static const char names[PATTERN_OPS][3] = { "eq", "ge", "gt", "le", "lt" };
	unsigned int op = 0;

	while (op < PATTERN_OPS && !str_is(word, str_of(names[op])))
		op++;
	return (enum pattern_op)op;
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

/* The default method of the type; PATTERN_METHODS: none (binary, any). */
static enum pattern_method
pattern_method_default(enum sample_type t)
{
	static const enum pattern_method by_type[] = {
		[SAMPLE_BOOL] = PATTERN_BOOL,
		[SAMPLE_SINT] = PATTERN_INT,
		[SAMPLE_IPV4] = PATTERN_IP,
		[SAMPLE_IPV6] = PATTERN_IP,
		[SAMPLE_STR] = PATTERN_STR,
		[SAMPLE_BIN] = PATTERN_METHODS,
		[SAMPLE_ADDR] = PATTERN_IP,
		[SAMPLE_ANY] = PATTERN_METHODS,
	};

	return by_type[t];
}

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
	ps.test->where = cfg_arg_where(words->ctx, words->first);
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
