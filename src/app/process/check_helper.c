/* The helper process of external checks: forks a process for each command, and reports how it has
 * ended. One thread; it waits for its socket and for SIGCHLD, and for nothing else. */
#include "app/process/check_helper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include "app/process/confine.h"
#include "app/process/privileges.h"
#include "base/compiler.h"
#include "base/exec.h"
#include "base/sys.h"
#include "proxy/check/external_msg.h"

/* The descriptors that it has besides the standard streams. */
enum { SOCKET_FD = 3, POLL_FD, SIGNAL_FD };

struct command {
	pid_t pid;               /* 0: none */
	uint32_t id;
};

struct check_helper {
	struct sys *sys;
	struct command commands[EXTERNAL_COMMANDS_MAX];
	char msg[EXTERNAL_REQUEST_MAX];
};

/* --- commands --- */

/* The daemon reads when it has time: this may wait. */
static void
send_answer(struct check_helper *h, enum external_answer_kind kind, uint32_t id, int value)
{
	struct external_answer a = { (uint32_t)kind, id, value };

	(void)!sys_sendto(h->sys, SOCKET_FD, &a, sizeof(a), MSG_NOSIGNAL);
}

/* Datagrams of several processes do not mix: the new one can answer by itself. */
static void
become_command(struct check_helper *h, const struct external_request *q)
{
	send_answer(h, EXTERNAL_FAILED, q->id, -exec_command(h->sys, q->args, q->env));
	_Exit(EXTERNAL_NOT_EXECUTED);
}

static struct command *
find_command(struct check_helper *h, pid_t pid)
{
	for (size_t i = 0; i < ARRAY_LEN(h->commands); i++)
		if (h->commands[i].pid == pid)
			return &h->commands[i];
	return NULL;
}

static void
run_command(struct check_helper *h, const struct external_request *q)
{
	struct command *c = find_command(h, 0);
	long pid = c ? sys_clone(h->sys) : -EAGAIN;

	if (pid == 0)
		become_command(h, q);
	if (pid > 0) {
		*c = (struct command){ (pid_t)pid, q->id };
		return;
	}
	send_answer(h, EXTERNAL_FAILED, q->id, (int)-pid);
	send_answer(h, EXTERNAL_ENDED, q->id, EXTERNAL_NOT_EXECUTED << 8);
}

/* The process has not been waited for, so that its id is not another one's. */
static void
kill_command(struct check_helper *h, uint32_t id)
{
	for (size_t i = 0; i < ARRAY_LEN(h->commands); i++)
		if (h->commands[i].pid && h->commands[i].id == id)
			(void)!sys_kill(h->sys, h->commands[i].pid, SIGKILL);
}

static void
kill_all(struct check_helper *h)
{
	for (size_t i = 0; i < ARRAY_LEN(h->commands); i++)
		if (h->commands[i].pid)
			(void)!sys_kill(h->sys, h->commands[i].pid, SIGKILL);
}

static void
report_ended(struct check_helper *h)
{
	struct command *c;
	int status;
	long pid;

	while ((pid = sys_wait4(h->sys, -1, &status, WNOHANG)) > 0) {
		c = find_command(h, (pid_t)pid);
		if (!c)
			continue;
		send_answer(h, EXTERNAL_ENDED, c->id, status);
		c->pid = 0;
	}
}

/* --- events --- */

/* 0, or -1 when the daemon has closed its side. */
static int
take_requests(struct check_helper *h)
{
	struct external_request q;
	long r;

	for (;;) {
		r = sys_recvfrom(h->sys, SOCKET_FD, h->msg, sizeof(h->msg), MSG_DONTWAIT);
		if (r == -EAGAIN)
			return 0;
		if (r <= 0 || external_msg_read(h->msg, (size_t)r, &q) < 0)
			return -1;
		if (q.kind == EXTERNAL_RUN)
			run_command(h, &q);
		else
			kill_command(h, q.id);
	}
}

static void
forget_signals(struct check_helper *h)
{
	struct signalfd_siginfo si;

	while (sys_read(h->sys, SIGNAL_FD, &si, sizeof(si)) > 0)
		;
}

