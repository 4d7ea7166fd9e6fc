/* State shared by the sessions of one worker, and by all workers. Owned by app/process/worker. */
#ifndef TACIT_PROXY_MODEL_ENGINE_H
#define TACIT_PROXY_MODEL_ENGINE_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/cursors.h"
#include "base/gate.h"
#include "base/rate_limit.h"
#include "base/list.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/pool.h"
#include "event/loop.h"
#include "event/timer.h"
#include "http/status_set.h"
#include "net/pipe.h"
#include "net/zerocopy.h"
#include "proxy/model/eval_scratch.h"
#include "proxy/model/fsm.h"
#include "proxy/model/proxy.h"
#include "rule/sample/var.h"

struct dns_asks;
struct engine;
struct h2_config;
struct h2_engine;
struct http_head;
struct log_sink;
struct services;
struct cache_wait;
struct spoe_run;
struct session;
struct stream;
struct sockbuf;
struct tls_io;
struct trace;

/* Default of tune.splice.after. */
#define BULK_AFTER_DEFAULT 65536

/* The byte rate is counted in units of this size, so that 32 bits suffice. */
#define SENT_PIECE 32u

/* State shared by a worker's bulk transfers: proxy/relay/direction.h. */
struct bulk_shared {
	unsigned int after;      /* tune.splice.after: bytes without a pause that make a bulk
				  * transfer */
	unsigned int bufsize;    /* tune.bulk.bufsize; 0: tune.bufsize */
	unsigned int per_turn;   /* tune.bulk.turn: bytes of bulk transfers per turn; 0: no limit */
	struct pool bufs;
	uint64_t turn, left;     /* the current turn, and its remaining bytes */
	uint64_t others_ms;      /* last time that a session without a bulk transfer was active */
	struct list waiting;     /* struct direction.turn_link */
	struct task task;
	_Atomic uint64_t waits;          /* number of times that one had to wait */
};

/* Idle server connections of a worker: proxy/backend/conn_pool.h. */
struct conn_pool {
	struct pool pool;
	struct list all;         /* struct idle_conn.age, oldest first */
	struct list held;        /* the same for connections reserved by a session */
	struct list over;        /* to be closed at the end of the turn */
	struct list lists;       /* struct idle_list.link */
	struct task task;
	/* Numbers of descriptors of this worker above which no connection is kept, and above which
	 * the oldest one is closed for a new one. */
	unsigned int low_fds, high_fds;
};

/* No connection is closed because of a stop. */
#define ENGINE_STOP_NEVER UINT32_MAX

/* State shared by the engines of all workers. Nothing else of it changes while they run. */
struct engine_shared {
	unsigned int n;              /* engines */
	unsigned int max_sessions;   /* of the process; changes while the workers are paused */
	char apart[CACHE_LINE];
	struct gate gate;            /* counts open sessions */
	uint64_t second;             /* connections in this second (base/freq.h) */
	struct rate_limit conn_limit, sess_limit; /* new ones of the process */
	struct rate_limit tls_limit; /* the same of connections that begin with TLS */
	unsigned int comp_rate;      /* compressed bytes per second of the process; 0: no limit */
	uint64_t comp_memory;        /* maxzlibmem: bytes of the process; 0: no limit */
	unsigned int comp_cpu;       /* maxcompcpuusage: per cent of a worker's time */
	struct rate_limit shortfall_limit[SHORTFALLS]; /* messages about them */
	struct vars vars;            /* of scope proc */
	struct lock vars_lock;
	uint64_t invalid_msgs;       /* so far; atomic: proxy/model/invalid_msg.h */
	struct dns_asks *asks;       /* names that rules ask for; NULL: none can be */
	struct services *services;   /* NULL: there are no local services */
	const struct name_case *name_case; /* h1-case-adjust */
	uint32_t stop_spread_ms;     /* close-spread-time; 0: not set, or ENGINE_STOP_NEVER */
	int is_stopping;             /* a soft stop was requested, `grace` may delay it; atomic */
	int denies_low_ports;        /* harden.reject-privileged-ports.tcp */
	int screens;                 /* a rule may reject connections before they become sessions */
	char apart_too[CACHE_LINE];
};

/* The size in buffers of tune.bufsize of one for a head that has grown, which takes up to one, with
 * what follows it. */
#define WIDE_BUFS 2

#define ENGINE_H2_POOLS 5

/* The memory of a worker's sessions. */
struct engine_pools {
	struct pool session;
	struct pool substream;       /* struct substream: streams of HTTP/2 clients */
	struct pool buf;             /* buffers of tune.bufsize */
	struct pool wide;            /* buffers for heads that have grown: direction_make_room() */
	struct pool txn;
	struct pool capture;         /* engine_allow_captures() */
	struct pool addr_override;
	struct pool extras, tracked; /* engine_allow_tracking() */
};

