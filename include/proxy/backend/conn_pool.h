/*
 * Idle connections to servers, kept for the next request (mode http; manual, `http-reuse`). Each
 * worker keeps its own: one list per server, newest first. A connection in it is watched: one that
 * the server ends, or sends something on, is closed. Taking one in or out makes no system call: its
 * registration and what is known of it go along, only the owner of its events changes.
 *
 * Only such connections belong here on which request and response both ended exactly and both sides
 * mean to go on. Their destination and source have to be what the server's line says: whoever sent
 * a connection elsewhere (set-dst, set-src) closes it.
 */
#ifndef TACIT_PROXY_BACKEND_CONN_POOL_H
#define TACIT_PROXY_BACKEND_CONN_POOL_H

#include "proxy/model/session.h"

/* One of them; from a pool of the engine. */
struct idle_conn {
	struct conn conn;
	struct idle_list *of;      /* NULL: over, closed at the end of the turn */
	struct idle_conn **holder; /* whose it is; NULL: anybody's */
	struct list link;          /* of->conns; not linked when it has a holder */
	struct list age;           /* engine.idle.all or .held, oldest first, or .over */
	unsigned int uses;         /* requests it has carried */
	uint8_t unsure;            /* something may have come before it was put here */
};

void conn_pool_init(struct engine *e);
/* Closes all. */
void conn_pool_fini(struct engine *e);

/*
 * Takes c over, which is of srv and has carried so many requests: 1, and *c is empty. 0: the caller
 * closes it; it is not wanted (pool-max-conn, pool-purge-delay, max-reuse, descriptors or memory
 * are short, the server is in maintenance or follows the client's address), or not sound: the peer
 * has ended, or answers to zero-copy sends are due.
 *
 * holder: the session keeps it for itself (http-reuse never, and what the server ties to a
 * connection). *holder is set, and cleared when the connection goes; no bound of the pool applies.
 */
int conn_pool_put(struct engine *e, struct server *srv, struct conn *c, unsigned int uses,
	struct idle_conn **holder);
/*
 * The newest one for a request of its backend's http-reuse; first: of a session. 1: *out is it, its
 * events go to fn, and *uses says how many requests it has carried. Its end may be on its way: what
 * is sent on it can fail through no fault of the request.
 */
int conn_pool_get(struct engine *e, struct server *srv, int first, loop_fd_fn *fn, void *owner,
	struct conn *out, unsigned int *uses);
/* The same for the one that is held; *holder is NULL then. 0: it is closed, something has come. */
int conn_pool_take_held(struct engine *e, struct idle_conn **holder, loop_fd_fn *fn, void *owner,
	struct conn *out, unsigned int *uses) must_check;
static inline struct server *
conn_pool_server(const struct idle_conn *c)
{
	return c->of->srv;
}
/* Its session needs it no more. NULL is allowed. */
void conn_pool_release(struct engine *e, struct idle_conn **holder);

/* Closes those of a server on all workers, which stand still: it goes into maintenance. */
void conn_pool_drop_server(struct server *srv);
/* A new connection is made: where descriptors are short the oldest idle one goes. */
void conn_pool_make_room(struct engine *e);

/* Of all workers: all that may be taken, and of them those that were used more than once. */
void conn_pool_count(const struct server *srv, unsigned int *all, unsigned int *safe);
/* How many connections the server needs at once, as the last pool-purge-delay tells. */
unsigned int conn_pool_needed(const struct server *srv);

#endif
