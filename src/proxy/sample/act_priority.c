/* Actions set-priority-class and set-priority-offset: the session's place in queues. Parsed on the
 * main thread, run on the session's worker, which has not queued it yet. */
#include "proxy/sample/act_priority.h"

#include "cfg/ctx.h"
#include "proxy/model/session.h"
#include "rule/action/act.h"

#define CLASS_MAX 2047
#define OFFSET_MAX 524287

static int
parse_priority(struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
	unsigned int at)
{
	if (act_need(r, ctx, arg, 1) < 0 || act_expr(r, v, ctx, arg, at, &r->expr) < 0)
		return -1;
	return arg + 1;
}

/* Sets *out to the rule's number, limited to max and -max: 1, or 0 if there is none. */
static int
eval_clamped(const struct rule *r, struct sample_ctx *cx, int max, int *out)
{
	size_t mark = arena_mark(cx->arena);
	struct sample s;
	int found = rule_expr_eval_as(r->expr, cx, SAMPLE_SINT, &s) == 1;

	arena_release(cx->arena, mark);
	if (found)
		*out = (int)MIN(MAX(s.u.sint, -max), max);
	return found;
}

static enum rule_result
run_class(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out)
{
	struct stream *s = out->proxy;
	int v;

	if (eval_clamped(r, cx, CLASS_MAX, &v))
		s->prio_class = v;
	return RULE_CONT;
}

static enum rule_result
run_offset(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out)
{
	struct stream *s = out->proxy;
	int v;

	if (eval_clamped(r, cx, OFFSET_MAX, &v))
		s->prio_offset = v;
	return RULE_CONT;
}

#define PRIORITY(n, action, text)                                                     \
	{                                                                             \
		.name = n, .places = RULE_IN(HTTP_REQUEST) | RULE_IN(TCP_REQ_CONTENT), \
		.parse = parse_priority, .run = action, .syntax = "<sample>",         \
		.doc = text                                                           \
	}

const struct rule_action priority_actions[] = {
	PRIORITY("set-priority-class", run_class,
		"Sets the class of the request in the queues of servers, from -2047 to 2047; other "
		"values become the nearest one. Lower classes are served first."),
	PRIORITY("set-priority-offset", run_offset,
		"Sets how many ms later the request came as far as queues are concerned, from "
		"-524287 to 524287; other values become the nearest one. Within its class the "
		"earliest request is served first."),
	{ 0 },
};
