/* What is said when a server is taken out or back: on the terminal and in its backend's log. */
#ifndef TACIT_PROXY_BACKEND_SERVER_REPORT_H
#define TACIT_PROXY_BACKEND_SERVER_REPORT_H

#include "proxy/model/engine.h"
#include "proxy/model/server.h"

/* How a server and its backend are before a change. */
struct server_before {
	enum server_admin admin;
	int uweight;
	unsigned int usable;  /* servers of the backend */
	unsigned int queued;  /* sessions that wait for this server */
};

struct server_before server_before(const struct server *s);
/* The change is made, and who waited for the server was sent elsewhere. Says what has changed, by
 * way of that engine. */
void server_report(struct engine *e, const struct server *s, const struct server_before *before);

#endif
