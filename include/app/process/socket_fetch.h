/*
 * Fetches the listening sockets of the process that this one replaces (app/process/socket_pass.h),
 * through its stats socket (-x) or after SIGTTOU. Blocking, with a time limit: at start.
 */
#ifndef TACIT_APP_PROCESS_SOCKET_FETCH_H
#define TACIT_APP_PROCESS_SOCKET_FETCH_H

#include <stddef.h>

#include "base/compiler.h"

struct inherited_sockets;
struct sys;

enum {
	SOCKET_FETCH_MS = 5000,  /* for each message of the other process */
	SOCKET_FETCH_MAX = 65536 /* sockets */
};

struct socket_fetch {
	struct sys *sys;
	int fd;             /* the connection, -1: none */
	unsigned int first; /* its first socket in the list */
	unsigned int n;
};

/* Connects to a stats socket and adds the sockets to the list. 0, or a negative reason with a text
 * in why. */
int socket_fetch_path(struct socket_fetch *f, struct sys *sys, const char *path,
	struct inherited_sockets *to, char *why, size_t len) must_check;
/* The same on a connection, which it owns from now on. */
int socket_fetch_from(struct socket_fetch *f, struct sys *sys, int fd,
	struct inherited_sockets *to, char *why, size_t len) must_check;
/* Reports to the other process which ones were taken and waits until it has understood. 0, or a
 * negative reason: it may be gone. */
int socket_fetch_done(struct socket_fetch *f, const struct inherited_sockets *of) must_check;
void socket_fetch_close(struct socket_fetch *f);

#endif
