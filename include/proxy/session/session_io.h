/* What reaches a session from the loop, and what each dispatch leaves behind. Private to proxy. */
#ifndef TACIT_PROXY_SESSION_SESSION_IO_H
#define TACIT_PROXY_SESSION_SESSION_IO_H

#include "proxy/model/session.h"

/* Of its descriptors (owner: the session), its task and its timer. */
void session_on_io(void *owner, int fd, uint32_t ev);
void session_on_task(struct task *t);
void session_on_timer(struct timer *t);
/* Raises the event that a handler has returned; NONE: nothing. session_settle() follows. */
void session_raise(struct session *s, enum session_event ev);
/* After anything that may have changed it: derives interest and deadline anew, or has the session
 * freed. */
void session_settle(struct session *s);
/* Tells the loop what is wanted of one side, EV_R | EV_W. */
void session_want(struct session *s, int side, unsigned int dirs);
/* Sets the engine's calls into sessions: engine.on_io, on_slot, on_bulk_turn. */
void session_hooks(struct engine *e);

#endif
