/* The option `track` of servers (manual 5.2). Main thread, when the configuration is complete. */
#ifndef TACIT_PROXY_CONFIG_CHECK_TRACK_H
#define TACIT_PROXY_CONFIG_CHECK_TRACK_H

#include "base/compiler.h"

struct cfg_diag;
struct proxies;
struct server;

/*
 * Resolves it for all servers: sets server.track and server.trackers. A server that is tracked has
 * checks of its own, or tracks another one: there are no loops. 0, or -1 when there were errors,
 * which are in d.
 */
int check_track_resolve(struct proxies *root, struct cfg_diag *d) must_check;
/* The same for a server that is added at run time: it cannot track another such. */
int check_track_resolve_one(const struct proxies *root, struct server *s,
	struct cfg_diag *d) must_check;

#endif
