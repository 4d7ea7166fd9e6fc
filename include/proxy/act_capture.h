/* The action `capture` of rules: proxy/capture.h. */
#ifndef TACIT_PROXY_ACT_CAPTURE_H
#define TACIT_PROXY_ACT_CAPTURE_H

#include "rule/action.h"

/* They want a struct session in sample_ctx.session. */
extern const struct rule_action capture_actions[];

#endif
