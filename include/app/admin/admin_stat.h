/* The rows of show stat, one after the other, for the admin socket and the statistics page. On the
 * first worker. */
#ifndef TACIT_APP_ADMIN_ADMIN_STAT_H
#define TACIT_APP_ADMIN_ADMIN_STAT_H

#include "app/admin/stat_rows.h"
#include "proxy/model/server_list.h"

struct listener;
struct process;

/* Bits of the types. */
enum { ROW_FRONTEND = 1, ROW_BACKEND = 2, ROW_SERVER = 4, ROW_LISTENER = 8 };

/* The arguments of `show stat` (management manual 9.3). */
struct stat_args {
	int64_t iid, types, sid; /* -1: all */
	enum field_form form;
	int has_desc;
	enum stat_col only; /* the columns of rows that are needed: app/admin/stat_rows.h */
	enum { STAT_HIDE_NONE, STAT_HIDE_MAINT, STAT_HIDE_DOWN } hide; /* servers */
};

/* A position. Proxies do not change while the process runs. */
struct stat_walk {
	struct stat_args args;
	/* The proxies to show; NULL: all. */
	int (*shows)(const struct proxy *p, const void *arg);
	const void *arg;
	int has_rows;        /* one has been printed */
	struct list *proxy;  /* its link */
	enum { STAT_AT_FRONTEND, STAT_AT_LISTENERS, STAT_AT_SERVERS } stage; /* of the proxy */
	const struct listener *listener; /* the last one; NULL: none yet */
	struct server_walk server;
};

struct stat_item {
	enum stat_type type;
	const struct proxy *proxy;
	const struct server *server; /* TYPE_SERVER */
	const struct listener *listener; /* TYPE_LISTENER */
	struct stat_row row;
	struct stat_texts texts;     /* that the row refers to */
};

static inline const struct latency_set *
stat_latency_of(const struct stat_item *i)
{
	return i->type == TYPE_SERVER ? &i->server->latency
				      : &i->proxy->latency[i->type == TYPE_BACKEND];
}

/* True if there is a histogram of this time: of a listener none, of a frontend the total time only,
 * and responses only in mode http. */
static inline int
stat_has_latency(const struct stat_item *i, enum latency_kind k)
{
	return i->type == TYPE_LISTENER ? 0
		: i->type == TYPE_FRONTEND ? k == LATENCY_TOTAL
					: k != LATENCY_RESPONSE || i->proxy->mode == PROXY_HTTP;
}

enum stat_step {
	STAT_END,
	STAT_NOTHING, /* no row this time */
	STAT_ITEM
};

/* Starts a walk over all proxies, at the first one. */
void stat_walk_init(struct stat_walk *w, const struct process *p);
enum stat_step stat_walk_next(struct stat_walk *w, const struct process *p,
	struct stat_item *out) must_check;

#endif
