/* Admission of clients: connection and session rules, counters, the first event. */
#ifndef TACIT_PROXY_SESSION_SESSION_ADMIT_H
#define TACIT_PROXY_SESSION_SESSION_ADMIT_H

#include "proxy/model/session.h"

/* Decides whether the client of a new session is accepted. 0: its connection is open and counted;
 * -1: the caller owns fd. *expects: a PROXY header is required first. */
int session_admit(struct stream *s, int fd, int *expects) must_check;
/* The first event, which depends on the mode. */
enum stream_event session_first_event(struct stream *s) must_check;
/* Admits a session after its PROXY header: returns the first event, or DENIED. */
enum stream_event session_admit_again(struct stream *s) must_check;

#endif
