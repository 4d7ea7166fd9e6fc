/* Keywords unique-id-format and unique-id-header. */
#ifndef TACIT_PROXY_CONFIG_UNIQUE_ID_CFG_H
#define TACIT_PROXY_CONFIG_UNIQUE_ID_CFG_H

#include "cfg/registry.h"

/* ctx->root begins with struct proxies; ctx->obj is a struct proxy. */
extern const struct cfg_module unique_id_cfg_module;

#endif
