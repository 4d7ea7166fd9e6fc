/* The end of reading: what needs the complete configuration. */
#ifndef TACIT_PROXY_CONFIG_PROXIES_FINISH_H
#define TACIT_PROXY_CONFIG_PROXIES_FINISH_H

#include "base/compiler.h"
#include "cfg/registry.h"
#include "proxy/model/proxies.h"

struct cfg_diag;
struct proxies;
struct proxy;

/*
 * Called when the configuration is complete: resolves names, assigns ids, sets defaults, prepares
 * load balancing, and reports errors and warnings to `d`. 0, or -1 when there were errors.
 */
int proxies_finish(struct proxies *ps, struct cfg_diag *d) must_check;
/* The defaults of one server, which come from its backend; reports errors to d. */
void proxies_finish_server(struct server *s, const struct proxies *ps, struct cfg_diag *d);

extern const struct cfg_module dispatch_cfg_module;

#endif
