/*
 * The handlers named by the columns of SESSION_STATE and STREAM_STATE (fsm.tbl.h). They run on the
 * session's worker, assign no state and raise no event: session.c raises the event that they
 * return.
 */
#ifndef TACIT_PROXY_SESSION_HANDLERS_H
#define TACIT_PROXY_SESSION_HANDLERS_H

#include "proxy/http1/http_read.h"
#include "proxy/http1/http_reply.h"
#include "proxy/http2/h2_client.h"
#include "h2/h2_carrier.h"
#include "net/xprt.h"
#include "proxy/model/session.h"
#include "proxy/session/client_handshake.h"
#include "proxy/session/derive.h"
#include "proxy/session/proxy_protocol_in.h"
#include "proxy/session/tcp_content_rules.h"

/* I/O handlers: ev is EV_x, of the client's connection or of conn[side]. */
enum session_event header_io(struct session *sess, uint32_t ev) must_check;
enum session_event client_handshake_io(struct session *sess, uint32_t ev) must_check;
enum stream_event inspect_io(struct stream *s, int side, uint32_t ev) must_check;
/* Without a server. */
enum stream_event early_io(struct stream *s, int side, uint32_t ev) must_check;
enum stream_event connect_io(struct stream *s, int side, uint32_t ev) must_check;
enum stream_event relay_io(struct stream *s, int side, uint32_t ev) must_check;
enum stream_event relay_task(struct stream *s) must_check;
enum stream_event handshake_io(struct stream *s, int side, uint32_t ev) must_check;
enum stream_event linger_io(struct stream *s, int side, uint32_t ev) must_check;
/* The first exchange, in the same turn as connect(). */
enum stream_event first_io(struct stream *s) must_check;
/* The event that follows from the states of the directions, or NONE. */
enum stream_event relay_outcome(const struct stream *s);

/* --- connecting to a server --- */

/* The action of rows that enter HANDSHAKE. */
enum stream_event stream_do_handshake(struct stream *s);

/* The event when the server's socket is connected: UP, or a handshake. */
static inline enum stream_event
handshake_or_up(const struct stream *s)
{
	return likely(!s->srv->conf.socks4.len && !conn_awaits_handshake(s->conn[SERVER]))
		? STREAM_EV_UP
		: STREAM_EV_AWAIT_HANDSHAKE;
}

struct session_state_row {
	enum session_event (*io)(struct session *sess, uint32_t ev);
	enum session_event (*task)(struct session *sess);
	void (*derive)(const struct session *sess, struct derived *d);
	enum session_event late; /* the event raised at the deadline */
};

extern const struct session_state_row session_states[]; /* SESSION_STATES */

struct stream_state_row {
	enum stream_event (*io)(struct stream *s, int side, uint32_t ev);
	enum stream_event (*task)(struct stream *s);
	void (*derive)(const struct stream *s, struct derived *d);
	enum stream_event (*outcome)(const struct stream *s);
	enum stream_event late; /* the event raised at the deadline */
};

extern const struct stream_state_row stream_states[]; /* STREAM_STATES */

/* The readiness and deadline that the stream waits for in its state, or its session. */
static inline struct derived
stream_derive(const struct stream *s)
{
	struct derived d = { .low_water = 1, .deadline = TIMER_NEVER };

	if (likely(s->state != STREAM_NEW))
		stream_states[s->state].derive(s, &d);
	else if (session_states[s->sess->state].derive)
		session_states[s->sess->state].derive(s->sess, &d);
	return d;
}

static inline uint64_t
stream_deadline(const struct stream *s)
{
	return stream_derive(s).deadline;
}

/* Has the next read of a side try, and returns 1, if events did not fit into this turn: that of its
 * bytes may be among them; those of a connection that carries it are read here. For a deadline. 0:
 * all events were delivered. */
static inline int
presume_left_event(struct stream *s, int side)
{
	struct engine *e = s->engine;
	struct conn *c = s->conn[side];

	if (!loop_left_events(e->loop))
		return 0;
	if (conn_is_stream(c))
		h2_carrier_look(c, e->scratch, e->bufsize);
	conn_presume_ready(c, DIR_R);
	return 1;
}

#endif