struct engine_limits {
	uint64_t max_memory;         /* of the pools, 0: none; see memory.h */
	unsigned int maxrewrite;     /* tune.maxrewrite */
	unsigned int maxhdr;         /* tune.http.maxhdr: maximum fields of a head */
	unsigned int line_max;       /* tune.http.logurilen: bytes of a request line in logs */
	unsigned int max_reads;      /* per direction and turn */
};

/* Counters that are of no proxy, server or listener. */
struct engine_stat {
	_Atomic uint64_t fsm_bugs;   /* (state, event) pairs outside the table */
	_Atomic uint64_t cum_conns, cum_sess, bytes_out, bytes_in;
	_Atomic uint64_t bytes_sent; /* bytes sent to clients and servers */
	uint64_t sent_rest;          /* the part of it that is not in sent_rate yet */
	_Atomic uint64_t requests;   /* requests in mode http, sessions in mode tcp */
	_Atomic uint64_t memory_holds; /* number of times that new sessions had to wait for
					* memory */
	_Atomic uint64_t buf_waits;  /* number of times that no buffer was available */
	_Atomic uint64_t lingers;
	_Atomic uint64_t elided_inline; /* freed slots given to a session of the same worker */
	_Atomic uint64_t granted;    /* freed slots given to a session of another worker, by a
				      * message */
	_Atomic uint64_t spliced;    /* bytes spliced out of pipes */
	_Atomic uint64_t splice_fallbacks; /* reads that were copied although splicing was
					    * enabled */
	struct freq conn_rate, sess_rate;
	struct freq sent_rate;       /* in units of SENT_PIECE bytes */
};

/* Calls to higher layers and to other workers. */
struct engine_hooks {
	/* Called when is_full was set or cleared, and when a session ended, including the last one.
	 * May be NULL. */
	void (*on_full)(struct engine *e);
	void (*on_release)(struct engine *e);
	/* Called when memory_tight changes. May be NULL. */
	void (*on_memory)(struct engine *e);
	/* Called when rate_held changes. May be NULL. */
	void (*on_rate)(struct engine *e);
	/* Prints a message on the terminal in addition to the logs. May be NULL. */
	void (*on_notice)(struct engine *e, int is_alert, const char *text);
	/* Makes the worker `target` call queue_collect(its engine, be) soon; must not get lost. Not
	 * called with one worker. */
	void (*wake_worker)(struct engine *e, unsigned int target, struct proxy *be);
	/* The same for conn_pool_drop_stale(its engine, srv) and connect_places_collect(its engine,
	 * srv). */
	void (*wake_pool)(struct engine *e, unsigned int target, struct server *srv);
	/* Makes the worker `target` call dns_ask_collect(its engine) soon, the first worker also
	 * resolve_take_asks(). */
	void (*wake_asks)(struct engine *e, unsigned int target);
	/* The same for services_collect(its engine), and cache_waits_collect(its engine). */
	void (*wake_services)(struct engine *e, unsigned int target);
	void (*wake_caches)(struct engine *e, unsigned int target);
	/* The same for conn_limits_resume(its engine, fe); fe may be NULL. */
	void (*wake_resume)(struct engine *e, unsigned int target, struct proxy *fe);
	/* The same for on_server_change(its engine, srv). */
	void (*wake_for_server)(struct engine *e, unsigned int target, struct server *srv);
	/* The same for on_alarm(its engine, srv); target: the first worker. */
	void (*wake_for_alarm)(struct engine *e, unsigned int target, struct server *srv);
	/* Callbacks into sessions for lower layers: events of a session's client and of its server
	 * (owner: the session), a slot granted to one of our sessions, the turn of a bulk
	 * transfer. */
	loop_fd_fn *on_client_io, *on_server_io;
	/* A new stream of a session whose client's connection carries several: NULL without memory.
	 * Its client's connection is closed and has to be opened; then it begins with this
	 * event. */
	struct stream *(*new_substream)(struct session *sess);
	void (*begin_substream)(struct stream *s, enum stream_event ev);
	/* Makes a subrequest of a rule, a copy of req to a backend: 0, or a negative reason. Its
	 * result comes through on_resolved(). model/subrequest.h */
	int (*begin_subrequest)(struct stream *s, const struct rule *by, struct proxy *be,
		const struct http_head *req);
	/* The stream does not need its subrequest, which exists, any more: one that is open ends as
	 * if its client had reset. */
	void (*drop_subrequest)(struct stream *s);
	void (*on_slot)(struct stream *s);
	/* A server with strict-maxconn may have a place. It is called while connections are closed,
	 * and closes none: connect_places_serve() of session/connect.h. */
	void (*on_place)(struct engine *e, struct server *srv);
	/* Its question to name servers, or its subrequest, is done. */
	void (*on_resolved)(struct stream *s);
	void (*on_service)(struct stream *s);  /* its job has come back: model/service.h */
	void (*on_bulk_turn)(struct stream *s, int side);
	/* The state of a server has changed: see proxy/session/server_change.h. */
	void (*on_server_change)(struct engine *e, struct server *srv);
	/* Sessions on a server with `observe` have had error-limit errors: it is applied later in
	 * this turn. Only the first worker has it; NULL: there are no checks. */
	void (*on_alarm)(struct engine *e, struct server *srv);
	/* A server has changed; the text is an alert of this level: proxy/check/mailer.h. Only
	 * the first worker has it; NULL: no proxy sends alerts. */
	void (*on_alert)(struct engine *e, const struct server *srv, enum log_level level,
		const char *text);
};

