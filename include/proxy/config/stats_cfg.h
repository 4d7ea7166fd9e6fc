/* Keywords of the statistics page: stats ... (manual 4.2). */
#ifndef TACIT_PROXY_CONFIG_STATS_CFG_H
#define TACIT_PROXY_CONFIG_STATS_CFG_H

#include "cfg/registry.h"

struct cfg_diag;
struct proxies;
struct proxy;

extern const struct cfg_module stats_cfg_module;

#endif
