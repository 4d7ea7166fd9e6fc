/* The action set-retries: how often a stream is tried again. Parsed on the main thread, run on the
 * stream's worker, which has no server for it yet. */
#include "proxy/sample/act_retries.h"

#include "cfg/ctx.h"
#include "proxy/model/session.h"
#include "rule/action/act.h"

#define SET_RETRIES_MAX 100

/* An argument that begins with a digit is a number; others are expressions. */
static int
parse_set_retries(struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
	unsigned int at)
{
	int n;

	if (act_need(r, ctx, arg, 1) < 0)
		return -1;
	if (!(at & SAMPLE_AT_BACK) || ctx->section->bit == CFG_DEFAULTS)
		return cfg_error(ctx, arg - 1, "'%s set-retries' : only a backend retries: use it "
			"in a section backend or listen.", rule_place_name(r->place));
	if (cfg_arg(ctx, arg)[0] < '0' || cfg_arg(ctx, arg)[0] > '9')
		return act_expr(r, v, ctx, arg, at, &r->expr) < 0 ? -1 : arg + 1;
	if (cfg_arg_int(ctx, arg, 0, SET_RETRIES_MAX, &n) < 0)
		return -1;
	r->num[0] = n;
	return arg + 1;
}

/* Sets the number of retries. A value that is no number, or out of range, changes nothing. */
static enum rule_result
run_retries(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out)
{
	struct stream *s = out->proxy;
	size_t mark = arena_mark(cx->arena);
	int64_t n = r->num[0];
	struct sample found;

	if (r->expr) {
		n = rule_expr_eval_as(r->expr, cx, SAMPLE_SINT, &found) == 1 ? found.u.sint : -1;
		arena_release(cx->arena, mark);
	}
	if (n >= 0 && n <= SET_RETRIES_MAX)
		s->retries_set = (uint8_t)(n + 1);
	return RULE_CONT;
}

const struct rule_action retries_actions[] = {
	{ .name = "set-retries",
		.places = RULE_IN(HTTP_REQUEST) | RULE_IN(TCP_REQ_CONTENT),
		.parse = parse_set_retries,
		.run = run_retries,
		.syntax = "<number>|<expr>",
		.doc = "Sets how often this request, or connection of mode tcp, is tried again, "
		       "instead of retries: a number, or an expression that gives one, from 0 to "
		       "100. Only in backends.",
		.example = "http-request set-retries 0 if METH_POST" },
	{ 0 },
};
