/* The words that rules and formats of proxies know: those of rule/ and those about sessions. */
#ifndef TACIT_PROXY_CONFIG_VOCAB_H
#define TACIT_PROXY_CONFIG_VOCAB_H

#include "rule/sample/vocab.h"

/* Fills it in. Its tables are static. */
void proxy_vocab_init(struct rule_vocab *v);

#endif
