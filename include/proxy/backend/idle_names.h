/*
 * Idle connections to a server by the name that each has asked for (SNI), on one worker. Clients
 * choose the names, so the hash is keyed (base/keyhash.h), and the bytes are compared, too.
 */
#ifndef TACIT_PROXY_BACKEND_IDLE_NAMES_H
#define TACIT_PROXY_BACKEND_IDLE_NAMES_H

#include "proxy/backend/idle_conn.h"

struct idle_names;
struct random_source;

/* NULL when memory is out, or the kernel has no random bytes. */
struct idle_names *idle_names_new(struct random_source *random) must_check;
/* No connection is left in it. *n may be NULL. */
void idle_names_free(struct idle_names **n);
/* Before the others of its name. It leaves when it is unlinked. */
void idle_names_add(struct idle_names *n, struct idle_conn *c);
/* The list where those of this name are, by idle_conn.name_link, with others. */
struct list *idle_names_slot(struct idle_names *n, struct str name, uint64_t *hash);
/* True if it has asked for this name; len 0: for none. */
int idle_conn_has_name(const struct idle_conn *c, struct str name, uint64_t hash);

#endif
