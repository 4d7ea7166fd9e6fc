/* Worker processes come and go: reloads, replacements of those that have died. Master process, one
 * thread. At most one worker process starts at a time, and at most one is the current one. */
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "app/master/master.h"
#include "app/master/master_state.h"
#include "app/process/daemon.h"
#include "app/process/master_link.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"

#define OWN_PROGRAM "/proc/self/exe"

/* --- numbers and texts --- */

/* The time before the next attempt, after that many failures in a row. */
static unsigned int
master_respawn_delay(unsigned int failures)
{
	unsigned int delay = MASTER_DELAY_MS;

	if (failures == 0)
		return 0;
	while (--failures && delay < MASTER_DELAY_MAX_MS)
		delay *= 2;
	return MIN(delay, MASTER_DELAY_MAX_MS);
}

/* The text of the first alert in a startup log, without its head; "" if there is none. */
static void
master_first_alert(const char *log, char *out, size_t len)
{
	const char *at = strstr(log, "[ALERT]");
	const char *head = at ? strstr(at, ") : ") : NULL;
	size_t n;

	out[0] = '\0';
	if (!head)
		return;
	head += strlen(") : ");
	n = strcspn(head, "\n");
	n = MIN(n, len - 1);
	while (n && strchr(" .", head[n - 1]))
		n--;
	memcpy(out, head, n);
	out[n] = '\0';
}

static void master_on_exit(struct worker_process *w, int code);
static void master_on_ready(struct worker_process *w, const char *status);

/* STATUS= for the service manager, after the result of the latest reload. */
static void
master_report_status(struct master *m, const char *first, const char *status)
{
	if (m->reload_failed)
		notify_send(&m->notify, "%sSTATUS=Reload failed: %s. Former configuration: %s",
			first, m->reason, status);
	else
		notify_send(&m->notify, "%sSTATUS=%s", first, status);
}

/* --- logs of starts --- */

/* Stores the process's startup log, which went to the terminal until now. */
static void
take_log(struct worker_process *w)
{
	struct master *m = w->master;

	if (w->own.log_fd < 0)
		return;
	mem_free(m->startup_log);
	m->startup_log = file_text(m->sys, w->own.log_fd, MASTER_LOG_MAX);
	(void)sys_close(m->sys, w->own.log_fd);
	w->own.log_fd = -1;
	if (m->startup_log)
		report_text(m->report, m->startup_log);
}

/* --- worker processes --- */

/* Only one that is not ready yet may pass sockets: it has not handled data of clients. */

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
			.msg_control = &control, .msg_controllen = CMSG_LEN(sizeof(int)) } };

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

	/* Fails as root without CAP_KILL if the worker process has another user. */
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
		/* The pid of a dead process still identifies connections that it has made. */
		if (m->cli.accept_all)
			m->cli.accept_all(m);
		/* Messages that it sent before its end: no more than the socket holds. */
		if (w->own.fd >= 0)
			read_messages(w, UINT_MAX);
		master_on_exit(w, WIFSIGNALED(status) ? 128 + WTERMSIG(status)
						      : WEXITSTATUS(status));
	}
}

/* --- programs --- */

static void
identify_file(const struct master *m, const char *path, struct file_id *out)
{
	struct stat st;

	*out = (struct file_id){ 0 };
	if (sys_stat(m->sys, path, &st) == 0)
		*out = (struct file_id){ st.st_dev, st.st_ino };
}

static int
is_same_file(const struct file_id *a, const struct file_id *b)
{
	return a->ino && a->ino == b->ino && a->dev == b->dev;
}

/* The file that the next worker process executes. */
static void
master_find_file(const struct master *m, struct file_id *out)
{
	identify_file(m, m->spawn.program, out);
}

int
master_runs_newer(const struct worker_process *w)
{
	struct file_id own, next;

	if (w->state_version != MASTER_STATE_VERSION)
		return 0;
	identify_file(w->master, OWN_PROGRAM, &own);
	master_find_file(w->master, &next);
	return own.ino && is_same_file(&w->program, &next) && !is_same_file(&own, &next);
}

/* Called when a worker process serves: if it runs another program than this one, which can
 * continue as the master, the master will execute that program. */
