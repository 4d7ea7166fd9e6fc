/*
 * The listening sockets that the master keeps open over reloads, by name (net/listener_key.h). They
 * are opened by worker processes; each new worker process inherits all of them.
 */
#ifndef TACIT_APP_MASTER_FD_STORE_H
#define TACIT_APP_MASTER_FD_STORE_H

#include <sys/types.h>
#include <time.h>

#include "base/compiler.h"

struct sbuf;
struct sys;

/*
 * The memory files of worker processes (app/process/keep.h), one each. The master does not read
 * them: it keeps them open and hands them to the next worker process, with whether their process
 * has ended. The counts of an ended process are added to the file of the next one, so that it is
 * closed when that one is ready; the others are kept until a later start.
 */

struct stored_file {
	int fd;
	pid_t from;     /* its process; 0: that has ended */
	int is_added;   /* to the file of the process that starts */
};

struct file_store {
	struct sys *sys;
	struct stored_file *v;
	unsigned int n;
};

/* Takes the descriptor. 0 or -ERR_NOMEM, with the descriptor closed. */
int file_store_add(struct file_store *s, int fd, pid_t from) must_check;
/* The list of numbers and states for a new process, in the form of fd_store_list(). */
void file_store_list(struct file_store *s, struct sbuf *out);
/* This process has ended; has_started: it was ready once. */
void file_store_on_end(struct file_store *s, pid_t pid, int has_started);
/* The process that got the list is ready. */
void file_store_on_ready(struct file_store *s, pid_t pid);

struct stored_socket {
	int fd;      /* -1: closed, its path is still there */
	char *key;
	pid_t from;  /* the process that bound it */
	pid_t user;  /* the latest process that uses it */
	dev_t dev;   /* the socket at the path of a unix socket */
	ino_t ino;   /* 0: none */
	struct timespec made; /* a later socket may have its number */
};

struct fd_store {
	struct sys *sys;
	struct stored_socket *v;
	unsigned int n, cap;
	struct file_store files; /* of memory */
};

void fd_store_init(struct fd_store *s, struct sys *sys);
/* Closes all sockets, and removes the paths of unix sockets unless they have been replaced. */
void fd_store_fini(struct fd_store *s);
/* Takes the descriptor. 0 or -ERR_NOMEM, with the descriptor closed. */
int fd_store_add(struct fd_store *s, int fd, const char *key, pid_t from) must_check;
/* Adds one as another image of this process had it, with this name; otherwise as fd_store_add(). */
int fd_store_restore(struct fd_store *s, const struct stored_socket *stored, const char *key)
	must_check;
/* This process uses the socket with this number. */
void fd_store_use(struct fd_store *s, int fd, pid_t user);
/* Another process takes over the socket of this name: its path is no longer ours. */
void fd_store_give(struct fd_store *s, const char *key);
/* Closes the sockets that a process bound which did not get ready. */
void fd_store_drop_of(struct fd_store *s, pid_t from);
/* Closes the sockets that a process which is ready does not use, after fn was called with each
 * name. */
typedef void fd_store_fn(void *arg, const char *key);
void fd_store_release(struct fd_store *s, pid_t user, fd_store_fn *fn, void *arg);
/* Closes all sockets, after fn was called with each name. Paths stay until fd_store_fini(): a
 * worker process may still have to report which of them another process takes over. */
void fd_store_release_all(struct fd_store *s, fd_store_fn *fn, void *arg);
/* The list of numbers and names for a new process (app/process/master_link.h). */
void fd_store_list(const struct fd_store *s, struct sbuf *out);

#endif
