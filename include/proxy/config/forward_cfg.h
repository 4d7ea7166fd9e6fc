/* The keywords option forwardfor, originalto and forwarded. */
#ifndef TACIT_PROXY_CONFIG_FORWARD_CFG_H
#define TACIT_PROXY_CONFIG_FORWARD_CFG_H

#include "cfg/registry.h"

/* ctx->obj is a struct proxy. */
extern const struct cfg_module forward_cfg_module;

#endif
