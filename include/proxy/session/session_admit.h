/* Admission of clients: connection and session rules, counters, the first event. */
#ifndef TACIT_PROXY_SESSION_SESSION_ADMIT_H
#define TACIT_PROXY_SESSION_SESSION_ADMIT_H

#include "proxy/model/session.h"

/* Decides whether the client of a new session is accepted. 0: its connection is open and counted;
 * -1: the caller owns fd. *expects: a PROXY header is required first. */
int session_admit(struct stream *s, int fd, int *expects) must_check;
/* The first event, without a PROXY header. */
enum session_event session_first_event(const struct session *sess) must_check;
/* Admits a session after its PROXY header and handshake: ADMITTED, MULTIPLEX or DENIED. */
enum session_event session_admit_again(struct session *sess) must_check;

/*
 * Limits of concurrent sessions: `maxconn` of the process and of a frontend, over all workers. A
 * place is taken before a connection is accepted, so the limit is never exceeded; other connections
 * stay in the kernel's backlog. A worker holds only its own listeners and wakes other workers
 * (engine.hooks.wake_resume).
 * Rates of connections and sessions of the process are limited too: at a limit each worker that
 * would exceed it holds its listeners until the rate has fallen. `rate-limit sessions` of a
 * frontend holds the one listener that has a client.
 */

/* Makes the listener's connections sessions of fe on this engine. To be called before it starts. */
void conn_limits_listener(struct listener *ln, struct proxy *fe, struct engine *e);

/* Returns the places when the session ends, the frontend's first. */
void conn_limits_left_frontend(struct engine *e, struct proxy *fe);
void conn_limits_left_process(struct engine *e);
/* Returns the places of a connection that did not arrive or could not be served. */
void conn_limits_give_back(struct listener *ln);

/* An accepted connection became no session: `rate-limit sessions` does not count it. */
void conn_limits_no_session(struct listener *ln);

/* On e's own thread: resumes listeners after a place of fe or (NULL) of the process became free. */
void conn_limits_resume(struct engine *e, struct proxy *fe);

/* For a new engine. */
void conn_limits_init(struct engine *e);
/* Ends the wait for a rate limit: when one has changed, and at the engine's end. */
void conn_limits_stop_rates(struct engine *e);

#endif
