/* Helpers of the parsers of actions: arguments, format strings, and failures of a run. Parsers run
 * on the main thread, actions on the session's worker. */
#include "rule/action/act.h"

#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "http/scan.h"

int
act_need(const struct rule *r, struct cfg_ctx *ctx, int arg, int n)
{
	if (arg + n <= ctx->argc)
		return 0;
	return cfg_error(ctx, ctx->argc, "'%s %s' expects %s.", rule_place_name(r->place),
		r->action->name, r->action->syntax);
}

int
act_is(const struct cfg_ctx *ctx, int arg, const char *word)
{
	return strcmp(cfg_arg(ctx, arg), word) == 0;
}

int
act_paren(const struct rule *r, struct cfg_ctx *ctx, int arg, char **out)
{
	const char *open = strchr(cfg_arg(ctx, arg - 1), '(');
	size_t len = open ? strlen(open + 1) : 0;

	*out = NULL;
	if (len == 0 || open[len] != ')')
		return cfg_error(ctx, arg - 1, "'%s %s' : ')' is missing at the end of '%s'.",
			rule_place_name(r->place), r->action->name, cfg_arg(ctx, arg - 1));
	*out = mem_strndup(open + 1, len - 1);
	return *out ? 0 : cfg_nomem(ctx);
}

/* An error within an argument, reported as the parsers of rules do. */
static int
explain_error(const struct rule *r, struct cfg_ctx *ctx, int arg, const struct rule_err *why)
{
	return cfg_error(ctx, arg, "'%s %s' : %s (byte %zu of '%s').", rule_place_name(r->place),
		r->action->name, why->text, why->at + 1, cfg_arg(ctx, arg));
}

int
act_is_value(struct str s)
{
	for (size_t i = 0; i < s.len; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if ((c < 0x20 && c != '\t') || c == 0x7f)
			return 0;
	}
	return 1;
}

int
act_fmt(const struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
	unsigned int at, struct rule_fmt **out)
{
	struct rule_err why = { 0 };

	rule_fmt_free(out);
	if (rule_fmt_compile(v, cfg_arg(ctx, arg), 0, at, out, &why) < 0)
		return explain_error(r, ctx, arg, &why);
	return 0;
}

int
act_expr(const struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
	unsigned int at, struct rule_expr **out)
{
	const char *text = cfg_arg(ctx, arg);
	struct rule_err why = { 0 };
	size_t used;

	rule_expr_free(out);
	if (rule_expr_parse(v, text, strlen(text), at, 0, out, &used, &why) < 0)
		return explain_error(r, ctx, arg, &why);
	return 0;
}

int
act_text(struct cfg_ctx *ctx, int arg, struct str *out)
{
	char *copy = mem_strdup(cfg_arg(ctx, arg));

	if (!copy)
		return cfg_nomem(ctx);
	mem_free((char *)(uintptr_t)out->p);
	*out = str_of(copy);
	return 0;
}

int
act_is_token(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (!http_is(s.p[i], HTTP_C_TOKEN))
			return 0;
	return s.len > 0;
}

int
act_field_name(const struct rule *r, struct cfg_ctx *ctx, int arg, struct str *out)
{
	const char *name = cfg_arg(ctx, arg);
	size_t n = strlen(name);

	/* HAProxy sends "name:: value", and finds no field of that name. */
	if (n > 1 && name[n - 1] == ':' && act_is_token((struct str){ name, n - 1 })) {
		cfg_warn(ctx, arg,
			"'%s %s' : the name of a header ends before the colon: this is '%.*s'.",
			rule_place_name(r->place), r->action->name, (int)n - 1, name);
		if (act_text(ctx, arg, out) < 0)
			return -1;
		out->len--;
		((char *)(uintptr_t)out->p)[out->len] = '\0';
		return 0;
	}
	if (!act_is_token(str_of(name)))
		return cfg_error(ctx, arg, "'%s %s' : '%s' cannot be the name of a header.",
			rule_place_name(r->place), r->action->name, name);
	return act_text(ctx, arg, out);
}

int
act_write(const struct rule_fmt *f, struct sample_ctx *cx, struct str *out)
{
	return rule_fmt_text(f, cx, out);
}

int
act_find_room(const struct rule_outcome *out, struct http_head *h, size_t more, size_t less)
{
	size_t n;

	if (!out->most)
		return 1;
	n = http_texts_size(h) - less + more;
	if (n > out->most)
		return 0;
	h->room = (uint32_t)MIN(out->most - n, UINT32_MAX);
	return 1;
}

enum rule_result
act_failed(const struct rule *r, struct rule_outcome *out)
{
	out->failed_rewrites++;
	if (out->non_strict)
		return RULE_CONT;
	out->by = r;
	out->what = RULE_END_ERROR;
	out->status = 500;
	return RULE_FINAL;
}
