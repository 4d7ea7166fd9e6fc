/* The actions set-priority-class and set-priority-offset (manual, http-request
 * set-priority-class). */
#ifndef TACIT_PROXY_SAMPLE_ACT_PRIORITY_H
#define TACIT_PROXY_SAMPLE_ACT_PRIORITY_H

#include "rule/action/action.h"

extern const struct rule_action priority_actions[];

#endif