static void
master_plan_reexec(struct master *m)
{
	const struct worker_process *w = master_find_worker(m, WORKER_CURRENT);
	uint64_t now = loop_now_ms(m->loop);

	if (!w || !master_runs_newer(w))
		return;
	m->reexec_latest_ms = now + MASTER_REEXEC_WAIT_MS;
	/* Not at once: signals that were read may still have to be handled. */
	if (timer_set(loop_timers(m->loop), &m->reexec_timer, now + 1))
		report_msg(m->report, REPORT_ALERT, "cannot execute the new program as master: %s",
			err_text(-ERR_NOMEM));
}

/* --- starts --- */

static void
schedule_respawn(struct master *m)
{
	unsigned int delay = master_respawn_delay(m->failures++);

	if (m->state != MASTER_RUNNING)
		return;
	if (delay)
		report_msg(m->report, REPORT_WARNING, "the next worker will start in %u ms", delay);
	if (timer_set(loop_timers(m->loop), &m->respawn_timer, loop_now_ms(m->loop) + delay))
		report_msg(m->report, REPORT_ALERT, "cannot start a worker: %s",
			err_text(-ERR_NOMEM));
}

/* 0 or a negative reason. */
static int
start_worker(struct master *m, int is_reload)
{
	struct worker_process *w;
	struct file_id program;
	struct spawned own;
	int r;

	master_find_file(m, &program);
	r = spawn_exec(m->sys, &m->spawn, &m->store, &own);
	if (r)
		return r;
	w = master_add_worker(m, &own);
	if (!w)
		return -ERR_NOMEM;
	w->is_reload = is_reload;
	w->program = program;
	report_msg(m->report, REPORT_NOTICE, "New worker (%d) forked", (int)own.pid);
	return 0;
}

void
master_on_respawn(struct timer *t)
{
	struct master *m = container_of(t, struct master, respawn_timer);
	int r = start_worker(m, 0);

	if (!r)
		return;
	report_msg(m->report, REPORT_ALERT, "cannot fork a worker process: %s", err_text(r));
	schedule_respawn(m);
}

/* The current worker process logs it: the master has no logs. */
static void
log_failure(struct master *m)
{
	struct worker_process *w = master_find_worker(m, WORKER_CURRENT);
	char text[MASTER_LINK_MSG_MAX];
	int n = snprintf(text, sizeof(text), MASTER_LOG "Reload failed: %s", m->reason);

	if (w)
		(void)sys_sendto(m->sys, w->own.fd, text, (size_t)n, MSG_NOSIGNAL);
}

/* Sends the current worker process the numbers of reloads, for its statistics. */
static void
report_reloads(struct master *m)
{
	struct worker_process *w = master_find_worker(m, WORKER_CURRENT);
	char text[64];
	int n = snprintf(text, sizeof(text), MASTER_RELOADS "%u,%u,%d", m->n_reloads,
		m->n_failed_reloads, m->reload_failed);

	if (w)
		(void)sys_sendto(m->sys, w->own.fd, text, (size_t)n, MSG_NOSIGNAL);
}

static void
fail_reload(struct master *m)
{
	m->reload_failed = 1;
	m->is_hard = 0;
	m->n_failed_reloads++;
	report_msg(m->report, REPORT_WARNING, "Loading failure! %s",
		master_find_worker(m, WORKER_CURRENT) ? "The previous configuration is still used."
						      : "");
	log_failure(m);
	report_reloads(m);
	master_report_status(m, "READY=1\n", "serving");
	m->cli.on_reload(m, m->n_reloads, 0);
}

void
master_reload(struct master *m)
{
	int r;

	if (m->state >= MASTER_STOPPING)
		return;
	if (master_find_worker(m, WORKER_STARTING)) {
		m->reload_again = 1;
		return;
	}
	m->reload_again = 0;
	m->is_hard = m->is_hard_next;
	m->is_hard_next = 0;
	m->n_reloads++;
	timer_stop(loop_timers(m->loop), &m->respawn_timer);
	report_msg(m->report, REPORT_NOTICE, "Reloading the configuration");
	notify_send(&m->notify,
		"RELOADING=1\nMONOTONIC_USEC=%" PRIu64 "\nSTATUS=Reloading the configuration",
		sys_clock_ns(m->sys, CLOCK_MONOTONIC) / 1000);
	r = start_worker(m, 1);
	if (!r)
		return;
	(void)snprintf(m->reason, sizeof(m->reason), "cannot fork a worker process: %s",
		err_text(r));
	report_msg(m->report, REPORT_ALERT, "%s", m->reason);
	fail_reload(m);
	if (!master_find_worker(m, WORKER_CURRENT))
		schedule_respawn(m);
}

