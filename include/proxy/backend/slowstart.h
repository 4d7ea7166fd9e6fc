/*
 * `slowstart`: a server that comes back up gets a growing part of its weight, in sixteenths, and of
 * its maxconn, until that time is over. Only on the first worker. Its timer runs only while a
 * server is SERVER_STARTING.
 */
#ifndef TACIT_PROXY_BACKEND_SLOWSTART_H
#define TACIT_PROXY_BACKEND_SLOWSTART_H

#include "proxy/model/engine.h"
#include "proxy/model/server.h"

void slowstart_init(struct engine *e);
void slowstart_fini(struct engine *e);

/* Sets its parts for its state at this time: true if its weight changed. A server that is down
 * keeps them. */
int slowstart_update_locked(struct server *s, uint64_t now_ms);
/* Follows a change of the server's state. */
void slowstart_follow(struct engine *e, struct server *s);

#endif
