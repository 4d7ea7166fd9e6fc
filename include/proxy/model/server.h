/* A server: its address, limits and state, and what was learned about it. */
#ifndef TACIT_PROXY_MODEL_SERVER_H
#define TACIT_PROXY_MODEL_SERVER_H

#include <stdint.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "base/freq.h"
#include "base/list.h"
#include "cfg/diag.h"
#include "net/addr.h"
#include "net/addr_cell.h"
#include "net/listener.h"
#include "proxy/model/check_conf.h"
#include "proxy/model/forward.h"
#include "proxy/model/server_tls.h"
#include "proxy/model/shard.h"
#include "rule/sample/fmt.h"

/* The TLVs of one server. */
#define SERVER_TLVS_MAX 32

struct server_tlv {
	struct server_tlv *next;
	uint8_t type;
	char *text;
	struct cfg_where where;  /* of the text */
	struct rule_fmt *fmt;    /* set after loading */
};

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

struct check;
struct dynamic_cookie;
struct outbound_source;
struct proxy;
struct resolvers;
struct server_dns;
struct rule_expr;
struct server_kept;
struct server_tlv;
struct tls_server;

#define SERVER_WEIGHT_MAX 256
/* Balancing uses weights multiplied by this, so that a server can have a fraction of its weight. */
#define SERVER_WEIGHT_SCALE 16u

/* Reasons why a server gets no new sessions, apart from its checks. One bit each. */
enum server_admin {
	SERVER_MAINT_FORCED     = 1u << 0, /* by the operator, or `disabled` */
	SERVER_MAINT_TRACKED    = 1u << 1, /* the server that it tracks is in maintenance */
	SERVER_MAINT_UNRESOLVED = 1u << 2, /* its name has no address */
	SERVER_DRAIN_FORCED     = 1u << 3, /* by the operator */
	SERVER_DRAIN_TRACKED    = 1u << 4
};

#define SERVER_READY 0u
#define SERVER_MAINT (SERVER_MAINT_FORCED | SERVER_MAINT_TRACKED | SERVER_MAINT_UNRESOLVED)
#define SERVER_DRAIN (SERVER_DRAIN_FORCED | SERVER_DRAIN_TRACKED)

/* The result of its checks. */
enum server_oper {
	SERVER_RUNNING,  /* also without checks */
	SERVER_STARTING, /* running since a while ago, with `slowstart` */
	SERVER_STOPPING, /* only for sessions that persistence binds to it (disable-on-404) */
	SERVER_STOPPED
};

/* Room for the text of server_status_text(). */
#define SERVER_STATUS_MAX 160

/* `source ... usesrc`: whose address sessions show to a server. */
enum source_as {
	SOURCE_AS_SELF,      /* this host's */
	SOURCE_AS_ADDR,      /* the same one for all */
	SOURCE_AS_CLIENT,    /* the client's, with its port */
	SOURCE_AS_CLIENT_IP,
	SOURCE_AS_HEADER     /* that in a header of the request */
};

#define SOURCE_HEADER_MAX 64

/* `source`: local address of connections to servers. */
struct source_conf {
	struct addr addr;        /* len 0: chosen by the kernel */
	unsigned int port_lo, port_hi; /* 0: chosen by the kernel */
	char interface[IFACE_MAX]; /* "": any */
	enum source_as as;
	struct addr as_addr;     /* SOURCE_AS_ADDR */
	char header[SOURCE_HEADER_MAX]; /* SOURCE_AS_HEADER, and which of its elements: 1 is the
					 * first, -1 the last */
	int occurrence;
};

/* The PROXY header of connections to a server; one bit each. Any of them sends one, in version 2 if
 * that is among them. */
enum server_proxy_header {
	SERVER_PROXY_V1        = 1u << 0, /* send-proxy */
	SERVER_PROXY_V2        = 1u << 1, /* send-proxy-v2 */
	SERVER_PROXY_CRC32C    = 1u << 2, /* proxy-v2-options */
	SERVER_PROXY_UNIQUE_ID = 1u << 3,
	SERVER_PROXY_AUTHORITY = 1u << 4,
	SERVER_PROXY_SSL       = 1u << 5, /* send-proxy-v2-ssl, and what implies it */
	SERVER_PROXY_SSL_CN    = 1u << 6, /* send-proxy-v2-ssl-cn */
	SERVER_PROXY_SSL_CIPHER = 1u << 7,
	SERVER_PROXY_CERT_SIG  = 1u << 8,
	SERVER_PROXY_CERT_KEY  = 1u << 9
};

/* The input of a server's points on the ring of consistent hashing. */
enum server_hash_key {
	SERVER_HASH_ID,
	SERVER_HASH_ADDR,
	SERVER_HASH_ADDR_PORT
};

