/* Sections `resolvers` (manual 5.3.2). */
#ifndef TACIT_PROXY_CONFIG_RESOLVERS_CFG_H
#define TACIT_PROXY_CONFIG_RESOLVERS_CFG_H

#include "cfg/registry.h"

struct proxies;
struct sys;

extern const struct cfg_module resolvers_cfg_module;

/* Adds the section `default` from /etc/resolv.conf, unless there is one; without that file, or
 * name servers in it, nothing. 0 or -ERR_NOMEM. */
int resolvers_add_default(struct proxies *ps, struct sys *sys);

#endif
