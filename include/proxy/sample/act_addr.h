/* The actions set-src, set-dst, set-src-port and set-dst-port (manual, http-request set-src). */
#ifndef TACIT_PROXY_SAMPLE_ACT_ADDR_H
#define TACIT_PROXY_SAMPLE_ACT_ADDR_H

#include "rule/action/action.h"

extern const struct rule_action endpoint_actions[];

#endif
