/* Log keywords of global and of proxies: log, log-tag, log-format, log-send-hostname, options. */
#ifndef TACIT_PROXY_CONFIG_LOG_CFG_H
#define TACIT_PROXY_CONFIG_LOG_CFG_H

#include "cfg/registry.h"

struct log_line;

struct cfg_ctx;

/* ctx->root begins with struct proxies; in proxy sections ctx->obj is a struct proxy. */
extern const struct cfg_module log_cfg_module;

extern const struct cfg_module log_profile_cfg_module;

#endif
