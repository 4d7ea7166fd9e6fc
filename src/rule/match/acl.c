/* Evaluates ACLs: a test takes samples until one matches. Workers share the tests without a
 * lock; the samples lie in the worker's arena. */
#include "rule/match/acl.h"

#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "cfg/suggest.h"
#include "rule/match/pattern_entry.h"
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

void
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

/* --- the complete configuration --- */

int
rule_acl_can_hold(const struct rule_acl *a, unsigned int at)
{
	list_each(it, &a->tests)
		if (rule_expr_fits(list_entry(it, struct acl_test, link)->expr, at))
			return 1;
	/* Without tests it was invalid, which was reported. */
	return list_is_empty(&a->tests);
}

unsigned int
rule_acl_needs(const struct rule_acl *a)
{
	unsigned int needs = 0;

	list_each(it, &a->tests)
		needs |= rule_expr_needs(list_entry(it, struct acl_test, link)->expr);
	return needs;
}

unsigned int
rule_acl_uses(const struct rule_acl *a)
{
	unsigned int uses = 0;

	list_each(it, &a->tests)
		uses |= rule_expr_uses(list_entry(it, struct acl_test, link)->expr);
	return uses;
}

/* Only where a text has no special meaning. */
static int
check_patterns(const struct acl_test *t, const struct pattern_set *set, struct rule_err *why)
{
	if (!set || t->method != PATTERN_STR)
		return 0;
	for (const struct pattern_feed *f = set->feeds; f; f = f->other)
		list_each(it, &f->ref->entries) {
			const struct pattern_entry *e =
				list_entry(it, const struct pattern_entry, link);

			if (rule_expr_check_pattern(t->expr, pattern_entry_text(e), why) < 0)
				return -1;
		}
	return 0;
}

int
rule_acl_check(const struct rule_acl *a, void *root, struct rule_err *why)
{
	list_each(it, &a->tests) {
		const struct acl_test *t = list_entry(it, const struct acl_test, link);

		if (rule_expr_check(t->criterion->expr, root, why) < 0 ||
			check_patterns(t, t->own, why) < 0)
			return -1;
		for (unsigned int i = 0; i < t->n_files; i++)
			if (check_patterns(t, t->file[i], why) < 0)
				return -1;
	}
	return 0;
}

/* --- evaluation --- */

static int
match_in_set(const struct acl_test *t, const struct pattern_set *p, const struct sample *s,
	struct sample_ctx *cx)
{
	int yes;

	pattern_set_look(p, cx->sys);
	yes = t->is_method ? pattern_match_http_method(p, s->u.str) != NULL
			   : pattern_match(p, s, cx, NULL) != NULL;
	pattern_set_looked(p);
	return yes;
}

static int
test_holds(const struct acl_test *t, const struct sample *s, struct sample_ctx *cx)
{
	if (t->method == PATTERN_FOUND)
		return 1;
	if (t->method == PATTERN_BOOL)
		return pattern_match_bool(s, cx);
	if (match_in_set(t, t->own, s, cx))
		return 1;
	for (unsigned int i = 0; i < t->n_files; i++)
		if (match_in_set(t, t->file[i], s, cx))
			return 1;
	return 0;
}

/* Any value of the fetch is accepted. */
static enum rule_truth
eval_test(const struct acl_test *t, struct sample_ctx *cx)
{
	size_t mark = arena_mark(cx->arena);
	unsigned int nth = cx->nth;
	int yes = 0, may_change = 0;
	struct sample s;

	/* Evaluated where its data is not available: no sample. */
	if (!rule_expr_fits(t->expr, cx->at))
		return RULE_NO;
	cx->nth = 0;
	do {
		yes = rule_expr_eval(t->expr, cx, &s) && test_holds(t, &s, cx);
		may_change |= s.may_change;
		arena_release(cx->arena, mark);
		cx->nth++;
	} while (!yes && s.has_more);
	cx->nth = nth;
	if (yes)
		return RULE_YES;
	return may_change && !cx->req_ended ? RULE_WAIT : RULE_NO;
}

enum rule_truth
rule_acl_eval(const struct rule_acl *a, struct sample_ctx *cx)
{
	enum rule_truth any = RULE_NO, one;

	list_each(it, &a->tests) {
		one = eval_test(list_entry(it, struct acl_test, link), cx);
		if (one == RULE_YES)
			return RULE_YES;
		if (one == RULE_WAIT)
			any = RULE_WAIT;
	}
	return any;
}
