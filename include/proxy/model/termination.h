/*
 * How a session came to its end: the two letters of its termination code (manual 8.5) and whose
 * failure is counted. Called on the session's worker.
 */
#ifndef TACIT_PROXY_MODEL_TERMINATION_H
#define TACIT_PROXY_MODEL_TERMINATION_H

#include "proxy/model/session.h"

/* Sets the letters that are not set yet: the first cause is the one that is logged. */
void session_blame(struct session *s, char cause, char phase);
/* In RELAY: counts an abort of that side and blames it, unless a cause is known. */
void session_note_failure(struct session *s, int side);
/* The same of one that was late with its data. */
void session_note_late(struct session *s, int side);
/* The same of a client that did not wait for the response. */
void session_note_abandoned(struct session *s);

#endif
