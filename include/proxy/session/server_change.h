/* A worker's reaction to a change of a server's state (engine.hooks.on_server_change). */
#ifndef TACIT_PROXY_SESSION_SERVER_CHANGE_H
#define TACIT_PROXY_SESSION_SERVER_CHANGE_H

#include "proxy/model/engine.h"
#include "proxy/model/server.h"

/*
 * Closes the worker's idle connections to a server that takes no sessions, and the sessions that
 * the server's on-marked-down or on-marked-up is about. Nothing if this worker has already seen the
 * change.
 */
void server_change_apply(struct engine *e, struct server *srv);

#endif
