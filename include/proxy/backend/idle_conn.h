/*
 * A connection to a server that no request uses, of one worker. It is in the list of its server, or
 * a session holds it (proxy/backend/conn_pool.h). It is watched: no bytes are pending, and any
 * event closes it.
 */
#ifndef TACIT_PROXY_BACKEND_IDLE_CONN_H
#define TACIT_PROXY_BACKEND_IDLE_CONN_H

#include "proxy/model/session.h"

/* An idle connection; from a pool of the engine. */
struct idle_conn {
	struct conn conn;
	struct idle_list *of;      /* NULL: to be closed at the end of the turn */
	struct idle_conn **holder; /* the session's reference; NULL: not reserved */
	struct list link;          /* of->conns; not linked if reserved */
	struct list age;           /* engine.idle.all or .held, oldest first, or .over */
	struct list name_link;     /* proxy/backend/idle_names.h; not linked: names do not matter */
	uint64_t name_hash;
	unsigned int uses;         /* requests carried */
	uint8_t unsure;            /* data may have arrived before it was put here */
};

/* Takes it out of its lists; the caller adds it to another one, or frees it. */
void idle_conn_unlink(struct idle_conn *c);
/* Closes it: at the end of the turn, as descriptors of sessions. */
void idle_conn_drop(struct engine *e, struct idle_conn *c);
/* True if no data has arrived since it was put here. Mostly known without a system call. An
 * undelivered event of this turn may report data. */
int idle_conn_probe(struct idle_conn *c) must_check;
/* Gets its events; owner: the connection. */
void idle_conn_on_io(void *owner, int fd, uint32_t ev);

#endif
