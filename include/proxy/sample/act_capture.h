/* The action `capture` of rules: proxy/sample/capture.h. */
#ifndef TACIT_PROXY_SAMPLE_ACT_CAPTURE_H
#define TACIT_PROXY_SAMPLE_ACT_CAPTURE_H

#include "rule/action/action.h"

/* Requires a struct session in sample_ctx.session. */
extern const struct rule_action capture_actions[];

#endif
