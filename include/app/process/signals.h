/* Signals as events of the loop: blocked for the process and read from a descriptor. */
#ifndef TACIT_APP_PROCESS_SIGNALS_H
#define TACIT_APP_PROCESS_SIGNALS_H

#include <sys/types.h>

#include "base/compiler.h"
#include "event/loop.h"

/* from: the pid of the process that sent it; 0: the kernel did. */
typedef void signals_fn(void *owner, int sig, pid_t from);

struct signals {
	struct loop *loop;
	int fd; /* -1: closed */
	signals_fn *fn;
	void *owner;
};

/* Ignores SIGPIPE and SIGTTIN; blocks SIGTERM, SIGINT, SIGUSR1, SIGUSR2, SIGHUP, SIGQUIT, SIGTTOU
 * and SIGCHLD, which stay pending until the loop runs. To be called early. 0 or -errno. */
int signals_block(struct sys *sys) must_check;
/* Adds them to the loop: fn is called for each signal. 0 or a negative reason. */
int signals_open(struct signals *s, struct loop *l, signals_fn *fn, void *owner) must_check;
void signals_close(struct signals *s);

#endif
