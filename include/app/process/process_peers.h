/*
 * Peers of the process: it listens for them, connects to them, and has them sent what changes in
 * shared tables (peers/peer_group.h). On the first worker.
 */
#ifndef TACIT_APP_PROCESS_PROCESS_PEERS_H
#define TACIT_APP_PROCESS_PROCESS_PEERS_H

#include "base/compiler.h"
#include "base/list.h"
#include "base/random.h"
#include "event/loop.h"
#include "event/timer.h"
#include "net/conn.h"
#include "peers/peer_session.h"

struct listener;
struct peer_conf;
struct peers_conf;
struct process;
struct worker;

/* Connections of a section, besides one in each direction for each peer. */
#define PEERS_LINKS_MORE 16u

/* A connection with a peer. */
struct peers_link {
	struct list link;        /* in peers_run.links */
	struct peers_run *run;
	struct listener *listener; /* that has accepted it; NULL: it was opened */
	struct peer *peer;       /* that is connected to; NULL: it has connected */
	struct conn conn;
	int is_connecting;
	struct peer_session s;
	struct timer timer;
	struct task task;        /* there is more to send */
};

/* The next attempt to connect to a peer. */
struct peers_dial {
	const struct peer_conf *conf;
	struct peer *peer;
	struct peers_run *run;
	struct peers_link *link; /* the attempt in progress, or its connection; NULL: none */
	struct timer timer;
};

/* A section peers. */
struct peers_run {
	struct list link;        /* in process_peers.runs */
	struct process_peers *all;
	struct peers_conf *conf;
	struct peer_group *group;
	struct peers_dial *dial; /* one for each peer of the group */
	struct list links;       /* struct peers_link */
	unsigned int n_links;
	struct timer timer;      /* peer_group_tick() */
};

struct process_peers {
	struct process *process;
	struct list runs;
	struct random_source random;
	struct timer news_timer; /* sends what has changed */
	unsigned int n_connected; /* peers with a session; atomic */
	unsigned int n_active;   /* those whose handshake is complete; atomic */
	int is_quiet;            /* no peer is connected: workers report no changes */
};

/* Makes the groups, before listeners start. 0 or -ERR_NOMEM. */
int process_peers_start(struct process *p) must_check;
/* Called by any worker when proxies.peers_news is 1. */
void process_peers_report(struct worker *w);
/* Closes listeners and connections, and frees the groups. */
void process_peers_end(struct process *p);

#endif