/* Settings of `default-server` that `server` overrides (manual 5.2). */
struct server_conf {
	int weight;              /* 0..256 */
	int maxconn;             /* 0: no limit; after loading, not below minconn */
	int minconn;             /* 0: maxconn is the limit, whatever the load of the backend */
	int maxqueue;            /* 0: no limit */
	int strict_maxconn;      /* maxconn limits connections, with those that are idle */
	int disabled;
	int backup;
	int non_stick;           /* not stored by `stick` */
	int tfo;
	enum server_hash_key hash_key;
	enum mux_proto proto;    /* what the mode implies, too */
	enum mux_proto websocket_proto; /* ws: MUX_ANY, MUX_H1 or MUX_H2 */
	unsigned int proxy_header; /* enum server_proxy_header; 0: none */
	struct server_tlv *tlvs; /* further fields of PROXY headers of version 2; owned */
	unsigned int user_timeout_ms; /* tcp-ut, 0: none */
	struct addr socks4;      /* the SOCKS4 proxy on the way to it; len 0: none */
	struct source_conf source; /* after loading, the backend's if it has none */
	/* Idle connections in mode http: proxy/backend/conn_pool.h. */
	int pool_low;            /* pool-low-conn: so many are kept though no request needs them */
	int pool_max;            /* pool-max-conn, over all workers; -1: no limit */
	unsigned int pool_purge_ms; /* pool-purge-delay; 0: none are kept */
	char *cookie;            /* its value in the persistence cookie; NULL: none; owned */
	char *redir;             /* what clients are redirected to, before the path; NULL: they are
				  * not; owned */
	int max_reuse;           /* requests after the first one of a connection; -1: no limit */
	struct resolve_conf resolve;
	struct server_tls_conf tls;
	struct check_server_conf check;
};

