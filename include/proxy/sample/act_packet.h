/* The actions set-mark, set-nice and set-tos (manual, http-request set-mark). */
#ifndef TACIT_PROXY_SAMPLE_ACT_PACKET_H
#define TACIT_PROXY_SAMPLE_ACT_PACKET_H

#include "rule/action/action.h"

extern const struct rule_action packet_actions[];

#endif
