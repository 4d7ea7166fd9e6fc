/* Evaluates expect rules of tcp-check, and what all kinds of expect share; and the rules that keep
 * parts of the answer in variables. Pure: on the checker's thread, with its arena. */
#include "proxy/check/check_expect.h"

#include <stdio.h>
#include <string.h>

#include "http/h1_body.h"
#include "http/h1_parse.h"
#include "proxy/check/check_send.h"
#include "proxy/check/check_text.h"
#include "proxy/check/protocol.h"
#include "rule/sample/fmt.h"
#include "rule/sample/var_cond.h"

/* Arguments of the pattern's search. */
struct check_search {
	const struct check_rule *r;
	struct sample_ctx *cx;
	struct str data;
	int is_last;             /* no more data will come */
	int found;               /* after CHECK_STEP_NEXT */
};

/* --- verdicts --- */

/* The status of a failed rule: error-status, or this one. */
static enum check_status
check_error_status(const struct check_expect *e, enum check_status built_in)
{
	return e->error_status != CHECK_UNK ? e->error_status : built_in;
}

static int
code_of(const struct check_expect *e, struct sample_ctx *cx, int code)
{
	struct sample s;

	if (!e->status_code || rule_expr_eval(e->status_code, cx, &s) != 1)
		return code;
	/* Bytes of the answer are digits. */
	if (s.type == SAMPLE_BIN)
		s.type = SAMPLE_STR;
	return sample_cast(&s, SAMPLE_SINT, cx->arena) == 0 ? (int)s.u.sint : code;
}

static void
write_info(const struct rule_fmt *f, struct sample_ctx *cx, struct check_verdict *out)
{
	struct sbuf b;

	sbuf_init_fixed(&b, out->info, sizeof(out->info));
	rule_fmt_write(f, cx, &b);
}

/* The end of a rule: its status and code, or these, and its text: on-success. */
static enum check_step
check_rule_passed(const struct check_rule *r, struct sample_ctx *cx, int code,
	struct check_verdict *out)
{
	const struct check_expect *e = &r->u.expect;

	out->status = e->ok_status != CHECK_UNK ? e->ok_status : CHECK_L7OK;
	out->code = code_of(e, cx, code);
	out->info[0] = '\0';
	if (e->on_success)
		write_info(e->on_success, cx, out);
	else if (!e->is_http)
		(void)snprintf(out->info, sizeof(out->info), "(tcp-check)");
	return CHECK_STEP_NEXT;
}

/* The end of a failed rule: its text is on-error, or this one, and the comment. */
static enum check_step
check_rule_failed(const struct check_rule *r, struct sample_ctx *cx, enum check_status status,
	int code, const char *text, struct check_verdict *out)
{
	const struct check_expect *e = &r->u.expect;
	size_t len;

	out->status = status;
	out->code = code_of(e, cx, code);
	if (e->on_error)
		write_info(e->on_error, cx, out);
	else
		(void)snprintf(out->info, sizeof(out->info), "%s", text);
	len = strlen(out->info);
	if (r->comment)
		(void)snprintf(
			out->info + len, sizeof(out->info) - len, " comment: %s", r->comment);
	return CHECK_STEP_FAIL;
}

/* --- searching --- */

/* Hexadecimal digits as bytes, in the arena. */
static int
unhex_in_arena(struct arena *a, struct str *text)
{
	char *copy = arena_get(a, text->len + 1);
	struct sbuf b;

	if (!copy)
		return -1;
	sbuf_init_fixed(&b, copy, text->len + 1);
	sbuf_add(&b, text->p, text->len);
	if (check_unhex(&b, 0) < 0)
		return -1;
	*text = (struct str){ b.p, b.len };
	return 0;
}

/* The text of a pattern; it is in the arena if it is a format. */
static int
pattern_text(const struct check_expect *e, struct sample_ctx *cx, struct str *out)
{
	*out = (struct str){ e->pattern.text.p, e->pattern.text.len };
	if (!e->pattern.text.fmt)
		return 0;
	if (rule_fmt_text(e->pattern.text.fmt, cx, out) < 0)
		return -1;
	return e->match == CHECK_MATCH_BINARY ? unhex_in_arena(cx->arena, out) : 0;
}

