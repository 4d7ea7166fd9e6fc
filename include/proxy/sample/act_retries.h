/* The action set-retries (HAProxy 3.0, 4.4). */
#ifndef TACIT_PROXY_SAMPLE_ACT_RETRIES_H
#define TACIT_PROXY_SAMPLE_ACT_RETRIES_H

#include "rule/action/action.h"

extern const struct rule_action retries_actions[];

#endif
