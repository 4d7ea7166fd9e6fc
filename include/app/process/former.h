/*
 * The processes that this one replaces (-sf, -st, -x). They are signalled to stop when this one is
 * ready; if it does not get ready they continue.
 */
#ifndef TACIT_APP_PROCESS_FORMER_H
#define TACIT_APP_PROCESS_FORMER_H

#include <stddef.h>
#include <sys/types.h>

#include "app/process/inherited.h"
#include "app/process/report.h"
#include "base/compiler.h"

/*
 * Fetches the listening sockets of the process that this one replaces (app/process/socket_pass.h),
 * through its stats socket (-x) or after SIGTTOU. Blocking, with a time limit: at start.
 */

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

struct sys;

enum {
	FORMER_PATIENCE_MS = 1000, /* for addresses that they use */
	FORMER_STEP_MS = 10,
	FORMER_FETCHES = 8         /* processes that pass sockets: one is usual */
};

struct former {
	struct sys *sys;
	const struct report *report;
	struct inherited_sockets *sockets; /* those that are fetched */
	const pid_t *pids;
	unsigned int n_pids;
	int sig;            /* SIGUSR1 or SIGTERM */
	uid_t user;         /* of theirs, besides root and ours */
	int helper_fd;      /* of the process that sends the signals; -1: this one does */
	pid_t helper;
	int has_asked;      /* they got SIGTTOU: */
	unsigned int n_asked; /* so many, the others have ended */
	int ask_fd;         /* where they connect then; -1: nowhere */
	struct socket_fetch fetch[FORMER_FETCHES];
	unsigned int n_fetches;
};

void former_init(struct former *f, struct sys *sys, const struct report *report,
	struct inherited_sockets *sockets);
/* -x: fetches the sockets of the process with this stats socket. 0, or a negative reason that was
 * reported. */
int former_fetch(struct former *f, const char *path) must_check;
/* Privileges will be dropped: a process that keeps them will send the signals. 0 or -errno. */
int former_keep_privileges(struct former *f) must_check;
/*
 * An address is in use: asks the processes for their sockets with SIGTTOU, once, and waits for an
 * answer of one of them, FORMER_STEP_MS at most. HAProxy stops listening instead.
 */
void former_ask(struct former *f);
static inline int
former_can_help(const struct former *f)
{
	return f->n_pids > 0;
}
/* This process is ready: processes that passed sockets are notified which ones stay in use. */
void former_report_ready(struct former *f);
/* Signals all previous processes to stop. */
void former_stop(struct former *f);
/* Closes everything. Unless former_report_ready() was called they continue, and listen again
 * (SIGTTIN) if they had been asked. */
void former_close(struct former *f);

#endif
