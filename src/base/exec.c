/* Executes commands, and reads what they write. In a process that has one thread. */
#include "base/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/compiler.h"
#include "base/sys.h"

/* The most arguments of a file without "#!". */
enum { SCRIPT_ARGS_MAX = 64 };

/* The descriptor by which a process that could not execute its command says why. */
enum { REPORT_FD = 3 };

/* Resets the signals that the process ignores or blocks: the command must not inherit them. */
static void
reset_signals(struct sys *sys)
{
	struct sigaction sa;
	sigset_t none;

	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = SIG_DFL;
	/* SIGKILL, SIGSTOP and those of the C library refuse: they are as they should be. */
	for (int sig = 1; sig < NSIG; sig++)
		(void)!sys_rt_sigaction(sys, sig, &sa);
	sigemptyset(&none);
	(void)!sys_rt_sigprocmask(sys, SIG_SETMASK, &none);
}

/* A file without "#!" is a shell script, as for execvp(3). */
static int
exec_file(struct sys *sys, const char *path, const char *const *args, const char *const *env)
{
	const char *script[SCRIPT_ARGS_MAX + 2] = { "/bin/sh", path };
	int r = (int)sys_execve(sys, path, args, env);

	if (r != -ENOEXEC)
		return r;
	for (int i = 1; args[i]; i++) {
		if (i >= SCRIPT_ARGS_MAX)
			return -E2BIG;
		script[i + 1] = args[i];
	}
	return (int)sys_execve(sys, script[0], script, env);
}

static const char *
path_variable(const char *const *env)
{
	for (int i = 0; env[i]; i++)
		if (strncmp(env[i], "PATH=", 5) == 0)
			return env[i] + 5;
	return "";
}

/* The directories of $PATH in their order, as execvp(3) does; an empty one is the current one. */
static int
exec_in_path(struct sys *sys, const char *path, const char *const *args, const char *const *env)
{
	int denied = 0, r = -ENOENT;

	while (path) {
		size_t len = strcspn(path, ":");
		char file[PATH_MAX];
		int n = snprintf(file, sizeof(file), "%.*s%s%s", (int)len, path, len ? "/" : "",
			args[0]);

		if (n < (int)sizeof(file))
			r = exec_file(sys, file, args, env);
		denied |= r == -EACCES;
		if (r != -ENOENT && r != -ENOTDIR && r != -EACCES)
			return r;
		path = path[len] ? path + len + 1 : NULL;
	}
	return denied ? -EACCES : r;
}

int
exec_command(struct sys *sys, const char *const *args, const char *const *env)
{
	(void)!sys_prctl(sys, PR_SET_PDEATHSIG, SIGKILL);
	reset_signals(sys);
	if (strchr(args[0], '/'))
		return exec_file(sys, args[0], args, env);
	return exec_in_path(sys, path_variable(env), args, env);
}

/* --- output ---------------------------------------------------------------------------------- */

/* Closes all descriptors from REPORT_FD + 1 on. */
static void
close_others(struct sys *sys)
{
	struct rlimit rl = { 0, 0 };

	if (sys_prlimit64(sys, RLIMIT_NOFILE, NULL, &rl) < 0)
		rl.rlim_cur = INT32_MAX;
	(void)!sys_close_range(
		sys, REPORT_FD + 1, (unsigned int)MIN(rl.rlim_cur, (rlim_t)INT32_MAX) - 1);
}

/* In the new process: becomes the command, which has the standard streams only. */
static void
become_program(struct sys *sys, const char *const *args, const char *const *env, int out,
	int report)
{
	int reason = EBADF;

	if (sys_dup2(sys, out, STDOUT_FILENO) == STDOUT_FILENO &&
		sys_dup2(sys, report, REPORT_FD) == REPORT_FD &&
		sys_fcntl(sys, REPORT_FD, F_SETFD, FD_CLOEXEC) == 0) {
		close_others(sys);
		reason = -exec_command(sys, args, env);
	}
	(void)!sys_write(sys, REPORT_FD, &reason, sizeof(reason));
	_Exit(127);
}

/* Reads until the end or until `size` bytes are there: their number, or -errno. */
static long
drain_pipe(struct sys *sys, int fd, void *buf, size_t size)
{
	size_t n = 0;
	long r = 1;

	while (n < size && r > 0) {
		r = sys_read(sys, fd, (char *)buf + n, size - n);
		if (r == -EINTR)
			r = 1;
		else if (r > 0)
			n += (size_t)r;
	}
	return r < 0 ? r : (long)n;
}

/* 0, or -errno of the wait. */
static int
await_end(struct sys *sys, pid_t pid, int *status)
{
	long r;

	do
		r = sys_wait4(sys, pid, status, 0);
	while (r == -EINTR);
	return r < 0 ? (int)r : 0;
}

/* Reads from the command until it has ended. */
static long
take_output(struct sys *sys, pid_t pid, const int fds[2], char *out, size_t size, int *status)
{
	int reason = 0, r;
	long n = drain_pipe(sys, fds[1], &reason, sizeof(reason));

	if (n == 0)
		n = drain_pipe(sys, fds[0], out, size);
	else
		n = reason ? -reason : -EIO;
	if (n == (long)size)
		n = -EFBIG;
	if (n < 0)
		(void)!sys_kill(sys, pid, SIGKILL);
	r = await_end(sys, pid, status);
	if (n >= 0)
		out[n] = '\0';
	return n < 0 || r == 0 ? n : r;
}

/* Forks the command. Its id with the two descriptors that are read in fds, or -errno. */
static long
fork_program(struct sys *sys, const char *const *args, const char *const *env, int fds[2])
{
	int out[2], report[2];
	long pid = sys_pipe2(sys, out, O_CLOEXEC);

	if (pid < 0)
		return pid;
	pid = sys_pipe2(sys, report, O_CLOEXEC);
	if (pid == 0) {
		pid = sys_clone(sys);
		if (pid == 0)
			become_program(sys, args, env, out[1], report[1]);
		(void)sys_close(sys, report[1]);
		if (pid < 0)
			(void)sys_close(sys, report[0]);
	}
	(void)sys_close(sys, out[1]);
	if (pid < 0)
		(void)sys_close(sys, out[0]);
	fds[0] = out[0];
	fds[1] = report[0];
	return pid;
}

long
exec_output(struct sys *sys, const char *const *args, const char *const *env, char *out,
	size_t size, int *status)
{
	struct sigaction sa;
	int fds[2];
	long r;

	/* If SIGCHLD were ignored, the status would be lost. */
	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = SIG_DFL;
	(void)!sys_rt_sigaction(sys, SIGCHLD, &sa);
	r = fork_program(sys, args, env, fds);
	if (r < 0)
		return r;
	r = take_output(sys, (pid_t)r, fds, out, size, status);
	(void)sys_close(sys, fds[0]);
	(void)sys_close(sys, fds[1]);
	return r;
}
