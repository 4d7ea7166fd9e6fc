/* The global keywords h1-case-adjust and h1-case-adjust-file. */
#ifndef TACIT_PROXY_CONFIG_NAME_CASE_CFG_H
#define TACIT_PROXY_CONFIG_NAME_CASE_CFG_H

#include "cfg/registry.h"

extern const struct cfg_module name_case_cfg_module;

#endif
