/*
 * A world to test sessions in: one proxy (a `listen` section) with its engine and loop on the fake
 * kernel, clients that connect to it and origins behind it, each playing a script. At its end it is
 * checked: every byte correct, no truncated stream that looks complete, nothing left open.
 */
#ifndef TACIT_SIM_WORLD_H
#define TACIT_SIM_WORLD_H

#include "fake/kernel.h"
#include "net/listener.h"
#include "proxy/model/session.h"
#include "fake/xprt.h"
#include "h2/h2_conn.h"
#include "sim/agent.h"
#include "sim/tls_wire.h"

struct dice;

#define WORLD_PORT 1000
#define WORLD_ORIGIN_PORT 2000 /* of the first server; the others follow */
#define WORLD_AGENTS 256       /* of each side */
#define WORLD_SERVERS 4

struct world_server {
	enum fake_path path;
	uint64_t one_way;     /* ns */
	int absent;           /* no listener */
	int maxconn;
	int backlog;          /* 0: 128 */
	const char *redir;    /* NULL: none */
};

struct world_config {
	enum interest_mode mode;
	int eager;            /* tune.lazy-register off */
	unsigned int bufsize; /* 0: 16384 */
	uint64_t memory;      /* tune.memory, 0: no bound */
	unsigned int zerocopy; /* tune.zerocopy.threshold, 0: off; servers are not loopback then */
	unsigned int pinned;  /* tune.zerocopy.max, 0: 1 MiB */
	int no_fast_path;     /* tune.ranges.fast-path off */
	struct fake_zc_conf zc;
	unsigned int sndbuf, rcvbuf; /* 0: the fake's own */
	int fd_limit;         /* 0: 1024 */
	int max_events;       /* 0: 200 */
	int maxconn;          /* of the frontend, 0: none */
	struct proxy_timeouts to;
	int retries;          /* 0: none */
	int redispatch;       /* redispatch_every */
	unsigned int options;
	int texts;            /* the agents play texts in mode tcp: not checked either */
	int http;             /* mode http: the agents play texts, which the test checks */
	int upgraded;         /* clients connect to a frontend in mode tcp, which has the rules */
	enum http_persistence persistence;
	enum http_reuse reuse;
	uint32_t retry_on;    /* 0: the default */
	const char *rules;    /* configuration lines: world_rules.h; NULL: none */
	int tracks;           /* entries of a small stick table are tracked at each place */
	unsigned int maxhdr;  /* 0: the default */
	int defer;
	int announced; /* accept-proxy */
	int h2;        /* mode http: clients speak HTTP/2 (sim/h2_wire.h) */
	enum mux_proto proto; /* of the bind line */
	unsigned int h2_servers; /* and these servers (bits): proto h2 */
	unsigned int h2_server_streams; /* that a server allows at once, 0: 100 */
	unsigned int h2_streams; /* tune.h2.fe.max-concurrent-streams, 0: the default */
	unsigned int h2_total; /* tune.h2.fe.max-total-streams, 0: no bound */
	int socks4;    /* each server is its own SOCKS4 proxy */
	struct fake_script *client_xprt, *server_xprt; /* transports of the sides; NULL: none */
	unsigned int tls;     /* sides with TLS, 1 << enum side; without those transports */
	int tls_12;           /* their ends know no TLS 1.3 */
	unsigned int update_every; /* key updates in records of agents; 0: never */
	unsigned int maxpipes;  /* 0: nothing is spliced */
	unsigned int splice_after;
	unsigned int bulk_bufsize, bulk_turn; /* 0: no bulk transfers */
	unsigned int pipe_slots, fragment; /* 0: the fake's own */
	uint64_t client_delay; /* one way, ns; */
	uint64_t client_rate;  /* bytes per second, 0: any */
	unsigned int n_servers; /* 0: one, near */
	struct world_server server[WORLD_SERVERS];
	unsigned int filters; /* their deeds: sim/filters.h */
	void (*prepare)(struct proxy *px); /* further settings; NULL: none */
};

/* A session that has ended, as logged. */
struct world_end {
	unsigned int client_port, server_port; /* 0: there was no connection to a server */
	char term[3], cookie[3]; /* the two directions of %tsc */
	uint64_t bytes[SIDES];
	uint64_t unread[SIDES]; /* received bytes of that side that were not read */
	unsigned int retries;
	int server; /* index, -1: none */
	const struct stream *session; /* while session_ended() runs */
};

struct world {
	struct fake *k;
	struct sys sys;
	struct loop *loop;
	struct engine engine;
	struct proxy *px;
	struct proxy *front;  /* of a world with upgrades; NULL: px is the frontend */
	struct world_rules *rules;
	struct bind_conf *bind;
	struct listener *ln;
	struct server *srv[WORLD_SERVERS];
	struct fake_sock *origin[WORLD_SERVERS];
	const struct xprt_maker *server_makers[1]; /* of its one worker */
	struct tls_sides tls;
	struct h2_config h2_client;
	struct world_config cfg;
	struct agent client[WORLD_AGENTS], served[WORLD_AGENTS];
	unsigned int n_clients, n_served;
	struct world_end end[WORLD_AGENTS];
	unsigned int n_ends;
	/* The script of an origin, chosen by the connection's number. */
	void (*origin_script)(struct world *w, unsigned int nth, struct step *steps);
	const struct step *origin_steps; /* used without a function */
	/* Prepares an agent before its script begins. May be NULL. */
	void (*origin_starts)(struct world *w, struct agent *a);
	uint64_t origin_react;
	/* For ends other than agents, all three; else NULL. */
	void (*server_accepted)(struct world *w, unsigned int server, struct fake_sock *s);
	int (*ends_are_over)(const struct world *w);
	void (*session_ended)(struct world *w, const struct world_end *e);
	/* Runs between two turns: admin commands. May be NULL. */
	void (*meddle)(struct world *w);
	int meddled; /* such commands ran: servers may have been in maintenance for a while */
	void *arg;
	struct dice *dice; /* of a random world */
	/* The events raised in a state, 1 << enum stream_event; a test adds one state. */
	uint32_t rows[STREAM_STATES + 1];
	uint32_t session_rows[SESSION_STATES];
	uint64_t calls_before, segments_before;
	uint64_t opened, ended; /* when, the last session */
	unsigned int turns;
	int mem_faults;   /* allocation faults apply inside turns */
	int non_strict;          /* a fault was injected: clean ends are not checked */
	int allow_del;    /* DEL right before close() is normal in that mode */
	char why[400];    /* the first error found; "" none */
};

/* 0, or -1 with w->why. */
int world_open(struct world *w, const struct world_config *cfg);
/* A client that connects now and plays the script. */
struct agent *world_client(struct world *w, const struct step *steps, uint64_t react_ns);
/* Runs turns until all have ended, nothing can happen any more, or time is up. */
void world_run(struct world *w, uint64_t max_ns);
/* Makes the final checks and frees it. 0, or -1 with w->why. */
int world_close(struct world *w);
/* Termination codes in the order of their ends, separated by blanks. */
const char *world_terms(const struct world *w, char *buf, size_t len);
/* Calls of the daemon since it listens, without clock reads and the once-a-second sample. */
uint64_t world_calls(const struct world *w);
/* A client's connection for ends other than agents. */
struct fake_sock *world_connect(struct world *w);
/* The wire of an end of that side, which owns it; NULL: it speaks plain bytes. */
struct wire *world_wire(struct world *w, enum side side);
/* Records an error, unless there was one before. */
void world_error(struct world *w, const char *fmt, ...) fmt_printf(2, 3);

#endif
