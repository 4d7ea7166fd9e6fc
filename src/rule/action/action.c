/* Parses rules, keeps them in lists, and runs a list until a rule ends it. A list is only read
 * once workers run; counts of rules are theirs to add to. */
#include "rule/action/action.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cfg/ctx.h"
#include "cfg/known.h"
#include "cfg/suggest.h"
#include "rule/action/act.h"

/* Actions of the manual that are not supported. */
static const char *const not_supported[] = {
#define ACTION_NOT(name) name,
#include "rule/action/action_not.tbl.h"
#undef ACTION_NOT
};

/* --- finding -------------------------------------------------------------------------------- */

/* True if the text is one digit or two, behind the n bytes of a name. */
static int
ends_with_number(struct str word, size_t n)
{
	if (word.len <= n || word.len > n + 2)
		return 0;
	while (n < word.len && word.p[n] >= '0' && word.p[n] <= '9')
		n++;
	return n == word.len;
}

/* True if a configuration line calls this action `word`. */
static int
is_called(const struct rule_action *a, struct str word, int paren)
{
	struct str name = str_of(a->name);

	if (a->paren != paren)
		return 0;
	if (!a->is_numbered)
		return str_is(name, word);
	return ends_with_number(word, name.len) && memcmp(word.p, name.p, name.len) == 0;
}

/* The name before a bracket, and whether there is one. */
static struct str
action_name_of(const char *word, int *paren)
{
	size_t n = strcspn(word, "(");

	*paren = word[n] == '(';
	return (struct str){ word, n };
}

static const struct rule_action *
find_action(const struct rule_vocab *v, unsigned int in, struct str name, int paren)
{
	for (unsigned int t = 0; t < v->n_action; t++)
		for (const struct rule_action *a = v->action[t]; a->name; a++)
			if ((a->places & in) && is_called(a, name, paren))
				return a;
	return NULL;
}

static int
is_not_supported(struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(not_supported); i++)
		if (str_is(str_of(not_supported[i]), name))
			return 1;
	return rule_is_of_lua(name);
}

static int
report_unknown_action(const struct rule_vocab *v, enum rule_place place, struct cfg_ctx *ctx,
	struct str name, int paren)
{
	struct cfg_suggest s;

	if (find_action(v, 1u << place, name, !paren))
		return cfg_error(ctx, 0, "'%s %.*s' %s.", rule_place_name(place), (int)name.len,
			name.p, paren ? "takes no '(...)'" : "is followed by '(...)'");
	if (find_action(v, ~0u, name, 0) || find_action(v, ~0u, name, 1))
		return cfg_error(ctx, 0, "action '%.*s' is not for '%s' rules.", (int)name.len,
			name.p, rule_place_name(place));
	if (is_not_supported(name)) {
		const char *why = cfg_known_instead(cfg_arg(ctx, 0));

		return cfg_error(ctx, 0, "'%s %.*s' is not supported%s%s%s", rule_place_name(place),
			(int)name.len, name.p, why ? " (" : "", why ? why : "", why ? ")." : ".");
	}
	cfg_suggest_init(&s, cfg_arg(ctx, 0));
	for (unsigned int t = 0; t < v->n_action; t++)
		for (const struct rule_action *a = v->action[t]; a->name; a++)
			if (a->places & (1u << place))
				cfg_suggest_offer(&s, a->name);
	return cfg_error(ctx, 0, "'%s' has no action '%s'%s%s%s.", rule_place_name(place),
		cfg_arg(ctx, 0), s.best ? "; did you mean '" : "", s.best ? s.best : "",
		s.best ? "'" : "");
}

/* --- a rule --------------------------------------------------------------------------------- */

static void
rule_free(struct rule *r)
{
	list_remove(&r->link);
	if (r->action->free)
		r->action->free(r);
	rule_cond_free(&r->cond);
	rule_expr_free(&r->expr);
	for (size_t i = 0; i < ARRAY_LEN(r->fmt); i++)
		rule_fmt_free(&r->fmt[i]);
	for (size_t i = 0; i < ARRAY_LEN(r->text); i++)
		mem_free((char *)(uintptr_t)r->text[i].p);
	mem_free(r);
}

static int
parse_rest(struct rule *r, const struct rule_acls *acls, const struct rule_vocab *v,
	struct cfg_ctx *ctx, int arg, unsigned int at)
{
	int next = r->action->parse ? r->action->parse(r, v, ctx, arg, at) : arg;
	const char *word;

	if (next < 0)
		return -1;
	if (next >= ctx->argc)
		return 0;
	word = cfg_arg(ctx, next);
	if (strcmp(word, "if") != 0 && strcmp(word, "unless") != 0)
		return cfg_error(ctx, next,
			"'%s %s' expects either 'if' or 'unless' followed by a condition but found "
			"'%s'.",
			rule_place_name(r->place), r->action->name, word);
	return rule_cond_parse(acls, v, ctx, next, at, &r->cond);
}

/* HAProxy's wording first, which users search for. */
static void
warn_unreached(const struct list *rules, enum rule_place place, struct cfg_ctx *ctx)
{
	const struct rule *last = list_is_empty(rules)
		? NULL : list_entry(rules->prev, const struct rule, link);

	if (last && last->action->ends && !last->cond)
		cfg_warn(ctx, -1,
			"previous '%s' action is final and has no condition attached: rules "
			"after line %u are never evaluated.",
			rule_place_name(place), last->where.line);
}

