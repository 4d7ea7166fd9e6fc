/* The master's state from a text, line by line. Master process, one thread. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/master/master.h"
#include "app/master/master_state.h"
#include "base/err.h"
#include "base/mem.h"

#define NUMBERS_MAX 6

/* The numbers of a line, and the rest of it. */
struct state_line {
	uint64_t v[NUMBERS_MAX];
	const char *text;
};

/* Each returns 0 or a negative reason. */

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
