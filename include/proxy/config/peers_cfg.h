/* Sections peers, which have no effect. */
#ifndef TACIT_PROXY_CONFIG_PEERS_CFG_H
#define TACIT_PROXY_CONFIG_PEERS_CFG_H

#include "cfg/registry.h"

struct list;

extern const struct cfg_module peers_cfg_module;
/* Frees all struct peers_conf of the list. */
void peers_conf_fini(struct list *all);

#endif
