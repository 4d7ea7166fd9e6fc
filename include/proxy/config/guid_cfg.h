/* The keyword `guid` of proxies and servers (manual of HAProxy 3.0, 4.2 and 5.2). */
#ifndef TACIT_PROXY_CONFIG_GUID_CFG_H
#define TACIT_PROXY_CONFIG_GUID_CFG_H

#include "base/compiler.h"
#include "cfg/ctx.h"

struct cfg_where;

/* Takes the first argument, which no other proxy or server may have. `where`: of what gets it; as
 * long as the configuration lives. 0, or -1 after a message. */
int guid_take(struct cfg_ctx *ctx, char **guid, struct cfg_where *where) must_check;

#endif
