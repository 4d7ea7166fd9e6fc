/* A server: its address, limits and state, and what was learned about it. */
#ifndef TACIT_PROXY_MODEL_SERVER_H
#define TACIT_PROXY_MODEL_SERVER_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/freq.h"
#include "base/list.h"
#include "cfg/diag.h"
#include "net/addr_cell.h"
#include "net/listener.h"
#include "proxy/model/check_conf.h"
#include "proxy/model/resolve_conf.h"
#include "proxy/model/shard.h"

struct proxy;
struct resolvers;
struct server_dns;

#define SERVER_WEIGHT_MAX 256

enum server_admin { SERVER_UP, SERVER_MAINT, SERVER_DRAIN };

/* `source`: local address of connections to servers. */
struct source_conf {
	struct addr addr;        /* len 0: chosen by the kernel */
	unsigned int port_lo, port_hi; /* 0: chosen by the kernel */
	char interface[IFACE_MAX]; /* "": any */
};

/* Settings of `default-server` that `server` overrides (manual 5.2). */
struct server_conf {
	int weight;              /* 0..256 */
	int maxconn;             /* 0: no limit */
	int maxqueue;            /* 0: no limit */
	int disabled;
	int backup;
	int tfo;
	unsigned int user_timeout_ms; /* tcp-ut, 0: none */
	struct source_conf source; /* after loading, the backend's if it has none */
	/* Idle connections in mode http: proxy/backend/conn_pool.h. */
	int pool_max;            /* pool-max-conn, over all workers; -1: no limit */
	unsigned int pool_purge_ms; /* pool-purge-delay; 0: none are kept */
	char *cookie;            /* its value in the persistence cookie; NULL: none; owned */
	int max_reuse;           /* requests after the first one of a connection; -1: no limit */
	struct resolve_conf resolve;
	struct check_server_conf check;
};

struct server {
	struct list link;        /* in its backend, in file order */
	struct proxy *be;
	char *name;
	int id;                  /* 1.. in file order, or `id` */
	struct cfg_where where;
	struct addr_spec spec;   /* the address as written */
	/* Port: the client's plus spec.port_offset, if spec.has_offset. Wildcard address (0.0.0.0,
	 * ::): the destination of the client (manual 5, `server`). The first worker may change it
	 * while others connect. */
	struct addr_cell addr;
	char *fqdn;              /* its host name, as written or changed since; NULL: none */
	struct resolvers *resolvers; /* NULL: the name is not looked up at run time */
	struct server_dns *dns;  /* while it is looked up: proxy/resolve */
	int unresolved;          /* it has no address: in maintenance (atomic) */
	struct server_conf conf;
	/* The server whose state this one has (`track`), and those that have the state of this one:
	 * track_link of each. */
	struct server *track;
	struct list trackers, track_link;
	enum server_admin admin;
	const struct xprt_maker *xprt; /* for connections to it; NULL: plain sockets */
	int uweight;             /* run-time weight, initially conf.weight */
	struct server_shard *shard; /* one for each worker: be->n_shards */
	uint64_t last_change_ms; /* of admin state */
	/*
	 * Everything below changes under be->lock. Gauges may be read without it (atomic_read).
	 * Balancing state, owned by balance.c.
	 */
	cacheline_aligned uint64_t lb_last; /* number of the choice that selected it last; 0:
					     * never */
	/* Load. */
	unsigned int cur;        /* sessions with a slot (connecting or connected) */
	unsigned int queued;     /* sessions waiting for this server */
	uint32_t queue_served;   /* number of sessions that left the queue with a slot, modulo
				  * 2^32 */
	uint64_t waiting;        /* workers whose queue for it is not empty, one bit each */
	struct freq sess_rate;
	/* Not under the lock. */
	unsigned int source_next; /* `source` with a port range: number of ports used */
	unsigned int idle_total; /* idle connections of all workers, if pool_max limits them */
};

/* Defaults of HAProxy's manual. */
void server_conf_init(struct server_conf *c);
void server_conf_fini(struct server_conf *c);
/* to: as initialized by server_conf_init(). 0 or -ERR_NOMEM: nothing was copied. */
int server_conf_copy(struct server_conf *to, const struct server_conf *from) must_check;
struct server *server_new(struct proxy *be, const char *name,
			  const struct server_conf *defaults) must_check;
void server_free(struct server **s);

/* The local address to bind before connect(), with the next port of a range: 0 if there is none. */
int server_source_addr(struct server *s, struct addr *out);

/* True if it may get new sessions: up, and weight above zero. */
int server_is_usable(const struct server *s);
/* True if an operator has put it into maintenance, or it has no address. */
int server_is_in_maint(const struct server *s);
/* True if it has a free slot. */
int server_has_room(const struct server *s);
/* Takes and returns a slot; st is the worker's shard. */
void server_get_slot(struct server *s, struct server_stat *st);
void server_put_slot(struct server *s);
/* Text of show stat's status column: "UP", "no check", "MAINT", "DRAIN". */
const char *server_status_text(const struct server *s);

/*
 * Whether a speculative call is worth a try; a failed one is a wasted call. It is if it succeeds
 * often enough; otherwise it is tried again now and then. Each worker learns separately.
 */
int server_guess(struct server_shard *s, enum server_guess g);
void server_learn(struct server_shard *s, enum server_guess g, int was_right);

#endif
