/* Messages about a server's change of state, on the terminal and in its backend's log. */
#ifndef TACIT_PROXY_BACKEND_SERVER_REPORT_H
#define TACIT_PROXY_BACKEND_SERVER_REPORT_H

#include "base/compiler.h"
#include "base/log.h"
#include "proxy/model/engine.h"
#include "proxy/model/server.h"

/* The state of a server and its backend before a change. */
struct server_before {
	unsigned int admin;
	enum server_oper oper;
	int uweight;
	unsigned int usable;  /* servers of the backend */
	unsigned int queued;  /* sessions waiting for this server */
	unsigned int waiting; /* sessions waiting for any server */
	int panic;            /* of the backend */
};

struct server_before server_before(const struct server *s);
/* Reports the difference through this engine's log, after the change, when the sessions that waited
 * for the server were redistributed. cause: follows the state. */
void server_report(struct engine *e, const struct server *s, const struct server_before *before,
	const char *cause);
/* Any other message about a server. */
void server_log(struct engine *e, const struct server *s, enum log_level level, const char *text);
/* The same, as an alert. */
void server_alert(struct engine *e, const struct server *s, const char *text);

/* "<backend>/<server> ...": in the log and on the terminal, or in the log only. */
void server_report_change(struct engine *e, const struct server *s, const char *fmt, ...)
	fmt_printf(3, 4);
void server_log_change(struct engine *e, const struct server *s, const char *fmt, ...)
	fmt_printf(3, 4);
/* The address was looked up: after the report of its state. */
void server_report_ready(struct engine *e, const struct server *s);

#endif
