/*
 * The servers of a backend, in the order of their lines; those that are added at run time follow.
 * The list changes while the workers are paused, on the first worker's thread.
 */
#ifndef TACIT_PROXY_MODEL_SERVER_LIST_H
#define TACIT_PROXY_MODEL_SERVER_LIST_H

#include "proxy/model/proxy.h"
#include "proxy/model/server.h"

void server_list_append(struct proxy *be, struct server *s);
void server_list_remove(struct proxy *be, struct server *s);

/*
 * A walk over the list in several steps, on the first worker's thread; servers may be added and
 * removed between them. All zero: at the beginning.
 */
struct server_walk {
	uint64_t after;        /* serial of the last one seen */
	struct list *next;     /* valid while nothing is removed */
	unsigned int removals; /* proxy.removals at that time */
};

/* The next server, or NULL. */
struct server *server_walk_next(const struct proxy *be, struct server_walk *w);

#endif
