/*
 * The handlers named by the columns of SESSION_STATE (fsm.tbl.h). They run on the session's worker,
 * assign no state and raise no event: session_io.c raises the event that they return.
 */
#ifndef TACIT_PROXY_SESSION_HANDLERS_H
#define TACIT_PROXY_SESSION_HANDLERS_H

#include "proxy/http1/http_read.h"
#include "proxy/http1/http_reply.h"
#include "proxy/model/session.h"
#include "proxy/session/client_handshake.h"
#include "proxy/session/derive.h"
#include "proxy/session/handshake.h"
#include "proxy/session/proxy_protocol_in.h"
#include "proxy/session/tcp_content_rules.h"

/* I/O handlers: ev is EV_x, of conn[side]. */
enum session_event header_io(struct session *s, int side, uint32_t ev) must_check;
enum session_event client_handshake_io(struct session *s, int side, uint32_t ev) must_check;
enum session_event inspect_io(struct session *s, int side, uint32_t ev) must_check;
/* Without a server. */
enum session_event early_io(struct session *s, int side, uint32_t ev) must_check;
enum session_event connect_io(struct session *s, int side, uint32_t ev) must_check;
enum session_event relay_io(struct session *s, int side, uint32_t ev) must_check;
enum session_event linger_io(struct session *s, int side, uint32_t ev) must_check;
/* The first exchange, in the same turn as connect(). */
enum session_event first_io(struct session *s) must_check;
/* The event that follows from the states of the directions, or NONE. */
enum session_event relay_outcome(const struct session *s);

struct session_state_row {
	enum session_event (*io)(struct session *s, int side, uint32_t ev);
	enum session_event (*task)(struct session *s);
	void (*derive)(const struct session *s, struct derived *d);
	enum session_event (*outcome)(const struct session *s);
	enum session_event late; /* the event raised at the deadline */
};

extern const struct session_state_row session_states[]; /* SESSION_STATES */

/* The readiness and deadline that the session waits for in its state. */
static inline struct derived
session_derive(const struct session *s)
{
	struct derived d = { .low_water = 1, .deadline = TIMER_NEVER };

	session_states[s->state].derive(s, &d);
	return d;
}

static inline uint64_t
session_deadline(const struct session *s)
{
	return session_derive(s).deadline;
}

#endif