static void
serve_checker(struct check_helper *h)
{
	struct epoll_event ev;
	long r;

	/* Commands that have ended first: their places are free for those requested. */
	do {
		forget_signals(h);
		report_ended(h);
		if (take_requests(h) < 0)
			break;
		r = sys_epoll_wait(h->sys, POLL_FD, &ev, 1, -1);
	} while (r >= 0 || r == -EINTR);
	kill_all(h);
}

/* --- start --- */

static uint64_t
descriptor_limit(struct sys *sys)
{
	struct rlimit rl = { 0, 0 };

	if (sys_prlimit64(sys, RLIMIT_NOFILE, NULL, &rl) < 0 || rl.rlim_cur > INT32_MAX)
		return INT32_MAX;
	return rl.rlim_cur;
}

/* Keeps the standard streams and its socket. */
static int
take_descriptors(struct sys *sys, int fd, int background)
{
	long null = sys_openat(sys, "/dev/null", O_RDWR | O_CLOEXEC, 0);

	if (null < 0)
		return (int)null;
	for (int i = 0; i <= (background ? 2 : 0); i++)
		(void)!sys_dup2(sys, (int)null, i);
	if (fd != SOCKET_FD && sys_dup2(sys, fd, SOCKET_FD) < 0)
		return -EMFILE;
	return (int)sys_close_range(
		sys, SOCKET_FD + 1, (unsigned int)descriptor_limit(sys) - 1);
}

static int
add_to_poll(struct sys *sys, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.fd = fd };

	return (int)sys_epoll_ctl(sys, POLL_FD, EPOLL_CTL_ADD, fd, &ev);
}

/* The numbers are those of the enum: all others are free. */
static int
open_descriptors(struct sys *sys)
{
	struct sigaction sa;
	sigset_t set;

	(void)!sys_fcntl(sys, SOCKET_FD, F_SETFD, FD_CLOEXEC);
	/* If SIGCHLD were ignored, the status of commands would be lost. */
	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = SIG_DFL;
	(void)!sys_rt_sigaction(sys, SIGCHLD, &sa);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	if (sys_rt_sigprocmask(sys, SIG_BLOCK, &set) < 0 ||
		sys_epoll_create1(sys, EPOLL_CLOEXEC) != POLL_FD ||
		sys_signalfd4(sys, -1, &set, SFD_NONBLOCK | SFD_CLOEXEC) != SIGNAL_FD)
		return -EMFILE;
	if (add_to_poll(sys, SOCKET_FD) < 0 || add_to_poll(sys, SIGNAL_FD) < 0)
		return -EMFILE;
	return 0;
}

/* Commands get the limit on descriptors that the daemon was started with. */
static void
restore_limit(struct sys *sys, uint64_t soft)
{
	struct rlimit rl = { 0, 0 };

	if (sys_prlimit64(sys, RLIMIT_NOFILE, NULL, &rl) < 0)
		return;
	rl.rlim_cur = soft == UINT64_MAX ? rl.rlim_max : MIN((rlim_t)soft, rl.rlim_max);
	(void)!sys_prlimit64(sys, RLIMIT_NOFILE, &rl, NULL);
}

/* The signals that the daemon handles stay blocked: its end ends this process. */
static void
be_helper(struct sys *sys, const struct check_helper_conf *conf, int fd)
{
	struct check_helper h = { .sys = sys };
	char why[160];

	(void)!sys_prctl(sys, PR_SET_NAME, (unsigned long)(uintptr_t)"external-check");
	if (take_descriptors(sys, fd, conf->background) < 0 ||
		privileges_drop_user(sys, conf->global, 0, why, sizeof(why)) < 0 ||
		open_descriptors(sys) < 0 || confine_launcher(conf->global) < 0)
		_Exit(1);
	restore_limit(sys, conf->soft_fds);
	serve_checker(&h);
	_Exit(0);
}

int
check_helper_start(struct sys *sys, const struct check_helper_conf *conf,
	struct external_helper *out)
{
	int fds[2];
	long r = sys_socketpair(sys, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds);

	if (r < 0)
		return (int)r;
	r = sys_clone(sys);
	if (r == 0) {
		(void)!sys_close(sys, fds[0]);
		be_helper(sys, conf, fds[1]);
	}
	(void)!sys_close(sys, fds[1]);
	if (r < 0) {
		(void)!sys_close(sys, fds[0]);
		return (int)r;
	}
	out->fd = fds[0];
	out->pid = (pid_t)r;
	return 0;
}
