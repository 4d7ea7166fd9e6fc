/* Actions on the fields of a head: set-header, add-header, del-header, replace-header,
 * replace-value. */
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "http/head.h"
#include "http/uri.h"
#include "rule/action/act.h"
#include "rule/sample/regex.h"

enum { FIELD_SET, FIELD_ADD };
enum { REPLACE_LINE, REPLACE_ELEMENT };

/* Matching method of del-header for names: num[0]. */
enum { NAME_STR, NAME_BEG, NAME_END, NAME_SUB, NAME_REG };

static struct http_head *
head_at_place(const struct rule *r, const struct sample_ctx *cx)
{
	return r->place == RULE_HTTP_REQUEST ? cx->req : cx->res;
}

/*
 * Fields that delimit a message. A forwarded message must end where the received one ended:
 * changing them would split or join messages.
 */
static int
is_framing(struct str name)
{
	enum http_field_id id = http_field_id(name);

	return id == HTTP_F_CONTENT_LENGTH || id == HTTP_F_TRANSFER_ENCODING;
}

static int
parse_field_name(struct rule *r, struct cfg_ctx *ctx, int arg)
{
	if (act_field_name(r, ctx, arg, &r->text[0]) < 0)
		return -1;
	if (is_framing(r->text[0]))
		return cfg_error(ctx, arg,
			"'%s %s' : '%s' frames the message: rules cannot change it.",
			rule_place_name(r->place), r->action->name, cfg_arg(ctx, arg));
	return 0;
}

/* Constant formats are checked when they are read. */
static int
parse_value(struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
	unsigned int at)
{
	if (!act_is_value(str_of(cfg_arg(ctx, arg))))
		return cfg_error(ctx, arg,
			"'%s %s' : control characters are not allowed in a header.",
			rule_place_name(r->place), r->action->name);
	return act_fmt(r, v, ctx, arg, at, &r->fmt[0]);
}

static int
parse_field(struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
	unsigned int at)
{
	if (act_need(r, ctx, arg, 2) < 0 || parse_field_name(r, ctx, arg) < 0 ||
		parse_value(r, v, ctx, arg + 1, at) < 0)
		return -1;
	r->num[0] = r->action->kind;
	/* HAProxy sends two of them. */
	if (r->action->kind == FIELD_ADD && http_field_id(r->text[0]) == HTTP_F_HOST) {
		cfg_warn(ctx, arg,
			"'%s add-header' : a request has one Host: it is replaced, as by "
			"'set-header'.",
			rule_place_name(r->place));
		r->num[0] = FIELD_SET;
	}
	return arg + 2;
}

/* The authority of a target must equal Host. */
static int
follow_host(const struct rule *r, struct sample_ctx *cx)
{
	struct arena *a = cx->arena;
	size_t room, used;
	char *p;

	if (r->place != RULE_HTTP_REQUEST || http_field_id(r->text[0]) != HTTP_F_HOST)
		return 0;
	room = cx->req->target.len;
	for (int i = http_find_id(cx->req, HTTP_F_HOST, 0); i >= 0;
		i = http_find_id(cx->req, HTTP_F_HOST, (unsigned int)i + 1))
		room += cx->req->field[i].value.len;
	used = arena_mark(a);
	p = arena_get(a, room + 1);
	if (!p)
		return -1;
	if (http_follow_host(cx->req, p, room + 1) == 0)
		return 0;
	arena_release(a, used);
	return -1;
}

/* Replaces the first field of that name and drops the others: that needs no space. */
static int
set_field(struct http_head *h, struct str name, struct str value)
{
	int at = http_find(h, name, 0);

	if (at < 0)
		return http_add(h, name, value);
	h->field[at].name = name;
	h->field[at].value = value;
	h->field[at].arrived = 0;
	for (int i = http_find(h, name, (unsigned int)at + 1); i >= 0;
		i = http_find(h, name, (unsigned int)i + 1))
		http_drop(h, (unsigned int)i);
	return 0;
}

