/* Forks into the background. Main thread, before any other thread exists; the parent stays
 * until the child reports that it serves, or has ended, and its exit code shows which. */
#include "app/process/daemon.h"

#include <fcntl.h>
#include <sys/wait.h>

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