/* Makes a rule with this action, whose arguments begin at arg. */
static int
parse_as(const struct rule_action *a, struct list *rules, enum rule_place place,
	const struct rule_acls *acls, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg)
{
	unsigned int at = rule_place_scope(place);
	struct rule *r = mem_zalloc(sizeof(*r));

	if (!r)
		return cfg_nomem(ctx);
	warn_unreached(rules, place, ctx);
	list_init(&r->link);
	r->action = a;
	r->place = place;
	r->where = cfg_arg_where(ctx, arg - 1);
	if (ctx->section && !(ctx->section->bit & CFG_FRONTEND))
		at |= SAMPLE_AT_BACK;
	if (parse_rest(r, acls, v, ctx, arg, at) < 0) {
		rule_free(r);
		return -1;
	}
	list_append(rules, &r->link);
	return 0;
}

int
rule_parse(struct list *rules, enum rule_place place, const struct rule_acls *acls,
	const struct rule_vocab *v, struct cfg_ctx *ctx)
{
	const struct rule_action *a;
	struct str name;
	int paren;

	if (ctx->argc < 1)
		return cfg_error(ctx, 0, "'%s' expects an action.", rule_place_name(place));
	name = action_name_of(cfg_arg(ctx, 0), &paren);
	a = find_action(v, 1u << place, name, paren);
	if (!a)
		return report_unknown_action(v, place, ctx, name, paren);
	return parse_as(a, rules, place, acls, v, ctx, 1);
}

int
rule_parse_redirect(struct list *rules, const struct rule_acls *acls, const struct rule_vocab *v,
	struct cfg_ctx *ctx)
{
	return parse_as(&rule_redirect_keyword, rules, RULE_HTTP_REQUEST, acls, v, ctx, 0);
}

void
rules_free(struct list *rules)
{
	list_each_safe(it, rules)
		rule_free(list_entry(it, struct rule, link));
}

static int
check_parts(struct rule *r, void *root, struct rule_err *why)
{
	if (r->cond && rule_cond_check(r->cond, root, why) < 0)
		return -1;
	if (r->expr && rule_expr_check(r->expr, root, why) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(r->fmt); i++)
		if (r->fmt[i] && rule_fmt_check(r->fmt[i], root, why) < 0)
			return -1;
	return r->action->check ? r->action->check(r, root, why) : 0;
}

int
rules_check(struct list *rules, void *root, struct cfg_diag *diag)
{
	int result = 0;

	list_each(it, rules) {
		struct rule *r = list_entry(it, struct rule, link);
		struct rule_err why = { 0 };
		int said = check_parts(r, root, &why);

		if (said == 0)
			continue;
		cfg_diag_add(diag, said < 0 ? CFG_ALERT : CFG_WARNING, &r->where, "'%s %s': %s.",
			rule_place_name(r->place), r->action->name, why.text);
		if (said < 0)
			result = -1;
	}
	return result;
}

/* --- running -------------------------------------------------------------------------------- */

static enum rule_result
run_rule(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out)
{
	enum rule_truth t;

	cx->where = &r->where;
	t = r->cond ? rule_cond_eval(r->cond, cx) : RULE_YES;
	if (t == RULE_NO)
		return RULE_CONT;
	out->cond_waits = t == RULE_WAIT;
	if (t == RULE_WAIT)
		return RULE_YIELD;
	return r->action->run(r, cx, out);
}

/* Runs the rules from `it` on. */
static enum rule_result
run_from(const struct list *rules, const struct list *it, const struct rule **next,
	struct sample_ctx *cx, struct rule_outcome *out)
{
	for (; it != rules; it = it->next) {
		const struct rule *r = list_entry(it, const struct rule, link);
		enum rule_result result = run_rule(r, cx, out);

		if (result == RULE_CONT)
			continue;
		if (result == RULE_YIELD)
			*next = r;
		if (result == RULE_FINAL || result == RULE_STOP)
			out->by = r;
		return result;
	}
	return RULE_CONT;
}

/* The same from a rule on that waits for what it has begun: its condition may differ now. */
static enum rule_result
continue_from(const struct list *rules, const struct rule *r, const struct rule **next,
	struct sample_ctx *cx, struct rule_outcome *out)
{
	enum rule_result result;

	cx->where = &r->where;
	result = r->action->run(r, cx, out);
	if (result == RULE_CONT)
		return run_from(rules, r->link.next, next, cx, out);
	if (result == RULE_YIELD)
		*next = r;
	else
		out->by = r;
	return result;
}

enum rule_result
rules_run(const struct list *rules, const struct rule **next, struct sample_ctx *cx,
	struct rule_outcome *out)
{
	const struct rule *first = *next;

	/* The mode applies to one list; a list that is continued keeps it. */
	if (!first)
		out->non_strict = 0;
	*next = NULL;
	out->wait_ms = 0;
	if (unlikely(first != NULL) && first->action->has_begun &&
		first->action->has_begun(first, out))
		return continue_from(rules, first, next, cx, out);
	return run_from(rules, first ? &first->link : rules->next, next, cx, out);
}
