/* The answers of built-in methods. Pure. */
#ifndef TACIT_PROXY_CHECK_PROTOCOL_EVAL_H
#define TACIT_PROXY_CHECK_PROTOCOL_EVAL_H

#include "proxy/check/check_expect.h"

/* data: at least one byte, all since the last send. is_last: no more will come. */
enum check_step check_protocol_eval(const struct check_rule *r, struct str data, int is_last,
	struct check_verdict *out) must_check;

#endif
