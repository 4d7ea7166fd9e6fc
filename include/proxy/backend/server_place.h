/*
 * Places of a server with `strict-maxconn` (HAProxy 3.2, 5.2): its connections, in use or idle, of
 * all workers, are never more than maxconn. A place is taken before a connection is opened, and
 * given back when it is closed. Connections of health checks have none.
 */
#ifndef TACIT_PROXY_BACKEND_SERVER_PLACE_H
#define TACIT_PROXY_BACKEND_SERVER_PLACE_H

#include "base/atomic.h"
#include "proxy/model/session.h"

/* Takes a place: 1, or 0: there is none. */
int server_place_take(struct engine *e, struct server *srv) must_check;
/* Gives back a place that no connection has: workers that wait for one are notified. */
void server_place_put(struct engine *e, struct server *srv);
/* n sessions of e's worker, or none any more, wait for places: returns how many of them find one
 * now. If these are fewer e gets on_place() as soon as there is one; *is_new: it has not waited
 * since the last one was given back. NULL is allowed. */
unsigned int server_place_want(struct engine *e, struct server *srv, unsigned int n, int *is_new);
static inline uint64_t
server_place_bit(const struct engine *e)
{
	return UINT64_C(1) << e->index;
}

/* True if sessions wait for a place; those of other workers than e's. Without the lock. */
static inline int
server_place_is_wanted(const struct server *srv)
{
	return atomic_read(&srv->places_wanted) != 0;
}

static inline int
server_place_is_wanted_elsewhere(const struct engine *e, const struct server *srv)
{
	return (atomic_read(&srv->places_wanted) & ~server_place_bit(e)) != 0;
}

/* Closes a connection to srv and gives its place back, if it has one. */
void server_conn_close(struct engine *e, struct server *srv, struct conn *c);
/* The same at the end of the turn, unless it has a place: the next one may be opened in this
 * turn. */
static inline void
server_conn_close_late(struct engine *e, struct server *srv, struct conn *c)
{
	if (unlikely(c->has_place))
		server_conn_close(e, srv, c);
	else
		conn_close_late(c);
}

#endif
