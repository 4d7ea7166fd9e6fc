/* The action do-log (manual 4.4 of 3.1). */
#ifndef TACIT_PROXY_LOG_ACT_LOG_H
#define TACIT_PROXY_LOG_ACT_LOG_H

#include "rule/action/action.h"

extern const struct rule_action log_actions[];

#endif
