/* Evaluates expect rules of tcp-check, and what all kinds of expect share. Pure: on the checker's
 * thread, with its arena. */
#include "proxy/check/check_expect_int.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "proxy/check/check_http.h"
#include "proxy/check/check_send.h"
#include "proxy/check/protocol_eval.h"
#include "rule/sample/fmt.h"

/* --- verdicts --- */

static void
fill_verdict(struct check_verdict *out, enum check_status status, int code, const char *fmt,
	va_list ap)
{
	out->status = status;
	out->code = code;
	(void)vsnprintf(out->info, sizeof(out->info), fmt, ap);
}

enum check_step
check_fail(struct check_verdict *out, enum check_status status, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fill_verdict(out, status, code, fmt, ap);
	va_end(ap);
	return CHECK_STEP_FAIL;
}

enum check_step
check_next(struct check_verdict *out, enum check_status status, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fill_verdict(out, status, code, fmt, ap);
	va_end(ap);
	return CHECK_STEP_NEXT;
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

enum check_step
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

enum check_step
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

enum check_step
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

static enum check_step
empty_response(const struct check_rule *r, struct check_verdict *out)
{
	return check_fail(out, check_error_status(&r->u.expect, CHECK_L7RSP), 0,
		"TCPCHK got an empty response at step %u%s%s%s", r->step,
		r->comment ? " comment: '" : "", r->comment ? r->comment : "",
		r->comment ? "'" : "");
}

enum check_step
check_expect_eval(const struct check_rule *r, const struct check_input *in, struct sample_ctx *cx,
	struct check_verdict *out)
{
	size_t mark = arena_mark(cx->arena);
	struct str bytes = cx->res_bytes;
	enum check_step step;

	assert(r->kind == CHECK_RULE_EXPECT);
	cx->res_bytes = in->received;
	if (r->u.expect.is_http)
		step = check_http_eval(r, in, cx, out);
	else if (in->received.len == 0)
		step = in->ended ? empty_response(r, out) : CHECK_STEP_WAIT;
	else if (r->u.expect.match == CHECK_MATCH_PROTOCOL)
		step = check_protocol_eval(r, in->received, in->ended || in->full, out);
	else
		step = tcp_eval(r, in, cx, out);
	cx->res_bytes = bytes;
	arena_release(cx->arena, mark);
	return step;
}
