/* Admission of clients: rules of connections and sessions, counters, the first event. */
#ifndef TACIT_PROXY_SESSION_SESSION_ADMIT_H
#define TACIT_PROXY_SESSION_SESSION_ADMIT_H

#include "proxy/model/session.h"

/* May the client of a new session stay? 0: its connection is open and it is counted; -1: fd is the
 * caller's. *expects: a PROXY header has to come first. */
int session_admit(struct session *s, int fd, int *expects) must_check;
/* The event that its mode begins with. */
enum session_event session_first_event(struct session *s) must_check;
/* Its PROXY header has come: the event that it begins with, or DENIED. */
enum session_event session_admit_again(struct session *s) must_check;

#endif
