/* Admission of clients: connection and session rules, counters, the first event. */
#ifndef TACIT_PROXY_SESSION_SESSION_ADMIT_H
#define TACIT_PROXY_SESSION_SESSION_ADMIT_H

#include "proxy/model/session.h"

/* Decides whether the client of a new session is accepted. 0: its connection is open and counted;
 * -1: the caller owns fd. *expects: a PROXY header is required first. */
int session_admit(struct stream *s, int fd, int *expects) must_check;
/* The first event, without a PROXY header. */
enum session_event session_first_event(const struct session *sess) must_check;
/* Admits a session after its PROXY header and handshake: ADMITTED, MULTIPLEX or DENIED. */
enum session_event session_admit_again(struct session *sess) must_check;
/* The first event of a stream whose session is served, which depends on the mode. */
enum stream_event stream_first_event(struct stream *s) must_check;

#endif
