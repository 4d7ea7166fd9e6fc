/* The master executes a new program in its place, after a worker process has begun to serve with
 * it. Its pid, its children and its descriptors stay. Master process, one thread. */
#include <fcntl.h>
#include <stdio.h>

#include "app/master/master.h"
#include "app/master/master_state.h"
#include "base/err.h"
#include "base/sbuf.h"

#define OWN_PROGRAM "/proc/self/exe"
#define RETRY_MS 100
#define CANNOT_EXECUTE "cannot execute the new program as master"

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

void
master_find_file(const struct master *m, struct file_id *out)
{
	identify_file(m, m->spawn.program, out);
}

/* True if the process serves, hence is known to work, and runs another program; the file may have
 * changed since it was executed. */
static int
runs_newer_program(const struct worker_process *w)
{
	struct file_id own, next;

	if (w->state_version != MASTER_STATE_VERSION)
		return 0;
	identify_file(w->master, OWN_PROGRAM, &own);
	master_find_file(w->master, &next);
	return own.ino && is_same_file(&w->program, &next) && !is_same_file(&own, &next);
}

void
master_plan_reexec(struct master *m)
{
	const struct worker_process *w = master_find_worker(m, WORKER_CURRENT);
	uint64_t now = loop_now_ms(m->loop);

	if (!w || !runs_newer_program(w))
		return;
	m->reexec_latest_ms = now + MASTER_REEXEC_WAIT_MS;
	/* Not now: signals that were read may still have to be handled. */
	if (timer_set(loop_timers(m->loop), &m->reexec_timer, now + 1))
		report_msg(m->report, REPORT_ALERT, CANNOT_EXECUTE ": %s", err_text(-ERR_NOMEM));
}

static void
leave_open(const struct master *m, int fd)
{
	(void)!sys_fcntl(m->sys, fd, F_SETFD, 0);
}

static void
close_at_exec(const struct master *m, int fd)
{
	(void)!sys_fcntl(m->sys, fd, F_SETFD, FD_CLOEXEC);
}

/* Returns only if it cannot. */
static void
execute_program(struct master *m)
{
	struct sbuf text;
	int fd, r;

	sbuf_init(&text, 0);
	master_state_write(m, &text);
	r = fd = spawn_file(m->sys, "master-state", &text);
	sbuf_fini(&text);
	if (fd >= 0) {
		report_msg(m->report, REPORT_NOTICE, "Executing the new program as master");
		fflush(NULL);
		leave_open(m, fd);
		master_state_descriptors(m, leave_open);
		r = spawn_replace(m->sys, &m->spawn, fd);
		master_state_descriptors(m, close_at_exec);
		(void)sys_close(m->sys, fd);
	}
	report_msg(m->report, REPORT_ALERT, CANNOT_EXECUTE ": %s", err_text(r));
}

/* A start, or a worker process whose end is about to be collected. */
static int
is_changing(const struct master *m)
{
	list_each(it, &m->workers) {
		const struct worker_process *w = list_entry(it, struct worker_process, link);

		if (w->state == WORKER_STARTING || w->own.fd < 0)
			return 1;
	}
	return 0;
}

void
master_on_reexec(struct timer *t)
{
	struct master *m = container_of(t, struct master, reexec_timer);
	const struct worker_process *w = master_find_worker(m, WORKER_CURRENT);
	uint64_t now = loop_now_ms(m->loop);

	/* When it is replaced, that is planned again. */
	if (m->state != MASTER_RUNNING || !w)
		return;
	if (is_changing(m) || (m->cli.n && now < m->reexec_latest_ms))
		(void)!timer_set(loop_timers(m->loop), t, now + RETRY_MS);
	else if (runs_newer_program(w))
		execute_program(m);
}
