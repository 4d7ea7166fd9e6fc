/* Forks into the background, and the pid file. Main thread, before any other thread exists; the
 * parent stays until the child reports that it serves, or has ended, and its exit code shows
 * which. */
#include "app/process/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "base/compiler.h"
#include "base/err.h"
#include "base/sys.h"

/* A byte means that it serves; EOF without it means that the child has exited. */
static int
await_child(struct sys *sys, int fd, pid_t child)
{
	char byte;
	int status = 0;
	long r = sys_read(sys, fd, &byte, 1);

	(void)sys_close(sys, fd);
	if (r == 1)
		return 0;
	r = sys_wait4(sys, child, &status, 0);
	if (r == child && WIFEXITED(status) && WEXITSTATUS(status) != 0)
		return WEXITSTATUS(status);
	return 1;
}

int
daemon_fork(struct daemon *d, struct sys *sys, enum daemon_side *side, int *exit_code)
{
	int pipe_fds[2] = { -1, -1 };
	long r;

	d->sys = sys;
	d->report_fd = -1;
	d->null_fd = -1;
	r = sys_openat(sys, "/dev/null", O_RDWR | O_CLOEXEC, 0);
	if (r < 0)
		return (int)r;
	d->null_fd = (int)r;
	r = sys_pipe2(sys, pipe_fds, O_CLOEXEC);
	if (r >= 0)
		r = sys_clone(sys);
	if (r < 0) {
		for (int i = 0; i < 2 && pipe_fds[i] >= 0; i++)
			(void)sys_close(sys, pipe_fds[i]);
		(void)sys_close(sys, d->null_fd);
		return (int)r;
	}
	if (r > 0) {
		*side = DAEMON_PARENT;
		(void)sys_close(sys, pipe_fds[1]);
		(void)sys_close(sys, d->null_fd);
		*exit_code = await_child(sys, pipe_fds[0], (pid_t)r);
		return 0;
	}
	*side = DAEMON_CHILD;
	(void)sys_close(sys, pipe_fds[0]);
	d->report_fd = pipe_fds[1];
	(void)sys_setsid(sys);
	return 0;
}

void
daemon_detach(struct daemon *d)
{
	if (d->null_fd < 0)
		return;
	for (int fd = 0; fd <= 2; fd++)
		(void)sys_dup2(d->sys, d->null_fd, fd);
	if (d->null_fd > 2)
		(void)sys_close(d->sys, d->null_fd);
	d->null_fd = -1;
}

void
daemon_leave(struct daemon *d)
{
	if (d->report_fd >= 0)
		(void)sys_close(d->sys, d->report_fd);
	d->report_fd = -1;
}

void
daemon_ready(struct daemon *d)
{
	if (d->report_fd < 0)
		return;
	daemon_detach(d);
	(void)sys_write(d->sys, d->report_fd, "", 1);
	daemon_leave(d);
}

/* --- the pid file ---------------------------------------------------------------------------- */

/*
 * The pid file: opened before privileges are dropped, written when the pid is known. Main
 * thread.
 */

int
pidfile_open(struct sys *sys, const char *path, int *fd)
{
	long r = sys_openat(sys, path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);

	if (r < 0)
		return (int)r;
	*fd = (int)r;
	return 0;
}

int
pidfile_write(struct sys *sys, int fd, pid_t pid)
{
	char text[24];
	int n = snprintf(text, sizeof(text), "%ld\n", (long)pid);
	long r = sys_ftruncate(sys, fd, 0);

	/* A device has no length. */
	if (r >= 0 || r == -EINVAL)
		r = sys_write(sys, fd, text, (size_t)n);
	(void)sys_close(sys, fd);
	if (r < 0)
		return (int)r;
	return r == n ? 0 : -EIO;
}

void
pidfile_remove(struct sys *sys, const char *path, pid_t pid)
{
	long fd = sys_openat(sys, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0);
	char text[24], found[24];
	int n = snprintf(text, sizeof(text), "%ld\n", (long)pid);
	long r;

	if (fd < 0)
		return;
	r = sys_read(sys, (int)fd, found, sizeof(found));
	(void)sys_close(sys, (int)fd);
	if (r == n && memcmp(found, text, (size_t)n) == 0)
		(void)sys_unlink(sys, path);
}

/* --- the service manager --------------------------------------------------------------------- */

/*
 * Notifies the service manager that the process is ready, reloads or stops. First worker; a
 * datagram that cannot be sent is dropped.
 */

int
notify_open(struct notify *n, struct sys *sys, const char *path)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	size_t len;
	long r;

	n->sys = sys;
	n->fd = -1;
	n->periodic = 1;
	if (!path || !path[0])
		return 0;
	len = strlen(path);
	if ((path[0] != '/' && path[0] != '@') || len >= sizeof(un.sun_path) || !path[1])
		return -ERR_INVAL;
	memcpy(un.sun_path, path, len);
	if (path[0] == '@')
		un.sun_path[0] = '\0';
	r = sys_socket(sys, AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (r < 0)
		return (int)r;
	n->fd = (int)r;
	/* An abstract name has no NUL at its end, a path may have one. */
	r = sys_connect(sys, n->fd, (const struct sockaddr *)(const void *)&un,
			(socklen_t)(offsetof(struct sockaddr_un, sun_path) + len));
	if (r < 0)
		notify_close(n);
	return r < 0 ? (int)r : 0;
}

void
notify_close(struct notify *n)
{
	if (n->fd >= 0)
		(void)sys_close(n->sys, n->fd);
	n->fd = -1;
}

void
notify_send(struct notify *n, const char *fmt, ...)
{
	char text[NOTIFY_TEXT_MAX];
	va_list ap;
	int len;

	if (n->fd < 0)
		return;
	va_start(ap, fmt);
	len = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (len <= 0)
		return;
	if ((size_t)len >= sizeof(text))
		len = sizeof(text) - 1;
	(void)sys_sendto(n->sys, n->fd, text, (size_t)len, MSG_NOSIGNAL);
}
