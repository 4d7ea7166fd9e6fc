/*
 * Rows of `show stat`. On the first worker; texts belong to the caller's struct or to the proxy.
 * only: the one column that is needed, with STAT_hrsp_1xx the other classes of responses too; the
 * rest of the row is then undefined. STAT_COLS: all.
 */
#ifndef TACIT_APP_ADMIN_STAT_ROWS_H
#define TACIT_APP_ADMIN_STAT_ROWS_H

#include <stdint.h>

#include "app/admin/field.h"
#include "base/sbuf.h"
#include "net/addr.h"
#include "proxy/model/persist_conf.h"
#include "proxy/model/server.h"

/* A row of `show stat`: an optional value for each of HAProxy's columns, and its forms as text. */
enum stat_col {
#define STAT_NAMED(id, text, tags, type, desc) STAT_##id,
#define STAT_COL(name, tags, type, desc) STAT_NAMED(name, #name, tags, type, desc)
#include "app/admin/stat.tbl.h"
#undef STAT_COL
#undef STAT_NAMED
	STAT_COLS
};

/* Numbers of 9.1. */
enum stat_type { TYPE_FRONTEND, TYPE_BACKEND, TYPE_SERVER, TYPE_LISTENER };

struct stat_row {
	struct field_value v[STAT_COLS]; /* texts are owned by the caller */
};

static inline void
stat_row_int(struct stat_row *r, enum stat_col c, int64_t n)
{
	r->v[c].kind = VAL_INT;
	r->v[c].u.n = n;
}

static inline void
stat_row_text(struct stat_row *r, enum stat_col c, const char *s)
{
	r->v[c].kind = VAL_TEXT;
	r->v[c].u.s = s;
}

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

/* The kind of object that a row is of, as the JSON form names it. */
const char *stat_type_name(enum stat_type type);
/* The name, type and description of a column. */
const struct field *stat_field(enum stat_col c);

#endif
