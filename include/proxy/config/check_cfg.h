/*
 * Keywords of health checks (manual 4.2 and 5.2): option httpchk and the other methods, http-check,
 * tcp-check, and the options of a server line. Main thread, while the configuration is read.
 */
#ifndef TACIT_PROXY_CONFIG_CHECK_CFG_H
#define TACIT_PROXY_CONFIG_CHECK_CFG_H

#include "cfg/registry.h"

/* ctx->root is a struct proxies, ctx->obj a struct proxy. */
extern const struct cfg_module check_cfg_module;      /* the methods */
extern const struct cfg_module http_check_cfg_module; /* http-check */
extern const struct cfg_module tcp_check_cfg_module;  /* tcp-check */
extern const struct cfg_module check_global_cfg_module; /* spread-checks, max-spread-checks */
extern const struct cfg_module check_server_cfg_module; /* options of a server line */

#endif
