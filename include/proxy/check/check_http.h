/* Expect rules of http-check. Pure. */
#ifndef TACIT_PROXY_CHECK_CHECK_HTTP_H
#define TACIT_PROXY_CHECK_CHECK_HTTP_H

#include "proxy/check/check_expect.h"

/* As check_expect_eval(), whose part it is; the caller releases the arena. */
enum check_step check_http_eval(const struct check_rule *r, const struct check_input *in,
	struct sample_ctx *cx, struct check_verdict *out) must_check;

#endif
