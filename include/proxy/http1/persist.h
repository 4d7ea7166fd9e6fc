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

/* What a transaction remembers of it. */
struct persist_state {
	char asked;      /* 0, or what the client brought, as the log says it (manual 8.5) */
	char answered;   /* and what the response brought it */
	uint8_t ignored; /* ignore-persist: the client gets no cookie */
	uint8_t is_due;  /* the dates of its cookie are to be written anew */
	int64_t first;   /* when it was here first, s since 1970; 0: not known */
};

/*
 * s->be is its backend from now on, and its request (mode http) can still be looked at: binds it to
 * a server, or not. Costs nothing where nothing is configured.
 */
void persist_choose(struct session *s);
/* It is at the server that it was bound to. */
int persist_holds(const struct session *s);
/*
 * Takes out of the request's head what is not for the server: the cookie that is ours, or what we
 * wrote before one of its own. Texts lie in the arena. 0, or -ERR_RANGE when they do not fit.
 */
int persist_strip(struct session *s, struct arena *a) must_check;
/* Tells the client in the response's head where to come back to. The same. */
int persist_answer(struct session *s, struct arena *a) must_check;
/* The third and the fourth letter of the termination code. */
void persist_letters(const struct session *s, char out[2]);

#endif
