/*
 * A session: a client's connection. It has one stream, which is a part of it; one whose client
 * speaks HTTP/2 carries many, each with a connection of its own (net/conn_stream.h).
 */
#ifndef TACIT_PROXY_MODEL_SESSION_H
#define TACIT_PROXY_MODEL_SESSION_H

#include <stdint.h>

#include "net/conn.h"
#include "proxy/model/stream.h"
#include "rule/sample/var.h"

struct h2_client;
struct idle_conn;
struct session_addr_override;
struct tracked;

/*
 * Limits, the PROXY header, the handshake, `tcp-request connection` and `session` rules and
 * variables of scope sess belong to the session; all from a request's head to its log line belongs
 * to a stream.
 */
struct session {
	struct listener *listener;
	struct proxy *fe;
	struct conn conn;       /* the client's */
	uint64_t accept_wall_ns;
	uint64_t accept_ms;
	uint64_t begun_ms;      /* accept_ms, or the time its PROXY header arrived; 0: not yet */
	struct vars vars;       /* of scope sess */
	struct session_addr_override *endpoints; /* address changes by rules; NULL: none */
	struct tracked *tracked; /* what its rules track: stream_extras.h; NULL: nothing */
	union {
		struct idle_conn *held; /* mode http: an idle server connection reserved for it,
					 * see session_held() */
		struct h2_client *h2;   /* is_multiplexed: the HTTP/2 connection, its streams */
	};
	uint32_t requests;      /* mode http: number of requests so far, including the current
				 * ones */
	uint8_t state;          /* enum session_state */
	uint8_t conn_err;       /* enum conn_err: why there was no PROXY header or handshake */
	uint16_t accept_us : 10; /* microseconds that accept_ms leaves out */
	uint16_t has_header : 1; /* the connection began with a PROXY header */
	uint16_t held_private : 1; /* `held` is authenticated: other sessions must not use it */
	uint16_t is_multiplexed : 1; /* its connection carries streams: `h2` is set */
	/* The session's own stream. Until the client is served its buffer, timer and task are used
	 * by the session; in MULTIPLEX always, and the stream stays NEW. */
	struct stream stream;
	/* The client's address: no more of it than SESSION_SIZE is there. Only the family of a
	 * unix socket. */
	struct addr peer;
};

/* The size of a session: room for an inet address. One more byte would cost each session 128: the
 * next size of the allocator. */
#define SESSION_SIZE \
	(offsetof(struct session, peer) + offsetof(struct addr, u) + sizeof(struct sockaddr_in6))
_Static_assert(SESSION_SIZE <= 768, "a size of the allocator");

/* The state of a stream as it is shown and remembered: until its session is served it is the
 * session's, with HISTORY_OF_SESSION. */
static inline unsigned int
stream_shown_state(const struct stream *s)
{
	return s->state == STREAM_NEW ? HISTORY_OF_SESSION | s->sess->state : s->state;
}

/* One of the streams of a session in MULTIPLEX, from engine.pools.substream. */
struct substream {
	struct stream stream;
	struct conn client; /* stream.conn[CLIENT] */
};

/* True if this is the first request of its client's connection: those that HTTP/2 carries never
 * are, as in HAProxy. */
static inline int
session_is_first_request(const struct stream *s)
{
	return s->sess->requests == 1 && !s->is_carried;
}

/* The server connection reserved for the session of a stream; NULL: none. The streams of a
 * connection share none. */
static inline struct idle_conn *
session_held(const struct session *sess)
{
	return likely(!sess->is_multiplexed) ? sess->held : NULL;
}

/* Makes s a stream of sess; client: its client's connection. */
static inline void
stream_join(struct stream *s, struct session *sess, struct conn *client)
{
	s->sess = sess;
	s->conn[CLIENT] = client;
	s->conn[SERVER] = &s->server;
}

#endif
