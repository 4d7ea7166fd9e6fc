/*
 * The end of a session: the two letters of its termination code (manual 8.5) and the failure
 * counters. Called on the session's worker.
 */
#ifndef TACIT_PROXY_MODEL_TERMINATION_H
#define TACIT_PROXY_MODEL_TERMINATION_H

#include "net/conn_err.h"
#include "proxy/model/session.h"

/* Sets the letters that are not set yet: the first cause is logged. */
void stream_set_term(struct stream *s, char cause, char phase);
/* Sets why the connection had no PROXY header or handshake, and PR: HAProxy has one code for
 * all. */
void session_set_conn_err(struct session *sess, enum conn_err err);
/* In RELAY: counts an abort of that side and sets it as the cause, unless a cause is set. */
void stream_note_failure(struct stream *s, int side);
/* The same for a timeout of that side. */
void stream_note_late(struct stream *s, int side);
/* The same for a client that closed before the response, or before the end of its request. */
void stream_note_abandoned(struct stream *s, char phase);

#endif
