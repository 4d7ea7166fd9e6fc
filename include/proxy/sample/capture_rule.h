/* The words of expressions that are about captures: proxy/sample/capture.h. */
#ifndef TACIT_PROXY_SAMPLE_CAPTURE_RULE_H
#define TACIT_PROXY_SAMPLE_CAPTURE_RULE_H

#include "rule/sample/vocab.h"

extern const struct rule_fetch capture_fetches[];
extern const struct rule_conv capture_convs[];

#endif
