/*
 * How many sessions there may be: `maxconn` of the process and of a frontend, over all workers. A
 * place is taken before a connection is accepted, so that a bound is never exceeded; what finds no
 * place stays in the kernel's backlog. A worker holds its own listeners only, and has others told
 * to go on (engine.wake_resume).
 */
#ifndef TACIT_PROXY_SESSION_CONN_LIMITS_H
#define TACIT_PROXY_SESSION_CONN_LIMITS_H

#include "proxy/model/session.h"

/* The listener's connections become sessions of fe on this engine. Before it starts. */
void conn_limits_listener(struct listener *ln, struct proxy *fe, struct engine *e);

/* One of e has taken the places of fe and of the process: holds what is full now. */
void conn_limits_entered(struct engine *e, struct proxy *fe);
/* Its session has ended and gives them back, the frontend's first. */
void conn_limits_left_frontend(struct engine *e, struct proxy *fe);
void conn_limits_left_process(struct engine *e);
/* They were taken for a connection that did not come, or could not be served. */
void conn_limits_give_back(struct listener *ln);

/* On e's own thread: there was room for a moment, in fe or (NULL) in the process. */
void conn_limits_resume(struct engine *e, struct proxy *fe);

#endif
