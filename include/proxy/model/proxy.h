/*
 * Proxies: frontends, backends and listen sections with their counters. Built by proxy_cfg.c, used
 * by the session machine, shown by the admin socket. Shared by all workers: settings change only
 * while the workers are paused; for other members see below.
 */
#ifndef TACIT_PROXY_MODEL_PROXY_H
#define TACIT_PROXY_MODEL_PROXY_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/freq.h"
#include "base/gate.h"
#include "base/list.h"
#include "base/lock.h"
#include "base/name_index.h"
#include "base/rate_limit.h"
#include "net/keepalive.h"
#include "net/listener.h"
#include "proxy/model/balance_conf.h"
#include "proxy/model/capture_conf.h"
#include "proxy/model/check_conf.h"
#include "proxy/model/errors.h"
#include "proxy/model/forward.h"
#include "proxy/model/http_conf.h"
#include "proxy/model/invalid_msg.h"
#include "proxy/model/persist_conf.h"
#include "proxy/model/proxy_log.h"
#include "proxy/model/rules.h"
#include "proxy/model/server.h"
#include "proxy/model/shard.h"
#include "proxy/model/unique_id_conf.h"
#include "rule/match/acl.h"
#include "rule/match/cond.h"

/* Capabilities of a section. `listen` has both. */
#define PROXY_FE 1u
#define PROXY_BE 2u
#define PROXY_DEFAULTS 4u

struct table;

enum proxy_mode { PROXY_TCP, PROXY_HTTP };

/* Options, one bit each (option tcpka sets two). */
enum proxy_option {
	OPT_REDISPATCH       = 1u << 0,
	OPT_CLITCPKA         = 1u << 1,
	OPT_SRVTCPKA         = 1u << 2,
	OPT_SMART_ACCEPT     = 1u << 3,
	OPT_SMART_CONNECT    = 1u << 4,
	OPT_NOLINGER         = 1u << 5, /* frontend: towards clients; backend: towards servers */
	OPT_DONTLOGNULL      = 1u << 6,
	OPT_LOGASAP          = 1u << 7,
	OPT_LOG_GLOBAL       = 1u << 9,
	OPT_ALLBACKUPS       = 1u << 10,
	OPT_SPLICE_AUTO      = 1u << 11,
	OPT_SPLICE_REQUEST   = 1u << 12, /* from the first full read on */
	OPT_SPLICE_RESPONSE  = 1u << 13,
	OPT_ABORTONCLOSE     = 1u << 14,
	OPT_HTTP_BUFFER_REQUEST = 1u << 15,
	OPT_HTTP_IGNORE_PROBES = 1u << 16,
	OPT_HTTP_PRETEND_KEEPALIVE = 1u << 17,
	OPT_DONTLOG_NORMAL   = 1u << 21,
	OPT_LOG_ERRORS       = 1u << 22, /* option log-separate-errors */
	OPT_LOG_CHECKS       = 1u << 23, /* option log-health-checks */
	OPT_PREFER_LAST_SERVER = 1u << 24,
	OPT_CHECKCACHE       = 1u << 25,
	OPT_IDLE_CLOSE       = 1u << 26, /* option idle-close-on-response */
	OPT_H1_CASE_CLIENT   = 1u << 27, /* option h1-case-adjust-bogus-client */
	OPT_H1_CASE_SERVER   = 1u << 28,
	OPT_SOCKET_STATS     = 1u << 18, /* listeners have rows in show stat */
	OPT_TRANSPARENT      = 1u << 8, /* struct proxy.dispatch is the client's destination */
	OPT_PROXY_HEADER     = 1u << 19, /* option http-use-proxy-header */
	OPT_DROP_REQ_TRAILERS = 1u << 29, /* option http-drop-request-trailers */
	OPT_DROP_RES_TRAILERS = 1u << 31, /* option http-drop-response-trailers */
	OPT_NO_H2_UPGRADE    = 1u << 30, /* option disable-h2-upgrade */
	OPT_PERSIST          = 1u << 20
};

