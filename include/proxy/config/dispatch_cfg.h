/* The keyword dispatch and `option transparent`: connections that nothing binds to a server go to
 * one address, or to the one that the client asked for (manual 4.2). */
#ifndef TACIT_PROXY_CONFIG_DISPATCH_CFG_H
#define TACIT_PROXY_CONFIG_DISPATCH_CFG_H

#include "base/compiler.h"
#include "cfg/registry.h"

struct cfg_diag;
struct proxies;
struct proxy;

extern const struct cfg_module dispatch_cfg_module;

/* Makes p->dispatch, or frees it where `balance` is set, once all sections are known. 0 or
 * -ERR_NOMEM. */
int dispatch_cfg_finish(struct proxy *p, const struct proxies *ps, struct cfg_diag *d) must_check;

#endif
