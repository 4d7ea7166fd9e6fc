/* Forks worker processes, and executes programs. Master process, one thread; what the child does
 * before it executes the program may fail only by ending the child. */
#include "app/master/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "app/process/master_link.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/sbuf.h"
#include "base/sys.h"

#define SELF "/proc/self/exe"
/* The exit code of a shell for a program that cannot be executed. */
#define EXIT_NO_EXEC 126

void
spawn_find_program(struct spawn_conf *c, struct sys *sys)
{
	long r;

	if (c->argv[0][0] == '/') {
		(void)snprintf(c->program, sizeof(c->program), "%s", c->argv[0]);
		return;
	}
	r = sys_readlink(sys, SELF, c->program, sizeof(c->program) - 1);
	c->program[r > 0 ? r : 0] = '\0';
	if (r <= 0)
		(void)snprintf(c->program, sizeof(c->program), "%s", SELF);
}

/* Makes the connection between master and worker process, of which the master's end ends[0] does
 * not block, and the file for the messages of the start. 0 or -errno. */
static int
open_ends(struct sys *sys, int ends[2], int *log_fd)
{
	long r = sys_socketpair(sys, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends);

	if (r < 0)
		return (int)r;
	r = sys_fcntl(sys, ends[0], F_SETFL, O_NONBLOCK);
	if (r >= 0)
		r = sys_memfd_create(sys, "startup-log", MFD_CLOEXEC);
	if (r < 0) {
		(void)sys_close(sys, ends[0]);
		(void)sys_close(sys, ends[1]);
		return (int)r;
	}
	*log_fd = (int)r;
	return 0;
}

static void
close_link_ends(struct sys *sys, const int ends[2], int log_fd)
{
	(void)sys_close(sys, ends[0]);
	(void)sys_close(sys, ends[1]);
	(void)sys_close(sys, log_fd);
}

/* In the child: standard error becomes the log; returns the previous one, above the standard
 * streams. */
static int
redirect_stderr(struct sys *sys, int log_fd)
{
	long old = sys_fcntl(sys, 2, F_DUPFD_CLOEXEC, 3);

	(void)sys_fcntl(sys, log_fd, F_SETFL, O_APPEND);
	(void)sys_dup2(sys, log_fd, 2);
	(void)sys_close(sys, log_fd);
	return (int)old;
}

int
spawn_fork(struct sys *sys, struct spawned *out, int *link_fd, int *stderr_fd)
{
	int ends[2], log_fd = -1;
	int r = open_ends(sys, ends, &log_fd);
	long pid;

	if (r)
		return r;
	pid = sys_clone(sys);
	if (pid < 0) {
		close_link_ends(sys, ends, log_fd);
		return (int)pid;
	}
	if (pid == 0) {
		(void)sys_close(sys, ends[0]);
		*link_fd = ends[1];
		*stderr_fd = redirect_stderr(sys, log_fd);
		return 0;
	}
	(void)sys_close(sys, ends[1]);
	*out = (struct spawned){ .pid = (pid_t)pid, .fd = ends[0], .log_fd = log_fd };
	return 1;
}

int
spawn_file(struct sys *sys, const char *name, const struct sbuf *text)
{
	long fd = text->failed ? -ERR_NOMEM : sys_memfd_create(sys, name, MFD_CLOEXEC);
	size_t put = 0;

	while (fd >= 0 && put < text->len) {
		long r = sys_write(sys, (int)fd, text->p + put, text->len - put);

		if (r <= 0) {
			(void)sys_close(sys, (int)fd);
			fd = r ? r : -EIO;
		} else {
			put += (size_t)r;
		}
	}
	return (int)fd;
}

/* Makes a file in memory that lists what the worker process inherits: sockets and files. Its
 * descriptor, or -errno. */
static int
make_list(struct sys *sys, struct fd_store *store)
{
	struct sbuf text;
	int fd;

	sbuf_init(&text, 0);
	fd_store_list(store, &text);
	file_store_list(&store->files, &text);
	fd = spawn_file(sys, "sockets", &text);
	sbuf_fini(&text);
	return fd;
}

