/* Parses and evaluates conditions: || of && of ACLs. Only read once workers run; what cannot
 * be decided yet is neither true nor false. */
#include "rule/match/cond.h"

#include <string.h>

#include "base/array.h"
#include "base/err.h"
#include "base/mem.h"
#include "rule/match/acl.h"

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

int
rule_cond_check(struct rule_cond *c, void *root, struct rule_err *why)
{
	for (unsigned int i = 0; i < c->n; i++)
		if (rule_acl_check(c->atom[i].acl, root, why) < 0)
			return -1;
	return 0;
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