/* --- the end of sockets and of all worker processes --- */

static void
on_released(void *master, const char *key)
{
	char text[MASTER_LINK_MSG_MAX];
	struct master *m = master;
	int n = snprintf(text, sizeof(text), MASTER_RELEASED "%s", key);

	/* One that does not read them closes the socket without reading its backlog. */
	list_each(it, &m->workers) {
		struct worker_process *w = list_entry(it, struct worker_process, link);

		if (w->state == WORKER_CURRENT)
			(void)sys_sendto(m->sys, w->own.fd, text, (size_t)n, MSG_NOSIGNAL);
	}
}

/* Closes the sockets that the process `user` does not use, and notifies the current worker
 * process. Sockets that no later worker process will use: they are closed when the present one has
 * closed them. */
static void
master_release_sockets(struct master *m, pid_t user)
{
	fd_store_release(&m->store, user, on_released, m);
}

void
master_stop(struct master *m, int sig)
{
	if (m->state < MASTER_STOPPING) {
		m->state = MASTER_STOPPING;
		timer_stop(loop_timers(m->loop), &m->respawn_timer);
		notify_send(&m->notify, "STOPPING=1\nSTATUS=Stopping");
	}
	fd_store_release_all(&m->store, on_released, m);
	list_each(it, &m->workers) {
		struct worker_process *w = list_entry(it, struct worker_process, link);
		int starts = w->state == WORKER_STARTING;

		master_signal(w, starts ? SIGTERM : sig);
		if (!starts)
			w->state = WORKER_LEAVING;
	}
	/* Its timers are few: the heap has room. */
	if (sig == SIGTERM)
		(void)!timer_set(loop_timers(m->loop), &m->kill_timer,
			loop_now_ms(m->loop) + MASTER_KILL_MS);
	if (list_is_empty(&m->workers))
		m->state = MASTER_OVER;
}

/* --- a worker process is ready --- */

/* Notifies a process that another one serves in its place, whatever its sockets are. */
static void
note_replaced(struct master *m, const struct worker_process *w)
{
	(void)sys_sendto(m->sys, w->own.fd, MASTER_REPLACED, strlen(MASTER_REPLACED), MSG_NOSIGNAL);
}

/* Stops the processes that it replaces; one that has survived too many reloads ends. */
static void
stop_former(struct master *m)
{
	list_each(it, &m->workers) {
		struct worker_process *w = list_entry(it, struct worker_process, link);

		if (w->state == WORKER_STARTING)
			continue;
		w->reloads++;
		if (w->state == WORKER_CURRENT) {
			note_replaced(m, w);
			master_signal(w, m->is_hard ? SIGTERM : SIGUSR1);
		}
		w->state = WORKER_LEAVING;
		if (w->reloads > m->max_reloads) {
			report_msg(m->report, REPORT_WARNING,
				"Former worker (%d) has survived %u reloads: ending it",
				(int)w->own.pid, w->reloads);
			master_signal(w, SIGTERM);
		}
	}
}

static void
begin_to_serve(struct master *m, const char *status)
{
	pid_t pid = (pid_t)sys_getpid(m->sys);
	int r = m->pid_fd >= 0 ? pidfile_write(m->sys, m->pid_fd, pid) : 0;

	m->pid_fd = -1;
	if (r)
		report_msg(m->report, REPORT_ALERT, "cannot write the pidfile: %s", err_text(r));
	m->state = MASTER_RUNNING;
	former_stop(m->former);
	notify_send(&m->notify, "READY=1\nMAINPID=%d\nSTATUS=%s", (int)pid, status);
	daemon_ready(m->daemon);
}

