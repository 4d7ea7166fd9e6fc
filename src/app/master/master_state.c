/* The master executes a new program in its place, with its state as text. Master process, one
 * thread. No worker process is starting, and the current one is ready: starts and delays of starts
 * are not in it. */
#include "app/master/master_state.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/master/master.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/sbuf.h"

static void
master_state_write(const struct master *m, struct sbuf *out)
{
	const struct master_settings *s = &m->settings;

	sbuf_addf(out, "version %d\n", MASTER_STATE_VERSION);
	sbuf_addf(out, "settings %d %d %d %d %d %s\n", s->quiet, s->insecure_caps,
		s->insecure_setuid, s->insecure_syscalls, s->set_dumpable,
		m->pidfile ? m->pidfile : "");
	sbuf_addf(out, "limits %ju %ju\n", (uintmax_t)m->spawn.fds.rlim_cur,
		(uintmax_t)m->spawn.fds.rlim_max);
	sbuf_addf(out, "master %" PRIu64 " %d %u\n", m->started_ms, m->exit_on_failure,
		m->max_reloads);
	sbuf_addf(out, "reloads %u %u %d %s\n", m->n_reloads, m->n_failed_reloads,
		m->reload_failed, m->reason);
	if (m->cli.bind)
		sbuf_addf(out, "commands %d\n", m->cli.listener.fd);
	list_each(it, &m->workers) {
		const struct worker_process *w = list_entry(it, struct worker_process, link);

		/* Behind the version, where a program that does not know it reads on. */
		sbuf_addf(out, "worker %d %d %d %u %" PRIu64 " %s%s\n", (int)w->own.pid, w->own.fd,
			(int)w->state, w->reloads, w->started_ms, w->version,
			w->asks_master ? MASTER_STATE_ASKS : "");
	}
	for (unsigned int i = 0; i < m->store.n; i++) {
		const struct stored_socket *k = &m->store.v[i];

		sbuf_addf(out, "socket %d %d %ju %ju %ju %ju %s\n", k->fd, (int)k->user,
			(uintmax_t)k->dev, (uintmax_t)k->ino, (uintmax_t)k->made.tv_sec,
			(uintmax_t)k->made.tv_nsec, k->key);
	}
	for (unsigned int i = 0; i < m->store.files.n; i++)
		sbuf_addf(out, "file %d %d\n", m->store.files.v[i].fd,
			(int)m->store.files.v[i].from);
	/* Must be last: the rest of the file is the workers' startup log. */
	sbuf_addf(out, MASTER_STATE_LOG "\n%s", m->startup_log ? m->startup_log : "");
}

void
master_state_descriptors(const struct master *m, void (*fn)(const struct master *m, int fd))
{
	if (m->cli.bind && m->cli.listener.fd >= 0)
		fn(m, m->cli.listener.fd);
	list_each(it, &m->workers)
		fn(m, list_entry(it, struct worker_process, link)->own.fd);
	for (unsigned int i = 0; i < m->store.n; i++)
		fn(m, m->store.v[i].fd);
	for (unsigned int i = 0; i < m->store.files.n; i++)
		fn(m, m->store.files.v[i].fd);
}

/* --- reading, line by line --- */

#define NUMBERS_MAX 6

/* The numbers of a line, and the rest of it. */
struct state_line {
	uint64_t v[NUMBERS_MAX];
	const char *text;
};

/* Functions for rows of the state: each takes over what a line says. 0 or a negative reason. */

static int
check_version(struct master *m, const struct state_line *l)
{
	(void)m;
	return l->v[0] == MASTER_STATE_VERSION ? 0 : -ERR_UNSUPPORTED;
}

static int
restore_settings(struct master *m, const struct state_line *l)
{
	m->settings = (struct master_settings){
		.quiet = (int)l->v[0],
		.insecure_caps = (int)l->v[1],
		.insecure_setuid = (int)l->v[2],
		.insecure_syscalls = (int)l->v[3],
		.set_dumpable = (int)l->v[4],
	};
	mem_free(m->pidfile);
	return mem_copy_string(&m->pidfile, *l->text ? l->text : NULL);
}

static int
restore_limits(struct master *m, const struct state_line *l)
{
	m->spawn.fds.rlim_cur = (rlim_t)l->v[0];
	m->spawn.fds.rlim_max = (rlim_t)l->v[1];
	return 0;
}

static int
restore_master(struct master *m, const struct state_line *l)
{
	m->started_ms = l->v[0];
	m->exit_on_failure = (int)l->v[1];
	m->max_reloads = (unsigned int)l->v[2];
	return 0;
}