struct server {
	struct list link;        /* in its backend, in file order */
	struct proxy *be;
	char *name;
	int id;                  /* 1.. in file order, or `id` */
	int has_own_id;          /* `id` is set */
	char *guid;              /* `guid`; NULL: none */
	int is_dynamic;          /* added at run time */
	int is_dispatch;         /* its backend's `dispatch`: its name is no server's */
	int is_referenced;       /* by name in the configuration: it cannot be removed */
	uint64_t serial;         /* ascending in the list */
	struct cfg_where where;
	struct addr_spec spec;   /* the address as written */
	/* Port: the client's plus spec.port_offset, if spec.has_offset. Wildcard address (0.0.0.0,
	 * ::): the destination of the client (manual 5, `server`). The first worker may change it
	 * while others connect. */
	struct addr_cell addr;
	int has_last_addr;       /* its first address is that which it had in a previous process */
	char *fqdn;              /* its host name, as written or changed since; NULL: none */
	struct resolvers *resolvers; /* NULL: the name is not looked up at run time */
	struct server_dns *dns;  /* while it is looked up: proxy/resolve */
	struct server_conf conf;
	/*
	 * Its state: proxy/backend/server_state.h. Only the first worker changes it, under
	 * be->lock. admin and oper may be read without the lock (atomic_read).
	 */
	unsigned int admin;      /* enum server_admin */
	enum server_oper oper;
	struct check *check;     /* NULL: no `check` */
	struct check *agent;     /* NULL: no `agent-check` */
	uint64_t last_change_ms; /* of the state */
	uint64_t down_since_ms;  /* while it is not running */
	uint64_t down_ms;        /* total of earlier times */
	unsigned int downs;      /* number of times that it went down */
	unsigned int changes;    /* of the state; any worker may read it (atomic_read) */
	/* `track`: the server whose state it has, and those that have its state. */
	struct server *track;
	struct list trackers;    /* struct server.track_link */
	struct list track_link;
	struct dynamic_cookie *dynamic; /* its cookie if conf has none: persist_conf.h; or NULL */
	/* For connections to it, one for each worker; NULL: plain sockets. */
	const struct xprt_maker *const *xprt;
	struct tls_server *tls;  /* its TLS (tls/connect.h); owned; NULL: there is none */
	struct rule_expr *sni;   /* the name that is asked for; owned; NULL: none */
	int sni_varies;          /* it depends on the session */
	int may_speak_h2;        /* connections are of HTTP/2, or a handshake may agree on it */
	int sni_needs_request;   /* mode http: it is noted before the request is written */
	int uweight;             /* run-time weight, initially conf.weight */
	/* slowstart: proxy/backend/server_state.h. */
	unsigned int weight_part; /* part of uweight in use: 1..SERVER_WEIGHT_SCALE */
	unsigned int start_age_ms; /* time since it came up, as of the last step */
	struct list start_link;  /* in engine.starting while it is SERVER_STARTING */
	struct server_shard *shard; /* one for each worker: be->n_shards */
	int has_placed_shards;   /* they are not its own memory */
	struct stat_past past;
	struct latency_set latency;
	struct server_kept *kept; /* the copy of its state that outlives the process; NULL: none */
	int has_file_state;      /* a state file has named it */
	/*
	 * Everything below changes under be->lock. Gauges may be read without it (atomic_read).
	 * Balancing state, owned by balance.c.
	 */
	cacheline_aligned uint64_t lb_last; /* number of the choice that selected it last; 0:
					     * never */
	int in_group;            /* in the group in use; may be read without the lock */
	/* Load. */
	unsigned int cur;        /* sessions with a slot (connecting or connected) */
	unsigned int queued;     /* sessions waiting for this server */
	uint32_t slots;          /* number of slots given so far, modulo 2^32 */
	uint32_t queue_served;   /* number of sessions that left the queue with a slot, modulo
				  * 2^32 */
	uint64_t waiting;        /* workers whose queue for it is not empty, one bit each */
	struct freq sess_rate;
	/* strict_maxconn: proxy/backend/server_place.h. */
	unsigned int conns;      /* connections to it */
	uint64_t places_wanted;  /* workers whose sessions wait for a place, one bit each */
	/* `observe`: any worker writes them, without the lock: proxy/backend/server_observe.h. */
	cacheline_aligned unsigned int errors; /* consecutive ones of its sessions */
	unsigned int alarms;     /* times that error-limit was reached, not yet applied */
	unsigned int last_error; /* enum server_finding */
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
/*
 * A server that was removed at run time: messages of other workers may still name it, so its
 * memory is kept for another server. server_retire() frees the rest; server_renew() makes it as
 * server_new() does, with cleared shards: 0 or -ERR_NOMEM. All workers but the caller's are
 * paused.
 */
void server_retire(struct server *s);
int server_renew(struct server *s, struct proxy *be, const char *name,
	const struct server_conf *defaults) must_check;

/* True if connections show an address of their client: others must not use them. */
static inline int
source_is_of_client(const struct source_conf *c)
{
	return c->as != SOURCE_AS_SELF && c->as != SOURCE_AS_ADDR;
}

/* The local end of connections to it: out, or NULL if the kernel chooses. */
const struct outbound_source *server_source(struct server *s, struct outbound_source *out);

/* True if it may get new sessions: running, not drained, and weight above zero. */
int server_is_usable(const struct server *s);
/* True if only checks can keep it from new sessions: neither in maintenance nor drained, its weight
 * is above zero, it has not asked for none (disable-on-404), and has been up before. */
int server_may_serve(const struct server *s);
/* True if it takes new sessions: usable, or in the group of a backend in panic. */
static inline int
server_takes_sessions(const struct server *s)
{
	return server_is_usable(s) || atomic_read(&s->in_group);
}
/* True if it is neither down nor in maintenance: sessions that persistence binds to it may use it.
 * Any worker may ask. */
int server_is_running(const struct server *s);
/* True if checks allow new sessions. */
static inline int
server_oper_is_up(enum server_oper oper)
{
	return oper == SERVER_RUNNING || oper == SERVER_STARTING;
}
/* The weight in use, multiplied by SERVER_WEIGHT_SCALE; and as it is shown, rounded up. Any worker
 * may ask. */
static inline unsigned int
server_eweight(const struct server *s)
{
	return (unsigned int)atomic_read(&s->uweight) * atomic_read(&s->weight_part);
}
static inline unsigned int
server_shown_weight(const struct server *s)
{
	return (server_eweight(s) + SERVER_WEIGHT_SCALE - 1) / SERVER_WEIGHT_SCALE;
}
/* The weight that is `percent` of the configured one, limited to the maximum. */
int server_weight_of(const struct server *s, int64_t percent);
/* Time that it was down or in maintenance, in ms. */
uint64_t server_down_ms(const struct server *s, uint64_t now_ms);
/* True if its name has no address. Any worker may ask. */
static inline int
server_is_unresolved(const struct server *s)
{
	return (atomic_read(&s->admin) & SERVER_MAINT_UNRESOLVED) != 0;
}
/* True if its name is that of a service, of which SRV records list the servers. fqdn is set. */
static inline int
server_names_service(const struct server *s)
{
	return s->fqdn[0] == '_';
}
/* True if its sessions or its checks use TLS, or may at run time. */
static inline int
server_uses_tls(const struct server *s)
{
	return s->conf.tls.is_on || s->conf.tls.is_off || s->conf.tls.has_ssl_check ||
		s->conf.tls.check == SERVER_CHECK_TLS_ON;
}
/* Maximum number of sessions with a slot at present; 0: no limit. Any worker may ask. */
unsigned int server_limit(const struct server *s);
/* True if it has a free slot. */
int server_has_room(const struct server *s);
/* Takes and returns a slot; st is the worker's shard. */
void server_get_slot(struct server *s, struct server_stat *st);
void server_put_slot(struct server *s);
/* Text of show stat's status column: "UP", "UP 1/3", "no check", "MAINT (via b/s)", ... In buf, or
 * static. On the first worker. */
const char *server_status_text(const struct server *s, char buf[SERVER_STATUS_MAX]);

/*
 * True if a speculative call is worth a try; a failed one is a wasted call. It is if it succeeds
 * often enough; otherwise it is tried again now and then. Each worker learns separately.
 */
int server_guess(struct server_shard *s, enum server_guess g);
void server_learn(struct server_shard *s, enum server_guess g, int was_right);

/* Appends one: 0 or -ERR_NOMEM. */
int server_tlv_add(struct server_tlv **list, uint8_t type, const char *text,
	const struct cfg_where *where) must_check;
unsigned int server_tlvs_count(const struct server_tlv *list);

#endif
