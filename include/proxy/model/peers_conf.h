/* Sections peers. Main thread, while the configuration is read; then they do not change. */
#ifndef TACIT_PROXY_MODEL_PEERS_CONF_H
#define TACIT_PROXY_MODEL_PEERS_CONF_H

#include "base/list.h"
#include "cfg/diag.h"
#include "net/addr.h"
#include "proxy/model/server_tls.h"

struct bind_conf;
struct table;
struct tls_server;

/* A line `peer` or `server`. */
struct peer_conf {
	struct list link;
	char *name;
	struct cfg_where where;
	struct addr addr;       /* len 0: none was given */
	unsigned int shard;     /* it gets the keys of this one; 0: all */
	struct server_tls_conf tls_conf;
	struct tls_server *tls; /* NULL: no TLS. app/config reads it, app/process opens it */
};

/* A line `table`. */
struct peers_table {
	struct list link;
	char *name;             /* "<section>/<name>" */
	struct table *table;
	struct cfg_where where;
};

struct peers_conf {
	struct list link;       /* in proxies.peers */
	char *name;
	struct cfg_where where;
	struct list peers;      /* struct peer_conf */
	struct list tables;     /* struct peers_table */
	struct list binds;      /* struct bind_conf: none or one, of `bind` and `default-bind` */
	struct server_tls_conf default_server;
	unsigned int shards;    /* that keys are distributed to; 0: none */
	int is_disabled;
	const struct peer_conf *local; /* the process itself; NULL: it is not there */
	void (*free)(struct peers_conf *c); /* with all that it has */
	int is_used;            /* it is enabled, and has the process itself and others */
};

#endif
