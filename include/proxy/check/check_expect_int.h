/* Shared by the evaluations of expect rules. */
#ifndef TACIT_PROXY_CHECK_CHECK_EXPECT_INT_H
#define TACIT_PROXY_CHECK_CHECK_EXPECT_INT_H

#include "base/compiler.h"
#include "proxy/check/check_expect.h"

/* Fills the verdict: the text is formatted and cut. Returns the step. */
enum check_step check_fail(struct check_verdict *out, enum check_status status, int code,
	const char *fmt, ...) fmt_printf(4, 5);
enum check_step check_next(struct check_verdict *out, enum check_status status, int code,
	const char *fmt, ...) fmt_printf(4, 5);

/*
 * The end of a rule: the status and code of the rule, or these, and its text: on-success or
 * on-error, or this one, and the comment of a failed rule.
 */
enum check_step check_rule_passed(const struct check_rule *r, struct sample_ctx *cx, int code,
	struct check_verdict *out);
enum check_step check_rule_failed(const struct check_rule *r, struct sample_ctx *cx,
	enum check_status status, int code, const char *text, struct check_verdict *out);

/* The status of a failed rule: error-status, or this one. */
static inline enum check_status
check_error_status(const struct check_expect *e, enum check_status built_in)
{
	return e->error_status != CHECK_UNK ? e->error_status : built_in;
}

/* Arguments of the pattern's search. */
struct check_search {
	const struct check_rule *r;
	struct sample_ctx *cx;
	struct str data;
	int is_last;             /* no more data will come */
	int found;               /* after CHECK_STEP_NEXT */
};

/*
 * Searches the pattern of STRING, RSTRING, BINARY, RBINARY as min-recv requires. CHECK_STEP_WAIT;
 * CHECK_STEP_NEXT: `found` is known; CHECK_STEP_FAIL: the pattern is a format that makes no
 * hexadecimal digits.
 */
enum check_step check_search(struct check_search *s);

#endif
