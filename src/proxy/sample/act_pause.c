/* The action pause: rules wait for a time, as they wait for an answer. Parsed on the main thread,
 * run on the stream's worker. */
#include "proxy/sample/act_pause.h"

#include "base/mem.h"
#include "cfg/ctx.h"
#include "cfg/value.h"
#include "event/profile.h"
#include "proxy/model/http_txn.h"
#include "proxy/model/stream_extras.h"
#include "rule/action/act.h"

/* So much longer than its own timer the rule waits. */
#define WAIT_SPARE_MS 1000u

/* An argument that begins with a digit is a time; others are expressions. */
static int
parse_pause(struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
	unsigned int at)
{
	uint64_t ms;

	if (act_need(r, ctx, arg, 1) < 0)
		return -1;
	if (cfg_arg(ctx, arg)[0] < '0' || cfg_arg(ctx, arg)[0] > '9')
		return act_expr(r, v, ctx, arg, at, &r->expr) < 0 ? -1 : arg + 1;
	if (cfg_arg_time(ctx, arg, CFG_UNIT_MS, 0, CFG_TIME_MAX_MS, &ms) < 0)
		return -1;
	r->num[0] = (int64_t)ms;
	return arg + 1;
}

/* The rule's time; 0: it does not wait. */
static uint64_t
eval_pause(const struct rule *r, struct sample_ctx *cx)
{
	size_t mark = arena_mark(cx->arena);
	struct sample found;
	int64_t ms = r->num[0];

	if (r->expr) {
		ms = rule_expr_eval_as(r->expr, cx, SAMPLE_SINT, &found) == 1 ? found.u.sint : 0;
		arena_release(cx->arena, mark);
	}
	return ms > 0 && ms <= (int64_t)CFG_TIME_MAX_MS ? (uint64_t)ms : 0;
}

/* The rule's pause, NULL: it has not begun. */
static struct stream_pause *
pause_of(const struct stream *s, const struct rule *r)
{
	struct stream_pause *p = s->extras ? s->extras->pause : NULL;

	return p && p->by == r ? p : NULL;
}

static void
on_pause_timer(struct timer *t)
{
	struct stream_pause *p = container_of(t, struct stream_pause, timer);

	p->is_over = 1;
	stream_take_answer(p->s);
}
PROFILE_NAME(on_pause_timer, pause_timer)

/* 1: the stream waits, or 0: there is no memory. */
static int
begin_pause(struct stream *s, const struct rule *r, uint64_t ms)
{
	struct stream_extras *x = stream_extras_get(s);
	struct stream_pause *p = x ? mem_zalloc(sizeof(*p)) : NULL;

	if (!p)
		return 0;
	p->s = s;
	p->by = r;
	p->ms = (unsigned int)ms;
	timer_init(&p->timer, on_pause_timer);
	if (timer_set(loop_timers(s->engine->loop), &p->timer, stream_now_ms(s) + ms) < 0) {
		mem_free(p);
		return 0;
	}
	x->pause = p;
	stream_await_answer(s);
	return 1;
}

static void
end_pause(struct stream *s)
{
	stream_drop_pause(s);
	stream_forget_answer(s);
	s->txn->wait_until_ms = 0;
}

/* Waits for the time of the rule. A response of a cache does not wait. */
static enum rule_result
run_pause(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out)
{
	struct stream *s = out->proxy;
	struct stream_pause *p = pause_of(s, r);
	uint64_t ms;

	if (p && p->is_over) {
		end_pause(s);
		return RULE_CONT;
	}
	if (!p) {
		if (!cx->req && stream_is_served_by_cache(s))
			return RULE_CONT;
		ms = eval_pause(r, cx);
		if (!ms || !begin_pause(s, r, ms))
			return RULE_CONT;
		p = s->extras->pause;
	}
	out->awaits_answer = 1;
	out->wait_ms = MIN(p->ms + WAIT_SPARE_MS, CFG_TIME_MAX_MS);
	return RULE_YIELD;
}

static int
has_paused(const struct rule *r, const struct rule_outcome *out)
{
	return pause_of(out->proxy, r) != NULL;
}

const struct rule_action pause_actions[] = {
	{ .name = "pause",
		.places = RULE_IN(HTTP_REQUEST) | RULE_IN(HTTP_RESPONSE),
		.parse = parse_pause,
		.run = run_pause,
		.has_begun = has_paused,
		.syntax = "<time>|<expr>",
		.doc = "The rules behind it wait for this time, or for the milliseconds that an "
		       "expression gives: to slow down some clients, or to debug. A response of "
		       "a cache does not wait.",
		.example = "stick-table type ip size 100k expire 1m store http_req_rate(10s)\n"
			   "http-request track-sc0 src\n"
			   "http-request pause 200 if { sc_http_req_rate(0) gt 50 }" },
	{ 0 },
};
