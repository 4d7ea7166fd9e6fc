/* Keywords about captures (manual 4.2, 8.7, 8.8): capture, declare capture, tune.http.cookielen. */
#ifndef TACIT_PROXY_CONFIG_CAPTURE_CFG_H
#define TACIT_PROXY_CONFIG_CAPTURE_CFG_H

#include "cfg/registry.h"
#include "proxy/sample/capture.h"

struct cfg_diag;
struct proxies;

/* ctx->root begins with struct proxies; in proxy sections ctx->obj is a struct proxy. */
extern const struct cfg_module capture_cfg_module;

#endif
