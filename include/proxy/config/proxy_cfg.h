/* The sections defaults, frontend, backend and listen, and the keywords in them. */
#ifndef TACIT_PROXY_CONFIG_PROXY_CFG_H
#define TACIT_PROXY_CONFIG_PROXY_CFG_H

#include "base/compiler.h"
#include "cfg/ctx.h"
#include "cfg/registry.h"

struct cfg_where;

/* ctx->root is a struct proxies (see proxies.h); ctx->obj is a struct proxy. */
extern const struct cfg_module proxy_cfg_module;    /* the sections and general keywords */
extern const struct cfg_module proxy_cfg_options_module; /* option ... */
extern const struct cfg_module timeouts_cfg_module; /* timeout ... */
extern const struct cfg_module server_cfg_module;   /* server, default-server, source */
extern const struct cfg_module balance_cfg_module;  /* balance, hash-type */
extern const struct cfg_module persist_cfg_module;  /* cookie, use-server, ... */

#define RETRIES_MAX 65535

struct server;
struct server_conf;

/* The target of the options of a server line: a server, or the defaults of those that follow. */
struct server_target {
	struct server_conf *conf;
	struct server *server; /* NULL for default-server */
};

/* Parses an option with one bit, the keyword's arg. */
struct cfg_ctx;
int proxy_cfg_option(struct cfg_ctx *ctx);

/* Takes the first argument, which no other proxy or server may have. `where`: of what gets it; as
 * long as the configuration lives. 0, or -1 after a message. */
int guid_take(struct cfg_ctx *ctx, char **guid, struct cfg_where *where) must_check;

#endif
