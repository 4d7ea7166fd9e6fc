/* Keywords about logs in global and in proxies: log, log-tag, log-format, log-send-hostname,
 * options. */
#ifndef TACIT_PROXY_CONFIG_LOG_CFG_H
#define TACIT_PROXY_CONFIG_LOG_CFG_H

#include "cfg/registry.h"

/* ctx->root begins with struct proxies; in proxies ctx->obj is a struct proxy. */
extern const struct cfg_module log_cfg_module;

#endif
