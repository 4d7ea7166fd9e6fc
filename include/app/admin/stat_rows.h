/*
 * Rows of `show stat`. On the first worker; texts belong to the caller's struct or to the proxy.
 * only: the one column that is needed, with STAT_hrsp_1xx the other classes of responses too; the
 * rest of the row is then undefined. STAT_COLS: all.
 */
#ifndef TACIT_APP_ADMIN_STAT_ROWS_H
#define TACIT_APP_ADMIN_STAT_ROWS_H

#include "app/admin/stat_check.h"
#include "app/admin/stat_row.h"

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
