/* Keywords of proxies that are about HTTP connections: how they persist, are reused and retried. */
#ifndef TACIT_PROXY_CONFIG_HTTP_CFG_H
#define TACIT_PROXY_CONFIG_HTTP_CFG_H

#include "cfg/registry.h"

/* ctx->obj is a struct proxy. */
extern const struct cfg_module http_cfg_module;

/* Its keyword number `which`, a bit of http_conf.given, in words. NULL: there is none. */
const char *http_cfg_name(unsigned int which);

#endif
