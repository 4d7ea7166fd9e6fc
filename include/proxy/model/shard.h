/*
 * Statistics of sessions, in one shard per worker. Only its worker writes a shard, with relaxed
 * stores, on its own cache lines (base/counter.h), so that counting never contends. Readers get
 * sums: each counter is complete, but they are not from one moment. The shards also hold the queues
 * of the worker's sessions.
 */
#ifndef TACIT_PROXY_MODEL_SHARD_H
#define TACIT_PROXY_MODEL_SHARD_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/freq.h"
#include "base/list.h"
#include "event/timer.h"
#include "h2/h2_stat.h"
#include "proxy/model/latency.h"
#include "proxy/model/stream_queue.h"

struct latency_times;

/* Number of sessions in time averages, as in HAProxy. */
#define STAT_AVERAGE_OVER 1024u

/* In milliseconds. */
struct stat_times {
	/* sums over the last STAT_AVERAGE_OVER sessions */
	_Atomic uint64_t qtime, ctime, rtime, ttime;
	_Atomic uint64_t qtime_max, ctime_max, rtime_max, ttime_max;
	/* The number of sessions in a sum, at least 1 when it is shown. In a shard 0. */
	_Atomic uint64_t n;
};

struct engine;
struct idle_names;
struct proxies;
struct proxy;
struct server;

/* Maximum number of workers: masks of workers have one bit each. */
#define ENGINES_MAX 64

/* Traffic of mode http connections, on the wire. */
struct h1_stat {
	_Atomic uint64_t streams; /* of clients: number of requests */
	_Atomic uint64_t streams_over;
	_Atomic uint64_t in, out; /* bytes */
	_Atomic uint64_t spliced_in, spliced_out;
};

/* TLS handshakes with the peers. */
struct handshake_stat {
	_Atomic uint64_t full, resumed, failed; /* failed: not those that were too late */
};

/*
 * The highest value of a shared number is noted by the worker that raised it, as seen after its
 * change: the maximum over the shards is the highest value.
 */
struct server_stat {
	_Atomic uint64_t cum_sess, bytes_in, bytes_out, econ, eresp, wretr, wredis;
	_Atomic uint64_t cli_abrt, srv_abrt, connect, reuse, lbtot, failed_conns, denied_resp;
	_Atomic uint64_t req_tot, hrsp[6]; /* mode http: responses, by class; [0]: any other */
	_Atomic uint64_t failed_rewrites; /* by rules */
	struct handshake_stat tls;        /* with those of checks */
	_Atomic unsigned int cur_max, queued_max, rate_max;
	_Atomic uint64_t last_sess_ms;   /* loop clock, 0: never */
	struct stat_times times;
};

struct proxy_stat {
	_Atomic uint64_t cum_conn, cum_sess, bytes_in, bytes_out, denied_req, failed_req;
	_Atomic uint64_t denied_conn, denied_sess, denied_resp;
	_Atomic uint64_t econ, eresp, wretr, wredis, cli_abrt, srv_abrt, lbtot, connect, reuse;
	_Atomic uint64_t failed_conns;
	_Atomic uint64_t req_tot, hrsp[6]; /* as for a server */
	_Atomic uint64_t intercepted; /* frontends: requests answered by rules */
	_Atomic uint64_t failed_rewrites;
	/* Bytes given to compression, made of them, and passed by for lack of resources;
	 * compressed responses. */
	_Atomic uint64_t comp_in, comp_out, comp_byp, comp_rsp;
	_Atomic uint64_t cache_lookups, cache_hits;
	struct h1_stat h1;
	struct h2_stat h2;
	struct handshake_stat tls; /* with clients, or with all servers */
	_Atomic unsigned int cur_max, queued_max, rate_max; /* rate_max: of backends */
	_Atomic uint64_t last_sess_ms;
	struct stat_times times;
	struct freq sess_rate, conn_rate, req_rate; /* frontends */
};

/* Idle connections of a server that its worker may reuse: proxy/backend/conn_pool.h. Any thread may
 * read the gauges. */
struct idle_list {
	struct engine *engine;   /* NULL: not used yet */
	struct server *srv;
	struct list conns;       /* struct idle_conn.link, newest first */
	struct idle_names *names; /* the same by the name asked for; owned; NULL: all asked alike */
	struct list link;        /* engine.idle.lists */
	unsigned int n;
	unsigned int n_safe;     /* those used more than once */
	unsigned int least;      /* lowest number since the timer last ran */
	unsigned int wanted;     /* number that requests have looked for and not found */
	struct timer timer;      /* pool-purge-delay */
};

