/* Becomes the command of an external check. In a process that the helper has just forked, which has
 * one thread. */
#include "app/process/check_command.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/sys.h"

/* Undoes what the daemon ignores or has blocked: it is no business of the command. */
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
exec_file(struct sys *sys, const char *path, const struct external_request *q)
{
	const char *args[EXTERNAL_ARGS_MAX + 2] = { "/bin/sh", path };
	int r = (int)sys_execve(sys, path, q->args, q->env);

	if (r != -ENOEXEC)
		return r;
	for (int i = 1; q->args[i]; i++)
		args[i + 1] = q->args[i];
	return (int)sys_execve(sys, args[0], args, q->env);
}

static const char *
path_variable(const struct external_request *q)
{
	for (int i = 0; q->env[i]; i++)
		if (strncmp(q->env[i], "PATH=", 5) == 0)
			return q->env[i] + 5;
	return "";
}

/* The directories of $PATH in their order, as execvp(3) does; an empty one is the current one. */
static int
exec_in_path(struct sys *sys, const char *path, const struct external_request *q)
{
	int denied = 0, r = -ENOENT;

	while (path) {
		size_t len = strcspn(path, ":");
		char file[PATH_MAX];
		int n = snprintf(file, sizeof(file), "%.*s%s%s", (int)len, path, len ? "/" : "",
			q->args[0]);

		if (n < (int)sizeof(file))
			r = exec_file(sys, file, q);
		denied |= r == -EACCES;
		if (r != -ENOENT && r != -ENOTDIR && r != -EACCES)
			return r;
		path = path[len] ? path + len + 1 : NULL;
	}
	return denied ? -EACCES : r;
}

int
check_command_exec(struct sys *sys, const struct external_request *q)
{
	(void)!sys_prctl(sys, PR_SET_PDEATHSIG, SIGKILL);
	reset_signals(sys);
	if (strchr(q->args[0], '/'))
		return exec_file(sys, q->args[0], q);
	return exec_in_path(sys, path_variable(q), q);
}
