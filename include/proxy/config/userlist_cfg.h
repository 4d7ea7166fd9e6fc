/* The section userlist: users, their passwords and groups (manual 3.4). */
#ifndef TACIT_PROXY_CONFIG_USERLIST_CFG_H
#define TACIT_PROXY_CONFIG_USERLIST_CFG_H

#include "cfg/registry.h"

/* ctx->root is a struct proxies; ctx->obj is a struct userlist. */
extern const struct cfg_module userlist_cfg_module;

#endif
