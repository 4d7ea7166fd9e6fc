/* Verdicts and texts, in HAProxy's words, of checks that no expect rule has decided: passed without
 * one, a connection that failed, a timeout. Pure. */
#ifndef TACIT_PROXY_CHECK_CHECK_TEXT_H
#define TACIT_PROXY_CHECK_CHECK_TEXT_H

#include "base/compiler.h"
#include "proxy/check/check_expect.h"

/* Fills the verdict: the text is formatted and cut. Returns the step. */
enum check_step check_fail(struct check_verdict *out, enum check_status status, int code,
	const char *fmt, ...) fmt_printf(4, 5);
enum check_step check_next(struct check_verdict *out, enum check_status status, int code,
	const char *fmt, ...) fmt_printf(4, 5);

/* The verdict when the last rule was a connect or a send; is_tls: over a connection with TLS. */
void check_passed(enum check_method method, const struct check_rule *last, int is_tls,
	struct check_verdict *out);

/*
 * The text about a step that failed on its connection. r: its rule. why: the text of errno, or ""
 * for a timeout. out holds CHECK_INFO_MAX bytes.
 */
void check_step_text(enum check_method method, const struct check_rule *r, const char *why,
	char *out);
/* The status of a timeout in this rule. */
enum check_status check_timeout_status(const struct check_rule *r);
/* The verdict when check_send_build() failed. */
void check_send_failed(enum check_method method, const struct check_rule *r,
	struct check_verdict *out);

#endif
