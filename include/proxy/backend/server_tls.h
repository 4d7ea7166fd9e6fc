/*
 * Switches TLS of sessions with a server on and off, at run time. The settings have been read at
 * start, also for `no-ssl`. Idle connections that no longer fit are closed, and are not used again
 * before that either.
 */
#ifndef TACIT_PROXY_BACKEND_SERVER_TLS_H
#define TACIT_PROXY_BACKEND_SERVER_TLS_H

#include "base/compiler.h"
#include "proxy/model/engine.h"
#include "proxy/model/server.h"

/* Prepares what its name (sni) needs while sessions use TLS; does nothing otherwise. */
void server_tls_settle(struct server *s);
/* True if it can be switched: its settings are complete, and opened. */
int server_may_use_tls(const struct server *s);
/* The same as server_set_tls(), before sessions run. */
void server_restore_tls(struct server *s, int on);
/* Switches it on or off: s->tls has been opened. e: the first worker's; the others are paused. */
void server_set_tls(struct engine *e, struct server *s, int on);

#endif
