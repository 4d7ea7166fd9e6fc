/* The action do-resolve. */
#ifndef TACIT_PROXY_SAMPLE_ACT_RESOLVE_H
#define TACIT_PROXY_SAMPLE_ACT_RESOLVE_H

#include "rule/action/action.h"

extern const struct rule_action resolve_actions[];

#endif
