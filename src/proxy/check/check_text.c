/* Verdicts and their texts; those of checks that no expect rule has decided: passed without one, a
 * connection that failed, a timeout. Pure. */
#include "proxy/check/check_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

void
check_passed(enum check_method method, const struct check_rule *last, int is_tls,
	struct check_verdict *out)
{
	int is_send = last->kind == CHECK_RULE_SEND;

	(void)check_next(out, is_send ? CHECK_L7OK : is_tls ? CHECK_L6OK : CHECK_L4OK,
		is_send ? 0 : -1, "%s",
		method == CHECK_TCP && last->step ? "(tcp-check)" : "");
}

/* "expect string 'abc'", "connect port 80": what a rule does. */
static void
describe_rule(const struct check_rule *r, char *out, size_t size)
{
	const struct check_expect *e = &r->u.expect;
	const char *text = e->pattern.text.p;

	if (r->kind == CHECK_RULE_SEND) {
		(void)snprintf(out, size, "send");
	} else if (r->kind == CHECK_RULE_CONNECT) {
		if (r->u.connect.port)
			(void)snprintf(out, size, "connect port %u", r->u.connect.port);
		else
			(void)snprintf(out, size, "connect");
	} else if (e->match == CHECK_MATCH_RSTRING) {
		(void)snprintf(out, size, "expect regex");
	} else if (e->match == CHECK_MATCH_RBINARY) {
		(void)snprintf(out, size, "expect binary regex");
	} else if (e->pattern.text.fmt) {
		(void)snprintf(out, size, "expect log-format %s",
			e->match == CHECK_MATCH_BINARY ? "binary" : "string");
	} else {
		(void)snprintf(out, size, "expect %s '%s'",
			e->match == CHECK_MATCH_BINARY ? "binary" : "string", text ? text : "");
	}
}

void
check_step_text(enum check_method method, const struct check_rule *r, const char *why, char *out)
{
	char what[CHECK_INFO_MAX / 2];

	if (method != CHECK_TCP) {
		(void)snprintf(out, CHECK_INFO_MAX, "%s", why);
		return;
	}
	if (r->step == 0) {
		(void)snprintf(out, CHECK_INFO_MAX, "%s at initial connection step of tcp-check",
			why);
		return;
	}
	describe_rule(r, what, sizeof(what));
	(void)snprintf(out, CHECK_INFO_MAX, "%s at step %u of tcp-check (%s)%s%s%s", why, r->step,
		what, r->comment ? " comment: '" : "", r->comment ? r->comment : "",
		r->comment ? "'" : "");
}

enum check_status
check_timeout_status(const struct check_rule *r)
{
	if (r->kind == CHECK_RULE_CONNECT)
		return CHECK_L4TOUT;
	if (r->kind == CHECK_RULE_EXPECT && r->u.expect.tout_status != CHECK_UNK)
		return r->u.expect.tout_status;
	return CHECK_L7TOUT;
}

void
check_send_failed(enum check_method method, const struct check_rule *r, struct check_verdict *out)
{
	if (method == CHECK_HTTP)
		(void)check_fail(out, CHECK_SOCKERR, -1, "%s", "");
	else
		(void)check_fail(out, CHECK_L7RSP, 0,
			"tcp-check send : failed to build log-format string at step %u", r->step);
}
