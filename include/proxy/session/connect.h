/* The connection to a server: a new one, or an idle one. */
#ifndef TACIT_PROXY_SESSION_CONNECT_H
#define TACIT_PROXY_SESSION_CONNECT_H

#include "net/xprt.h"
#include "proxy/model/session.h"

/*
 * Starts a connection to s->srv: 1 if established, 0 if in progress, -errno or -ERR_RANGE
 * (see connect_is_unnamed()) on failure; s->conn[SERVER] is open unless it failed. 0 with
 * s->awaits_place: strict-maxconn permits none now; ASSIGNED follows when one may be opened.
 */
int connect_server(struct stream *s) must_check;
/* On e's own thread: has sessions that wait for a place of the server (backend/server_place.h) try
 * again, those that have waited longest, as many as there are places. Closes nothing: it may be
 * called in a walk over idle connections. */
void connect_places_serve(struct engine *e, struct server *srv);
/* Does the same, and closes an idle connection if sessions of any worker still wait. Not while a
 * list of idle connections is walked. */
void connect_places_collect(struct engine *e, struct server *srv);
enum connect_reuse {
	CONNECT_NEW,  /* a connection is needed: none can be used */
	CONNECT_TAKEN,
	CONNECT_JOINS /* another stream establishes one that it will share: ASSIGNED or REFUSED
		       * follows */
};
/* Uses an idle connection to s->srv, or one of HTTP/2. */
enum connect_reuse connect_reuse(struct stream *s) must_check;
/* The attempt at a connection is over, or the wait for another one's, after an established or
 * failed one (ev REFUSED, with connect_err) or without either: those that wait for s continue. */
void connect_end_sharing(struct stream *s, enum stream_event ev);
static inline void
connect_over(struct stream *s, enum stream_event ev)
{
	if (unlikely(s->opens || s->joins))
		connect_end_sharing(s, ev);
}
/* The transport of connections to s->srv; NULL: none. */
const struct xprt_maker *server_xprt(const struct stream *s);
/* Has the new connection ask for the server's name (TLS), and begin with the PROXY header: 0,
 * -ENOMEM, or -ERR_RANGE (see connect_is_unnamed()). */
int connect_begin_server(struct stream *s) must_check;
/* While the request can still be read: the name for TLS, if it depends on the request. */
void connect_tls_note(struct stream *s);

#endif
