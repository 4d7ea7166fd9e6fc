/* The result of persistence for one request, for the log and the counters. */
#ifndef TACIT_PROXY_MODEL_PERSIST_STATE_H
#define TACIT_PROXY_MODEL_PERSIST_STATE_H

#include "proxy/model/session.h"

/* Persistence state of a transaction. */
struct persist_state {
	char asked;      /* 0, or the state of the client's cookie as logged (manual 8.5) */
	char answered;   /* and what was done to it in the response */
	uint8_t ignored; /* ignore-persist: the client gets no cookie */
	uint8_t is_due;  /* the dates in its cookie have to be updated */
	int64_t first;   /* first visit of the client, s since 1970; 0: unknown */
};

/* The request is at the server that it was bound to. */
static inline int
persist_holds(const struct stream *s)
{
	return s->bound && s->srv == s->bound;
}

/* The third and fourth letter of the termination code. */
void persist_letters(const struct stream *s, char out[2]);

#endif
