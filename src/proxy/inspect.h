/*
 * Inspection of contents (manual 4.2: tcp-request content, tcp-response content): rules look at
 * what a client sent before it has a server, and at what a server sent before that is passed on. In
 * mode tcp they may wait for more of it, for as long as inspect-delay says. Private to proxy.
 */
#ifndef TACIT_PROXY_INSPECT_H
#define TACIT_PROXY_INSPECT_H

#include "proxy/look.h"
#include "proxy/session.h"

/* Is a client of it, in mode tcp, to be read before anything is decided for it? */
int inspect_frontend(const struct proxy *fe);
/* The same of the backend that was chosen: rules of a listen section have run before. */
int inspect_backend(const struct session *s);

/* --- a session in INSPECT --- */

/* Reads what the client has sent, runs the rules, and raises what they have come to. */
void inspect_read(struct session *s);
void inspect_io(struct session *s, uint32_t ev);
uint64_t inspect_deadline(const struct session *s);
/*
 * Sets up look for the bytes that the client has sent: conditions of use_backend see them too.
 * Followed by inspect_look_done().
 */
void inspect_look(struct look *look, struct session *s, unsigned int at);
void inspect_look_done(struct look *look, struct session *s);

/* --- what a server sends, in mode tcp: half[SERVER].inspects --- */

/* The server is connected: its first bytes are held back if rules want to see them. */
void inspect_begin_response(struct session *s);
/* A read for it: as pump_once() in half.c. */
int inspect_response(struct session *s);
/* No more is waited for: the rules say what is to happen. */
void inspect_end_response(struct session *s);
uint64_t inspect_response_deadline(const struct session *s);

#endif
