/* What a session waits for, computed from its state whenever it is asked: never stored. */
#ifndef TACIT_PROXY_DERIVE_H
#define TACIT_PROXY_DERIVE_H

#include "proxy/session.h"

/* Directions to want on one side's fd: EV_R | EV_W. */
unsigned int session_wants(const struct session *s, int side);
/* When TIMEOUT is due, on the loop's clock; TIMER_NEVER: no limit is configured. */
uint64_t session_deadline(const struct session *s);
/* How long one side may be idle, in ms; 0: for ever. */
unsigned int session_patience(const struct session *s, int side, int half_closed);
/* The side whose inactivity would end a RELAY first: CLIENT or SERVER. */
int session_late_side(const struct session *s);

#endif
