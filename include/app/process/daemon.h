/*
 * Going to the background: the parent stays until the child serves or has failed, so that its exit
 * code tells whoever started it.
 */
#ifndef TACIT_APP_PROCESS_DAEMON_H
#define TACIT_APP_PROCESS_DAEMON_H

#include "base/compiler.h"

struct sys;

struct daemon {
	struct sys *sys;
	int report_fd; /* child: written to once it serves; -1 otherwise */
	int null_fd;   /* child: what becomes of the standard streams */
};

enum daemon_side { DAEMON_CHILD, DAEMON_PARENT };

/*
 * Forks. In the child: 0 and DAEMON_CHILD, a session of its own, streams still open for messages.
 * In the parent, once the child is ready or gone: 0, DAEMON_PARENT and what to exit with. Or
 * -errno.
 */
int
daemon_fork(struct daemon *d, struct sys *sys, enum daemon_side *side, int *exit_code) must_check;
/* In the child: lets go of the terminal and of the parent. */
void daemon_ready(struct daemon *d);

#endif
