/*
 * Idle server connections, kept for later requests (mode http; manual, `http-reuse`). Each worker
 * has its own: one list per server, newest first. Idle connections are watched: one that the server
 * closes or sends data on is closed. Taking one in or out needs no system call: its registration
 * and state are kept, and only the owner of its events changes.
 *
 * A connection may be kept only if request and response ended exactly and both sides allow it. Its
 * destination and source must be those of the server's line; a connection changed by set-dst or
 * set-src has to be closed. Where the name that is asked for (sni) varies, a request gets a
 * connection that has asked for the same name, byte by byte, or for none.
 */
#ifndef TACIT_PROXY_BACKEND_CONN_POOL_H
#define TACIT_PROXY_BACKEND_CONN_POOL_H

#include "proxy/model/session.h"

/* An idle connection; from a pool of the engine. */
struct idle_conn {
	struct conn conn;
	struct idle_list *of;      /* NULL: to be closed at the end of the turn */
	struct idle_conn **holder; /* the session's reference; NULL: not reserved */
	struct list link;          /* of->conns; not linked if reserved */
	struct list age;           /* engine.idle.all or .held, oldest first, or .over */
	struct list name_link;     /* by name; not linked: names do not matter */
	uint64_t name_hash;
	unsigned int uses;         /* requests carried */
	uint8_t unsure;            /* data may have arrived before it was put here */
};

void conn_pool_init(struct engine *e);
/* Closes all. */
void conn_pool_fini(struct engine *e);

/*
 * Takes ownership of c, a connection to srv that has carried `uses` requests: 1, and *c is empty.
 * 0: the caller has to close it: it is not wanted (requests look for no more than there are,
 * pool-max-conn, pool-purge-delay, max-reuse, descriptors or memory are short, the server is in
 * maintenance or depends on the client's address) or not usable: the peer has closed it, or
 * zero-copy completions are pending.
 *
 * holder: the connection is reserved for that session (http-reuse never, and authenticated
 * connections). *holder is set, and cleared when the connection is closed; the pool's limits do not
 * apply.
 */
int conn_pool_put(struct engine *e, struct server *srv, struct conn *c, unsigned int uses,
	struct idle_conn **holder);
/*
 * The newest connection that the backend's http-reuse permits for a request; first: the session's
 * first. 1: *out is the connection, its events go to fn, and *uses is the number of its requests.
 * The server may be closing it: sending on it can fail without any fault of the request.
 */
int conn_pool_get(struct engine *e, struct server *srv, int first, loop_fd_fn *fn, void *owner,
	struct conn *out, unsigned int *uses);
/* The same where the name varies (server.sni_varies); len 0: one that asked for none. */
int conn_pool_get_named(struct engine *e, struct server *srv, struct str name, int first,
	loop_fd_fn *fn, void *owner, struct conn *out, unsigned int *uses);
/* The same for the reserved one; *holder is NULL afterwards. 0: it was closed because data had
 * arrived. */
int conn_pool_take_held(struct engine *e, struct idle_conn **holder, loop_fd_fn *fn, void *owner,
	struct conn *out, unsigned int *uses) must_check;
static inline struct server *
conn_pool_server(const struct idle_conn *c)
{
	return c->of->srv;
}
/* The session no longer needs it. NULL is allowed. */
void conn_pool_release(struct engine *e, struct idle_conn **holder);

/* The number of requests that a connection must have carried to be used for another one; first: the
 * session's first. 0: none may be. */
unsigned int conn_pool_least_uses(enum http_reuse how, int first);
/* True if the connection leads where the server is now, and for all clients alike. */
int conn_pool_leads_to(const struct server *srv, const struct conn *c);

/* Closes those of a server that this worker has: the server takes no more sessions. */
void conn_pool_drop_server(struct engine *e, struct server *srv);
/* True if a worker has one, also reserved. This and the next: all workers but the caller's are
 * paused. */
int conn_pool_has_server(const struct engine *e, const struct server *srv);
/* Frees what a worker has for a server to which it has no idle connection. */
void conn_pool_forget_server(struct engine *e, struct server *srv);
/* On e's own thread: closes those to an address that the server no longer has. They are not used
 * even before that. */
void conn_pool_drop_stale(struct engine *e, struct server *srv);
/* Closes this worker's oldest idle connection to a server, or else one that is reserved for a
 * session and not authenticated: 1, or 0: there is none. */
int conn_pool_drop_one(struct engine *e, const struct server *srv);
/* Closes the idle connection that is the oldest; there must be one. */
void conn_pool_drop_oldest(struct engine *e);

/* A new connection is opened: if descriptors are short the oldest idle one is closed. */
static inline void
conn_pool_make_room(struct engine *e)
{
	if (loop_fds(e->loop) > e->idle.high_fds && !list_is_empty(&e->idle.all))
		conn_pool_drop_oldest(e);
}

/* Numbers for all workers: idle connections, and those of them used more than once. */
void conn_pool_count(const struct server *srv, unsigned int *all, unsigned int *safe);
/* Estimate of the connections the server needs at once, over the last pool-purge-delay. */
unsigned int conn_pool_needed(const struct server *srv);

#endif
