/* The vocabulary of rules and formats in proxies: that of rule/ and that about sessions. */
#ifndef TACIT_PROXY_CONFIG_VOCAB_H
#define TACIT_PROXY_CONFIG_VOCAB_H

#include "rule/sample/expr.h"

/* Fills it in. Its tables are static. */
void proxy_vocab_init(struct rule_vocab *v);

#endif
