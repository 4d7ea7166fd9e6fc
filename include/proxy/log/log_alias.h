/*
 * The variables of log formats: what each writes of a session (configuration manual, 8.2.6 and
 * 8.4). Known too in formats that rules write, where it is what is known so far.
 */
#ifndef TACIT_PROXY_LOG_LOG_ALIAS_H
#define TACIT_PROXY_LOG_LOG_ALIAS_H

#include "rule/sample/fmt.h"

/* They want a struct session and a struct log_context (proxy/sample/eval.h). */
extern const struct rule_alias log_aliases[];

/* The variable called so, or NULL. */
const struct rule_alias *log_alias_find(const char *name);

#endif
