/*
 * Proxies: frontends, backends and listens as the configuration says, with their counters.
 * Built by proxy_cfg.c, read by the session machine, shown by the admin socket. Shared by all
 * workers: settings change while the workers stand still, the rest as it says below.
 */
#ifndef TACIT_PROXY_MODEL_PROXY_H
#define TACIT_PROXY_MODEL_PROXY_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/freq.h"
#include "base/gate.h"
#include "base/list.h"
#include "base/lock.h"
#include "net/listener.h"
#include "proxy/model/balance_conf.h"
#include "proxy/model/capture_conf.h"
#include "proxy/model/errors.h"
#include "proxy/model/forward.h"
#include "proxy/model/http_conf.h"
#include "proxy/model/persist_conf.h"
#include "proxy/model/proxy_log.h"
#include "proxy/model/rules.h"
#include "proxy/model/server.h"
#include "proxy/model/shard.h"
#include "proxy/model/unique_id_conf.h"
#include "rule/match/cond.h"

/* What a section can do. `listen` is both. */
#define PROXY_FE 1u
#define PROXY_BE 2u
#define PROXY_DEFAULTS 4u

enum proxy_mode { PROXY_TCP, PROXY_HTTP };

/* Options: one bit each (option tcpka sets both). */
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
	OPT_SPLICE_REQUEST   = 1u << 12, /* from the first full read on, not after enough of them */
	OPT_SPLICE_RESPONSE  = 1u << 13,
	OPT_ABORTONCLOSE     = 1u << 14,
	OPT_HTTP_BUFFER_REQUEST = 1u << 15,
	OPT_HTTP_IGNORE_PROBES = 1u << 16,
	OPT_DONTLOG_NORMAL   = 1u << 21,
	OPT_LOG_ERRORS       = 1u << 22, /* option log-separate-errors */
	OPT_PERSIST          = 1u << 20
};

/* What asks for pipes. In mode tcp OPT_SPLICE_AUTO holds unless it is switched off: the benchmark
 * says so (bulk, mixed). */
#define OPT_SPLICES (OPT_SPLICE_AUTO | OPT_SPLICE_REQUEST | OPT_SPLICE_RESPONSE)

/*
 * Milliseconds; 0: not set, for ever. queue and tarpit: the connect one when it was not given.
 * http_request: client when it was not given; http_keep_alive: http_request. tunnel takes the place
 * of client and server once bytes go both ways unread.
 */
struct proxy_timeouts {
	unsigned int connect, client, server, client_fin, server_fin, queue, check;
	unsigned int http_request, http_keep_alive, tarpit, tunnel;
};

struct proxy {
	struct list link;         /* in proxies.all, file order */
	char *name;
	int id;                   /* iid: 1.., one per section, `id` or the lowest free */
	unsigned int caps;        /* PROXY_x */
	struct cfg_where where;
	unsigned int errors_read; /* errors in its section and in the defaults it has */
	enum proxy_mode mode;
	int disabled;
	char *description;
	unsigned int options;     /* enum proxy_option */
	unsigned int no_options;  /* bits cleared by `no option` here or in the defaults */
	struct proxy_timeouts to;
	struct http_conf http;
	struct proxy_errors errors;
	struct forward_conf forward;
	struct list logs;         /* struct log_line; `log global` resolved by proxy_log_finish() */
	struct proxy_log log;
	/* Frontend. */
	struct capture_conf captures;
	struct unique_id_conf unique_id;
	struct list binds;        /* struct bind_conf */
	int maxconn;              /* 0: from global */
	int backlog;              /* 0: from maxconn */
	char *default_be_name;    /* default_backend */
	struct cfg_where default_be_where;
	struct rule_acls acls;    /* of the section */
	struct proxy_rules rules;
	struct list use_backends; /* struct use_backend: proxy/sample/route.h */
	int route_looks;          /* mode tcp: and they look at what clients sent */
	unsigned int n_routes;    /* of them, before the first that always goes to the same one */
	/* For those that none of n_routes takes: itself for listen; NULL: no server for anyone. */
	struct proxy *default_be;
	struct proxy *fallback_be; /* default_backend itself: for made names that are nobody's */
	/* Backend. */
	struct list servers;      /* struct server */
	unsigned int n_servers;
	enum balance_algo balance;
	unsigned int balance_draws; /* random(N) */
	struct balance_by balance_by;
	struct hash_type hash_type;
	unsigned int hash_balance_factor; /* per cent; 0: no bound */
	struct persist_conf persist;
	int fullconn;             /* 0: a tenth of what may come, see proxies_set_fullconn() */
	uint64_t reach;           /* the most connections that frontends may bring it */
	const struct proxy *reached_by; /* the last of them that counted */
	int retries;              /* default 3 */
	int redispatch_every;     /* option redispatch N: 0 off, -1 last retry, N every Nth */
	struct server_conf default_server;
	struct source_conf source; /* for servers without one */
	uint64_t last_change_ms;
	struct proxy_shard *shard; /* of each worker */
	unsigned int n_shards;
	/* Atomic: open sessions of the frontend, and its connections of this second. */
	cacheline_aligned struct gate fe_gate;
	uint64_t fe_second;
	/* Guards everything from here on, what servers have of the kind, and the queues in the
	 * shards. Gauges may be read without it (atomic_read). */
	cacheline_aligned struct lock lock;
	unsigned int be_cur;
	unsigned int queued;      /* waiting for any server */
	uint32_t queue_served;    /* left the queue with a slot, modulo 2^32 */
	uint64_t waiting;         /* workers whose queue for any server is not empty, a bit each */
	struct freq be_rate;      /* sessions assigned to the backend */
	struct balance lb;
};

/* The OPT_SPLICE_x that hold for a session: one of the two having it is enough. */
unsigned int proxy_splice(const struct proxy *fe, const struct proxy *be);
/* By name; NULL: there is none. */
struct server *proxy_find_server(const struct proxy *be, struct str name);
/* For messages: "frontend", "backend" or "proxy" (both), and where it is declared. */
const char *proxy_kind(const struct proxy *p);
const char *proxy_file(const struct proxy *p);
/* Active (or backup, when no active is) servers that are usable. */
unsigned int proxy_usable_servers(const struct proxy *be);

#endif
