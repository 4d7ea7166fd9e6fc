/*
 * Through an engine's sessions in pieces, on its worker's thread, with turns between them. A
 * session that lives from the first piece to the last is seen once; one that begins or ends
 * meanwhile, once or not at all.
 */
#ifndef TACIT_PROXY_SESSION_WALK_H
#define TACIT_PROXY_SESSION_WALK_H

#include "base/compiler.h"
#include "proxy/model/session.h"

typedef int session_pick_fn(const struct session *s, const void *arg);

struct session_walk {
	uint64_t after;          /* the last one that was looked at; 0: none yet */
	session_pick_fn *pick;   /* is it one of those that are meant? */
	const void *pick_arg;
	void (*fn)(struct session *s, void *arg); /* called with each; may kill it */
	void *fn_arg;
	unsigned int max;        /* calls of fn in one piece */
	unsigned int max_looks;  /* calls of pick in one piece */
};

/* One piece; notes in `after` how far it came. 1: there is more. */
int engine_walk(struct engine *e, struct session_walk *w) must_check;

#endif
