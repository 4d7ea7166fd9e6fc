/* Keywords of the statistics page: stats ... (manual 4.2). */
#ifndef TACIT_PROXY_CONFIG_STATS_CFG_H
#define TACIT_PROXY_CONFIG_STATS_CFG_H

#include "cfg/registry.h"

struct cfg_diag;
struct proxies;
struct proxy;

extern const struct cfg_module stats_cfg_module;

/* When the configuration is complete. 0, or -1 after errors. */
int stats_cfg_finish(struct proxy *p, struct proxies *root, struct cfg_diag *d);

#endif
