/*
 * The variables of log formats (configuration manual, 8.2.6 and 8.4). They are also available in
 * formats of rules, with the values known so far.
 */
#ifndef TACIT_PROXY_LOG_LOG_ALIAS_H
#define TACIT_PROXY_LOG_LOG_ALIAS_H

#include "rule/sample/fmt.h"

/* They require a struct stream and a struct log_context (proxy/sample/eval.h). */
extern const struct rule_alias log_aliases[];

/* The variable with this name, or NULL. */
const struct rule_alias *log_alias_find(const char *name);

#endif
