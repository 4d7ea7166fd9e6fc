/* The master's life: start, signals, end; or its continuation with a new program, which takes over
 * what the previous one knew and has left open. Master process, one thread; nothing from the
 * network is read here. */
#include "app/master/master.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/master/master_state.h"
#include "app/process/daemon.h"
#include "app/process/master_link.h"
#include "app/process/socket_pass.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "event/poller.h"

#define POLLER "ev:epoll"
#define EVENTS_MAX 64
/* Numbers of descriptors that the loop has room for: one for each worker process. */
#define FDS_MAX 65536

/* Reports what failed; returns the reason. */
static int
master_report_failure(const struct master *m, const char *what, int reason)
{
	report_msg(m->report, REPORT_ALERT, "%s: %s", what, err_text(reason));
	return reason;
}

/* Continues without the service manager's socket, with a warning. */
static void
master_open_notify(struct master *m, const char *path)
{
	if (notify_open(&m->notify, m->sys, path))
		report_msg(m->report, REPORT_WARNING, "$NOTIFY_SOCKET '%s' cannot be used", path);
}

static int
open_files(struct master *m, const char *notify_path)
{
	int r;

	m->pid_fd = -1;
	if (m->pidfile) {
		r = pidfile_open(m->sys, m->pidfile, &m->pid_fd);
		if (r) {
			report_msg(m->report, REPORT_ALERT, "cannot create pidfile %s: %s",
				m->pidfile, err_text(r));
			return r;
		}
	}
	master_open_notify(m, notify_path);
	return 0;
}

/* Raises the limit: there may be as many sockets as all configurations together have. */
static void
master_raise_descriptors(const struct master *m)
{
	struct rlimit most = m->spawn.fds;

	most.rlim_cur = most.rlim_max;
	(void)!sys_prlimit64(m->sys, RLIMIT_NOFILE, &most, NULL);
}

static void
on_kill_timer(struct timer *t)
{
	struct master *m = container_of(t, struct master, kill_timer);

	list_each(it, &m->workers)
		master_signal(list_entry(it, struct worker_process, link), SIGKILL);
}

/* --- signals --- */

/* Has the current worker process pass the sockets to a process that asked by signal. */
static void
master_pass_sockets(struct master *m, pid_t to)
{
	struct worker_process *w = master_find_worker(m, WORKER_CURRENT);
	int fd = w ? socket_pass_connect(m->sys, to) : -1;
	char text[64];

	if (fd < 0)
		return;
	(void)snprintf(text, sizeof(text), MASTER_PASS "%ld", (long)to);
	(void)!master_send_fd(w, text, fd);
	(void)sys_close(m->sys, fd);
}

static void
on_master_signal(void *owner, int sig, pid_t from)
{
	struct master *m = owner;

	switch (sig) {
	case SIGTERM:
	case SIGINT:
		m->exit_code = sig == SIGINT ? 128 + SIGINT : 0;
		master_stop(m, SIGTERM);
		break;
	case SIGUSR1:
		master_stop(m, SIGUSR1);
		break;
	case SIGUSR2:
	case SIGHUP:
		master_reload(m);
		break;
	case SIGCHLD:
		master_reap(m);
		break;
	case SIGTTOU:
		master_pass_sockets(m, from);
		break;
	case SIGQUIT:
		list_each(it, &m->workers)
			master_signal(list_entry(it, struct worker_process, link), SIGQUIT);
		break;
	default:
		break;
	}
}

/* --- start and end --- */

/* Initializes the state that each image of the master shares. */
static void
master_init(struct master *m)
{
	list_init(&m->workers);
	timer_init(&m->respawn_timer, master_on_respawn);
	timer_init(&m->kill_timer, on_kill_timer);
	timer_init(&m->reexec_timer, master_on_reexec);
	fd_store_init(&m->store, m->sys);
	m->signals.fd = -1;
	m->max_reloads = UINT32_MAX;
	spawn_find_program(&m->spawn, m->sys);
}

/* Opens the loop and signals. 0 or a negative reason. */
static int
master_open_loop(struct master *m)
{
	struct loop_config conf = {
		.poller = poller_find(POLLER),
		.mode = INTEREST_MERGED,
		.max_fd = FDS_MAX,
		.max_events = EVENTS_MAX,
		.lazy = 1,
	};
	int r = 0;

	m->loop = loop_new(m->sys, &conf, &r);
	if (!m->loop)
		return r;
	m->started_ms = loop_now_ms(m->loop);
	return signals_open(&m->signals, m->loop, on_master_signal, m);
}

