/* Messages about a server's change of state, on the terminal and in its backend's log. */
#ifndef TACIT_PROXY_BACKEND_SERVER_REPORT_H
#define TACIT_PROXY_BACKEND_SERVER_REPORT_H

#include "proxy/model/engine.h"
#include "proxy/model/server.h"

/* The state of a server and its backend before a change. */
struct server_before {
	enum server_admin admin;
	int uweight;
	unsigned int usable;  /* servers of the backend */
	unsigned int queued;  /* sessions waiting for this server */
};

struct server_before server_before(const struct server *s);
/* To be called after the change, when the sessions that waited for the server were redistributed.
 * Reports the difference through this engine's log. */
void server_report(struct engine *e, const struct server *s, const struct server_before *before);

#endif
