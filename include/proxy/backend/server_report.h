/* Messages about a server's change of state, on the terminal and in its backend's log. */
#ifndef TACIT_PROXY_BACKEND_SERVER_REPORT_H
#define TACIT_PROXY_BACKEND_SERVER_REPORT_H

#include "base/compiler.h"
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

/* "<backend>/<server> ...": in the log and on the terminal, or in the log only. */
void server_report_change(struct engine *e, const struct server *s, const char *fmt, ...)
	fmt_printf(3, 4);
void server_log_change(struct engine *e, const struct server *s, const char *fmt, ...)
	fmt_printf(3, 4);
/* It has no address any more, or one again. */
void server_report_unresolved(struct engine *e, const struct server *s,
	const struct server_before *before, const char *why);
void server_report_resolved(struct engine *e, const struct server *s);
/* The address was looked up: after server_report_resolved(). */
void server_report_ready(struct engine *e, const struct server *s);

#endif
