/* Keyword stick-table. */
#ifndef TACIT_PROXY_CONFIG_TABLE_CFG_H
#define TACIT_PROXY_CONFIG_TABLE_CFG_H

#include "base/compiler.h"
#include "cfg/registry.h"

struct cfg_diag;
struct proxies;

/* ctx->root begins with struct proxies; ctx->obj is a struct proxy. */
extern const struct cfg_module table_cfg_module;

/* Finds the peers sections that tables name, and lists all tables. 0, or -ERR_NOMEM, which is
 * reported. */
int table_cfg_finish(struct proxies *ps, struct cfg_diag *d) must_check;

#endif
