/* The fetches and converters of captures (manual 7.3.1, 7.3.6). */
#include "proxy/sample/capture_rule.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "cfg/ctx.h"
#include "http/uri.h"
#include "proxy/model/proxies.h"
#include "proxy/model/session.h"
#include "proxy/sample/http_line.h"
#include "proxy/sample/unique_id.h"
#include "rule/action/act.h"
#include "rule/action/action.h"

static const struct stream *
stream_of(const struct sample_ctx *cx)
{
	return cx->stream;
}

static const struct http_txn *
txn_of(const struct sample_ctx *cx)
{
	return cx->stream ? stream_of(cx)->txn : NULL;
}

/* --- fetches --- */

static int
init_index(struct rule_args *a, const struct rule_vocab *v unused, const char **why)
{
	if (a->arg[0].num >= 0 && a->arg[0].num < CAPTURES_MAX)
		return 0;
	a->bad = 0;
	*why = "a number of 0 to 255 is expected";
	return -1;
}

static int
fetch_hdr(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	struct str text;

	if (!cx->stream || !capture_get(stream_of(cx), (enum capture_kind)a->kind,
				    (unsigned int)a->arg[0].num, &text))
		return 0;
	sample_set_str(s, text);
	return 1;
}

static int
fetch_method(const struct rule_args *a unused, struct sample_ctx *cx, struct sample *s)
{
	struct str method = http_line_method(txn_of(cx));

	sample_set_str(s, method);
	return method.len > 0;
}

/* Starts at the path: scheme and authority of an absolute target are omitted. */
static int
fetch_uri(const struct rule_args *a unused, struct sample_ctx *cx, struct sample *s)
{
	struct str target = http_line_target(txn_of(cx));
	struct http_uri u;

	if (!target.len)
		return 0;
	http_uri_split(target, &u);
	if (!u.path.p)
		return 0;
	sample_set_str(s, (struct str){ u.path.p, (size_t)(target.p + target.len - u.path.p) });
	return 1;
}

static int
fetch_version(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	const struct http_txn *t = txn_of(cx);
	enum http_version v;

	if (!t || (a->kind == CAPTURE_REQUEST ? !t->head_ms : !t->has_res_version))
		return 0;
	v = a->kind == CAPTURE_REQUEST ? t->version : t->res_version;
	sample_set_str(s, http_version_name(v));
	return 1;
}

static int
fetch_id(const struct rule_args *a unused, struct sample_ctx *cx, struct sample *s)
{
	struct str id;

	if (!cx->stream || !unique_id_get(stream_of(cx), cx->arena, &id))
		return 0;
	sample_set_str(s, id);
	return 1;
}

#define HDR(n, k, text)                                                                   \
	{                                                                                 \
		.name = n, .arg = { ARG_INT }, .min = 1, .needs = SAMPLE_AT_CONN,         \
		.either = SAMPLE_AT_REQ | SAMPLE_AT_RES | SAMPLE_AT_TXN | SAMPLE_AT_END,  \
		.out = SAMPLE_STR, .fetch = fetch_hdr, .init = init_index, .kind = k,     \
		.syntax = "<number>", .doc = text                                         \
	}
#define KEPT(n, fn, k, text)                                                              \
	{                                                                                 \
		.name = n, .either = SAMPLE_AT_REQ | SAMPLE_AT_TXN | SAMPLE_AT_END,       \
		.out = SAMPLE_STR, .fetch = fn, .kind = k, .doc = text                    \
	}

const struct rule_fetch capture_fetches[] = {
	HDR("capture.req.hdr", CAPTURE_REQUEST,
		"The request capture with this number, counted from 0."),
	KEPT("capture.req.method", fetch_method, CAPTURE_REQUEST,
		"The method of the original request; also available in responses."),
	KEPT("capture.req.uri", fetch_uri, CAPTURE_REQUEST,
		"The path and query of the original request; also available in responses."),
	KEPT("capture.req.ver", fetch_version, CAPTURE_REQUEST,
		"The version of the original request, such as HTTP/1.1; also available in "
		"responses."),
	HDR("capture.res.hdr", CAPTURE_RESPONSE,
		"The response capture with this number, counted from 0."),
	KEPT("capture.res.ver", fetch_version, CAPTURE_RESPONSE,
		"The version of the server's response, such as HTTP/1.1; also available in logs."),
	{ .name = "unique-id",
		.needs = SAMPLE_AT_CONN,
		.out = SAMPLE_STR,
		.fetch = fetch_id,
		.doc = "The unique id of the request or session: unique-id-format." },
	{ .name = NULL },
};

/* --- converters --- */

static int
conv_capture(const struct rule_args *a, struct sample_ctx *cx, struct sample *s)
{
	enum capture_kind kind = (enum capture_kind)a->kind;
	const struct stream *x = stream_of(cx);
	unsigned int i = (unsigned int)a->arg[0].num;

	if (!x || i >= x->sess->fe->captures.n[kind])
		return 0;
	/* The string may be the contents of the slot. */
	s->u.str = arena_copy(cx->arena, s->u.str);
	if (!s->u.str.p)
		return 0;
	capture_put(x, kind, i, s->u.str);
	return 1;
}

#define CAPTURE(n, k, text)                                                                \
	{                                                                                  \
		.name = n, .arg = { ARG_INT }, .min = 1, .in = SAMPLE_STR,                 \
		.out = SAMPLE_STR, .conv = conv_capture, .init = init_index, .kind = k,    \
		.syntax = "<number>", .doc = text                                          \
	}

const struct rule_conv capture_convs[] = {
	CAPTURE("capture-req", CAPTURE_REQUEST,
		"Stores the sample in this request capture and returns it unchanged."),
	CAPTURE("capture-res", CAPTURE_RESPONSE,
		"Stores the sample in this response capture and returns it unchanged."),
	{ .name = NULL },
};

int
capture_slot_add(struct cfg_ctx *ctx, int arg, enum capture_kind kind, const char *name,
	unsigned int *out)
{
	struct proxy *p = ctx->obj;
	int len;

	if (cfg_arg_int(ctx, arg, 1, CAPTURE_LEN_MAX, &len) < 0)
		return -1;
	switch (capture_add(&p->captures, kind, name, (unsigned int)len, out)) {
	case 0:
		p->captures.slot[kind][p->captures.n[kind] - 1].where = cfg_arg_where(ctx, arg);
		return 0;
	case -ERR_FULL:
		return cfg_error(ctx, arg,
			"too many captures in one section; the limits are %d of a kind and %d "
			"bytes.",
			CAPTURES_MAX, CAPTURE_ROOM_MAX);
	default:
		return cfg_nomem(ctx);
	}
}

/* --- actions --------------------------------------------------------------------------------- */

/* The action `capture` of rules (manual, http-request capture). */

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
		capture_put(cx->stream, (enum capture_kind)r->num[NUM_KIND],
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
