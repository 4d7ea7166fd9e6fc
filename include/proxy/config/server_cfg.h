/* The file that the states of a backend's servers are loaded from at start: keywords of proxies. */
#ifndef TACIT_PROXY_CONFIG_SERVER_CFG_H
#define TACIT_PROXY_CONFIG_SERVER_CFG_H

#include "cfg/registry.h"

extern const struct cfg_module server_state_cfg_module;

#endif
