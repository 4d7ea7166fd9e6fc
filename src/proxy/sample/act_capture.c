/* The action `capture` of rules (manual, http-request capture). */
#include "proxy/sample/act_capture.h"

#include <stdio.h>
#include <string.h>

#include "cfg/ctx.h"
#include "proxy/sample/capture_rule.h"
#include "proxy/model/session.h"
#include "rule/action/act.h"

enum { NUM_KIND, NUM_INDEX };

static int
capture_syntax_error(const struct rule *r, struct cfg_ctx *ctx, int arg)
{
	return cfg_error(ctx, arg, "'%s capture' expects %s.", rule_place_name(r->place),
		r->action->syntax);
}

/* "len": a new slot of this section, or of the frontends that inherit from it. */
static int
parse_len(struct rule *r, struct cfg_ctx *ctx, int arg)
{
	const struct proxy *p = ctx->obj;
	unsigned int i = 0;

	if (!(p->caps & (PROXY_FE | PROXY_DEFAULTS)))
		return cfg_error(ctx, arg - 1,
			"'%s capture' : '%s' is no frontend: use the 'id' of a slot that a "
			"frontend declares.",
			rule_place_name(r->place), p->name);
	if (capture_slot_add(ctx, arg, (enum capture_kind)r->num[NUM_KIND], NULL, &i) < 0)
		return -1;
	r->num[NUM_INDEX] = i;
	return 0;
}

/* A backend may be used by any frontend: only rules in a frontend can be checked. */
static int
parse_capture_id(struct rule *r, struct cfg_ctx *ctx, int arg)
{
	const struct proxy *p = ctx->obj;
	int i;

	if (cfg_arg_int(ctx, arg, 0, CAPTURES_MAX - 1, &i) < 0)
		return -1;
	r->num[NUM_INDEX] = i;
	if (p->caps & PROXY_FE)
		r->ref = ctx->obj;
	return 0;
}

static int
parse_capture(struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
	unsigned int at)
{
	int may_len = r->place == RULE_HTTP_REQUEST || r->place == RULE_TCP_REQ_CONTENT;
	int may_id = r->place != RULE_TCP_REQ_CONTENT;
	const char *how = cfg_arg(ctx, arg + 1);

	r->num[NUM_KIND] = may_len ? CAPTURE_REQUEST : CAPTURE_RESPONSE;
	if (arg + 2 >= ctx->argc)
		return capture_syntax_error(r, ctx, ctx->argc - 1);
	if (act_expr(r, v, ctx, arg, at, &r->expr) < 0)
		return -1;
	if (may_len && strcmp(how, "len") == 0)
		return parse_len(r, ctx, arg + 2) < 0 ? -1 : arg + 3;
	if (may_id && strcmp(how, "id") == 0)
		return parse_capture_id(r, ctx, arg + 2) < 0 ? -1 : arg + 3;
	return capture_syntax_error(r, ctx, arg + 1);
}

static int
check_capture(struct rule *r, void *root unused, struct rule_err *why)
{
	const struct proxy *p = r->ref;
	int64_t i = r->num[NUM_INDEX];

	if (!p || i < p->captures.n[r->num[NUM_KIND]])
		return 0;
	(void)snprintf(why->text, sizeof(why->text),
		"'%s' declares no capture %lld of the %s", p->name, (long long)i,
		r->num[NUM_KIND] == CAPTURE_REQUEST ? "request" : "response");
	return -1;
}

/* Stores the sample. In mode tcp the rule waits for one that data may still bring. */
static enum rule_result
run_capture(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out unused)
{
	size_t mark = arena_mark(cx->arena);
	struct sample s;
	int found = rule_expr_eval_as(r->expr, cx, SAMPLE_STR, &s) == 1;

	if (found)
		capture_put(cx->session, (enum capture_kind)r->num[NUM_KIND],
			(unsigned int)r->num[NUM_INDEX], s.u.str);
	arena_release(cx->arena, mark);
	if (!found && s.may_change && !cx->req_ended && r->place == RULE_TCP_REQ_CONTENT)
		return RULE_YIELD;
	return RULE_CONT;
}

#define ACTION(where, syn)                                                                \
	{                                                                                 \
		.name = "capture", .places = where, .parse = parse_capture,               \
		.run = run_capture, .check = check_capture, .syntax = syn,                \
		.doc = "Stores a sample for the log line."                                 \
	}

const struct rule_action capture_actions[] = {
	ACTION(RULE_IN(TCP_REQ_CONTENT), "<sample> len <length>"),
	ACTION(RULE_IN(HTTP_REQUEST), "<sample> len <length>|id <number>"),
	ACTION(RULE_IN(HTTP_RESPONSE) | RULE_IN(HTTP_AFTER_RESPONSE), "<sample> id <number>"),
	{ 0 },
};