static int
is_variable(const char *entry, const char *name)
{
	size_t n = strlen(name);

	return strncmp(entry, name, n) == 0 && entry[n] == '=';
}

/* Copies the environment `ours` without the variables by which a master passes descriptors, and
 * adds `own`, which is such a variable. listen_pid replaces LISTEN_PID; NULL: it stays. Returns
 * NULL without memory. */
static const char **
make_environment(const char *const *ours, const char *own, const char *listen_pid)
{
	size_t n = 0, at = 0;
	const char **env;

	while (ours[n])
		n++;
	env = mem_zalloc((n + 2) * sizeof(*env));
	for (size_t i = 0; env && i < n; i++) {
		if (is_variable(ours[i], MASTER_LINK_ENV) || is_variable(ours[i], MASTER_STATE_ENV))
			continue;
		env[at++] = listen_pid && is_variable(ours[i], "LISTEN_PID") ? listen_pid : ours[i];
	}
	if (env)
		env[at] = own;
	return env;
}

/* Undoes in the child what the master has set for itself: its signal mask, its limit of
 * descriptors. */
static void
reset_process(struct sys *sys, const struct spawn_conf *c)
{
	sigset_t none;

	sigemptyset(&none);
	(void)!sys_rt_sigprocmask(sys, SIG_SETMASK, &none);
	(void)!sys_prlimit64(sys, RLIMIT_NOFILE, &c->fds, NULL);
}

/* In the child. The descriptors that the program inherits stay open; all others of the master's are
 * closed by the call. */
static void
become_worker(struct sys *sys, const struct spawn_conf *c, const struct fd_store *store,
	const int fds[3])
{
	char link[64], listen_pid[32];
	const char *const *argv = (const char *const *)c->argv;
	const char **env;
	long r;

	(void)snprintf(link, sizeof(link), MASTER_LINK_ENV "=%d,%d,%d", fds[0], fds[1], fds[2]);
	(void)snprintf(listen_pid, sizeof(listen_pid), "LISTEN_PID=%ld", sys_getpid(sys));
	env = make_environment(c->environment, link, listen_pid);
	for (int i = 0; i < 3; i++)
		(void)!sys_fcntl(sys, fds[i], F_SETFD, 0);
	for (unsigned int i = 0; i < store->n; i++)
		(void)!sys_fcntl(sys, store->v[i].fd, F_SETFD, 0);
	for (unsigned int i = 0; i < store->files.n; i++)
		(void)!sys_fcntl(sys, store->files.v[i].fd, F_SETFD, 0);
	reset_process(sys, c);
	r = env ? sys_execve(sys, c->program, argv, env) : -ENOMEM;
	/* An upgrade may be replacing the program. */
	if (r == -ENOENT)
		r = sys_execve(sys, SELF, argv, env);
	fprintf(stderr, "[ALERT]    (%ld) : cannot execute %s: %s\n", sys_getpid(sys), c->program,
		err_text((int)r));
	fflush(stderr);
	_Exit(EXIT_NO_EXEC);
}

int
spawn_exec(struct sys *sys, const struct spawn_conf *c, struct fd_store *store,
	struct spawned *out)
{
	int link_fd = -1, stderr_fd = -1;
	int list = make_list(sys, store);
	int r;

	if (list < 0)
		return list;
	r = spawn_fork(sys, out, &link_fd, &stderr_fd);
	if (r == 0)
		become_worker(sys, c, store, (const int[]){ link_fd, list, stderr_fd });
	(void)sys_close(sys, list);
	return r < 0 ? r : 0;
}

int
spawn_replace(struct sys *sys, const struct spawn_conf *c, int state_fd)
{
	char own[64];
	const char **env;
	int r = -ENOMEM;

	(void)snprintf(own, sizeof(own), MASTER_STATE_ENV "=%d", state_fd);
	env = make_environment(c->environment, own, NULL);
	if (env)
		r = (int)sys_execve(sys, c->program, (const char *const *)c->argv, env);
	mem_free(env);
	return r;
}
