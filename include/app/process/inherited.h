/*
 * Listening sockets that this process did not open: from the master, from the process that it
 * replaces, or from the service manager. Listeners take them by name (net/listener_key.h).
 */
#ifndef TACIT_APP_PROCESS_INHERITED_H
#define TACIT_APP_PROCESS_INHERITED_H

#include "base/compiler.h"

struct sys;

enum inherited_from {
	INHERITED_MASTER,  /* the master keeps it */
	INHERITED_FETCHED  /* from a previous process */
};

struct inherited_socket {
	int fd;
	enum inherited_from from;
	int taken;
	int port; /* that it is bound to, 0 for a unix socket; -1: not known yet */
	char *name;
};

struct inherited_sockets {
	struct sys *sys;
	struct inherited_socket *v;
	unsigned int n, cap;
	unsigned int next; /* where the search begins: most are taken in their order */
};

void inherited_init(struct inherited_sockets *s, struct sys *sys);
/* Forgets all; those that were not taken are closed. */
void inherited_fini(struct inherited_sockets *s);
/* Owns the descriptor from now on, which is closed by exec. 0 or -ERR_NOMEM, with the descriptor
 * closed. */
int inherited_add(struct inherited_sockets *s, int fd, const char *name, enum inherited_from from)
	must_check;
/* A socket of this name that was not taken; NULL: none. */
struct inherited_socket *inherited_find(const struct inherited_sockets *s, const char *name);
/* A socket of this name, each once, which the caller owns from now on; NULL: none. */
struct inherited_socket *inherited_take(struct inherited_sockets *s, const char *name);
/* Closes those that were not taken. */
void inherited_close_rest(struct inherited_sockets *s);

#endif
