/* Evaluates expect rules of http-check. Pure. The response is parsed again each time more of it
 * has arrived: it is small, and mostly comes at once. */
#include "proxy/check/check_http.h"

#include <stdio.h>
#include <string.h>

#include "http/h1_body.h"
#include "http/h1_parse.h"
#include "proxy/check/check_expect_int.h"
#include "rule/sample/fmt.h"

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
	http_head_init(&res->head, HTTP_RESPONSE, res->field, FIELDS_MAX);
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

enum check_step
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
	cx->res = &res.head;
	cx->res_len = in->received.len;
	if (r->u.expect.match == CHECK_MATCH_STRING || r->u.expect.match == CHECK_MATCH_RSTRING)
		step = evaluate_body(r, cx, &res, in->full, out);
	else
		step = evaluate_head(r, cx, &res.head, out);
	cx->res = head_before;
	return step;
}
