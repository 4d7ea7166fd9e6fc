/* Keywords about HTTP connections: keep-alive, reuse and retries. */
#ifndef TACIT_PROXY_CONFIG_HTTP_CFG_H
#define TACIT_PROXY_CONFIG_HTTP_CFG_H

struct cfg_diag;
struct proxies;
struct proxy;

#include "cfg/registry.h"

/* ctx->obj is a struct proxy. */
extern const struct cfg_module http_cfg_module;

/* Warns of keywords without effect in a proxy that is not in mode http. */
void http_conf_check(const struct proxy *p, struct cfg_diag *d);

#endif
