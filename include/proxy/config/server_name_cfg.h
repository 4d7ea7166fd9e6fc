/* Names in server lines, and the options for resolving them. */
#ifndef TACIT_PROXY_CONFIG_SERVER_NAME_CFG_H
#define TACIT_PROXY_CONFIG_SERVER_NAME_CFG_H

#include "base/compiler.h"
#include "cfg/ctx.h"
#include "net/addr.h"

struct cfg_diag;
struct proxies;
struct server;

extern const struct cfg_module server_name_cfg_module; /* options about names */

/* Reports characters that a server's name must not have, at argument 0. */
int server_cfg_check_name(struct cfg_ctx *ctx, const char *name) must_check;
/* ADDR_ALLOW_NAME where a look-up may block: while the configuration is read. */
static inline unsigned int
server_cfg_name_flag(const struct cfg_ctx *ctx)
{
	return ctx->at_run_time ? 0 : ADDR_ALLOW_NAME;
}
/* Parses the address in argument i; a host name is kept in s->fqdn. 0, or -1 after an error. */
int server_cfg_address(struct cfg_ctx *ctx, int i, struct server *s) must_check;
/* Finds the address of a server with a name, by its init-addr. like: a server of the same
 * name that has one, or NULL. 0, or -1 after an error, which argument i gets. */
int server_cfg_init_addr(struct cfg_ctx *ctx, int i, struct server *s,
	const struct server *like) must_check;

#endif
