/*
 * Rows of `show stat`. On the first worker; texts belong to the caller's struct or to the proxy.
 * only: the one column that is needed, with STAT_hrsp_1xx the other classes of responses too; the
 * rest of the row is then undefined. STAT_COLS: all.
 */
#ifndef TACIT_APP_ADMIN_STAT_ROWS_H
#define TACIT_APP_ADMIN_STAT_ROWS_H

#include "app/admin/stat_row.h"
#include "net/addr.h"
#include "proxy/model/dynamic_cookie.h"
#include "proxy/model/server.h"

/* Texts that a row refers to. */
struct stat_texts {
	char addr[ADDR_TEXT];
	char name[sizeof("sock-") + 10]; /* of a listener without a name */
	char cookie[DYNAMIC_COOKIE_TEXT];
	char status[SERVER_STATUS_MAX], tracked[SERVER_STATUS_MAX];
	char check_status[16], agent_status[16];
};

struct listener;
struct process;

void stat_frontend_row(const struct process *process, const struct proxy *p, struct stat_row *r);
void stat_listener_row(const struct proxy *p, const struct listener *ln, struct stat_row *r,
	struct stat_texts *texts);
void stat_backend_row(const struct process *process, const struct proxy *p, enum stat_col only,
	struct stat_row *r);
void stat_server_row(const struct process *process, const struct server *s, enum stat_col only,
	struct stat_row *r, struct stat_texts *texts);

#endif
