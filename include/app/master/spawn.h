/* Making a worker process: a fork, and for all but the first one a new image of the program. */
#ifndef TACIT_APP_MASTER_SPAWN_H
#define TACIT_APP_MASTER_SPAWN_H

#include <sys/resource.h>
#include <sys/types.h>

#include "app/master/fd_store.h"
#include "base/compiler.h"

struct sbuf;
struct sys;

#define MASTER_STATE_ENV "TACIT_MASTER_STATE"

/* The program, arguments and environment that the master was started with. */
struct spawn_conf {
	char *const *argv;
	const char *const *environment;
	char program[4096];    /* spawn_find_program() */
	struct rlimit fds;     /* the limit on descriptors */
};

/* The two ends that the master keeps. */
struct spawned {
	pid_t pid;
	int fd;     /* the connection to it */
	int log_fd; /* a file: its standard error until it is ready */
};

/*
 * Finds the path to execute: argv[0] if it is absolute, so that a link is followed each time,
 * otherwise the path of the running program. A new program at that path is used by the next spawn.
 */
void spawn_find_program(struct spawn_conf *c, struct sys *sys);
/* Forks without executing anything. In the child 0 with *link_fd and *stderr_fd, for struct
 * master_link; in the parent 1 and *out; or -errno. */
int spawn_fork(struct sys *sys, struct spawned *out, int *link_fd, int *stderr_fd) must_check;
/* Forks and executes the program, which inherits the sockets of the store. 0 or a negative
 * reason. */
int spawn_exec(struct sys *sys, const struct spawn_conf *c, struct fd_store *store,
	struct spawned *out) must_check;
/* Executes the program in this process, with $TACIT_MASTER_STATE: the number of this descriptor
 * (app/master/master_state.h). Returns only if that failed: -errno. */
int spawn_replace(struct sys *sys, const struct spawn_conf *c, int state_fd) must_check;
/* A file in memory with this text, closed at exec. Its descriptor or a negative reason. */
int spawn_file(struct sys *sys, const char *name, const struct sbuf *text) must_check;

#endif
