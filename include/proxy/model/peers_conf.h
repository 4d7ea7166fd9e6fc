/* Sections peers. */
#ifndef TACIT_PROXY_MODEL_PEERS_CONF_H
#define TACIT_PROXY_MODEL_PEERS_CONF_H

#include "base/list.h"
#include "cfg/diag.h"

struct peers_conf {
	struct list link;       /* in proxies.peers */
	char *name;
	struct cfg_where where;
	unsigned int n;         /* lines `peer` and `server` */
};

#endif
