/*
 * Persistence of a session (manual 4.2, `cookie`, `use-server`, `force-persist`, `ignore-persist`,
 * `option persist`): which server it is bound to before anything is balanced, and what becomes of
 * the cookie on its way to the server and back.
 *
 * session.bound is the server that was found, session.srv the one that it went to in the end: where
 * they differ it was sent elsewhere, and has another cookie to get.
 */
#ifndef TACIT_PROXY_HTTP1_PERSIST_H
#define TACIT_PROXY_HTTP1_PERSIST_H

#include <stdint.h>

#include "base/compiler.h"

struct arena;
struct session;

/*
 * s->be is its backend from now on, and its request (mode http) can still be looked at: binds it to
 * a server, or not. Costs nothing where nothing is configured.
 */
void persist_choose(struct session *s);
/*
 * Takes out of the request's head what is not for the server: the cookie that is ours, or what we
 * wrote before one of its own. Texts lie in the arena. 0, or -ERR_RANGE when they do not fit.
 */
int persist_strip(struct session *s, struct arena *a) must_check;
/* Tells the client in the response's head where to come back to. The same. */
int persist_answer(struct session *s, struct arena *a) must_check;

#endif
