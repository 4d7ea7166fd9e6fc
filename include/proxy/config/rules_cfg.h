/* The keywords http-request, http-response, http-after-response, tcp-request, tcp-response and
 * redirect. */
#ifndef TACIT_PROXY_CONFIG_RULES_CFG_H
#define TACIT_PROXY_CONFIG_RULES_CFG_H

#include "cfg/registry.h"

extern const struct cfg_module rules_cfg_module;

#endif
