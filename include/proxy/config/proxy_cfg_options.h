/* Keywords of proxies and options of their lines that are accepted and have no effect. */
#ifndef TACIT_PROXY_CONFIG_PROXY_CFG_OPTIONS_H
#define TACIT_PROXY_CONFIG_PROXY_CFG_OPTIONS_H

#include "cfg/registry.h"

extern const struct cfg_module proxy_hints_module;

#endif
