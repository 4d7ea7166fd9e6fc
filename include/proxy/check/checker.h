/*
 * Health checks: one checker for the whole process, on the first worker's loop. It checks each
 * server once, whatever the number of workers, and changes the states of servers
 * (backend/server_state.h). Everything here runs on that worker.
 */
#ifndef TACIT_PROXY_CHECK_CHECKER_H
#define TACIT_PROXY_CHECK_CHECKER_H

#include "base/compiler.h"
#include "proxy/model/engine.h"

struct check;
struct checker;
struct external_helper;
struct proxies;
struct server;

struct checker_config {
	unsigned int spread;        /* spread-checks: random part of intervals, per cent */
	int never_local;            /* pp2-never-send-local */
	unsigned int max_spread_ms; /* max-spread-checks; 0: no limit */
	const char *node;           /* the name of this host */
	struct external_helper *helper; /* of external checks; borrowed */
};

/* True if the process needs a helper that runs commands: a backend has external checks. */
int checker_needs_helper(const struct proxies *ps);

/*
 * Makes the checks of all servers that have some and plans the first ones, spread over the shortest
 * interval. 0 or -ERR_NOMEM.
 */
int checker_new(struct engine *e, struct proxies *ps, const struct checker_config *conf,
	struct checker **out) must_check;
/* A server that is added at run time: its checks are disabled. 0, or -ERR_NOMEM: it has none. */
int checker_add(struct checker *k, struct server *s) must_check;
/* Ends its checks and frees them. */
void checker_remove(struct checker *k, struct server *s);
/* Ends running checks. NULL is allowed. */
void checker_free(struct checker **c);

#endif
