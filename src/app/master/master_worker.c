/* Worker processes as the master sees them: their messages, and their end. Master process, one
 * thread. Only one that is not ready yet may pass sockets: it has not met the network. */
#define _GNU_SOURCE
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "app/master/master.h"
#include "app/process/master_link.h"
#include "base/err.h"
#include "base/mem.h"

/* One parsed message. */
struct worker_message {
	const char *status, *fd_name, *given;
	int is_ready, is_alive;
	int uses_fd; /* -1: none */
	int fd;      /* passed with it, -1: none */
};

/* --- messages --- */

/* The rest of a line that begins so, or NULL. */
static const char *
line_value(const char *line, const char *name)
{
	size_t n = strlen(name);

	return strncmp(line, name, n) == 0 ? line + n : NULL;
}

static void
read_setting(struct worker_process *w, const char *line)
{
	struct master *m = w->master;
	const char *v = line_value(line, "X_EXIT_ON_FAILURE=");

	if (v)
		m->exit_on_failure = *v == '1';
	v = line_value(line, "X_MAX_RELOADS=");
	if (v)
		m->max_reloads = (unsigned int)strtoul(v, NULL, 10);
	v = line_value(line, "X_ASKS_MASTER=");
	if (v)
		w->asks_master = *v == '1';
	v = line_value(line, "X_VERSION=");
	if (v)
		(void)snprintf(w->version, sizeof(w->version), "%s", v);
	v = line_value(line, "X_MASTER_STATE=");
	if (v)
		w->state_version = (unsigned int)strtoul(v, NULL, 10);
}

static void
read_worker_line(struct worker_process *w, const char *line, struct worker_message *msg)
{
	const char *v;

	if (strcmp(line, "READY=1") == 0)
		msg->is_ready = 1;
	else if (strcmp(line, "WATCHDOG=1") == 0)
		msg->is_alive = 1;
	else if ((v = line_value(line, "STATUS=")) != NULL)
		msg->status = v;
	else if ((v = line_value(line, "FDNAME=")) != NULL)
		msg->fd_name = v;
	else if ((v = line_value(line, "X_GIVEN=")) != NULL)
		msg->given = v;
	else if ((v = line_value(line, "X_USES=")) != NULL)
		msg->uses_fd = (int)strtol(v, NULL, 10);
	else if (w->state == WORKER_STARTING)
		read_setting(w, line);
}

static void
act_on_message(struct worker_process *w, const struct worker_message *msg)
{
	struct master *m = w->master;
	int starts = w->state == WORKER_STARTING && m->state < MASTER_STOPPING;

	if (msg->fd >= 0 && starts && msg->fd_name && strcmp(msg->fd_name, MASTER_LINK_FILE) == 0) {
		(void)!file_store_add(&m->store.files, msg->fd, w->own.pid);
	} else if (msg->fd >= 0 && starts && msg->fd_name) {
		/* Without memory for it the socket is not kept: the next start fails, visibly. */
		(void)!fd_store_add(&m->store, msg->fd, msg->fd_name, w->own.pid);
	} else if (msg->fd >= 0) {
		(void)sys_close(m->sys, msg->fd);
	}
	if (w->state != WORKER_STARTING && msg->given)
		fd_store_give(&m->store, msg->given);
	if (starts && msg->uses_fd >= 0)
		fd_store_use(&m->store, msg->uses_fd, w->own.pid);
	if (starts && msg->is_ready)
		master_on_ready(w, msg->status ? msg->status : "");
	else if (w->state == WORKER_CURRENT && msg->is_alive)
		notify_send(&m->notify, "WATCHDOG=1");
	else if (w->state == WORKER_CURRENT && msg->status)
		master_report_status(m, "", msg->status);
}

static void
take_worker_message(struct worker_process *w, char *text, int fd)
{
	struct worker_message msg = { .uses_fd = -1, .fd = fd };

	for (char *nl; text; text = nl ? nl + 1 : NULL) {
		nl = strchr(text, '\n');
		if (nl)
			*nl = '\0';
		read_worker_line(w, text, &msg);
	}
	act_on_message(w, &msg);
}

