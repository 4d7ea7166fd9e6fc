/*
 * What sessions count and learn, in one shard per worker. Counters are written by their worker
 * alone, with relaxed stores and on cache lines of its own (base/counter.h): counting costs no
 * worker anything of another's. Who reads gets sums: each counter is whole, and they are not all of
 * one moment. Beside them stand the queues of the worker's sessions.
 */
#ifndef TACIT_PROXY_MODEL_SHARD_H
#define TACIT_PROXY_MODEL_SHARD_H

#include <stdint.h>

#include "base/compiler.h"
#include "base/freq.h"
#include "base/list.h"
#include "event/timer.h"

struct engine;
struct proxies;
struct proxy;
struct server;

/* Workers of one process: one bit each in the masks that name several. */
#define ENGINES_MAX 64

/* Sessions that averages of times run over, as in HAProxy. */
#define STAT_AVERAGE_OVER 1024u

/* The times of a session in ms: in the queue, to connect, until the response, of it all. */
struct session_times {
	uint64_t q, c, r, t;
};

struct stat_times {
	/* sums over the last STAT_AVERAGE_OVER sessions */
	_Atomic uint64_t qtime, ctime, rtime, ttime;
	_Atomic uint64_t qtime_max, ctime_max, rtime_max, ttime_max;
	/* Of a sum of shards: how many sessions the sums are over, at least 1. */
	_Atomic uint64_t n;
};

/* What connections of mode http carried, as it was on the wire. */
struct h1_stat {
	_Atomic uint64_t streams; /* of clients: requests that began */
	_Atomic uint64_t streams_over;
	_Atomic uint64_t in, out; /* bytes */
	_Atomic uint64_t spliced_in, spliced_out;
};

/*
 * The highest of a number that workers share is noted by the one who moved it there, as it saw it
 * after its change: the largest of the shards is the highest there was.
 */
struct server_stat {
	_Atomic uint64_t cum_sess, bytes_in, bytes_out, econ, eresp, wretr, wredis;
	_Atomic uint64_t cli_abrt, srv_abrt, connect, reuse, lbtot, failed_conns, denied_resp;
	_Atomic uint64_t req_tot, hrsp[6]; /* mode http: responses, by class; [0]: any other */
	_Atomic uint64_t failed_rewrites; /* by rules */
	_Atomic unsigned int cur_max, queued_max;
	_Atomic uint64_t last_sess_ms;   /* loop clock, 0: never */
	struct stat_times times;
};

struct proxy_stat {
	_Atomic uint64_t cum_conn, cum_sess, bytes_in, bytes_out, denied_req, failed_req;
	_Atomic uint64_t denied_conn, denied_sess, denied_resp;
	_Atomic uint64_t econ, eresp, wretr, wredis, cli_abrt, srv_abrt, lbtot, connect, reuse;
	_Atomic uint64_t failed_conns;
	_Atomic uint64_t req_tot, hrsp[6]; /* as a server's */
	_Atomic uint64_t intercepted; /* of frontends: requests that their rules have answered */
	_Atomic uint64_t failed_rewrites;
	struct h1_stat h1;
	_Atomic unsigned int cur_max, queued_max;
	_Atomic uint64_t last_sess_ms;
	struct stat_times times;
	struct freq sess_rate, conn_rate, req_rate; /* of frontends */
};

/* Idle connections of a server that its worker may use again: proxy/backend/conn_pool.h. Gauges may
 * be read by anyone. */
struct idle_list {
	struct engine *engine;   /* NULL: there was none yet */
	struct server *srv;
	struct list conns;       /* struct idle_conn.link, newest first */
	struct list link;        /* engine.idle.lists */
	unsigned int n;
	unsigned int n_safe;     /* of them, used more than once */
	unsigned int least;      /* there were at any time since the timer ran */
	struct timer timer;      /* pool-purge-delay */
};

/* What is tried of a server because it most likely works. Learned from each try (server_learn). */
enum server_guess {
	SERVER_NEAR,  /* connect() is over when it returns, and a send works */
	SERVER_QUICK, /* mode http: the answer has come by the next turn */
	SERVER_GUESSES
};

struct guess {
	int8_t trust;  /* below zero: it fails too often */
	uint8_t skips; /* since it was tried in spite of that */
};

struct server_shard {
	struct server_stat stat;
	struct idle_list idle;
	struct guess guess[SERVER_GUESSES];
	/* Of this worker's sessions; under the backend's lock, as below. */
	struct list queue;      /* that wait for this server */
} cacheline_aligned;

struct proxy_shard {
	struct proxy_stat fe, be;
	struct list queue;      /* that wait for any server */
	struct list granted;    /* that have a slot, which this worker does not know of */
} cacheline_aligned;

/* Makes n shards of a proxy and its servers, all zero, in the place of any before: 0 or -ERR_NOMEM.
 * Before there are sessions and after the last server was added. Freed with the proxy. */
int proxy_make_shards(struct proxy *p, unsigned int n) must_check;
/* The same for all of a configuration; n is the number of workers, 1..ENGINES_MAX. */
int proxies_shard(struct proxies *ps, unsigned int n) must_check;

/* One session more in times: sessions is how many there were so far, with this one. */
void stat_count_times(struct stat_times *t, uint64_t sessions, const struct session_times *one);

/* All shards in one: counts are added, highest values and last dates are the largest. */
void server_stat_sum(const struct server *s, struct server_stat *out);
/* side: PROXY_FE or PROXY_BE. */
void proxy_stat_sum(const struct proxy *p, unsigned int side, struct proxy_stat *out);

#endif
