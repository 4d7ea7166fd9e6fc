/* Events that are delivered later in the turn, by the stream's task. */
#ifndef TACIT_PROXY_SESSION_STREAM_POST_H
#define TACIT_PROXY_SESSION_STREAM_POST_H

#include "proxy/model/session.h"

/* Delivers ev in this turn, after the current handler; NONE: runs the task of its state. At most
 * one event may be pending. */
static inline void
stream_post(struct stream *s, enum stream_event ev)
{
	s->posted = ev;
	loop_post(s->engine->loop, &s->task);
}

#endif
