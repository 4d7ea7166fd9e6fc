/* The life of sessions: from accept to the end of the turn that closed them. On their worker. */
#ifndef TACIT_PROXY_SESSION_SESSION_LIFE_H
#define TACIT_PROXY_SESSION_SESSION_LIFE_H

#include "proxy/model/session.h"

/* What the listener accepts becomes sessions of fe on this engine. Before it starts. */
void session_listen(struct listener *ln, struct proxy *fe, struct engine *e);
/* Listener callback: the listener's owner is the frontend, its worker the engine. Takes fd in any
 * case. */
void session_on_accept(struct listener *ln, int fd, const struct addr *peer);
/* Frees it: the last task of a session in CLOSED. */
void session_on_end(struct task *t);
/* Ends it with cause 'K' ("killed"). */
void session_kill(struct session *s);
/* The process wants to stop: no connection is kept for another request. */
void engine_soft_stop(struct engine *e);
/* Ends all; used at hard stop. */
void engine_kill_all(struct engine *e);

#endif
