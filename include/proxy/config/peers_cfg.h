/* Sections peers, which have no effect. */
#ifndef TACIT_PROXY_CONFIG_PEERS_CFG_H
#define TACIT_PROXY_CONFIG_PEERS_CFG_H

#include "cfg/registry.h"

extern const struct cfg_module peers_cfg_module;

#endif
