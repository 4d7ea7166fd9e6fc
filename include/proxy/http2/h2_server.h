/*
 * Connections to servers that speak HTTP/2. One that is connected becomes a carrier
 * (h2_server_begin) and the connection of the stream that has opened it its first stream; others
 * join it (h2_server_join). A carrier belongs to the worker that made it, and is closed when it has
 * been without a stream for pool-purge-delay. On that worker.
 */
#ifndef TACIT_PROXY_HTTP2_H2_SERVER_H
#define TACIT_PROXY_HTTP2_H2_SERVER_H

#include "h2/h2_carrier.h"
#include "proxy/model/session.h"

struct h2_server {
	struct h2_carrier carrier;
	struct conn conn;
	struct engine *engine;
	struct server *srv;
	struct h2_stat *stat;      /* its backend's */
	struct list link;          /* server_shard.carriers; not linked: it takes no more streams */
	struct list all;           /* h2_engine.all_servers */
	struct timer idle;         /* pool-purge-delay */
	struct task end;
	unsigned int uses;         /* streams so far */
	uint8_t is_own;            /* of one client: others must not use it */
};

/* True if the server connection of s, which is connected, speaks HTTP/2: by the server's line,
 * or the handshake has agreed on it. Its server may (server.may_speak_h2). */
int h2_server_speaks(const struct stream *s);
/* Makes it a carrier, and the server connection of s its first stream: 0, or -ERR_NOMEM, and it is
 * closed. */
int h2_server_begin(struct stream *s) must_check;
/* Makes the server connection of s, which is closed, a stream of a carrier to s->srv that
 * http-reuse permits: 1, or 0: there is none. */
int h2_server_join(struct stream *s) must_check;
/* True if a connection of s to its server may be shared with others. */
int h2_server_may_share(const struct stream *s);
/* The streams that a new connection to its server is taken to carry at once. */
unsigned int h2_server_streams(struct stream *s);
/* The server takes no more sessions, or only_stale: has another address. Its carriers take no more
 * streams, and end with those that they have. */
void h2_server_leave(struct engine *e, struct server *srv, int only_stale);
/* Closes a carrier to the server that has no stream, at the end of the turn: 1, or 0: there is
 * none. */
int h2_server_drop_idle(struct engine *e, struct server *srv);
/* Closes all; no stream is left. */
void h2_server_close_all(struct engine *e);
/* True if a worker has one. */
int h2_server_exists(const struct engine *e, const struct server *srv);

#endif
