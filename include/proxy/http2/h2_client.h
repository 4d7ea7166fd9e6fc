/*
 * A client that speaks HTTP/2: its session in state MULTIPLEX, whose connection carries the
 * streams. Each request is a stream of its own (engine_hooks.new_substream), whose client's
 * connection is an h2_xprt. On the session's worker.
 */
#ifndef TACIT_PROXY_HTTP2_H2_CLIENT_H
#define TACIT_PROXY_HTTP2_H2_CLIENT_H

#include "h2/h2_carrier.h"
#include "proxy/model/session.h"

struct h2_client {
	struct h2_carrier carrier;
	struct session *sess;
	uint64_t idle_ms;        /* when it was last without a stream */
	uint32_t n_requests;     /* streams so far */
	uint32_t n_glitches;     /* counted in what the session tracks */
	uint64_t goaway_ms;        /* when GOAWAY was sent, as the process stops; 0: not */
	uint64_t parting_ms;       /* when FIN was sent behind the last response; 0: not */
	uint8_t had_stream;
	uint8_t is_trimmed;        /* h2_conn_trim(), while it is without a stream */
};

/* The session has entered MULTIPLEX; the lookahead of its stream has the bytes that were read. 0,
 * or
 * -ERR_NOMEM. */
int h2_client_begin(struct session *sess) must_check;
/* Frees what that made; no stream is left. */
void h2_client_free(struct session *sess);

/* Handlers of the state: return the event that follows. */
enum session_event multiplex_io(struct session *sess, uint32_t ev) must_check;
enum session_event multiplex_task(struct session *sess) must_check;
/* Handles the deadline: sends GOAWAY, and ends the session. */
enum session_event h2_client_late(struct session *sess) must_check;
/* Ends all streams, then the session. */
enum session_event h2_client_kill(struct session *sess) must_check;

/* The directions that it waits for, and until when. */
unsigned int h2_client_wants(const struct session *sess);
uint64_t h2_client_deadline(const struct session *sess);

#endif
