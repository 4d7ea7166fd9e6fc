/* Declarations shared by the commands about proxies and servers. */
#ifndef TACIT_APP_ADMIN_ADMIN_SERVER_H
#define TACIT_APP_ADMIN_ADMIN_SERVER_H

#include "proxy/model/server_list.h"

struct admin_conn;
struct addr;
struct proxies;
struct sbuf;

/* By name, or by id as #N. NULL: none. */
struct proxy *admin_find_backend(const struct proxies *ps, const char *text);

/* The frontend (PROXY_FE) or backend (PROXY_BE) that argv[0] names; NULL after a message. */
struct proxy *admin_named_proxy(struct admin_conn *c, int argc, char **argv, unsigned int cap);

/* Sets the weight, "N" or "N%", or answers why not. text NULL: it is missing. */
void admin_set_weight(struct admin_conn *c, struct server *s, const char *text);

/* A walk over the servers of one backend, or of all; they may change between its steps. */
struct admin_servers {
	const struct proxy *only; /* NULL: all */
	struct list *proxy;
	struct server_walk server;
};

#endif
