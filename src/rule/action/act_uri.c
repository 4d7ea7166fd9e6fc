/* Actions on start lines: set-method, set-path and its like, replace-path and its like,
 * set-status. The result is judged as the parser judges its input. */
#include <string.h>

#include "base/err.h"
#include "http/head.h"
#include "http/reply.h"
#include "http/status.h"
#include "http/uri.h"
#include "rule/action/act.h"
#include "rule/sample/regex.h"

static int
parse_fmt(struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg, unsigned int at)
{
	if (act_need(r, ctx, arg, 1) < 0 || act_fmt(r, v, ctx, arg, at, &r->fmt[0]) < 0)
		return -1;
	return arg + 1;
}

/* --- methods -------------------------------------------------------------------------------- */

/* True for a method whose response is framed in another way than those of other methods: a client
 * that has sent another method would wait for more bytes. */
static int
decides_framing(enum http_method m)
{
	return m == HTTP_HEAD || m == HTTP_CONNECT;
}

static int
parse_set_method(struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
	unsigned int at)
{
	const char *literal;

	if (parse_fmt(r, v, ctx, arg, at) < 0)
		return -1;
	literal = rule_fmt_literal(r->fmt[0]);
	if (literal && !act_is_token(str_of(literal)))
		return cfg_error(ctx, arg, "'%s set-method' : '%s' cannot be a method.",
			rule_place_name(r->place), literal);
	if (literal && decides_framing(http_method_of(str_of(literal))))
		return cfg_error(ctx, arg,
			"'%s set-method' : a request cannot be changed to %s, whose response ends "
			"differently.",
			rule_place_name(r->place), literal);
	return arg + 1;
}

static enum rule_result
run_method(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out)
{
	struct http_head *h = cx->req;
	enum http_method m;
	struct str text;

	if (act_write(r->fmt[0], cx, &text) < 0 || !act_is_token(text))
		return act_failed(r, out);
	m = http_method_of(text);
	/* A response to what was a HEAD: only the head is sent. */
	if ((m != h->method && (decides_framing(m) || h->method == HTTP_CONNECT)) ||
		!act_fits(out, h, text.len, h->method_text.len))
		return act_failed(r, out);
	h->method = m;
	h->method_text = text;
	return RULE_CONT;
}

/* --- targets -------------------------------------------------------------------------------- */

static struct str
uri_part_of(struct str target, enum http_part part)
{
	struct http_uri u;

	if (part == HTTP_PART_URI)
		return target;
	http_uri_split(target, &u);
	if (part == HTTP_PART_QUERY)
		return u.query;
	return part == HTTP_PART_PATH ? u.path : u.pathq;
}

/* A new target may bring an authority, which is Host then. */
static int
target_fits(const struct rule_outcome *out, struct http_head *h, enum http_part part,
	struct str value)
{
	size_t more = value.len + 1;

	if (part == HTTP_PART_URI && value.len && value.p[0] != '/')
		more += value.len;
	if (act_take_room(h, more))
		return 1;
	return act_find_room(out, h, more, uri_part_of(h->target, part).len);
}

static int
set_uri_part(struct sample_ctx *cx, enum http_part part, struct str value,
	const struct rule_outcome *out)
{
	size_t mark = arena_mark(cx->arena), room = cx->req->target.len + value.len + 1;
	char *p = target_fits(out, cx->req, part, value) ? arena_get(cx->arena, room) : NULL;

	if (!p)
		return -1;
	if (http_set_part(cx->req, part, value, p, room) == 0)
		return 0;
	arena_release(cx->arena, mark);
	return -1;
}

static enum rule_result
run_set_uri(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out)
{
	struct str value;

	if (act_write(r->fmt[0], cx, &value) < 0 ||
		set_uri_part(cx, (enum http_part)r->action->kind, value, out) < 0)
		return act_failed(r, out);
	return RULE_CONT;
}

static int
parse_replace_uri(struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
	unsigned int at)
{
	struct regex_err why = { 0 };
	struct regex *re;
	const char *bad;

	if (act_need(r, ctx, arg, 2) < 0)
		return -1;
	if (regex_new(str_of(cfg_arg(ctx, arg)), 0, &re, &why) < 0)
		return cfg_error(ctx, arg, "'%s %s' : %s (byte %zu of '%s').",
			rule_place_name(r->place), r->action->name, why.text, why.at + 1,
			cfg_arg(ctx, arg));
	r->ref = re;
	if (act_fmt(r, v, ctx, arg + 1, at, &r->fmt[0]) < 0)
		return -1;
	bad = rule_fmt_literal(r->fmt[0]) ? regex_subst_why_not(str_of(rule_fmt_literal(r->fmt[0])))
					  : NULL;
	if (bad)
		return cfg_error(ctx, arg + 1, "'%s %s' : %s.", rule_place_name(r->place),
			r->action->name, bad);
	return arg + 2;
}

