/* The readiness and deadline that a session waits for, derived from its state on each request and
 * never stored. */
#ifndef TACIT_PROXY_SESSION_DERIVE_H
#define TACIT_PROXY_SESSION_DERIVE_H

#include "proxy/model/session.h"

/* Everything that the loop must know after a dispatch. */
struct derived {
	unsigned int wants[SIDES]; /* for each side's fd: EV_R | EV_W */
	unsigned int low_water;    /* bytes from the client that should wake the worker */
	uint64_t deadline;         /* of TIMEOUT, on the loop's clock; TIMER_NEVER: none */
};

/* One function for each state: sets what differs from zero. */
void derive_early(const struct stream *s, struct derived *d);
void derive_header(const struct session *sess, struct derived *d);
void derive_multiplex(const struct session *sess, struct derived *d);
void derive_client_handshake(const struct session *sess, struct derived *d);
void derive_read(const struct stream *s, struct derived *d);
void derive_tarpit(const struct stream *s, struct derived *d);
void derive_inspect(const struct stream *s, struct derived *d);
void derive_queue(const struct stream *s, struct derived *d);
void derive_connect(const struct stream *s, struct derived *d);
void derive_handshake(const struct stream *s, struct derived *d);
void derive_retry(const struct stream *s, struct derived *d);
void derive_relay(const struct stream *s, struct derived *d);
void derive_reply(const struct stream *s, struct derived *d);
void derive_linger(const struct stream *s, struct derived *d);
void derive_nothing(const struct stream *s, struct derived *d);

/* Maximum idle time of one side in ms; 0: no limit. */
unsigned int stream_idle_limit(const struct stream *s, int side, int half_closed);
/* The side whose timeout would end a RELAY first: CLIENT or SERVER. */
int stream_late_side(const struct stream *s);

#endif
