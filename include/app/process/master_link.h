/*
 * A worker process's side of its connection to the master. It speaks the service manager's
 * protocol, sd_notify(3), to the master: READY=1, STATUS=, FDSTORE=1. It inherits the sockets that
 * the master keeps, and names those that it uses; the master names those that it no longer keeps.
 *
 * $TACIT_MASTER has three descriptors: the connection, a file with the numbers and names of the
 * inherited sockets, one line each, and the terminal. Until the worker is ready its standard error
 * is a file of the master's. A file, since the list can be longer than the environment may be.
 */
#ifndef TACIT_APP_PROCESS_MASTER_LINK_H
#define TACIT_APP_PROCESS_MASTER_LINK_H

#include "app/process/notify.h"
#include "base/compiler.h"
#include "event/loop.h"

struct sys;

#define MASTER_LINK_ENV "TACIT_MASTER"
/* Bytes of a message in either direction. */
#define MASTER_LINK_MSG_MAX 4096

/* Names of memory files among the sockets (app/process/keep.h): the process of the second has
 * ended. */
#define MASTER_LINK_FILE "@memory"
#define MASTER_LINK_FILE_OF_ENDED "@memory-of-ended"

/* Lines of the master's messages. */
#define MASTER_RELEASED "X_RELEASED=" /* the name of a socket */
#define MASTER_LOG "X_LOG="           /* a text for the logs */

struct inherited_socket {
	int fd;
	char *key; /* listener_key() */
	int taken;
};

/* What the master says: called by master_link_read(). A NULL text: the master has ended. */
typedef void master_link_fn(void *owner, const char *line);

struct master_link {
	struct sys *sys;
	int fd;         /* -1: there is no master */
	int stderr_fd;  /* the terminal; -1: standard error is it already */
	struct inherited_socket *sockets;
	unsigned int n_sockets;
	char *list;     /* the names */
	struct loop *loop;
	master_link_fn *fn;
	void *owner;
};

/* No master. */
void master_link_init(struct master_link *m, struct sys *sys);
/* Takes over what $TACIT_MASTER names, `value`. 0 or a negative reason. */
int master_link_inherit(struct master_link *m, const char *value) must_check;
/* Closes what is left open. */
void master_link_fini(struct master_link *m);

/* An inherited socket of this name, each once; -1: none. */
int master_link_take(struct master_link *m, const char *key);
/* Tells the master that this socket is used; a new one is passed to it. 0 or -errno. */
int master_link_keep(struct master_link *m, const char *key, int fd, int is_new) must_check;
/* Closes the inherited sockets that were not taken. */
void master_link_close_rest(struct master_link *m);
/* Messages go to the terminal from now on. */
void master_link_restore_stderr(struct master_link *m);

/* Adds it to the loop: fn is called for each line that the master sends. 0 or a negative reason. */
int master_link_open(struct master_link *m, struct loop *l, master_link_fn *fn, void *owner)
	must_check;
/* Reads what the master has sent so far. */
void master_link_read(struct master_link *m);
/* Removes it from its loop. */
void master_link_close(struct master_link *m);

#endif