static enum rule_result
run_replace_uri(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out)
{
	enum http_part part = (enum http_part)r->action->kind;
	struct str old = uri_part_of(cx->req->target, part), subst;
	struct arena *a = cx->arena;
	struct regex_match m;
	struct sbuf b;

	if (!old.p || !regex_match(r->ref, cx, old, 0, &m))
		return RULE_CONT;
	if (act_write(r->fmt[0], cx, &subst) < 0 || a->cap == a->used)
		return act_failed(r, out);
	sbuf_init_fixed(&b, a->p + a->used, a->cap - a->used);
	regex_subst(subst, &m, &b);
	if (b.failed) {
		a->refused++;
		return act_failed(r, out);
	}
	a->used += b.len;
	if (set_uri_part(cx, part, (struct str){ b.p, b.len }, out) < 0)
		return act_failed(r, out);
	return RULE_CONT;
}

static void
free_uri_regex(struct rule *r)
{
	struct regex *re = r->ref;

	regex_free(&re);
}

/* --- set-status ----------------------------------------------------------------------------- */

static int
parse_status(struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
	unsigned int at)
{
	int status;

	(void)v;
	(void)at;
	if (act_need(r, ctx, arg, 1) < 0 || cfg_arg_int(ctx, arg, 100, 999, &status) < 0)
		return -1;
	if (status < 200)
		return cfg_error(ctx, arg,
			"'%s set-status' : %d is no final status: the client would wait for "
			"another response.",
			rule_place_name(r->place), status);
	r->num[0] = status;
	if (!act_is(ctx, arg + 1, "reason"))
		return arg + 1;
	if (act_need(r, ctx, arg, 3) < 0)
		return -1;
	if (!act_is_value(str_of(cfg_arg(ctx, arg + 2))))
		return cfg_error(ctx, arg + 2,
			"'%s set-status' : control characters are not allowed in a reason.",
			rule_place_name(r->place));
	return act_text(ctx, arg + 2, &r->text[0]) < 0 ? -1 : arg + 3;
}

/* The field "Content-Length: 0", about. */
#define CONTENT_LENGTH_MAX 32

/* True for a response whose status allows no body, unless an earlier rule has set that status: then
 * the body is still there. */
static int
lacks_body(const struct http_head *h)
{
	return http_status_has_no_body(h->status) && h->method != HTTP_HEAD &&
		h->framing == HTTP_BODY_NONE;
}

/* A response without a body becomes one with an empty body. */
static int
give_body(struct http_head *h, struct arena *a)
{
	char *digits = arena_get(a, HTTP_LENGTH_DIGITS);

	return digits ? http_set_length(h, 0, digits) : -ERR_INVAL;
}

static enum rule_result
run_status(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out)
{
	struct http_head *h = cx->res;
	unsigned int status = (unsigned int)r->num[0];
	struct str reason = r->text[0].p ? r->text[0] : str_of(http_status_reason(status));

	/* 101 is not a final response. */
	if (h->status < 200 || !act_fits(out, h, reason.len + CONTENT_LENGTH_MAX, h->reason.len))
		return act_failed(r, out);
	if (!http_status_has_no_body(status) && lacks_body(h) && give_body(h, cx->arena) < 0)
		return act_failed(r, out);
	h->status = status;
	h->reason = reason;
	return RULE_CONT;
}

#define SET(n, part, text)                                                          \
	{                                                                           \
		.name = n, .places = RULE_IN(HTTP_REQUEST), .parse = parse_fmt,     \
		.run = run_set_uri, .syntax = "<fmt>", .doc = text, .kind = part        \
	}
#define REPLACE(n, part, text)                                                      \
	{                                                                           \
		.name = n, .places = RULE_IN(HTTP_REQUEST), .parse = parse_replace_uri, \
		.run = run_replace_uri, .free = free_uri_regex, .syntax = "<regex> <fmt>",  \
		.doc = text, .kind = part                                           \
	}

const struct rule_action rule_uri_actions[] = {
	{ .name = "set-method",
		.places = RULE_IN(HTTP_REQUEST),
		.parse = parse_set_method,
		.run = run_method,
		.syntax = "<fmt>",
		.doc = "Sets the method. HEAD and CONNECT cannot be set, and CONNECT cannot be "
		       "replaced. Of the response to what was a HEAD the client gets the head." },
	SET("set-path", HTTP_PART_PATH, "Sets the path; the query stays the same."),
	SET("set-pathq", HTTP_PART_PATHQ, "Sets the path and the query."),
	SET("set-query", HTTP_PART_QUERY, "Sets the query."),
	SET("set-uri", HTTP_PART_URI, "Sets the whole request target."),
	REPLACE("replace-path", HTTP_PART_PATH, "Replaces a path that matches."),
	REPLACE("replace-pathq", HTTP_PART_PATHQ, "Replaces a path and query that match."),
	REPLACE("replace-uri", HTTP_PART_URI, "Replaces a request target that matches."),
	{ .name = "set-status",
		.places = RULE_IN(HTTP_RESPONSE) | RULE_IN(HTTP_AFTER_RESPONSE),
		.parse = parse_status,
		.run = run_status,
		.syntax = "<status> [reason <text>]",
		.doc = "Sets the status, of 200 to 999. With 204 and 304 the body is dropped." },
	{ 0 },
};
