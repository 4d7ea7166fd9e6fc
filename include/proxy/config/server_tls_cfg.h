/* Options of servers about TLS (manual 5.2). Main thread, while the configuration is read. */
#ifndef TACIT_PROXY_CONFIG_SERVER_TLS_CFG_H
#define TACIT_PROXY_CONFIG_SERVER_TLS_CFG_H

#include "cfg/registry.h"

struct cfg_diag;
struct proxies;
struct server;

extern const struct cfg_module server_tls_cfg_module;

#endif
