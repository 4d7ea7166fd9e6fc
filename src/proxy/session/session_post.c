/* The task by which a session goes on later in the turn. Runs on the session's worker. */
#include "proxy/session/session_post.h"

void
session_post(struct session *s, enum session_event ev)
{
	s->posted = ev;
	loop_post(s->engine->loop, &s->task);
}
