/* Parses and evaluates conditions: || of && of ACLs. Only read once workers run; what cannot
 * be decided yet is neither true nor false. */
#include "rule/match/cond.h"

#include <string.h>

#include "base/array.h"
#include "base/err.h"
#include "base/mem.h"
#include "rule/match/acl.h"
#include "rule/match/pattern_entry.h"
#include "rule/match/pattern_ref.h"

/* An ACL of a condition, in the manual's disjunctive form (7.2): a b or !c d. */
struct atom {
	const struct rule_acl *acl; /* a named one, or own */
	struct rule_acl *own;    /* anonymous or predefined: owned by the condition */
	uint8_t negated;
	uint8_t starts;          /* the first of an alternative */
};

struct rule_cond {
	int unless;
	unsigned int n, cap;
	struct atom *atom;
};

struct parsing {
	const struct rule_acls *acls;
	const struct rule_vocab *vocab;
	struct cfg_ctx *ctx;
	unsigned int at;
	int i;                   /* the current argument */
	struct rule_cond *cond;
	struct atom atom;        /* the current one */
};

void
rule_cond_free(struct rule_cond **c)
{
	if (!*c)
		return;
	for (unsigned int i = 0; i < (*c)->n; i++)
		rule_acl_free(&(*c)->atom[i].own);
	mem_free((*c)->atom);
	mem_free(*c);
	*c = NULL;
}

/* --- parsing --- */

static int
is_or(const char *w)
{
	return strcmp(w, "||") == 0 || strcasecmp(w, "or") == 0;
}

static int
keep_atom(struct parsing *ps)
{
	struct rule_cond *c = ps->cond;
	struct atom *grown = array_grow(c->atom, c->n, &c->cap, sizeof(*grown));

	if (!grown) {
		rule_acl_free(&ps->atom.own);
		return cfg_nomem(ps->ctx);
	}
	c->atom = grown;
	c->atom[c->n++] = ps->atom;
	return 0;
}

/* Makes a condition's own ACL from these words. */
static int
make_own(struct parsing *ps, const struct acl_words *words)
{
	ps->atom.own = rule_acl_new(NULL);
	if (!ps->atom.own)
		return cfg_nomem(ps->ctx);
	ps->atom.acl = ps->atom.own;
	if (rule_acl_add(NULL, ps->atom.own, ps->vocab, words)) {
		rule_acl_free(&ps->atom.own);
		return -1;
	}
	return 0;
}

/* { criterion [flags] [operator] [values] }, starting at the brace. */
static int
take_nameless(struct parsing *ps)
{
	int open = ps->i, end = open + 1;
	struct acl_words words = { .ctx = ps->ctx, .first = open + 1 };

	while (end < ps->ctx->argc && strcmp(cfg_arg(ps->ctx, end), "}") != 0)
		end++;
	if (end == ps->ctx->argc)
		return cfg_error(ps->ctx, open, "missing closing '}' in condition.");
	words.n = end - open - 1;
	if (!words.n)
		return cfg_error(ps->ctx, end, "there is no criterion between '{' and '}'.");
	ps->i = end + 1;
	return make_own(ps, &words);
}

static int
take_named(struct parsing *ps, const char *name)
{
	const char *const *fixed, *near;
	struct acl_words words = { .ctx = ps->ctx, .first = ps->i };

	ps->i++;
	ps->atom.acl = rule_acl_find(ps->acls, name);
	if (ps->atom.acl)
		return 0;
	fixed = rule_acl_predefined(name);
	if (fixed) {
		words.fixed = fixed;
		while (fixed[words.n])
			words.n++;
		return make_own(ps, &words);
	}
	near = rule_acl_suggest(ps->acls, name);
	return cfg_error(ps->ctx, ps->i - 1, "no such ACL : '%.60s'%s%.60s%s", name,
		near ? "; did you mean '" : "", near ? near : "", near ? "' maybe ?" : "");
}

/* True if a test can be evaluated where SAMPLE_AT_x `at` are available. */
static int
rule_acl_can_hold(const struct rule_acl *a, unsigned int at)
{
	list_each(it, &a->tests)
		if (rule_expr_fits(list_entry(it, struct acl_test, link)->expr, at))
			return 1;
	/* Without tests it was invalid, which was reported. */
	return list_is_empty(&a->tests);
}

/* [!]name or [!]{ ... } */
static int
take_atom(struct parsing *ps)
{
	const char *w = cfg_arg(ps->ctx, ps->i);
	int first = ps->i;

	ps->atom = (struct atom){ .starts = ps->atom.starts };
	while (*w == '!') {
		ps->atom.negated = !ps->atom.negated;
		w++;
		if (!*w)
			w = cfg_arg(ps->ctx, ++ps->i);
	}
	if (!*w || is_or(w))
		return cfg_error(ps->ctx, ps->i, "an ACL is expected here");
	if (strcmp(w, "{") == 0 ? take_nameless(ps) : take_named(ps, w))
		return -1;
	if (!rule_acl_can_hold(ps->atom.acl, ps->at))
		cfg_warn(ps->ctx, first,
			"'%s' : this ACL never matches: its fetch is not available here",
			cfg_kw_name(ps->ctx));
	return keep_atom(ps);
}

