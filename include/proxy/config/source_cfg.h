/* The keyword and server option `source`. */
#ifndef TACIT_PROXY_CONFIG_SOURCE_CFG_H
#define TACIT_PROXY_CONFIG_SOURCE_CFG_H

#include "cfg/ctx.h"
#include "proxy/model/server.h"

struct proxy;

#define SOURCE_SYNTAX \
	"[interface <name>] [usesrc {<address>[:<port>]|client|clientip|" \
	"hdr_ip(<name>[,<occurrence>])}]"

/* Parses the line of a backend. */
int source_cfg_line(struct cfg_ctx *ctx);
/* Parses the option of a server: of the arguments those that belong to it are taken. */
int source_cfg_option(struct cfg_ctx *ctx, struct source_conf *out);
/* Fills in a server's from its backend's when all is known, and warns of what cannot work. */
void source_cfg_finish(struct server *s, const struct proxy *be, struct cfg_diag *d);

#endif
