/* Keywords of `global` that concern TLS, and what needs the whole configuration. */
#ifndef TACIT_APP_CONFIG_TLS_CFG_H
#define TACIT_APP_CONFIG_TLS_CFG_H

#include "base/compiler.h"
#include "cfg/registry.h"

struct config;
struct sys;

extern const struct cfg_module tls_cfg_module;

#endif