/* The descriptor that came with a message; -1: none. */
static int
passed_fd(struct msghdr *h)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(h);
	int fd = -1;

	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

/* At most so many: what is left is read in the next turn, after all else that waits. */
static void
read_messages(struct worker_process *w, unsigned int most)
{
	struct master *m = w->master;
	char text[MASTER_LINK_MSG_MAX + 1];
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	long r = 0;

	while (w->own.fd >= 0) {
		struct iovec iov = { .iov_base = text, .iov_len = sizeof(text) - 1 };
		struct mmsghdr msg = { .msg_hdr = { .msg_iov = &iov, .msg_iovlen = 1,
			.msg_control = &control, .msg_controllen = sizeof(control) } };

		if (!most--)
			return;
		r = sys_recvmmsg(m->sys, w->own.fd, &msg, 1, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
		if (r <= 0 || msg.msg_len == 0)
			break;
		text[msg.msg_len] = '\0';
		take_worker_message(w, text, passed_fd(&msg.msg_hdr));
	}
	if (r == -EAGAIN) {
		loop_again(m->loop, w->own.fd, DIR_R);
		return;
	}
	/* The process has ended, as SIGCHLD will report. */
	if (w->own.fd >= 0) {
		loop_detach(m->loop, w->own.fd);
		(void)sys_close(m->sys, w->own.fd);
		w->own.fd = -1;
	}
}

/* --- the list --- */

static void
on_worker(void *owner, int fd, uint32_t ev)
{
	struct worker_process *w = owner;

	(void)ev;
	loop_progress(w->master->loop, fd);
	read_messages(w, MASTER_MESSAGES_MAX);
}

struct worker_process *
master_add_worker(struct master *m, const struct spawned *own)
{
	struct worker_process *w = mem_zalloc(sizeof(*w));

	if (!w || loop_add(m->loop, own->fd, LOOP_CONN, on_worker, w)) {
		mem_free(w);
		(void)sys_kill(m->sys, own->pid, SIGKILL);
		(void)sys_close(m->sys, own->fd);
		(void)sys_close(m->sys, own->log_fd);
		return NULL;
	}
	w->master = m;
	w->own = *own;
	w->started_ms = loop_now_ms(m->loop);
	list_append(&m->workers, &w->link);
	loop_want(m->loop, own->fd, EV_R);
	return w;
}

void
master_drop_worker(struct worker_process *w)
{
	struct master *m = w->master;

	if (w->own.fd >= 0) {
		loop_detach(m->loop, w->own.fd);
		(void)sys_close(m->sys, w->own.fd);
	}
	if (w->own.log_fd >= 0)
		(void)sys_close(m->sys, w->own.log_fd);
	list_remove(&w->link);
	mem_free(w);
}

/* --- ends --- */

void
master_signal(const struct worker_process *w, int sig)
{
	const struct master *m = w->master;
	long r = sys_kill(m->sys, w->own.pid, sig);

	/* As root without CAP_KILL, when the worker process has another user. */
	if (r < 0)
		report_msg(m->report, REPORT_ALERT, "cannot send SIG%s to worker (%d): %s",
			sigabbrev_np(sig), (int)w->own.pid, err_text((int)r));
}

void
master_reap(struct master *m)
{
	int status;
	long pid;

	while ((pid = sys_wait4(m->sys, -1, &status, WNOHANG)) > 0) {
		struct worker_process *w = master_find_pid(m, (pid_t)pid);

		if (!w)
			continue;
		/* Its pid still shows who owns the connections that it left behind. */
		if (m->cli.accept_all)
			m->cli.accept_all(m);
		/* Messages that it sent before its end: no more than the socket holds. */
		if (w->own.fd >= 0)
			read_messages(w, UINT_MAX);
		master_on_exit(w, WIFSIGNALED(status) ? 128 + WTERMSIG(status)
						      : WEXITSTATUS(status));
	}
}
