/* Settings for resolving the name of a server, at start and at run time (manual 5.2: init-addr,
 * resolvers, resolve-net, resolve-opts, resolve-prefer). */
#ifndef TACIT_PROXY_MODEL_RESOLVE_CONF_H
#define TACIT_PROXY_MODEL_RESOLVE_CONF_H

#include "base/compiler.h"
#include "net/addr.h"
#include "proxy/model/forward.h"

#define RESOLVE_NETS_MAX 5
#define INIT_ADDR_MAX 8

/* resolve-opts */
#define RESOLVE_ALLOW_DUP     1u
#define RESOLVE_IGNORE_WEIGHT 2u

enum init_addr { INIT_ADDR_LAST, INIT_ADDR_LIBC, INIT_ADDR_NONE, INIT_ADDR_IP };

struct resolve_conf {
	char *section;         /* resolvers; NULL: none; owned */
	int prefer;            /* AF_INET or AF_INET6 */
	unsigned int opts;     /* RESOLVE_x */
	unsigned int n_nets;
	struct forward_net net[RESOLVE_NETS_MAX]; /* resolve-net */
	unsigned int n_init;   /* 0: the default, last,libc */
	enum init_addr init[INIT_ADDR_MAX];
	struct addr init_ip;   /* of INIT_ADDR_IP; port 0 */
};

void resolve_conf_init(struct resolve_conf *c);
void resolve_conf_fini(struct resolve_conf *c);
/* 0 or -ERR_NOMEM. */
int resolve_conf_copy(struct resolve_conf *to, const struct resolve_conf *from) must_check;

#endif
