/* The words of expressions that are about captures: proxy/capture.h. */
#ifndef TACIT_PROXY_CAPTURE_RULE_H
#define TACIT_PROXY_CAPTURE_RULE_H

#include "rule/vocab.h"

extern const struct rule_fetch capture_fetches[];
extern const struct rule_conv capture_convs[];

#endif
