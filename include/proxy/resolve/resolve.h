/*
 * Names of servers, looked up while tacit runs (manual 5.3): DNS answers become addresses of
 * servers, SRV records become servers. All of it runs on the first worker.
 */
#ifndef TACIT_PROXY_RESOLVE_RESOLVE_H
#define TACIT_PROXY_RESOLVE_RESOLVE_H

#include "base/compiler.h"
#include "base/list.h"
#include "dns/resolvers.h"
#include "proxy/model/dns_ask.h"
#include "proxy/model/engine.h"
#include "proxy/model/proxies.h"

/* A name of SRV records in a backend. Its records are given to the servers of its lines. */
struct service {
	struct list link;      /* resolve.services */
	struct resolve *of;
	struct proxy *be;
	struct resolvers *res;
	char *name;
	struct dns_watch watch;
};

/* A server whose address is looked up. */
struct server_dns {
	struct resolve *of;
	struct server *srv;
	struct service *service; /* NULL: the server's line names a host */
	unsigned int port;       /* of the service's record */
	struct dns_watch watch;  /* of the host */
	struct addr chosen;      /* that of its record; len 0: it has had none yet, or is down */
	struct dns_item *record; /* its record in the answer; NULL: none */
	uint64_t round;          /* the response for which this is so; 0: none */
	uint64_t taken;          /* the last response that it has taken; 0: none */
};

struct resolve {
	struct engine *engine;   /* NULL: not started */
	struct dns_asks asks;    /* of rules */
	struct proxies *ps;
	struct list services;    /* struct service.link */
};

/* Starts the sections and the lookups of all servers. 0 or -ERR_NOMEM. */
int resolve_start(struct resolve *r, struct engine *e, struct proxies *ps) must_check;
/* The most descriptors that the sections of the configuration may have open. */
unsigned int resolve_descriptors(const struct proxies *ps);
/* Ends what was started, also after a failure. */
void resolve_stop(struct resolve *r);

/* `set server fqdn`: another host, looked up from now on. 0; -ERR_INVAL: this is no host name, or
 * the server belongs to a service; or -ERR_NOMEM. */
int resolve_server_rename(struct server *s, const char *fqdn) must_check;
/* The address that a previous process had found for its name counts as found now: lookups that fail
 * do not take it away before `hold` of the section `resolvers`. */
void resolve_server_hold(struct server *s);

/* On the first worker: looks up what sessions have asked for. */
void resolve_take_asks(struct dns_asks *all);

#endif
