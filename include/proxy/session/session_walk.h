/*
 * Walks over an engine's sessions in steps, on its worker's thread, over several turns. A session
 * that exists during the whole walk is visited once; one that begins or ends meanwhile at most
 * once.
 */
#ifndef TACIT_PROXY_SESSION_WALK_H
#define TACIT_PROXY_SESSION_WALK_H

#include "base/compiler.h"
#include "proxy/model/session.h"

typedef int session_pick_fn(const struct stream *s, const void *arg);

struct session_walk {
	uint64_t after;          /* id of the last session visited; 0: none */
	session_pick_fn *pick;   /* selects the sessions */
	const void *pick_arg;
	void (*fn)(struct stream *s, void *arg); /* called for each; may close it */
	void *fn_arg;
	unsigned int max;        /* maximum calls of fn per step */
	unsigned int max_looks;  /* maximum calls of pick per step */
};

/* Runs one step and stores its position in `after`. 1: there is more. */
int engine_walk(struct engine *e, struct session_walk *w) must_check;

#endif
