/* Log keywords of global and of proxies: log, log-tag, log-format, log-send-hostname, options. */
#ifndef TACIT_PROXY_CONFIG_LOG_CFG_H
#define TACIT_PROXY_CONFIG_LOG_CFG_H

#include "cfg/registry.h"

struct cfg_ctx;

/* ctx->root begins with struct proxies; in proxy sections ctx->obj is a struct proxy. */
extern const struct cfg_module log_cfg_module;

/* Argument 0 as a word of the syslog header: short, and without control bytes. 0, or -1 after
 * cfg_error(). */
int log_cfg_word(struct cfg_ctx *ctx, char **out);

#endif
