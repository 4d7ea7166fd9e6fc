/* Sections peers. */
#ifndef TACIT_PROXY_CONFIG_PEERS_CFG_H
#define TACIT_PROXY_CONFIG_PEERS_CFG_H

#include "base/compiler.h"
#include "cfg/registry.h"

struct cfg_diag;
struct proxies;

extern const struct cfg_module peers_cfg_module;

/* Before proxies_finish(): finds the process itself in each section, and has the tables of sections
 * shared. 0, or -1 after a report. */
int peers_cfg_finish(struct proxies *ps, struct cfg_diag *d) must_check;

#endif
