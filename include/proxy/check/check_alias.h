/*
 * The variables of formats in rules of health checks: those of log formats that make sense without
 * a session (manual 8.2.6).
 */
#ifndef TACIT_PROXY_CHECK_CHECK_ALIAS_H
#define TACIT_PROXY_CHECK_CHECK_ALIAS_H

#include "rule/sample/expr.h"

/* They require sample_ctx.server, a struct server. */
extern const struct rule_alias check_aliases[];

#endif
