/*
 * External checks, on the checker's side: commands are run by a helper process, which receives
 * them over a socket. On the first worker. At most EXTERNAL_COMMANDS_MAX commands run at the same
 * time; others wait for one to end, in the order in which they came.
 */
#ifndef TACIT_PROXY_CHECK_EXTERNAL_H
#define TACIT_PROXY_CHECK_EXTERNAL_H

#include <sys/types.h>

#include "base/compiler.h"
#include "base/list.h"
#include "proxy/check/check_expect.h"
#include "proxy/model/engine.h"

struct external;
struct server;

/* The helper process. */
struct external_helper {
	int fd;              /* the socket to it; -1: there is none, or it has ended */
	pid_t pid;           /* a child of this process; 0: none */
};

/* A status for commands that could not be run: no status of wait(2). */
#define EXTERNAL_NO_HELPER (-1)

/* A command to run; part of its check. */
struct external_job {
	struct list link;    /* while it waits */
	const struct server *srv;
	/* The command begins: the time of the check counts from here. */
	void (*on_start)(struct external_job *j);
	/* Called when it has ended, with its status as of wait(2), or EXTERNAL_NO_HELPER. */
	void (*on_end)(struct external_job *j, int status);
	int err;             /* errno of the last time that it was not executed; 0: it was */
	uint8_t is_running;  /* otherwise it waits, if it was started */
	unsigned int slot;   /* where it runs */
};

/* The helper is borrowed, and ended when its socket fails. NULL: no memory, or no descriptor. */
struct external *external_new(struct engine *e, struct external_helper *helper) must_check;
/* No job may be left. */
void external_free(struct external **x);

/* Runs it, later in this turn or when there is room; never calls back from here. */
void external_start(struct external *x, struct external_job *j);
/* Forgets the job, and kills its command. Allowed at any time. */
void external_cancel(struct external *x, struct external_job *j);

/* Ends the helper, which takes its commands with it. Allowed if there is none. */
void external_helper_end(struct external_helper *h, struct sys *sys);

#endif