/* The authority of a target follows Host, and grows with it. */
static size_t
growth_of_target(const struct rule *r, const struct http_head *h, struct str host)
{
	if (r->place != RULE_HTTP_REQUEST || http_field_id(r->text[0]) != HTTP_F_HOST ||
		(h->target.len && h->target.p[0] == '/'))
		return 0;
	return host.len;
}

static int
field_fits(const struct rule *r, struct http_head *h, struct str value,
	const struct rule_outcome *out)
{
	struct str name = r->text[0];
	size_t more = name.len + value.len + HTTP_FIELD_EXTRA;

	/* Twice the value is enough for all fields. */
	if (act_take_room(h, more + value.len))
		return 1;
	return act_find_room(out, h, more + growth_of_target(r, h, value),
		r->action->kind == FIELD_SET ? http_fields_size(h, name) : 0);
}

static enum rule_result
run_field(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out)
{
	struct http_head *h = head_at_place(r, cx);
	struct str value;
	int rc;

	if (act_write(r->fmt[0], cx, &value) < 0 || !act_is_value(value) ||
		!field_fits(r, h, value, out))
		return act_failed(r, out);
	rc = r->num[0] == FIELD_SET ? set_field(h, r->text[0], str_trim(value))
				    : http_add(h, r->text[0], str_trim(value));
	if (rc < 0 || follow_host(r, cx) < 0)
		return act_failed(r, out);
	return RULE_CONT;
}

/* --- early-hint ----------------------------------------------------------------------------- */

static struct rule_hint *
new_hint(struct arena *a)
{
	size_t align = _Alignof(struct rule_hint);
	char *p = arena_get(a, sizeof(struct rule_hint) + align - 1);

	return p ? (struct rule_hint *)(void *)(p + (align - (uintptr_t)p % align) % align) : NULL;
}

/* Responses of their own for rules that do not follow each other, as in HAProxy. A hint that
 * cannot be given is left out: it is only a hint. */
static enum rule_result
run_hint(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out)
{
	struct rule_hint *last = out->last_hint, *hint = new_hint(cx->arena);
	struct str value;

	if (!hint || act_write(r->fmt[0], cx, &value) < 0 || !act_is_value(value))
		return RULE_CONT;
	*hint = (struct rule_hint){ .by = r, .name = r->text[0], .value = str_trim(value) };
	hint->begins = !last || last->by->link.next != &r->link;
	if (last)
		last->next = hint;
	else
		out->hints = hint;
	out->last_hint = hint;
	return RULE_CONT;
}

/* --- del-header ----------------------------------------------------------------------------- */

static const struct cfg_enum name_methods[] = {
	{ "str", NAME_STR, "The name is this text, in any case." },
	{ "beg", NAME_BEG, "It begins with the text." },
	{ "end", NAME_END, "It ends with the text." },
	{ "sub", NAME_SUB, "It contains the text." },
	{ "reg", NAME_REG, "It matches the regular expression." },
	{ 0 },
};

static int
parse_name_method(struct rule *r, struct cfg_ctx *ctx, int arg)
{
	int m;

	if (arg >= ctx->argc)
		return cfg_error(ctx, arg,
			"'%s del-header' : '-m' expects str, beg, end, sub or reg.",
			rule_place_name(r->place));
	if (cfg_arg_enum(ctx, arg, name_methods, &m) < 0)
		return -1;
	r->num[0] = m;
	return 0;
}

static int
parse_regex(struct rule *r, struct cfg_ctx *ctx, int arg, unsigned int flags)
{
	struct regex_err why = { 0 };
	struct regex *re;

	if (regex_new(str_of(cfg_arg(ctx, arg)), flags, &re, &why) < 0)
		return cfg_error(ctx, arg, "'%s %s' : %s (byte %zu of '%s').",
			rule_place_name(r->place), r->action->name, why.text, why.at + 1,
			cfg_arg(ctx, arg));
	r->ref = re;
	return 0;
}

