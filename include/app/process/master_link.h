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

#include "app/process/inherited.h"
#include "app/process/daemon.h"
#include "base/compiler.h"
#include "event/loop.h"

struct sys;

#define MASTER_LINK_ENV "TACIT_MASTER"
/* Bytes of a message in either direction. */
#define MASTER_LINK_MSG_MAX 4096
/* Seconds from the end of the master to that of a process that does not end by itself. */
#define MASTER_LINK_END_S 5

/* Names of memory files among the sockets (app/process/keep.h): the process of the second has
 * ended. */
#define MASTER_LINK_FILE "@memory"
#define MASTER_LINK_FILE_OF_ENDED "@memory-of-ended"

/* Lines of the master's messages. */
#define MASTER_RELEASED "X_RELEASED=" /* the name of a socket */
#define MASTER_PASS "X_PASS="         /* the pid of a process that asks for the sockets, with a
				       * connection to it */
#define MASTER_CLI "X_CLI="           /* <level>,<modes>,<severity>, with a connection of the
				       * admin socket */
#define MASTER_GETSOCKS "X_GETSOCKS"  /* with a connection that wants the sockets */
#define MASTER_RELOADS "X_RELOADS="   /* <number>,<failed ones>,<1: the latest has failed> */
#define MASTER_REPLACED "X_REPLACED"  /* by another process, before the signal to stop */
#define MASTER_LOG "X_LOG="           /* a text for the logs */
#define MASTER_ENDED "X_ENDED="       /* the pid of another worker process */

/* Called by master_link_read() for each line of the master. A NULL text: the master has ended. */
typedef void master_link_fn(void *owner, const char *line);

struct master_link {
	struct sys *sys;
	int fd;         /* -1: there is no master */
	int passed_fd;  /* came with the message that fn sees, which may take it; -1: none */
	int stderr_fd;  /* the terminal; -1: standard error is it already */
	struct loop *loop;
	master_link_fn *fn;
	void *owner;
};

/* No master. */
void master_link_init(struct master_link *m, struct sys *sys);
/* Takes over what $TACIT_MASTER names, `value`, and adds the sockets to `to`. 0 or a negative
 * reason. */
int master_link_inherit(struct master_link *m, const char *value, struct inherited_sockets *to)
	must_check;
/* Notifies the master that another process takes over this socket, and with its path. */
void master_link_given(struct master_link *m, const char *key);
/* Closes what is left open. */
void master_link_fini(struct master_link *m);

/* Notifies the master that this socket is used; a new one is passed to it. 0 or -errno. */
int master_link_keep(struct master_link *m, const char *key, int fd, int is_new) must_check;
/* Messages go to the terminal from now on. */
void master_link_restore_stderr(struct master_link *m);

/* Adds it to the loop: fn is called for each line that the master sends. 0 or a negative reason. */
int master_link_open(struct master_link *m, struct loop *l, master_link_fn *fn, void *owner)
	must_check;
/*
 * Makes even a process whose loop hangs end with its master: the kernel sends SIGALRM, and
 * MASTER_LINK_END_S later a second one, which is deadly. After the last change of users, which
 * forgets it. 0 or -errno.
 */
int master_link_end_with(struct master_link *m) must_check;
/* Reads what the master has sent so far. */
void master_link_read(struct master_link *m);
/* Removes it from its loop. */
void master_link_close(struct master_link *m);

#endif
