/* Options of servers about PROXY headers. */
#ifndef TACIT_PROXY_CONFIG_SERVER_PROXY_CFG_H
#define TACIT_PROXY_CONFIG_SERVER_PROXY_CFG_H

#include "cfg/ctx.h"
#include "proxy/model/proxies.h"

extern const struct cfg_module server_proxy_cfg_module;

/* Compiles the formats of set-proxy-v2-tlv-fmt of a server, when all sections are known. */
void server_proxy_cfg_finish(struct server *s, const struct proxies *ps, struct cfg_diag *d);

#endif
