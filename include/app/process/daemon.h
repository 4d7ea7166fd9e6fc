/*
 * Running in the background: the parent waits until the child serves or has failed, so that its
 * exit code is the result.
 */
#ifndef TACIT_APP_PROCESS_DAEMON_H
#define TACIT_APP_PROCESS_DAEMON_H

#include "base/compiler.h"

struct sys;

struct daemon {
	struct sys *sys;
	int report_fd; /* child: written to when it serves; -1 otherwise */
	int null_fd;   /* child: replaces the standard streams */
};

enum daemon_side { DAEMON_CHILD, DAEMON_PARENT };

/*
 * Forks. In the child: 0 and DAEMON_CHILD, in a new session, with streams still open for messages.
 * In the parent, when the child is ready or has exited: 0, DAEMON_PARENT and the exit code. Or
 * -errno.
 */
int
daemon_fork(struct daemon *d, struct sys *sys, enum daemon_side *side, int *exit_code) must_check;
/* In the child: replaces the standard streams and notifies the parent. */
void daemon_ready(struct daemon *d);
/* In a child of the child: leaves notifying the parent to the child. */
void daemon_leave(struct daemon *d);
/* Replaces the standard streams. */
void daemon_detach(struct daemon *d);

#endif