static int
parse_del(struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg, unsigned int at)
{
	int next = arg + 1;

	(void)v;
	(void)at;
	if (act_need(r, ctx, arg, 1) < 0)
		return -1;
	if (act_is(ctx, next, "-m")) {
		if (parse_name_method(r, ctx, next + 1) < 0)
			return -1;
		next += 2;
	}
	if (r->num[0] == NAME_REG)
		return parse_regex(r, ctx, arg, REGEX_NOCASE) < 0 ? -1 : next;
	if (r->num[0] == NAME_STR)
		return parse_field_name(r, ctx, arg) < 0 ? -1 : next;
	return act_field_name(r, ctx, arg, &r->text[0]) < 0 ? -1 : next;
}

static int
value_has_part(struct str name, struct str part)
{
	for (size_t i = 0; i + part.len <= name.len; i++)
		if (str_is_nocase((struct str){ name.p + i, part.len }, part))
			return 1;
	return 0;
}

static int
match_name(const struct rule *r, struct sample_ctx *cx, struct str name)
{
	struct str part = r->text[0];

	if (r->num[0] == NAME_REG)
		return regex_match(r->ref, cx, name, 0, NULL);
	if (part.len > name.len)
		return 0;
	if (r->num[0] == NAME_BEG)
		return str_is_nocase((struct str){ name.p, part.len }, part);
	if (r->num[0] == NAME_END)
		return str_is_nocase((struct str){ name.p + name.len - part.len, part.len }, part);
	return value_has_part(name, part);
}

static enum rule_result
run_del(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out)
{
	struct http_head *h = head_at_place(r, cx);

	(void)out;
	if (r->num[0] == NAME_STR) {
		(void)http_drop_all(h, r->text[0]);
		return RULE_CONT;
	}
	for (unsigned int i = 0; i < h->n; i++)
		if (!h->field[i].dropped && !is_framing(h->field[i].name) &&
			match_name(r, cx, h->field[i].name))
			http_drop(h, i);
	return RULE_CONT;
}

/* --- replace-header, replace-value ---------------------------------------------------------- */

static int
parse_replace_field(struct rule *r, const struct rule_vocab *v, struct cfg_ctx *ctx, int arg,
	unsigned int at)
{
	const char *bad;

	if (act_need(r, ctx, arg, 3) < 0 || parse_field_name(r, ctx, arg) < 0 ||
		parse_regex(r, ctx, arg + 1, 0) < 0 || parse_value(r, v, ctx, arg + 2, at) < 0)
		return -1;
	/* Values of variables are checked at run time; invalid constant texts are reported at
	 * load. */
	bad = rule_fmt_literal(r->fmt[0]) ? regex_subst_why_not(str_of(rule_fmt_literal(r->fmt[0])))
					  : NULL;
	if (bad)
		return cfg_error(ctx, arg + 2, "'%s %s' : %s.", rule_place_name(r->place),
			r->action->name, bad);
	return arg + 3;
}

/* Writes a new value to b, 1; 0: no match. */
static int
replace_value(const struct rule *r, struct sample_ctx *cx, struct str value, struct str subst,
	struct sbuf *b)
{
	struct regex_match m;
	struct str rest = value, item;
	int any = 0;

	if (r->action->kind == REPLACE_LINE) {
		if (!regex_match(r->ref, cx, value, 0, &m))
			return 0;
		regex_subst(subst, &m, b);
		return 1;
	}
	/* The bytes between the elements are not changed. */
	while (http_list_next(&rest, &item)) {
		if (!regex_match(r->ref, cx, item, 0, &m))
			continue;
		sbuf_add(b, value.p, (size_t)(item.p - value.p));
		regex_subst(subst, &m, b);
		value.len -= (size_t)(item.p + item.len - value.p);
		value.p = item.p + item.len;
		any = 1;
	}
	if (any)
		sbuf_add(b, value.p, value.len);
	return any;
}