/* Closes the master's socket in a worker process, which has a copy of it since the fork. */
static void
master_cli_leave(struct master *m)
{
	if (m->cli.bind)
		listener_close(&m->cli.listener, m->sys);
}

int
master_start(struct master *m, const char *notify_path, int *link_fd, int *stderr_fd)
{
	struct spawned first;
	char why[256] = "";
	int r = open_files(m, notify_path);

	if (r)
		return r;
	r = master_cli_bind(m, why, sizeof(why));
	if (r) {
		report_msg(m->report, REPORT_ALERT, "the master's socket: %s", why);
		return r;
	}
	master_init(m);
	(void)!sys_prlimit64(m->sys, RLIMIT_NOFILE, NULL, &m->spawn.fds);
	r = signals_block(m->sys);
	if (!r)
		r = spawn_fork(m->sys, &first, link_fd, stderr_fd);
	if (r < 0)
		return master_report_failure(m, "cannot fork a worker process", r);
	if (r == 0) {
		notify_close(&m->notify);
		master_cli_leave(m);
		if (m->pid_fd >= 0)
			(void)sys_close(m->sys, m->pid_fd);
		return 0;
	}
	master_raise_descriptors(m);
	r = master_open_loop(m);
	if (!r)
		r = master_cli_start(m);
	if (!r && !master_add_worker(m, &first))
		r = -ERR_NOMEM;
	return r ? master_report_failure(m, "cannot start the master", r) : 1;
}

static void
close_master(struct master *m)
{
	list_each_safe(it, &m->workers)
		master_drop_worker(list_entry(it, struct worker_process, link));
	timer_stop(loop_timers(m->loop), &m->respawn_timer);
	timer_stop(loop_timers(m->loop), &m->kill_timer);
	timer_stop(loop_timers(m->loop), &m->reexec_timer);
	signals_close(&m->signals);
	master_cli_close(m);
	loop_free(&m->loop);
	fd_store_fini(&m->store);
	notify_close(&m->notify);
	if (m->pid_fd >= 0)
		(void)sys_close(m->sys, m->pid_fd);
	else if (m->pidfile)
		pidfile_remove(m->sys, m->pidfile, (pid_t)sys_getpid(m->sys));
	mem_free(m->startup_log);
}

int
master_run(struct master *m)
{
	while (m->state != MASTER_OVER) {
		int r = loop_turn(m->loop, -1);

		if (r && r != -EINTR) {
			(void)master_report_failure(m, "waiting for events failed", r);
			m->exit_code = 1;
			break;
		}
	}
	close_master(m);
	return m->exit_code;
}

/* --- continuing what a previous program has begun as the master --- */

static void
restore_flag(const struct master *m, int fd)
{
	(void)!sys_fcntl(m->sys, fd, F_SETFD, FD_CLOEXEC);
}

static char *
read_state(struct master *m, const char *number)
{
	char *end, *text;
	long fd = strtol(number, &end, 10);

	if (end == number || *end || fd < 0 || fd > INT32_MAX)
		return NULL;
	text = file_text(m->sys, (int)fd, SIZE_MAX);
	(void)sys_close(m->sys, (int)fd);
	return text;
}

int
master_resume(struct master *m, const char *notify_path, const char *state_fd)
{
	char why[256] = "";
	char *text;
	int r;

	master_init(m);
	m->pid_fd = -1;
	m->state = MASTER_RUNNING;
	master_open_notify(m, notify_path);
	r = signals_block(m->sys);
	if (!r)
		r = master_open_loop(m);
	if (r)
		return master_report_failure(m, "cannot continue as master", r);
	text = read_state(m, state_fd);
	r = text ? master_state_read(m, text) : -ERR_INVAL;
	mem_free(text);
	if (r)
		return master_report_failure(m, "cannot take over the master's state", r);
	master_state_descriptors(m, restore_flag);
	master_raise_descriptors(m);
	r = master_cli_bind(m, why, sizeof(why));
	if (r) {
		report_msg(m->report, REPORT_ALERT, "the master's socket: %s", why);
		return r;
	}
	r = master_cli_start(m);
	if (r)
		return master_report_failure(m, "cannot start the master's socket", r);
	/* SIGCHLD may have come before the loop was there. */
	master_reap(m);
	return 0;
}
