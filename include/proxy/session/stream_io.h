/* Events from the loop to a stream or its session, and the end of each dispatch. Private. */
#ifndef TACIT_PROXY_SESSION_STREAM_IO_H
#define TACIT_PROXY_SESSION_STREAM_IO_H

#include "proxy/model/session.h"

/* Handlers of its task and its timer. */
void stream_on_task(struct task *t);
void stream_on_timer(struct timer *t);
/* Raises the event that a handler returned; NONE: does nothing. stream_settle() follows. */
void stream_raise(struct stream *s, enum stream_event ev);
/* Raises an event of a session that is not served yet, and begins or ends its stream as it
 * requires. */
void session_raise(struct session *sess, enum session_event ev);
/* Ends a stream as KILL does, with its session if that is not served yet. */
void stream_end(struct stream *s);
/* Derives interest and deadline after any change, or schedules the session to be freed. */
void stream_settle(struct stream *s);
/* Sets the interest of one side, EV_R | EV_W. */
void stream_want(struct stream *s, int side, unsigned int dirs);
/* Sets the engine's callbacks: those of engine.h for lower layers. */
void session_hooks(struct engine *e);

#endif
