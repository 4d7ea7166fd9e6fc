/* Actions on variables: set-var, set-var-fmt, unset-var. */
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "rule/action/act.h"
#include "rule/sample/var_cond.h"

#define CONDITIONS_MAX 4

#define EVERYWHERE (RULE_IN_TCP | RULE_IN_HTTP)

/* The rule's num[]. */
enum { AT_SCOPE, AT_ID, AT_CONDITIONS };

static struct var_name
var_name_of(const struct rule *r)
{
	return (struct var_name){ .scope = (enum var_scope)r->num[AT_SCOPE],
		.id = (uint64_t)r->num[AT_ID] };
}

static int
parse_condition(struct rule *r, struct cfg_ctx *ctx, int arg, const char *word)
{
	unsigned int bit = var_cond_parse(str_of(word));

	if (!bit)
		return cfg_error(ctx, arg - 1,
			"'%s %s' : unknown condition '%s'; there are " VAR_COND_WORDS ".",
			rule_place_name(r->place), r->action->name, word);
	r->num[AT_CONDITIONS] |= bit;
	return 0;
}

/* "txn.name,ifexists": the text is split in place. */
static int
parse_in_paren(struct rule *r, struct cfg_ctx *ctx, int arg, char *text, int conditions)
{
	const char *why = NULL;
	struct var_name name;
	char *word, *rest = text;
	int n = 0;

	word = strsep(&rest, ",");
	if (var_name_parse(str_of(word), &name, &why) < 0)
		return cfg_error(ctx, arg - 1, "'%s %s' : variable '%s': %s.",
			rule_place_name(r->place), r->action->name, word, why);
	if (name.scope == VAR_CHECK)
		return cfg_error(ctx, arg - 1,
			"'%s %s' : variable '%s': the scope 'check' is for health checks.",
			rule_place_name(r->place), r->action->name, word);
	r->num[AT_SCOPE] = name.scope;
	r->num[AT_ID] = (int64_t)name.id;
	while ((word = strsep(&rest, ",")) != NULL) {
		if (!conditions || ++n > CONDITIONS_MAX)
			return cfg_error(ctx, arg - 1, "'%s %s' : unexpected '%s'.",
				rule_place_name(r->place), r->action->name, word);
		if (parse_condition(r, ctx, arg, word) < 0)
			return -1;
	}
	return 0;
}

static int
parse_var_name(struct rule *r, struct cfg_ctx *ctx, int arg, int conditions)
{
	char *text;
	int rc;

	if (act_paren(r, ctx, arg, &text) < 0)
		return -1;
	rc = parse_in_paren(r, ctx, arg, text, conditions);
	mem_free(text);
	return rc;
}

static int
parse_set(struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg, unsigned int at)
{
	if (parse_var_name(r, ctx, arg, 1) < 0 || act_need(r, ctx, arg, 1) < 0 ||
		act_expr(r, v, ctx, arg, at, &r->expr) < 0)
		return -1;
	return arg + 1;
}

static int
parse_set_fmt(struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
	unsigned int at)
{
	if (parse_var_name(r, ctx, arg, 1) < 0 || act_need(r, ctx, arg, 1) < 0 ||
		act_fmt(r, v, ctx, arg, at, &r->fmt[0]) < 0)
		return -1;
	return arg + 1;
}

static int
parse_unset(struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
	unsigned int at)
{
	(void)v;
	(void)at;
	return parse_var_name(r, ctx, arg, 0) < 0 ? -1 : arg;
}

static enum rule_result
store_var(const struct rule *r, struct sample_ctx *cx, const struct sample *s,
	struct rule_outcome *out)
{
	struct var_name name = var_name_of(r);
	int rc = var_cond_hold((unsigned int)r->num[AT_CONDITIONS], cx, name, s) ?
		var_store(cx, name, s) : 0;

	return rc == -ERR_NOMEM ? act_failed(r, out) : RULE_CONT;
}

/* If there is no sample the variable is unchanged. */
static enum rule_result
run_set_var(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out)
{
	size_t mark = arena_mark(cx->arena);
	enum rule_result result = RULE_CONT;
	struct sample s;

	if (rule_expr_eval(r->expr, cx, &s) == 1)
		result = store_var(r, cx, &s, out);
	arena_release(cx->arena, mark);
	return result;
}

static enum rule_result
run_set_fmt(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out)
{
	size_t mark = arena_mark(cx->arena);
	enum rule_result result;
	struct sample s = { .type = SAMPLE_STR };

	if (act_write(r->fmt[0], cx, &s.u.str) < 0)
		result = act_failed(r, out);
	else
		result = store_var(r, cx, &s, out);
	arena_release(cx->arena, mark);
	return result;
}

static enum rule_result
run_unset(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out)
{
	(void)out;
	var_forget(cx, var_name_of(r));
	return RULE_CONT;
}

const struct rule_action rule_var_actions[] = {
	{ .name = "set-var",
		.places = EVERYWHERE,
		.paren = 1,
		.inner = "<name>",
		.parse = parse_set,
		.run = run_set_var,
		.syntax = "<expr>",
		.doc = "Sets a variable to the result of an expression." },
	{ .name = "set-var-fmt",
		.places = EVERYWHERE,
		.paren = 1,
		.inner = "<name>",
		.parse = parse_set_fmt,
		.run = run_set_fmt,
		.syntax = "<fmt>",
		.doc = "Sets a variable to a formatted text." },
	{ .name = "unset-var",
		.places = EVERYWHERE,
		.paren = 1,
		.inner = "<name>",
		.parse = parse_unset,
		.run = run_unset,
		.doc = "Deletes a variable." },
	{ 0 },
};