/* 0, or -1: the result is too long or not a valid field value. */
static int
replace_one(const struct rule *r, struct sample_ctx *cx, struct http_field *f, struct str subst,
	const struct rule_outcome *out)
{
	struct http_head *h = head_at_place(r, cx);
	struct arena *a = cx->arena;
	struct sbuf b;

	if (a->cap == a->used) {
		a->refused++;
		return -1;
	}
	sbuf_init_fixed(&b, a->p + a->used, a->cap - a->used);
	if (!replace_value(r, cx, f->value, subst, &b))
		return 0;
	if (b.failed) {
		a->refused++;
		return -1;
	}
	if (!act_is_value((struct str){ b.p, b.len }) ||
		!act_fits(out, h, b.len + growth_of_target(r, h, (struct str){ b.p, b.len }),
			f->value.len))
		return -1;
	f->value = str_trim((struct str){ b.p, b.len });
	f->arrived = 0;
	a->used += b.len;
	return 0;
}

static enum rule_result
run_replace_field(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out)
{
	struct http_head *h = head_at_place(r, cx);
	struct str subst;

	if (act_write(r->fmt[0], cx, &subst) < 0)
		return act_failed(r, out);
	for (int i = http_find(h, r->text[0], 0); i >= 0;
		i = http_find(h, r->text[0], (unsigned int)i + 1))
		if (replace_one(r, cx, &h->field[i], subst, out) < 0)
			return act_failed(r, out);
	return follow_host(r, cx) < 0 ? act_failed(r, out) : RULE_CONT;
}

static void
free_field_regex(struct rule *r)
{
	struct regex *re = r->ref;

	regex_free(&re);
}

const struct rule_action rule_head_actions[] = {
	{ .name = "add-header",
		.places = RULE_IN_HTTP,
		.parse = parse_field,
		.run = run_field,
		.syntax = "<name> <fmt>",
		.doc = "Appends a header field.",
		.kind = FIELD_ADD },
	{ .name = "set-header",
		.example = "http-request set-header X-Client %[src]:%[src_port]",
		.places = RULE_IN_HTTP,
		.parse = parse_field,
		.run = run_field,
		.syntax = "<name> <fmt>",
		.doc = "Replaces all header fields of this name by one.",
		.kind = FIELD_SET },
	{ .name = "early-hint",
		.places = RULE_IN(HTTP_REQUEST),
		.parse = parse_field,
		.run = run_hint,
		.syntax = "<name> <fmt>",
		.doc = "Sends the client this header field in a response 103 (Early Hints) before "
			"any other, unless it speaks HTTP/1.0. Rules that follow each other make "
			"one response." },
	{ .name = "del-header",
		.values = name_methods,
		.example = "http-request del-header x- -m beg",
		.places = RULE_IN_HTTP,
		.parse = parse_del,
		.run = run_del,
		.free = free_field_regex,
		.syntax = "<name> [-m str|beg|end|sub|reg]",
		.doc = "Removes the header fields of this name, or whose names match." },
	{ .name = "replace-header",
		.example = "http-response replace-header Location ^http://(.*) https://\\1",
		.places = RULE_IN_HTTP,
		.parse = parse_replace_field,
		.run = run_replace_field,
		.free = free_field_regex,
		.syntax = "<name> <regex> <fmt>",
		.doc = "Replaces the values of a header field that match.",
		.kind = REPLACE_LINE },
	{ .name = "replace-value",
		.places = RULE_IN_HTTP,
		.parse = parse_replace_field,
		.run = run_replace_field,
		.free = free_field_regex,
		.syntax = "<name> <regex> <fmt>",
		.doc = "Replaces the elements of a header field's list that match.",
		.kind = REPLACE_ELEMENT },
	{ 0 },
};