/* Options that enable splicing. In mode tcp OPT_SPLICE_AUTO is on by default: benchmarks (bulk,
 * mixed) justify it. */
#define OPT_SPLICES (OPT_SPLICE_AUTO | OPT_SPLICE_REQUEST | OPT_SPLICE_RESPONSE)

/*
 * Milliseconds; 0: not set, no timeout. Defaults: queue and tarpit: connect; http_request: client;
 * http_keep_alive: http_request. tunnel replaces client and server once data is forwarded in both
 * directions without parsing.
 */
struct proxy_timeouts {
	unsigned int connect, client, client_hs, server, client_fin, server_fin, queue, check;
	unsigned int http_request, http_keep_alive, tarpit, tunnel;
};

/* A maxconn of 0 that the operator has set: no connection is accepted. */
#define PROXY_MAXCONN_NONE (-1)

/* The state of a proxy's listeners; changes only while the workers are paused. */
enum proxy_listening {
	PROXY_LISTENS,
	PROXY_PAUSED,
	PROXY_STOPPED /* its sockets are closed; its servers cannot be changed any more */
};

/* The file that the states of its servers are loaded from at start. */
enum state_file { STATE_FILE_NONE, STATE_FILE_GLOBAL, STATE_FILE_LOCAL };

struct email_conf;
struct proxy_kept;
struct filter_conf;
struct filter_sequence;
struct stats_conf;

