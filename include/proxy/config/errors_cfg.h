/* Keywords for error responses: errorfile and similar ones, and the section http-errors. */
#ifndef TACIT_PROXY_CONFIG_ERRORS_CFG_H
#define TACIT_PROXY_CONFIG_ERRORS_CFG_H

#include "cfg/registry.h"

/* ctx->root is a struct proxies; ctx->obj is a struct proxy or error_group. */
extern const struct cfg_module errors_cfg_module;

#endif