static int
restore_reloads(struct master *m, const struct state_line *l)
{
	m->n_reloads = (unsigned int)l->v[0];
	m->n_failed_reloads = (unsigned int)l->v[1];
	m->reload_failed = (int)l->v[2];
	(void)snprintf(m->reason, sizeof(m->reason), "%s", l->text);
	return 0;
}

static int
restore_commands(struct master *m, const struct state_line *l)
{
	/* fd@N names it itself. */
	if (m->cli.bind && m->cli.listener.inherit_fd < 0)
		m->cli.listener.kept_fd = (int)l->v[0];
	return m->cli.bind ? 0 : -ERR_INVAL;
}

static int
restore_worker(struct master *m, const struct state_line *l)
{
	struct spawned own = { .pid = (pid_t)l->v[0], .fd = (int)l->v[1], .log_fd = -1 };
	struct worker_process *w = master_add_worker(m, &own);
	const char *asks;

	if (!w)
		return -ERR_NOMEM;
	w->state = (enum worker_state)l->v[2];
	w->reloads = (unsigned int)l->v[3];
	w->started_ms = l->v[4];
	asks = strstr(l->text, MASTER_STATE_ASKS);
	w->asks_master = asks != NULL;
	(void)snprintf(w->version, sizeof(w->version), "%.*s",
		(int)(asks ? (size_t)(asks - l->text) : strlen(l->text)), l->text);
	return 0;
}

static int
restore_socket(struct master *m, const struct state_line *l)
{
	struct stored_socket k = {
		.fd = (int)l->v[0],
		.user = (pid_t)l->v[1],
		.dev = (dev_t)l->v[2],
		.ino = (ino_t)l->v[3],
		.made = { .tv_sec = (time_t)l->v[4], .tv_nsec = (long)l->v[5] },
	};

	return fd_store_restore(&m->store, &k, l->text);
}

static int
restore_file(struct master *m, const struct state_line *l)
{
	return file_store_add(&m->store.files, (int)l->v[0], (pid_t)l->v[1]);
}

static const struct state_row {
	const char *word;
	unsigned int numbers;
	int (*read)(struct master *m, const struct state_line *l);
} rows[] = {
	{ "version", 1, check_version },
	{ "settings", 5, restore_settings },
	{ "limits", 2, restore_limits },
	{ "master", 3, restore_master },
	{ "reloads", 3, restore_reloads },
	{ "commands", 1, restore_commands },
	{ "worker", 5, restore_worker },
	{ "socket", 6, restore_socket },
	{ "file", 2, restore_file },
};

/* The numbers of a row, and what follows the blank behind the last one. */
static int
split_line(const struct state_row *row, char *at, struct state_line *l)
{
	for (unsigned int i = 0; i < row->numbers; i++) {
		char *end;

		errno = 0;
		l->v[i] = strtoull(at, &end, 10);
		if (end == at || errno || (*end && *end != ' '))
			return -ERR_SYNTAX;
		at = end + (*end == ' ');
	}
	l->text = at;
	return 0;
}

static int
restore_line(struct master *m, char *line)
{
	size_t n = strcspn(line, " ");
	char *rest = line + n + (line[n] == ' ');
	struct state_line l;
	int r;

	line[n] = '\0';
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (strcmp(rows[i].word, line) != 0)
			continue;
		r = split_line(&rows[i], rest, &l);
		return r ? r : rows[i].read(m, &l);
	}
	return -ERR_UNKNOWN;
}

int
master_state_read(struct master *m, char *text)
{
	for (char *nl; (nl = strchr(text, '\n')) != NULL; text = nl + 1) {
		int r;

		*nl = '\0';
		if (strcmp(text, MASTER_STATE_LOG) == 0)
			return mem_copy_string(&m->startup_log, nl + 1);
		r = restore_line(m, text);
		if (r)
			return r;
	}
	return -ERR_SYNTAX;
}

/* --- executing a new program, after a worker process has begun to serve with it --- */

#define RETRY_MS 100

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
	report_msg(m->report, REPORT_ALERT, "cannot execute the new program as master: %s",
		err_text(r));
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

	/* No worker process serves: the start of the next one sets the timer again. */
	if (m->state != MASTER_RUNNING || !w)
		return;
	if (is_changing(m) || (m->cli.n && now < m->reexec_latest_ms))
		(void)!timer_set(loop_timers(m->loop), t, now + RETRY_MS);
	else if (master_runs_newer(w))
		execute_program(m);
}
