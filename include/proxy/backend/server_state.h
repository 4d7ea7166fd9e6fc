/*
 * The state of servers: what the operator wants and what checks find. Everything here runs on the
 * first worker and takes the backend's lock; other workers are not stopped. Each change is applied
 * to the balancing, the queues and the servers that track the server, and is reported in HAProxy's
 * words.
 */
#ifndef TACIT_PROXY_BACKEND_SERVER_STATE_H
#define TACIT_PROXY_BACKEND_SERVER_STATE_H

#include "proxy/model/engine.h"
#include "proxy/model/server.h"
#include "base/compiler.h"
#include "base/log.h"

/* Sets the operator's part of admin: SERVER_READY, SERVER_MAINT_FORCED or SERVER_DRAIN_FORCED. */
void server_set_forced(struct engine *e, struct server *s, unsigned int forced);
/* Sets or clears one of the other bits. cause: as below. */
void server_set_admin(struct engine *e, struct server *s, enum server_admin bit, int on,
	const char *cause);
/* Between these many servers of a backend may change: each change is reported at once; balancing
 * and queues follow all of them at the end. Only calls that change servers may come between. */
void server_changes_begin(struct engine *e, struct proxy *be);
void server_changes_end(struct engine *e, struct proxy *be);
/* At start: sets admin as it was before, with the servers that track it. This is neither reported
 * nor counted. */
void server_restore(struct engine *e, struct server *s, unsigned int admin);
/* Applies the result of checks. cause: follows the state in messages: ", changed from CLI". A
 * server in maintenance does not change. */
void server_set_oper(struct engine *e, struct server *s, enum server_oper oper, const char *cause);
/* Before the first check: it counts as stopped, and so do servers that track it. This is neither
 * reported nor counted. */
void server_begin_stopped(struct engine *e, struct server *s);
/*
 * Sets the run-time weight, 0..256: 0 or -ERR_RANGE; -ERR_UNSUPPORTED when the algorithm is static
 * and the weight is neither 0 nor the configured one.
 */
int server_set_weight(struct engine *e, struct server *s, int weight) must_check;

/* Sets the maximum of concurrent connections; 0: no limit. */
void server_set_maxconn(struct engine *e, struct server *s, int maxconn);

struct server_state {
	unsigned int admin; /* enum server_admin */
	enum server_oper oper;
};

/* Changes the state, the balancing and the times of show stat only; there is no report, and queues
 * and trackers do not change. now_ms: the loop's clock. */
void server_put_state_locked(struct server *s, struct server_state to, uint64_t now_ms);
/* The same for the weight, with the results of server_set_weight(). */
int server_put_weight_locked(struct server *s, int weight) must_check;

void slowstart_init(struct engine *e);
void slowstart_fini(struct engine *e);

/* Messages about a server's change of state, on the terminal and in its backend's log. */

/* A message about a server. */
void server_log(struct engine *e, const struct server *s, enum log_level level, const char *text);
/* Has mailers send it, if the backend wants alerts of this level. */
void server_send_alert(struct engine *e, const struct server *s, enum log_level level,
	const char *text);
/* The same as server_log(), as an alert. */
void server_alert(struct engine *e, const struct server *s, const char *text);

/* The address was looked up: after the report of its state. */
void server_report_ready(struct engine *e, const struct server *s);

#endif