static int
take_all(struct parsing *ps)
{
	const char *word = cfg_arg(ps->ctx, ps->i);

	if (strcmp(word, "if") != 0 && strcmp(word, "unless") != 0)
		return cfg_error(ps->ctx, ps->i, "'%s' : 'if' or 'unless' is expected, not '%.60s'",
			cfg_kw_name(ps->ctx), word);
	ps->cond->unless = word[0] == 'u';
	ps->i++;
	if (ps->i >= ps->ctx->argc)
		return cfg_error(ps->ctx, ps->i, "'%s' expects a condition", word);
	ps->atom.starts = 1;
	while (ps->i < ps->ctx->argc) {
		if (take_atom(ps))
			return -1;
		ps->atom.starts = 0;
		if (!is_or(cfg_arg(ps->ctx, ps->i)))
			continue;
		ps->atom.starts = 1;
		if (++ps->i >= ps->ctx->argc)
			return cfg_error(ps->ctx, ps->i, "an ACL is expected behind '%s'",
				cfg_arg(ps->ctx, ps->i - 1));
	}
	return 0;
}

int
rule_cond_parse(const struct rule_acls *acls, const struct rule_vocab *v, struct cfg_ctx *ctx,
	int first, unsigned int at, struct rule_cond **out)
{
	struct parsing ps = { .acls = acls, .vocab = v, .ctx = ctx, .at = at, .i = first };

	*out = NULL;
	ps.cond = mem_zalloc(sizeof(*ps.cond));
	if (!ps.cond)
		return cfg_nomem(ctx);
	if (take_all(&ps)) {
		rule_cond_free(&ps.cond);
		return -1;
	}
	*out = ps.cond;
	return 0;
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

static int
acl_test_check(const struct acl_test *t, void *root, struct rule_err *why)
{
	if (rule_expr_check(t->criterion->expr, root, why) < 0 ||
		check_patterns(t, t->own, why) < 0)
		return -1;
	for (unsigned int i = 0; i < t->n_files; i++)
		if (check_patterns(t, t->file[i], why) < 0)
			return -1;
	return 0;
}

int
rule_cond_check(struct rule_cond *c, void *root, struct rule_err *why)
{
	for (unsigned int i = 0; i < c->n; i++) {
		const struct rule_acl *own = c->atom[i].own;

		if (!own)
			continue;
		list_each(it, &own->tests) {
			if (acl_test_check(list_entry(it, const struct acl_test, link), root, why) <
				0)
				return -1;
		}
	}
	return 0;
}

int
rule_acls_check(const struct rule_acls *acls, void *root, struct cfg_diag *d)
{
	struct rule_err why;
	int result = 0;

	list_each(it, &acls->all) {
		const struct rule_acl *a = list_entry(it, const struct rule_acl, link);

		list_each(at, &a->tests) {
			const struct acl_test *t = list_entry(at, const struct acl_test, link);

			if (acl_test_check(t, root, &why) == 0)
				continue;
			cfg_diag_add(d, CFG_ALERT, &t->where, "acl '%s' : %s.", a->name, why.text);
			result = -1;
		}
	}
	return result;
}

/* SAMPLE_AT_x that any of its tests needs. */
static unsigned int
rule_acl_needs(const struct rule_acl *a)
{
	unsigned int needs = 0;

	list_each(it, &a->tests)
		needs |= rule_expr_needs(list_entry(it, struct acl_test, link)->expr);
	return needs;
}

/* SAMPLE_AT_x that it can use in addition. */
static unsigned int
rule_acl_uses(const struct rule_acl *a)
{
	unsigned int uses = 0;

	list_each(it, &a->tests)
		uses |= rule_expr_uses(list_entry(it, struct acl_test, link)->expr);
	return uses;
}

unsigned int
rule_cond_needs(const struct rule_cond *c)
{
	unsigned int needs = 0;

	for (unsigned int i = 0; i < c->n; i++)
		needs |= rule_acl_needs(c->atom[i].acl);
	return needs;
}

unsigned int
rule_cond_uses(const struct rule_cond *c)
{
	unsigned int uses = 0;

	for (unsigned int i = 0; i < c->n; i++)
		uses |= rule_acl_uses(c->atom[i].acl);
	return uses;
}

/* --- evaluation --- */

static enum rule_truth
negate_truth(enum rule_truth t)
{
	return t == RULE_YES ? RULE_NO : t == RULE_NO ? RULE_YES : RULE_WAIT;
}

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

/* SAMPLE_AT_x that it can use in addition. */
static enum rule_truth
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

static enum rule_truth
eval_atom(const struct atom *a, struct sample_ctx *cx)
{
	enum rule_truth t = rule_acl_eval(a->acl, cx);

	return a->negated ? negate_truth(t) : t;
}

/* All terms of an alternative, from *i on: a false one decides, even if others wait. */
static enum rule_truth
eval_all(const struct rule_cond *c, unsigned int *i, struct sample_ctx *cx)
{
	enum rule_truth all = RULE_YES, one;

	do {
		if (all != RULE_NO) {
			one = eval_atom(&c->atom[*i], cx);
			all = one == RULE_YES ? all : one;
		}
		++*i;
	} while (*i < c->n && !c->atom[*i].starts);
	return all;
}

enum rule_truth
rule_cond_eval(const struct rule_cond *c, struct sample_ctx *cx)
{
	enum rule_truth any = RULE_NO, one;

	for (unsigned int i = 0; i < c->n && any != RULE_YES;) {
		one = eval_all(c, &i, cx);
		any = one == RULE_NO ? any : one;
	}
	return c->unless ? negate_truth(any) : any;
}