static int
matches_regex_over_hex(const struct check_expect *e, struct sample_ctx *cx, struct str data)
{
	static const char digits[] = "0123456789ABCDEF";
	size_t n = MIN(data.len, (cx->arena->cap - cx->arena->used) / 2);
	char *hex = arena_get(cx->arena, 2 * n);

	if (!hex)
		return 0;
	for (size_t i = 0; i < n; i++) {
		hex[2 * i] = digits[(unsigned char)data.p[i] >> 4];
		hex[2 * i + 1] = digits[(unsigned char)data.p[i] & 15];
	}
	return regex_match(e->pattern.regex, cx, (struct str){ hex, 2 * n }, 0, NULL);
}

static int
matches_pattern(const struct check_expect *e, struct sample_ctx *cx, struct str data,
	struct str text)
{
	if (e->match == CHECK_MATCH_RSTRING)
		return regex_match(e->pattern.regex, cx, data, 0, NULL);
	if (e->match == CHECK_MATCH_RBINARY)
		return matches_regex_over_hex(e, cx, data);
	return text.len == 0 || (data.len && memmem(data.p, data.len, text.p, text.len) != NULL);
}

/*
 * Searches the pattern of STRING, RSTRING, BINARY, RBINARY as min-recv requires. CHECK_STEP_WAIT;
 * CHECK_STEP_NEXT: `found` is known; CHECK_STEP_FAIL: the pattern is a format that makes no
 * hexadecimal digits.
 */
static enum check_step
check_search(struct check_search *s)
{
	const struct check_expect *e = &s->r->u.expect;
	struct str text = { "", 0 };
	size_t needed = e->min_recv > 0 ? (size_t)e->min_recv : 0;

	if (!e->pattern.regex) {
		if (pattern_text(e, s->cx, &text) < 0)
			return CHECK_STEP_FAIL;
		needed = MAX(needed, text.len);
	}
	if (!s->is_last && s->data.len < needed)
		return CHECK_STEP_WAIT;
	s->found = matches_pattern(e, s->cx, s->data, text);
	/* Without min-recv more data may bring it. */
	return !s->found && !s->is_last && e->min_recv < 0 ? CHECK_STEP_WAIT : CHECK_STEP_NEXT;
}

/* --- http-check ------------------------------------------------------------------------------ */

/*
 * Evaluates expect rules of http-check. Pure. The response is parsed again each time more of it
 * has arrived: it is small, and mostly comes at once.
 */

#define FIELDS_MAX 128

/* A response, as far as it has come. */
struct response {
	struct http_head head;
	struct http_field field[FIELDS_MAX];
	struct str body;         /* without framing; in the arena if it is chunked */
	int is_complete;
};

enum parsed { PARSED, PARSED_MORE, PARSED_BAD };

/* --- parsing --- */

static int
decode_chunks(struct h1_body *b, struct str bytes, struct arena *a, struct str *out)
{
	char *copy = arena_get(a, bytes.len);
	size_t used, len;

	if (!copy || h1_body_decode(b, copy, bytes.p, bytes.len, &used, &len) < 0)
		return -1;
	*out = (struct str){ copy, len };
	return 0;
}

static enum parsed
parse_body(struct response *res, struct str bytes, int ended, struct arena *a)
{
	struct h1_body b;

	h1_body_begin(&b, &res->head);
	res->body = bytes;
	switch (b.framing) {
	case HTTP_BODY_NONE:
		res->body.len = 0;
		res->is_complete = 1;
		return PARSED;
	case HTTP_BODY_LENGTH:
		res->body.len = (size_t)MIN((uint64_t)bytes.len, b.left);
		res->is_complete = res->body.len == b.left;
		break;
	case HTTP_BODY_CHUNKED:
		if (bytes.len > 0 && decode_chunks(&b, bytes, a, &res->body) < 0)
			return PARSED_BAD;
		res->is_complete = h1_body_is_over(&b);
		break;
	case HTTP_BODY_CLOSE:
	case HTTP_BODY_TUNNEL:
		break;
	}
	res->is_complete |= ended;
	return PARSED;
}

