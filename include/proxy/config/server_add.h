/*
 * Servers that are added and removed while tacit runs (management manual 9.3: add server, del
 * server). On the first worker, while all others are paused.
 */
#ifndef TACIT_PROXY_CONFIG_SERVER_ADD_H
#define TACIT_PROXY_CONFIG_SERVER_ADD_H

#include "cfg/diag.h"
#include "cfg/env.h"
#include "cfg/registry.h"
#include "proxy/model/proxies.h"
#include "proxy/model/server.h"

/* The words of a server line after the keyword: name, address, options. */
struct server_line {
	struct proxies *proxies; /* ctx->root */
	const struct cfg_registry *registry;
	struct cfg_env *env;
	struct proxy *be;
	int argc;                /* at most SERVER_LINE_MAX */
	char **argv;
};

#define SERVER_LINE_MAX 128

/*
 * Adds a server, which is in maintenance unless an option says `enabled`. NULL: the reasons are in
 * d, and nothing has changed. Its checks are not made yet.
 */
struct server *server_add(const struct server_line *line, struct cfg_diag *d) must_check;
/* Removes a server that no session, no check and no other server uses. */
void server_remove(struct proxies *ps, struct server *s);

#endif