/* A worker process has reported that it is ready: it takes the place of the previous one. */
static void
master_on_ready(struct worker_process *w, const char *status)
{
	struct master *m = w->master;

	take_log(w);
	master_release_sockets(m, w->own.pid);
	file_store_on_ready(&m->store.files, w->own.pid);
	stop_former(m);
	w->state = WORKER_CURRENT;
	w->started_ms = loop_now_ms(m->loop);
	m->reload_failed = 0;
	m->reason[0] = '\0';
	report_reloads(m);
	report_msg(m->report, REPORT_NOTICE, "Loading success.");
	if (m->state == MASTER_STARTING)
		begin_to_serve(m, status);
	else
		master_report_status(m, w->is_reload ? "READY=1\n" : "", status);
	m->is_hard = 0;
	if (w->is_reload)
		m->cli.on_reload(m, m->n_reloads, 1);
	if (m->reload_again)
		master_reload(m);
	master_plan_reexec(m);
}

/* --- a worker process has ended --- */

static void
on_failed_start(struct worker_process *w, int code)
{
	struct master *m = w->master;

	take_log(w);
	fd_store_drop_of(&m->store, w->own.pid);
	if (m->state == MASTER_STARTING) {
		m->exit_code = code ? code : 1;
		m->state = MASTER_OVER;
		return;
	}
	if (m->state != MASTER_RUNNING)
		return;
	master_first_alert(m->startup_log ? m->startup_log : "", m->reason, sizeof(m->reason));
	if (!m->reason[0])
		(void)snprintf(m->reason, sizeof(m->reason),
			"the new worker exited with code %d", code);
	if (w->is_reload)
		fail_reload(m);
	else
		report_msg(m->report, REPORT_ALERT, "a worker cannot start: %s", m->reason);
	if (!master_find_worker(m, WORKER_CURRENT))
		schedule_respawn(m);
}

static void
on_current_death(struct worker_process *w, int code)
{
	struct master *m = w->master;

	report_msg(m->report, REPORT_ALERT, "Current worker (%d) exited with code %d%s%s%s",
		(int)w->own.pid, code, code > 128 ? " (" : "",
		code > 128 ? strsignal(code - 128) : "", code > 128 ? ")" : "");
	if (m->exit_on_failure) {
		report_msg(m->report, REPORT_ALERT, "exit-on-failure: ending all processes");
		m->exit_code = code;
		master_stop(m, SIGTERM);
		return;
	}
	if (loop_now_ms(m->loop) - w->started_ms >= MASTER_STABLE_MS)
		m->failures = 0;
	notify_send(&m->notify, "STATUS=The worker exited with code %d", code);
	if (!master_find_worker(m, WORKER_STARTING))
		schedule_respawn(m);
}

/* Notifies the other worker processes that one has ended: they have its tables open. */
static void
report_end(struct master *m, const struct worker_process *ended)
{
	char text[64];
	int n = snprintf(text, sizeof(text), MASTER_ENDED "%d", (int)ended->own.pid);

	list_each(it, &m->workers) {
		struct worker_process *w = list_entry(it, struct worker_process, link);

		if (w != ended && w->own.fd >= 0)
			(void)sys_sendto(m->sys, w->own.fd, text, (size_t)n, MSG_NOSIGNAL);
	}
}

/* A worker process has ended with this exit code, 128 and the signal if it was killed. */
static void
master_on_exit(struct worker_process *w, int code)
{
	struct master *m = w->master;
	enum worker_state was = w->state;

	file_store_on_end(&m->store.files, w->own.pid, was != WORKER_STARTING);
	report_end(m, w);
	/* No message is sent to it any more. */
	w->state = WORKER_LEAVING;
	if (was == WORKER_STARTING)
		on_failed_start(w, code);
	else if (was == WORKER_CURRENT)
		on_current_death(w, code);
	else
		report_msg(m->report, REPORT_NOTICE, "Former worker (%d) exited with code %d",
			(int)w->own.pid, code);
	master_drop_worker(w);
	if (m->state == MASTER_STOPPING && list_is_empty(&m->workers))
		m->state = MASTER_OVER;
	else if (m->reload_again && m->state == MASTER_RUNNING)
		master_reload(m);
}