static enum parsed
parse_response(struct response *res, const struct check_input *in, const struct check_expect *e,
	struct arena *a)
{
	struct h1_parser p = { 0 };
	struct str rest;
	size_t used;

	res->is_complete = 0;
	http_head_init(&res->head, HTTP_RESPONSE, in->field ? in->field : res->field,
		in->field ? in->max_fields : FIELDS_MAX);
	res->head.method = (enum http_method)e->request_method;
	switch (h1_parse_response(&p, in->received.p, in->received.len, &res->head, &used)) {
	case HTTP_MORE:
		return in->ended || in->full ? PARSED_BAD : PARSED_MORE;
	case HTTP_BAD:
		return PARSED_BAD;
	case HTTP_COMPLETE:
		break;
	}
	rest = (struct str){ in->received.p + used, in->received.len - used };
	return parse_body(res, rest, in->ended, a);
}

/* --- matching --- */

static int
matches_status(const struct check_expect *e, struct sample_ctx *cx, unsigned int status)
{
	char text[16];

	if (e->match == CHECK_MATCH_RSTATUS) {
		(void)snprintf(text, sizeof(text), "%u", status);
		return regex_match(e->pattern.regex, cx, str_of(text), 0, NULL);
	}
	for (unsigned int i = 0; i < e->n_ranges; i++)
		if (status >= e->ranges[i].lo && status <= e->ranges[i].hi)
			return 1;
	return 0;
}

static int
is_same(struct str a, struct str b, int nocase)
{
	return nocase ? str_is_nocase(a, b) : str_is(a, b);
}

static int
contains_text(struct str s, struct str part, int nocase)
{
	for (size_t i = 0; i + part.len <= s.len; i++)
		if (is_same((struct str){ s.p + i, part.len }, part, nocase))
			return 1;
	return 0;
}

static int
matches_text(const struct check_pattern *p, struct sample_ctx *cx, struct str text, struct str s,
	int nocase)
{
	switch (p->how) {
	case CHECK_METHOD_STR:
		return is_same(s, text, nocase);
	case CHECK_METHOD_BEG:
		return s.len >= text.len && is_same((struct str){ s.p, text.len }, text, nocase);
	case CHECK_METHOD_END:
		return s.len >= text.len &&
			is_same((struct str){ s.p + s.len - text.len, text.len }, text, nocase);
	case CHECK_METHOD_SUB:
		return contains_text(s, text, nocase);
	case CHECK_METHOD_REG:
		break;
	}
	return regex_match(p->regex, cx, s, 0, NULL);
}

/* hdr: any element of the list; fhdr: the whole value. */
static int
matches_value(const struct check_expect *e, struct sample_ctx *cx, struct str text,
	struct str value)
{
	struct str element;

	if (!e->has_value)
		return 1;
	if (e->match == CHECK_MATCH_FHDR)
		return matches_text(&e->value, cx, text, value, 0);
	while (http_list_next(&value, &element))
		if (matches_text(&e->value, cx, text, element, 0))
			return 1;
	return 0;
}

static int
header_text(const struct check_pattern *p, struct sample_ctx *cx, struct str *out)
{
	*out = (struct str){ p->text.p ? p->text.p : "", p->text.len };
	return p->text.fmt ? rule_fmt_text(p->text.fmt, cx, out) : 0;
}

static int
matches_header(const struct check_expect *e, struct sample_ctx *cx, const struct http_head *h)
{
	struct str name, value;

	if (header_text(&e->pattern, cx, &name) < 0 || header_text(&e->value, cx, &value) < 0)
		return 0;
	for (unsigned int i = 0; i < h->n; i++)
		if (matches_text(&e->pattern, cx, name, h->field[i].name, 1) &&
			matches_value(e, cx, value, h->field[i].value))
			return 1;
	return 0;
}

/* --- verdicts --- */

static enum check_step
evaluate_head(const struct check_rule *r, struct sample_ctx *cx, const struct http_head *h,
	struct check_verdict *out)
{
	const struct check_expect *e = &r->u.expect;
	int found = e->match == CHECK_MATCH_HDR || e->match == CHECK_MATCH_FHDR
		? matches_header(e, cx, h)
		: matches_status(e, cx, h->status);
	char text[CHECK_INFO_MAX];