/* Speculative calls to a server, learned from each try (server_learn). */
enum server_guess {
	SERVER_NEAR,  /* connect() completes at once, and a send succeeds */
	SERVER_QUICK, /* mode http: the response arrives by the next turn */
	SERVER_BRIEF, /* mode tcp: the response and the FIN arrive by the next turn */
	SERVER_FOLLOWED, /* mode tcp: after that FIN the client's arrives by the next turn */
	SERVER_GUESSES
};

struct guess {
	int8_t trust;  /* negative: it fails too often */
	uint8_t skips; /* number of tries skipped since the last one */
};

struct server_shard {
	struct server_stat stat;
	struct idle_list idle;
	struct list carriers;    /* struct h2_server.link; next NULL: there never was one */
	struct list joiners;     /* stream.queue_link: they wait for a connection of HTTP/2, which
				  * others establish; next NULL: none ever has */
	unsigned int n_joiners, n_openers; /* those, and these */
	struct list place_waiters; /* stream.queue_link: they wait for a place of a server with
				    * strict-maxconn; next NULL: none ever has */
	unsigned int n_place_waiters;
	unsigned int h2_streams; /* at once on a connection, as it has said; 0: unknown */
	struct guess guess[SERVER_GUESSES];
	unsigned int seen_changes; /* server.changes that this worker has applied */
	/* Queues of this worker's sessions; under the backend's lock, as below. */
	struct stream_queue queue; /* sessions waiting for this server */
} cacheline_aligned;

struct proxy_shard {
	struct proxy_stat fe, be;
	struct stream_queue queue; /* sessions waiting for any server */
	struct list granted;    /* sessions with a slot that this worker has not noticed yet */
} cacheline_aligned;

/*
 * Counters of previous worker processes (app/process/keep.h), which sums include: rows of struct
 * proxy_stat or struct server_stat, `stride` bytes apart. They belong to other processes, which
 * may still count: nothing but numbers is taken from them.
 */
struct stat_span {
	const void *first;
	size_t stride;
	unsigned int n;
	int is_cleared;         /* `clear counters`: nothing is added that it clears */
};

struct stat_past {
	struct stat_span *span;
	unsigned int n;
};

/* Adds a span. 0 or -ERR_NOMEM. */
int stat_past_add(struct stat_past *past, struct stat_span span) must_check;
void stat_past_fini(struct stat_past *past);
/* Adds the rows of a span to a sum, or to a base. Spans are to be added in order, since averages
 * are of the last sessions. */
void proxy_stat_add_span(struct proxy_stat *sum, const struct stat_span *span);
void server_stat_add_span(struct server_stat *sum, const struct stat_span *span);
/* A number that changes with the layout of a shard. */
uint32_t shard_layout(void);

/* Allocates n zeroed shards for a proxy and its servers and frees earlier ones: 0 or -ERR_NOMEM. To
 * be called before there are sessions and after the last server was added. Freed with the proxy. */
int proxy_make_shards(struct proxy *p, unsigned int n) must_check;
/* The shards of a proxy or server lie in this memory, of n zeroed ones, from now on; it is not
 * freed with it. There are no sessions yet. */
void proxy_place_shards(struct proxy *p, struct proxy_shard *at);
void server_place_shards(struct server *s, struct server_shard *at, unsigned int n);
/* The same for all proxies; n is the number of workers, 1..ENGINES_MAX. */
int proxies_shard(struct proxies *ps, unsigned int n) must_check;
/* The same for one server. */
int server_make_shards(struct server *s, unsigned int n) must_check;
/* Makes its n shards as they were when they were allocated. */
void server_clear_shards(struct server *s, unsigned int n);

/* Sums all shards: counts are added; of highest values and last times the maximum is taken. */
void server_stat_sum(const struct server *s, struct server_stat *out);
/* side: PROXY_FE or PROXY_BE. */
void proxy_stat_sum(const struct proxy *p, unsigned int side, struct proxy_stat *out);

/* Clears what `clear counters` does. */
void stat_clear_server(struct server_stat *st);
void stat_clear_proxy(struct proxy_stat *st);
/* Clears the maxima of a proxy and its servers, with `all` every counter too. All workers but the
 * caller's are paused. */
void proxy_clear_stat(struct proxy *p, int all);

/* Adds a session to averages and maxima: sessions is the number so far, including this one. */
void stat_times_count(struct stat_times *t, uint64_t sessions, const struct latency_times *one);

#endif
