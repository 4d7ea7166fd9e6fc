/*
 * Running in the background: the parent waits until the child serves or has failed, so that its
 * exit code is the result.
 */
#ifndef TACIT_APP_PROCESS_DAEMON_H
#define TACIT_APP_PROCESS_DAEMON_H

#include <sys/types.h>

#include "base/compiler.h"

#define NOTIFY_TEXT_MAX 512 /* bytes of a message; longer ones are truncated */
struct notify {
	struct sys *sys;
	int fd;       /* -1: no messages are sent */
	int periodic; /* STATUS= is sent at intervals, for the service manager */
};

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

/*
 * Opens the file while it is still permitted; it is written when the pid is known. The caller owns
 * *fd. 0 or -errno.
 */
int pidfile_open(struct sys *sys, const char *path, int *fd) must_check;
/* Writes "PID\n" and closes, also on failure: 0 or -errno. */
int pidfile_write(struct sys *sys, int fd, pid_t pid) must_check;
/* Removes the file if it still contains this pid and permissions allow it: another process may have
 * replaced it. */
void pidfile_remove(struct sys *sys, const char *path, pid_t pid);

/*
 * path: $NOTIFY_SOCKET, absolute or '@' and an abstract name; NULL: no messages are sent. Connects
 * at once, so that it works after a chroot. 0, or a negative reason: no messages are sent then.
 */
int notify_open(struct notify *n, struct sys *sys, const char *path) must_check;
void notify_close(struct notify *n);
/* Sends a message, such as "READY=1". Never blocks; failures are ignored. */
void notify_send(struct notify *n, const char *fmt, ...) fmt_printf(2, 3);

#endif
