/* What persistence has come to for one request: for the log and the counters. */
#ifndef TACIT_PROXY_MODEL_PERSIST_STATE_H
#define TACIT_PROXY_MODEL_PERSIST_STATE_H

#include <stdint.h>

struct session;

/* What a transaction remembers of it. */
struct persist_state {
	char asked;      /* 0, or what the client brought, as the log says it (manual 8.5) */
	char answered;   /* and what the response brought it */
	uint8_t ignored; /* ignore-persist: the client gets no cookie */
	uint8_t is_due;  /* the dates of its cookie are to be written anew */
	int64_t first;   /* when it was here first, s since 1970; 0: not known */
};

/* It is at the server that it was bound to. */
int persist_holds(const struct session *s);
/* The third and the fourth letter of the termination code. */
void persist_letters(const struct session *s, char out[2]);

#endif
