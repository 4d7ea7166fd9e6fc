/*
 * Findings of sessions about their server, for its health (manual 5.2, observe). Each worker
 * reports its own sessions; consecutive errors of all workers are counted together. When there are
 * error-limit of them the first worker is notified, which applies on-error.
 */
#ifndef TACIT_PROXY_BACKEND_SERVER_OBSERVE_H
#define TACIT_PROXY_BACKEND_SERVER_OBSERVE_H

#include "proxy/model/engine.h"
#include "proxy/model/server.h"

enum server_finding {
	SERVER_CONNECTED,
	SERVER_CONNECT_FAILED,
	SERVER_GOOD_STATUS,
	SERVER_BAD_STATUS,
	SERVER_BAD_HEAD,
	SERVER_READ_TIMEOUT,
	SERVER_READ_ERROR,
	SERVER_CLOSED_EARLY      /* before its response */
};

/* The slow part of server_observe(), for a server with `observe`. */
void server_observe_finding(struct engine *e, struct server *s, enum server_finding f);

/* Reports a finding. It changes neither the state of the server nor sessions before the worker is
 * done with the session. */
static inline void
server_observe(struct engine *e, struct server *s, enum server_finding f)
{
	if (unlikely(s->conf.check.observe != CHECK_OBSERVE_NONE))
		server_observe_finding(e, s, f);
}

/* The same for the status of a response: 100 to 499, 501 and 505 are good. */
void server_observe_status(struct engine *e, struct server *s, unsigned int status);

/* A health check has passed: earlier errors do not count any more. */
void server_forget_errors(struct server *s);
/* The number of times that error-limit was reached since the last call, and the last error. On the
 * first worker. */
unsigned int server_take_alarms(struct server *s, enum server_finding *last);
/* In HAProxy's words. */
const char *server_finding_text(enum server_finding f);

#endif
