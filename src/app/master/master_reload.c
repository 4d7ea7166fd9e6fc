/* Worker processes come and go: reloads, replacements of those that have died. Master process, one
 * thread. At most one worker process starts at a time, and at most one is the current one. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "app/master/master.h"
#include "app/process/master_link.h"
#include "app/process/pidfile.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"

void
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

/* For its statistics. */
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

/* --- a worker process is ready --- */

/* Stops the processes that it replaces; one that has survived too many reloads ends. */
static void
stop_former(struct master *m)
{
	list_each(it, &m->workers) {
		struct worker_process *w = list_entry(it, struct worker_process, link);

		if (w->state == WORKER_STARTING)
			continue;
		w->reloads++;
		if (w->state == WORKER_CURRENT)
			master_signal(w, m->is_hard ? SIGTERM : SIGUSR1);
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

void
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

void
master_on_exit(struct worker_process *w, int code)
{
	struct master *m = w->master;
	enum worker_state was = w->state;

	file_store_on_end(&m->store.files, w->own.pid, was != WORKER_STARTING);
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
