/* The action auth-request. */
#ifndef TACIT_PROXY_SAMPLE_ACT_AUTH_REQUEST_H
#define TACIT_PROXY_SAMPLE_ACT_AUTH_REQUEST_H

#include "rule/action/action.h"

extern const struct rule_action auth_request_actions[];

#endif
