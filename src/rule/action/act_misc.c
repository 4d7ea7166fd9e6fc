/* Actions that ask the proxy for something: disable-l7-retry, expect-proxy, set-log-level,
 * set-timeout, strict-mode, wait-for-body, wait-for-handshake. */
#include <string.h>

#include "base/log.h"
#include "cfg/suggest.h"
#include "rule/action/act.h"

#define BODY_MAX INT64_C(0x7fffffff)

/* --- expect-proxy --------------------------------------------------------------------------- */

static int
parse_expect(struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
	unsigned int at)
{
	(void)v;
	(void)at;
	if (act_need(r, ctx, arg, 1) < 0)
		return -1;
	if (!act_is(ctx, arg, "layer4"))
		return cfg_error(ctx, arg,
			"'%s expect-proxy' : the header comes on 'layer4', not on '%s'.",
			rule_place_name(r->place), cfg_arg(ctx, arg));
	return arg + 1;
}

static enum rule_result
run_expect(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out)
{
	(void)r;
	(void)cx;
	out->expects_proxy = 1;
	return RULE_CONT;
}

/* --- set-log-level -------------------------------------------------------------------------- */

enum { LEVEL_SILENT = -1 };

static const struct cfg_enum level_words[] = {
#define LEVEL(id, name) { name, LOG_LEVEL_##id, "The level; the default is info." },
	LOG_LEVEL_WORDS(LEVEL, )
#undef LEVEL
	{ "silent", LEVEL_SILENT, "The request is not logged." },
	{ 0 },
};

static int
parse_log_level(struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
	unsigned int at)
{
	const struct cfg_enum *e;

	(void)v;
	(void)at;
	if (act_need(r, ctx, arg, 1) < 0)
		return -1;
	e = cfg_enum_find(level_words, cfg_arg(ctx, arg), strlen(cfg_arg(ctx, arg)));
	if (!e)
		return cfg_error(ctx, arg,
			"'%s set-log-level' : unknown level '%s'; there are "
#define LEVEL(id, name) name
			LOG_LEVEL_WORDS(LEVEL, ", ")
#undef LEVEL
			" and silent.",
			rule_place_name(r->place), cfg_arg(ctx, arg));
	r->num[0] = e->value == LEVEL_SILENT ? -1 : e->value + 1;
	return arg + 1;
}

static enum rule_result
run_log_level(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out)
{
	(void)cx;
	out->log_level = (int)r->num[0];
	return RULE_CONT;
}

/* --- set-timeout ---------------------------------------------------------------------------- */

static const struct cfg_enum timeout_names[] = {
	{ "server", RULE_TIMEOUT_SERVER, "timeout server of this request." },
	{ "tunnel", RULE_TIMEOUT_TUNNEL, "timeout tunnel of this request." },
	{ 0 },
};

/* An argument that begins with a digit is a time; others are expressions. */
static int
parse_set_timeout(struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
	unsigned int at)
{
	uint64_t ms;
	int which;

	if (act_need(r, ctx, arg, 2) < 0)
		return -1;
	if (!(at & SAMPLE_AT_BACK) || ctx->section->bit == CFG_FRONTEND)
		return cfg_error(ctx, arg,
			"'%s set-timeout' : a frontend has none of these timeouts: use it in the "
				"backend.",
			rule_place_name(r->place));
	if (cfg_arg_enum(ctx, arg, timeout_names, &which) < 0)
		return -1;
	r->num[0] = which;
	if (cfg_arg(ctx, arg + 1)[0] < '0' || cfg_arg(ctx, arg + 1)[0] > '9')
		return act_expr(r, v, ctx, arg + 1, at, &r->expr) < 0 ? -1 : arg + 2;
	if (cfg_arg_time(ctx, arg + 1, CFG_UNIT_MS, 1, CFG_TIME_MAX_MS, &ms) < 0)
		return -1;
	r->num[1] = (int64_t)ms;
	return arg + 2;
}

static enum rule_result
run_timeout(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out)
{
	size_t mark = arena_mark(cx->arena);
	int64_t ms = r->num[1];
	struct sample s;

	if (r->expr) {
		ms = rule_expr_eval_as(r->expr, cx, SAMPLE_SINT, &s) == 1 ? s.u.sint : 0;
		arena_release(cx->arena, mark);
	}
	if (ms > 0 && ms <= (int64_t)CFG_TIME_MAX_MS)
		out->timeout_ms[r->num[0]] = (unsigned int)ms;
	return RULE_CONT;
}

/* --- strict-mode ---------------------------------------------------------------------------- */

static int
parse_strict(struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
	unsigned int at)
{
	int on;

	(void)v;
	(void)at;
	if (act_need(r, ctx, arg, 1) < 0 || cfg_arg_bool(ctx, arg, &on) < 0)
		return -1;
	r->num[0] = !on;
	return arg + 1;
}

static enum rule_result
run_strict(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out)
{
	(void)cx;
	out->non_strict = (int)r->num[0];
	return RULE_CONT;
}

/* --- wait-for-body -------------------------------------------------------------------------- */

static int
parse_wait(struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
	unsigned int at)
{
	uint64_t ms, least = 0;

	(void)v;
	(void)at;
	if (!act_is(ctx, arg, "time") || arg + 1 >= ctx->argc)
		return cfg_error(ctx, arg, "'%s wait-for-body' expects %s.",
			rule_place_name(r->place), r->action->syntax);
	if (cfg_arg_time(ctx, arg + 1, CFG_UNIT_MS, 0, CFG_TIME_MAX_MS, &ms) < 0)
		return -1;
	r->num[0] = (int64_t)ms;
	if (!act_is(ctx, arg + 2, "at-least"))
		return arg + 2;
	if (cfg_arg_size(ctx, arg + 3, 0, BODY_MAX, &least) < 0)
		return -1;
	r->num[1] = (int64_t)least;
	return arg + 4;
}

