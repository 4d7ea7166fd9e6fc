/* The life of sessions: from accept to the end of the turn that closed them. Called on their
 * worker. */
#ifndef TACIT_PROXY_SESSION_SESSION_H
#define TACIT_PROXY_SESSION_SESSION_H

#include "proxy/model/session.h"

/* Makes connections of the listener sessions of fe on this engine. To be called before it
 * starts. */
void session_listen(struct listener *ln, struct proxy *fe, struct engine *e);
/* Listener callback: the listener's owner is the frontend, its worker the engine. Always takes
 * ownership of fd. */
void session_on_accept(struct listener *ln, int fd, const struct addr *peer);
/* Closes it. cause: K, killed; D or U, a server went down or came up (manual 8.5). */
void stream_kill(struct stream *s, char cause);
/* True if it is connected to this server, or about to be. False if it waits in a queue, or was
 * granted a slot that it has not taken yet. */
static inline int
stream_is_on(const struct stream *s, const struct server *srv)
{
	return s->state != STREAM_QUEUE && s->srv == srv;
}
/* The process is stopping: connections are not kept for further requests. */
void engine_soft_stop(struct engine *e);
/* Closes all sessions, at a hard stop. */
void engine_kill_all(struct engine *e);

/* Sets the engine's callbacks: those of engine.h for lower layers. */
void session_hooks(struct engine *e);

#endif
