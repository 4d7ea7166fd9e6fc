/* The section crt-store. Main thread, while the configuration is read. */
#ifndef TACIT_APP_CONFIG_CRT_STORE_CFG_H
#define TACIT_APP_CONFIG_CRT_STORE_CFG_H

#include "cfg/registry.h"

extern const struct cfg_module crt_store_cfg_module;

#endif