	if (found != e->negate)
		return check_rule_passed(r, cx, (int)h->status, out);
	(void)snprintf(text, sizeof(text), "%.*s", (int)MIN(h->reason.len, sizeof(text) - 1),
		h->reason.len ? h->reason.p : "");
	return check_rule_failed(
		r, cx, check_error_status(e, CHECK_L7STS), (int)h->status, text, out);
}

static enum check_step
evaluate_body(const struct check_rule *r, struct sample_ctx *cx, const struct response *res,
	int full, struct check_verdict *out)
{
	const struct check_expect *e = &r->u.expect;
	struct check_search s = { .r = r, .cx = cx, .data = res->body,
		.is_last = res->is_complete || full };
	const char *why = e->negate ? "HTTP check matched unwanted content"
				    : "HTTP content check did not match";
	enum check_step step;

	if (res->body.len == 0 && !s.is_last)
		return CHECK_STEP_WAIT;
	step = res->body.len ? check_search(&s) : CHECK_STEP_FAIL;
	if (step == CHECK_STEP_WAIT)
		return step;
	if (res->body.len == 0)
		why = "HTTP content check could not find a response body";
	else if (step == CHECK_STEP_NEXT && s.found != e->negate)
		return check_rule_passed(r, cx, (int)res->head.status, out);
	return check_rule_failed(
		r, cx, check_error_status(e, CHECK_L7RSP), (int)res->head.status, why, out);
}

/* Lets fetches see the response, while it lives. */
static void
show_response(struct response *res, const struct check_input *in, struct sample_ctx *cx)
{
	cx->res = &res->head;
	cx->res_len = in->received.len;
	cx->res_body = (struct sample_body){ .content = res->body,
		.is_whole = (uint8_t)res->is_complete, .is_full = in->full };
}

/* As check_expect_eval(), whose part it is; the caller releases the arena. */
static enum check_step
check_http_eval(const struct check_rule *r, const struct check_input *in, struct sample_ctx *cx,
	struct check_verdict *out)
{
	struct http_head *head_before = cx->res;
	enum check_step step;
	struct response res;

	switch (parse_response(&res, in, &r->u.expect, cx->arena)) {
	case PARSED_MORE:
		return CHECK_STEP_WAIT;
	case PARSED_BAD:
		return check_rule_failed(r, cx, CHECK_L7RSP, 0, "", out);
	case PARSED:
		break;
	}
	if (in->accepts_404 && res.head.status == 404)
		return check_fail(out, CHECK_L7OKC, 404, "%s", "");
	show_response(&res, in, cx);
	if (r->u.expect.match == CHECK_MATCH_STRING || r->u.expect.match == CHECK_MATCH_RSTRING)
		step = evaluate_body(r, cx, &res, in->full, out);
	else
		step = evaluate_head(r, cx, &res.head, out);
	cx->res = head_before;
	return step;
}

/* --- tcp-check --- */

static const char *
describe_content(const struct check_expect *e, char *buf, size_t size)
{
	switch (e->match) {
	case CHECK_MATCH_STRING:
		if (e->pattern.text.fmt)
			return "(log-format string)";
		(void)snprintf(buf, size, "'%s'", e->pattern.text.p);
		return buf;
	case CHECK_MATCH_RSTRING:
		return "(regex)";
	case CHECK_MATCH_BINARY:
		return e->pattern.text.fmt ? "(log-format binary)" : "(binary)";
	case CHECK_MATCH_RBINARY:
		return "(binary regex)";
	case CHECK_MATCH_STATUS:
	case CHECK_MATCH_RSTATUS:
	case CHECK_MATCH_HDR:
	case CHECK_MATCH_FHDR:
	case CHECK_MATCH_PROTOCOL:
		break;
	}
	return "";
}

static enum check_step
tcp_mismatch(const struct check_rule *r, struct sample_ctx *cx, struct check_verdict *out)
{
	const struct check_expect *e = &r->u.expect;
	char content[CHECK_INFO_MAX / 2], text[CHECK_INFO_MAX];

	(void)snprintf(text, sizeof(text), "TCPCHK %s content %s at step %u",
		e->negate ? "matched unwanted" : "did not match",
		describe_content(e, content, sizeof(content)), r->step);
	return check_rule_failed(r, cx, check_error_status(e, CHECK_L7RSP), 0, text, out);
}