struct engine {
	unsigned int index;          /* index of the worker, from 0: its shard of counters */
	struct loop *loop;
	struct sys *sys;
	struct list streams;         /* in order of their ids */
	struct cursors walks;        /* positions of walks over them: session/session_walk.h */
	unsigned int n_sessions;
	struct engine_shared *shared;
	struct engine_shared alone;  /* the shared state of a single engine */
	int is_full;                 /* the process is full and the listeners are held:
				      * session_admit.h */
	uint64_t next_id;            /* engine_next_id() */
	struct engine_pools pools;
	struct engine_limits limits;
	struct engine_stat stat;
	unsigned int n_tracked;      /* engine_allow_tracking() */
	uint32_t tracked_stores;     /* bit n: an entry that was tracked has data type n */
	struct status_set err_codes, fail_codes; /* http-err-codes, http-fail-codes */
	struct h2_engine *h2;        /* proxy/http2; NULL before the first such connection */
	struct pool *h2_pools[ENGINE_H2_POOLS]; /* its pools, which count as memory, */
	const _Atomic size_t *_Atomic h2_bytes; /* as these bytes; NULL: there are none yet */
	/* Settings for clients' connections, and for those to servers; NULL: the defaults. */
	const struct h2_config *h2_client_config, *h2_server_config;
	struct zerocopy_pool zerocopy;
	struct listener *inner;      /* that of subrequests; NULL before the first one */
	char *scratch;
	struct compression *compression; /* proxy/model/compression.h; NULL: none is configured */
	struct spoe_run *spoe;       /* proxy/filter/spoe_agent.c; NULL: no agent was asked */
	struct cache_wait *cache_waits; /* proxy/filter/cache_use.c */
	char *filter_room;           /* two areas for relay/filter.c; NULL: none has been needed */
	struct eval_scratch eval;
	unsigned int bufsize;        /* tune.bufsize */
	uint8_t takes_old_content;   /* h1-accept-payload-with-any-method */
	int low_water;               /* tune.http.low-water */
	const struct sockbuf *server_buf; /* for sockets to servers; NULL: the kernel's defaults */
	uint64_t stop_ms;            /* start of a soft stop on the loop's clock, 0: none */
	int memory_tight;            /* new sessions have to wait for memory */
	uint64_t shortage_ms;        /* when a connect() last failed for what is short here, and it
				      * was logged */
	uint64_t unnamed_ms;         /* the same of a name that no server can be asked for */
	struct bulk_shared bulk;
	struct conn_pool idle;
	struct pipe_pool pipes;
	struct timer pipe_timer;     /* closes idle pipes */
	/* First worker: struct server.start_link, and the next step of one of them. */
	struct list starting;
	struct timer start_timer;
	int rate_held;               /* the listeners wait until a rate limit allows more */
	struct timer rate_timer;     /* its end */
	const struct tls_io *tls;    /* of its TLS connections; NULL: there are none */
	struct log_sink *log;        /* sink of session log lines (base/log.h) */
	struct trace *trace;         /* base/trace.h; NULL: off */
	struct engine_hooks hooks;
	void *owner;
};

/* Initializes the shared state of n engines; max_sessions is the process's limit. */
void engine_shared_init(struct engine_shared *sh, unsigned int n, unsigned int max_sessions);
void engine_shared_fini(struct engine_shared *sh);
/* Initializes a single engine; max_sessions is the process's limit. 0 or a negative reason. */
int engine_init(struct engine *e, struct sys *sys, struct loop *loop, unsigned int bufsize,
	unsigned int max_sessions) must_check;
/* Sets the buffer space reserved for additions to a head, and the maximum number of fields. The
 * defaults are 1024 (half of bufsize at most) and 101. */
void engine_allow_http(struct engine *e, unsigned int maxrewrite, unsigned int maxhdr);
/* Makes it number `index` of shared->n engines; shared must outlive it. To be called before it has
 * sessions. */
void engine_join(struct engine *e, struct engine_shared *shared, unsigned int index);
/* No session may be left (asserted). */
void engine_fini(struct engine *e);
/* For a session, or a request after the first one of a session. */
static inline uint64_t
engine_next_id(struct engine *e)
{
	return ++e->next_id * e->shared->n + e->index;
}

#endif