struct proxy {
	struct list link;         /* in proxies.all, file order */
	char *name;
	int id;                   /* iid: 1.., one per section, `id` or the lowest free number */
	int has_own_id;           /* `id` is set */
	unsigned int account;     /* of the ledger: 1.. of a frontend, 0 of others */
	char *guid;               /* `guid`; NULL: none */
	unsigned int caps;        /* PROXY_x */
	struct cfg_where where;
	unsigned int errors_read; /* errors in its section and in its defaults section */
	enum proxy_mode mode;
	int is_spop;              /* mode spop, which is tcp to agents of `filter spoe` */
	int disabled;
	enum proxy_listening listening;
	char *description;
	unsigned int options;     /* enum proxy_option */
	unsigned int no_options;  /* bits cleared by `no option` here or in the defaults section */
	struct proxy_timeouts to;
	struct http_conf http;
	struct stats_conf *stats; /* NULL: no statistics page */
	int has_own_stats;        /* it is not that of the defaults section */
	struct proxy_errors errors;
	struct forward_conf forward;
	struct filter_conf *filters; /* in file order: proxy/model/filter.h. Owned */
	struct filter_sequence *sequence[2]; /* by side; NULL: they run in file order. Owned */
	struct list logs;         /* struct log_line; `log global` resolved by proxy_log_finish() */
	struct proxy_log log;
	struct email_conf *email; /* `email-alert`: proxy/model/mailers.h; NULL: none. Owned */
	/* Frontend. */
	struct capture_conf captures;
	struct unique_id_conf unique_id;
	struct list binds;        /* struct bind_conf */
	int maxconn;              /* 0: from global, or PROXY_MAXCONN_NONE */
	int backlog;              /* 0: from maxconn */
	struct keepalive client_keepalive; /* with OPT_CLITCPKA */
	struct rate_limit sess_limit; /* `rate-limit sessions`: of all workers together */
	char *default_be_name;    /* default_backend */
	struct cfg_where default_be_where;
	struct rule_acls acls;    /* ACLs of the section */
	struct proxy_rules rules;
	struct list use_backends; /* struct use_backend: proxy/sample/route.h */
	struct list be_switches;  /* struct be_switch: proxy/sample/route.h */
	int passes_over;          /* some backend is not published; changes while the workers are
				   * paused */
	int may_upgrade;          /* mode tcp: a backend may be in mode http */
	int route_looks;          /* mode tcp: some depend on data from the client */
	unsigned int n_routes;    /* their number up to the first unconditional one with a fixed
				   * backend */
	/* The backend of sessions that no rule matches: itself for listen; NULL: none. */
	struct proxy *default_be;
	struct proxy *fallback_be; /* default_backend: used when a formatted name does not exist */
	/* Backend. */
	int unpublished;          /* `be-unpublished`: rules of other sections pass over it; changes
				   * while the workers are paused */
	struct list servers;      /* struct server: server_list.h */
	unsigned int n_servers;
	struct name_index server_names; /* while the configuration or a state file is read */
	uint64_t last_serial;     /* of a server */
	/* Gets the sessions that nothing binds to a server, in place of balancing; NULL: none.
	 * Owned, and not in the list. */
	struct server *dispatch;
	unsigned int removals;    /* of servers, at run time */
	int has_minconn;          /* some server has `minconn` */
	enum balance_algo balance;
	int has_balance;          /* `balance` is set */
	unsigned int balance_draws; /* random(N) */
	struct balance_by balance_by;
	struct hash_type hash_type;
	unsigned int hash_balance_factor; /* per cent; 0: no bound */
	enum hash_affinity hash_affinity;
	unsigned int panic_threshold; /* per cent of servers; 0: off */
	struct table *table;      /* `stick-table`; NULL: none. Owned */
	char *table_peers;        /* the section peers that it names, or NULL */
	struct cfg_where table_where;
	struct persist_conf persist;
	struct check_conf check;
	int fullconn;             /* 0: a tenth of the possible connections, see
				   * proxies_set_fullconn() */
	uint64_t reach;           /* maximum number of connections from frontends */
	const struct proxy *reached_by; /* the last frontend that was counted */
	struct keepalive server_keepalive; /* with OPT_SRVTCPKA */
	int retries;              /* default 3 */
	int redispatch_every;     /* option redispatch N: 0 off, -1 last retry, N every Nth */
	struct server_conf default_server;
	enum state_file state_file;
	char *state_file_name;    /* of STATE_FILE_LOCAL; NULL: the name of the proxy */
	struct source_conf source; /* for servers without their own */
	/* As those of a server; down: no server is usable. */
	uint64_t last_change_ms, down_since_ms, down_ms;
	unsigned int downs;
	struct proxy_shard *shard; /* one for each worker */
	unsigned int n_shards;
	int has_placed_shards;    /* they are not its own memory */
	struct stat_past past[2]; /* of the frontend, of the backend */
	struct latency_set latency[2]; /* the same; of a frontend only the total time */
	struct proxy_kept *kept;  /* as that of a server */
	struct invalid_msgs invalid[2]; /* by side: requests of the frontend, responses of the
					 * backend */
	/* Atomic: open sessions of the frontend, and its connections in this second. */
	cacheline_aligned struct gate fe_gate;
	uint64_t fe_second;
	/* Guards everything below, the corresponding members of servers, and the queues in the
	 * shards. Gauges may be read without it (atomic_read). */
	cacheline_aligned struct lock lock;
	unsigned int be_cur;
	unsigned int queued;      /* sessions waiting for any server */
	uint32_t queue_served;    /* number of sessions that left the queue with a slot, modulo
				   * 2^32 */
	uint64_t waiting;         /* workers whose queue for any server is not empty, one bit
				   * each */
	struct freq be_rate;      /* sessions assigned to the backend */
	struct balance lb;
};

/* The OPT_SPLICE_x that apply to a session: those of either proxy. */
unsigned int proxy_splice(const struct proxy *fe, const struct proxy *be);
/* By name; NULL: none. */
struct server *proxy_find_server(const struct proxy *be, struct str name);
/* The listener behind `after`, of those of several workers the first copy; after NULL: from the
 * beginning. NULL: there are no more. */
struct listener *proxy_next_listener(const struct proxy *fe, const struct listener *after);
/* For messages: "frontend", "backend" or "proxy" (both), and the place of its declaration. */
const char *proxy_kind(const struct proxy *p);
const char *proxy_file(const struct proxy *p);
/* Number of usable active servers, or of backup servers when no active one is usable. */
unsigned int proxy_usable_servers(const struct proxy *be);

#endif
