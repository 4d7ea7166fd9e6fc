/* Processes that are replaced by this one. Main thread, at start; in a worker process of a master
 * only the sockets are its business, the master sends the signals. */
#define _GNU_SOURCE
#include "app/process/former.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "app/process/socket_pass.h"
#include "base/err.h"
#include "base/futex.h"
#include "base/sys.h"

void
former_init(struct former *f, struct sys *sys, const struct report *report,
	struct inherited_sockets *sockets)
{
	memset(f, 0, sizeof(*f));
	f->sys = sys;
	f->report = report;
	f->sockets = sockets;
	f->helper_fd = f->ask_fd = -1;
}

int
former_fetch(struct former *f, const char *path)
{
	char why[200] = "";
	int r = socket_fetch_path(&f->fetch[0], f->sys, path, f->sockets, why, sizeof(why));

	if (r) {
		report_msg(f->report, REPORT_ALERT,
			"cannot get the listening sockets through '%s': %s", path, why);
		return r;
	}
	f->n_fetches = 1;
	return 0;
}

/* --- signals --- */

/* One that has ended is none of our business. */
static void
signal_all(const struct former *f, int sig)
{
	for (unsigned int i = 0; i < f->n_pids; i++) {
		long r = sys_kill(f->sys, f->pids[i], sig);

		if (r < 0 && r != -ESRCH)
			report_msg(f->report, REPORT_ALERT, "cannot signal process %ld: %s",
				(long)f->pids[i], err_text((int)r));
	}
}

/* A byte: they are asked to stop. The end of the file: the start has failed. */
static void
run_helper(const struct former *f, int fd)
{
	char byte;

	if (sys_read(f->sys, fd, &byte, 1) == 1)
		signal_all(f, f->sig);
	_Exit(0);
}

int
former_keep_privileges(struct former *f)
{
	int ends[2];
	long r;

	if (!f->n_pids || f->helper_fd >= 0)
		return 0;
	r = sys_pipe2(f->sys, ends, O_CLOEXEC);
	if (r < 0)
		return (int)r;
	r = sys_clone(f->sys);
	if (r == 0) {
		(void)sys_close(f->sys, ends[1]);
		run_helper(f, ends[0]);
	}
	(void)sys_close(f->sys, ends[0]);
	if (r < 0) {
		(void)sys_close(f->sys, ends[1]);
		return (int)r;
	}
	f->helper_fd = ends[1];
	f->helper = (pid_t)r;
	return 0;
}

static void
end_helper(struct former *f, int stops)
{
	int status;

	if (stops)
		(void)sys_write(f->sys, f->helper_fd, "", 1);
	(void)sys_close(f->sys, f->helper_fd);
	(void)sys_wait4(f->sys, f->helper, &status, 0);
	f->helper_fd = -1;
}

void
former_stop(struct former *f)
{
	if (f->helper_fd >= 0)
		end_helper(f, 1);
	else
		signal_all(f, f->sig);
	f->n_pids = 0;
}

/* --- sockets --- */

static void
open_ask_socket(struct former *f)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	struct timeval limit = { .tv_usec = FORMER_STEP_MS * 1000 };
	int n = snprintf(un.sun_path + 1, sizeof(un.sun_path) - 1, SOCKET_PASS_NAME,
		sys_getpid(f->sys));
	long r = sys_socket(f->sys, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	f->ask_fd = (int)r;
	if (r >= 0)
		r = sys_bind(f->sys, f->ask_fd, (const struct sockaddr *)(const void *)&un,
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n));
	if (r >= 0)
		r = sys_listen(f->sys, f->ask_fd, FORMER_FETCHES);
	if (r >= 0)
		r = sys_setsockopt(
			f->sys, f->ask_fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	if (r >= 0)
		return;
	report_msg(f->report, REPORT_WARNING,
		"cannot ask previous processes for their sockets: %s", err_text((int)r));
	if (f->ask_fd >= 0)
		(void)sys_close(f->sys, f->ask_fd);
	f->ask_fd = -1;
}

/* Nobody else may give us sockets to serve on. */
static int
is_former(const struct former *f, int fd)
{
	struct ucred other = { 0 };
	socklen_t len = sizeof(other);

	if (sys_getsockopt(f->sys, fd, SOL_SOCKET, SO_PEERCRED, &other, &len) < 0)
		return 0;
	return other.uid == 0 || other.uid == f->user ||
		other.uid == (uid_t)sys_getuid(f->sys);
}

void
former_ask(struct former *f)
{
	char why[200];
	long fd;

	if (!f->has_asked) {
		open_ask_socket(f);
		signal_all(f, SIGTTOU);
		f->has_asked = 1;
	}
	if (f->ask_fd < 0)
		futex_pause(f->sys, FORMER_STEP_MS);
	fd = f->ask_fd < 0 ? -EAGAIN : sys_accept4(f->sys, f->ask_fd, NULL, NULL, SOCK_CLOEXEC);
	if (fd < 0)
		return;
	if (f->n_fetches == FORMER_FETCHES || !is_former(f, (int)fd))
		(void)sys_close(f->sys, (int)fd);
	else if (socket_fetch_from(&f->fetch[f->n_fetches], f->sys, (int)fd, f->sockets, why,
			 sizeof(why)))
		report_msg(f->report, REPORT_WARNING,
			"cannot get the listening sockets of a previous process: %s", why);
	else
		f->n_fetches++;
}

static void
close_ask_socket(struct former *f)
{
	if (f->ask_fd >= 0)
		(void)sys_close(f->sys, f->ask_fd);
	f->ask_fd = -1;
}

void
former_report_ready(struct former *f)
{
	for (unsigned int i = 0; i < f->n_fetches; i++) {
		int r = socket_fetch_done(&f->fetch[i], f->sockets);

		if (r < 0)
			report_msg(f->report, REPORT_WARNING,
				"the process that passed its sockets does not answer: %s",
				err_text(r));
	}
	f->n_fetches = 0;
	close_ask_socket(f);
	f->has_asked = 0;
}

void
former_close(struct former *f)
{
	if (f->has_asked)
		signal_all(f, SIGTTIN);
	f->has_asked = 0;
	close_ask_socket(f);
	for (unsigned int i = 0; i < f->n_fetches; i++)
		socket_fetch_close(&f->fetch[i]);
	f->n_fetches = 0;
	if (f->helper_fd >= 0)
		end_helper(f, 0);
}
