/*
 * Counters of a listener. Each worker counts in its own copy (net/shards.h), with relaxed stores;
 * sums are over the copies. They are shown with `option socket-stats`.
 */
#ifndef TACIT_NET_LISTENER_STAT_H
#define TACIT_NET_LISTENER_STAT_H

#include <stdint.h>

struct listener;

struct listener_stat {
	_Atomic uint64_t cum_conn, bytes_in, bytes_out;
	_Atomic uint64_t denied_req, denied_resp, denied_conn, denied_sess;
	_Atomic uint64_t failed_req, failed_rewrites;
	_Atomic unsigned int cur, cur_max; /* sessions, also those that await a PROXY header */
};

/* The reason for which its clients wait, if they do. */
enum listener_load {
	LISTENER_LOAD_OPEN,
	LISTENER_LOAD_HELD, /* by a limit of its frontend or of the process */
	LISTENER_LOAD_FULL  /* by its own maxconn */
};

/* Sums over all copies; of the highest values the maximum is taken. ln: the first copy. */
void listener_stat_sum(const struct listener *ln, struct listener_stat *out);
enum listener_load listener_load(const struct listener *ln);
/* Current sessions of all copies. ln: any of them. */
unsigned int listener_sessions(const struct listener *ln);
/* Clears the maxima of the first copy and its others, with `all` every counter. All workers but the
 * caller's are paused. */
void listener_clear_stat(struct listener *ln, int all);

#endif
