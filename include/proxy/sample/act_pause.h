/* The action pause (HAProxy 3.2, 4.4). */
#ifndef TACIT_PROXY_SAMPLE_ACT_PAUSE_H
#define TACIT_PROXY_SAMPLE_ACT_PAUSE_H

#include "rule/action/action.h"

extern const struct rule_action pause_actions[];

#endif
