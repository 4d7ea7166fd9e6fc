/*
 * Servers whose address changes while they run: by DNS answers and by operators. The first worker
 * makes the changes. Other workers read addresses without a lock (net/addr_cell.h), and close idle
 * connections to previous addresses when they are notified; a connection to one is not kept or
 * used again before that either.
 */
#ifndef TACIT_PROXY_BACKEND_SERVER_ADDR_H
#define TACIT_PROXY_BACKEND_SERVER_ADDR_H

#include "base/compiler.h"
#include "proxy/model/engine.h"
#include "proxy/model/server.h"

/* Sets an IPv4 or IPv6 address with its port. e: the first worker's. */
void server_set_addr(struct engine *e, struct server *s, const struct addr *a);

/* "<backend>/<server> ...": in the log and on the terminal, or in the log only. */
void server_report_change(struct engine *e, const struct server *s, const char *fmt, ...)
	fmt_printf(3, 4);
void server_log_change(struct engine *e, const struct server *s, const char *fmt, ...)
	fmt_printf(3, 4);

#endif
