/*
 * Limits of concurrent sessions: `maxconn` of the process and of a frontend, over all workers. A
 * place is taken before a connection is accepted, so the limit is never exceeded; other connections
 * stay in the kernel's backlog. A worker holds only its own listeners and wakes other workers
 * (engine.wake_resume).
 * Rates of connections and sessions of the process are limited too: at a limit each worker that
 * would exceed it holds its listeners until the rate has fallen. `rate-limit sessions` of a
 * frontend holds the one listener that has a client.
 */
#ifndef TACIT_PROXY_SESSION_CONN_LIMITS_H
#define TACIT_PROXY_SESSION_CONN_LIMITS_H

#include "proxy/model/session.h"

/* Makes the listener's connections sessions of fe on this engine. To be called before it starts. */
void conn_limits_listener(struct listener *ln, struct proxy *fe, struct engine *e);

/* Takes a place of fe and of the process for a session of e: holds listeners when the limit is
 * reached. */
void conn_limits_entered(struct engine *e, struct proxy *fe);
/* Returns the places when the session ends, the frontend's first. */
void conn_limits_left_frontend(struct engine *e, struct proxy *fe);
void conn_limits_left_process(struct engine *e);
/* Returns the places of a connection that did not arrive or could not be served. */
void conn_limits_give_back(struct listener *ln);

/* A session of its frontend begins: counts it among those of this second. */
void conn_limits_count_session(struct listener *ln, uint64_t now_ms);
/* An accepted connection became no session: `rate-limit sessions` does not count it. */
void conn_limits_no_session(struct listener *ln);

/* On e's own thread: resumes listeners after a place of fe or (NULL) of the process became free. */
void conn_limits_resume(struct engine *e, struct proxy *fe);

/* For a new engine. */
void conn_limits_init(struct engine *e);
/* Ends the wait for a rate limit: when one has changed, and at the engine's end. */
void conn_limits_stop_rates(struct engine *e);

#endif