/* After the deadline the proxy ends the wait. A time of 0 is none, as in HAProxy: the timeout of
 * the side that sends the body bounds it. */
static enum rule_result
run_wait(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out)
{
	size_t mark = arena_mark(cx->arena);
	struct sample_body body = sample_body_of(cx, r->place == RULE_HTTP_RESPONSE);

	arena_release(cx->arena, mark);
	if (body.is_whole || body.is_full ||
		(r->num[1] && body.content.len >= (size_t)r->num[1]))
		return RULE_CONT;
	out->wait_ms = (unsigned int)r->num[0];
	return RULE_YIELD;
}

/* --- disable-l7-retry ----------------------------------------------------------------------- */

static enum rule_result
run_no_retry(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out)
{
	(void)r;
	(void)cx;
	out->no_l7_retry = 1;
	return RULE_CONT;
}

/* --- wait-for-handshake --------------------------------------------------------------------- */

/* Without early data every request comes after the handshake. */
static enum rule_result
run_handshake(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out)
{
	(void)r;
	(void)cx;
	(void)out;
	return RULE_CONT;
}

const struct rule_action rule_misc_actions[] = {
	{ .name = "disable-l7-retry",
		.places = RULE_IN(HTTP_REQUEST),
		.run = run_no_retry,
		.doc = "Sends this request again only after a connection failure, whatever "
			"retry-on says." },
	{ .name = "expect-proxy",
		.places = RULE_IN(TCP_CONNECTION),
		.parse = parse_expect,
		.run = run_expect,
		.syntax = "layer4",
		.doc = "Requires the connection to begin with a PROXY header of version 1 or 2; "
			"layer4 is the only word." },
	{ .name = "set-log-level",
		.values = level_words,
		.places = RULE_IN(HTTP_REQUEST) | RULE_IN(HTTP_RESPONSE) |
			  RULE_IN(TCP_REQ_CONTENT) | RULE_IN(TCP_RES_CONTENT),
		.parse = parse_log_level,
		.run = run_log_level,
		.syntax = "<level>|silent",
		.doc = "Sets the level of the log line, or disables logging." },
	{ .name = "set-timeout",
		.values = timeout_names,
		.places = RULE_IN(HTTP_REQUEST) | RULE_IN(HTTP_RESPONSE),
		.parse = parse_set_timeout,
		.run = run_timeout,
		.syntax = "server|tunnel <time>|<expr>",
		.doc = "Sets another timeout for this request: a time, or an expression that "
			"gives milliseconds. Only in backends." },
	{ .name = "strict-mode",
		.places = RULE_IN_HTTP,
		.parse = parse_strict,
		.run = run_strict,
		.syntax = "on|off",
		.doc = "Whether a rewrite that fails, in the rules of the same list that "
			"follow, ends the message with an error: on, which is the default, or "
			"off." },
	{ .name = "wait-for-body",
		.example = "http-request wait-for-body time 1s at-least 1024 if METH_POST",
		.places = RULE_IN(HTTP_REQUEST) | RULE_IN(HTTP_RESPONSE),
		.parse = parse_wait,
		.run = run_wait,
		.syntax = "time <time> [at-least <bytes>]",
		.doc = "Waits for the body, or for this many bytes of it, and at most for this "
			"time." },
	{ .name = "wait-for-handshake",
		.places = RULE_IN(HTTP_REQUEST),
		.run = run_handshake,
		.doc = "Continues: there is no early data, so the handshake is over." },
	{ 0 },
};

/* --- use-service ----------------------------------------------------------------------------- */

/*
 * The action use-service: a service of the program responds. Parsed on the main thread, only
 * read after that.
 */

static const char exporter_name[] = "prometheus-exporter";

static int
parse_service(struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
	unsigned int at)
{
	struct cfg_suggest s;

	(void)v;
	(void)at;
	if (act_need(r, ctx, arg, 1) < 0)
		return -1;
	if (act_is(ctx, arg, exporter_name))
		return arg + 1;
	if (rule_is_of_lua(str_of(cfg_arg(ctx, arg))))
		return cfg_error(ctx, arg, "'%s use-service %s' is not supported.",
			rule_place_name(r->place), cfg_arg(ctx, arg));
	cfg_suggest_init(&s, cfg_arg(ctx, arg));
	cfg_suggest_offer(&s, exporter_name);
	return cfg_error(ctx, arg,
		s.best ? "'%s use-service' : unknown service name '%s'; did you mean '%s'?"
		       : "'%s use-service' : unknown service name '%s'; there is only '%s'.",
		rule_place_name(r->place), cfg_arg(ctx, arg), exporter_name);
}

static enum rule_result
run_service(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out)
{
	(void)cx;
	out->by = r;
	out->what = RULE_END_SERVICE;
	return RULE_FINAL;
}

const struct rule_action rule_service_actions[] = {
	{ .name = "use-service",
		.places = RULE_IN(HTTP_REQUEST),
		.parse = parse_service,
		.ends = 1,
		.run = run_service,
		.syntax = "prometheus-exporter",
		.doc = "Responds with metrics in Prometheus' text format." },
	{ 0 },
};