static enum check_step
tcp_eval(const struct check_rule *r, const struct check_input *in, struct sample_ctx *cx,
	struct check_verdict *out)
{
	const struct check_expect *e = &r->u.expect;
	struct check_search s = { .r = r, .cx = cx, .data = in->received,
		.is_last = in->ended || in->full };
	enum check_step step = check_search(&s);

	if (step == CHECK_STEP_WAIT)
		return step;
	if (step == CHECK_STEP_FAIL)
		return check_rule_failed(r, cx, CHECK_L7RSP, 0,
			"Failed to parse hexastring resulting of eval of a log-format string",
			out);
	return s.found != e->negate ? check_rule_passed(r, cx, 0, out) : tcp_mismatch(r, cx, out);
}

/* A rule that is implied stands behind the send. */
static enum check_step
empty_response(const struct check_rule *r, struct check_verdict *out)
{
	return check_fail(out, check_error_status(&r->u.expect, CHECK_L7RSP), 0,
		"TCPCHK got an empty response at step %u%s%s%s", r->step ? r->step : 2,
		r->comment ? " comment: '" : "", r->comment ? r->comment : "",
		r->comment ? "'" : "");
}

static enum check_step
eval_expect(const struct check_rule *r, const struct check_input *in, struct sample_ctx *cx,
	struct check_verdict *out)
{
	if (r->u.expect.is_http && (in->received.len || !in->is_h2))
		return check_http_eval(r, in, cx, out);
	if (in->received.len == 0)
		return in->ended ? empty_response(r, out) : CHECK_STEP_WAIT;
	cx->res_bytes = in->received;
	if (r->u.expect.match == CHECK_MATCH_PROTOCOL)
		return check_protocol_eval(r, in->received, in->ended || in->full, out);
	return tcp_eval(r, in, cx, out);
}

/* --- variables --- */

/* The value, of the expression or of the format. */
static int
eval_var(const struct check_set_var *v, struct sample_ctx *cx, struct sample *s)
{
	struct str text;

	if (v->expr)
		return rule_expr_eval(v->expr, cx, s);
	if (rule_fmt_text(v->fmt, cx, &text) < 0)
		return 0;
	sample_set_str(s, text);
	return 1;
}

/* Without a value the variable is unchanged; without memory, too. */
static void
run_var(const struct check_rule *r, struct sample_ctx *cx)
{
	const struct check_set_var *v = &r->u.var;
	struct sample s;

	if (r->kind == CHECK_RULE_UNSET_VAR)
		var_forget(cx, v->name);
	else if (eval_var(v, cx, &s) && var_cond_hold(v->conds, cx, v->name, &s))
		(void)!var_store(cx, v->name, &s);
}

/* The expect rule before this one that has received the bytes. */
static const struct check_expect *
last_expect(const struct check_rule *r)
{
	while (r->kind != CHECK_RULE_EXPECT)
		r = list_entry(r->link.prev, const struct check_rule, link);
	return &r->u.expect;
}

static enum check_step
eval_var_rule(const struct check_rule *r, const struct check_input *in, struct sample_ctx *cx)
{
	const struct check_expect *e = in->received.len ? last_expect(r) : NULL;
	struct http_head *before = cx->res;
	struct response res;

	if (e && !e->is_http)
		cx->res_bytes = in->received;
	else if (e && parse_response(&res, in, e, cx->arena) == PARSED)
		show_response(&res, in, cx);
	run_var(r, cx);
	cx->res = before;
	return CHECK_STEP_NEXT;
}

enum check_step
check_expect_eval(const struct check_rule *r, const struct check_input *in, struct sample_ctx *cx,
	struct check_verdict *out)
{
	size_t mark = arena_mark(cx->arena);
	struct str bytes = cx->res_bytes;
	enum check_step step;

	if (r->kind == CHECK_RULE_EXPECT)
		step = eval_expect(r, in, cx, out);
	else
		step = eval_var_rule(r, in, cx);
	cx->res_bytes = bytes;
	arena_release(cx->arena, mark);
	return step;
}
