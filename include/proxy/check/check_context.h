/* The evaluation context of formats and expressions of health checks. On the first worker. */
#ifndef TACIT_PROXY_CHECK_CHECK_CONTEXT_H
#define TACIT_PROXY_CHECK_CHECK_CONTEXT_H

#include "proxy/check/check_run.h"

/* For the rules of r. */
void check_context_init(struct check_run *r, struct sample_ctx *cx);

#endif
