/* Messages of the master to the process. First worker. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/process/cli_line.h"
#include "app/process/process.h"
#include "net/listener.h"
#include "net/listener_key.h"

/* The name of a socket that the master has closed, and its copies. */
static void
release_named(struct listener *ln, void *arg)
{
	const struct listener *lead = ln->lead ? ln->lead : ln;
	char key[LISTENER_KEY_MAX];

	if (!ln->kept_open)
		return;
	listener_key(lead, key);
	if (strcmp(key, arg) == 0)
		ln->kept_open &= ~(unsigned int)LISTENER_KEPT_MASTER;
}

/* <level>,<modes>,<severity> */
static void
serve_cli(struct process *p, const char *value)
{
	unsigned long v[3] = { 0 };
	struct cli_rights rights;
	char *end;

	for (int i = 0; i < 3; i++) {
		v[i] = strtoul(value, &end, 10);
		value = end + (*end == ',');
	}
	if (!p->admin || p->master->passed_fd < 0 || v[0] > BIND_ADMIN ||
		v[2] > BIND_SEVERITY_STRING)
		return;
	rights = (struct cli_rights){ .level = (enum bind_level)v[0],
		.modes = (unsigned int)v[1], .severity = (enum bind_severity)v[2] };
	p->service->serve(p->admin, p->master->passed_fd, &rights);
	p->master->passed_fd = -1;
}

/* Another process has asked for the sockets; the master has a connection to it. */
static void
pass_sockets(struct process *p, const char *pid)
{
	int fd = p->master->passed_fd;

	p->master->passed_fd = -1;
	socket_pass_to(&p->pass, (pid_t)strtol(pid, NULL, 10), fd);
}

/* A client of the master's socket has asked for them. */
static void
answer_getsocks(struct process *p)
{
	int fd = p->master->passed_fd;

	p->master->passed_fd = -1;
	if (fd >= 0)
		(void)!socket_pass_start(&p->pass, fd);
}

/* The master counts, hence these include processes before this one. */
static void
note_reloads(struct process *p, const char *value)
{
	char *at = NULL;

	p->reloads.n = (unsigned int)strtoul(value, &at, 10);
	p->reloads.failed = *at ? (unsigned int)strtoul(at + 1, &at, 10) : 0;
	p->reloads.last_failed = *at ? (unsigned int)strtoul(at + 1, &at, 10) : 0;
}

void
process_on_master(void *process, const char *line)
{
	struct process *p = process;
	size_t n = strlen(MASTER_RELEASED), l = strlen(MASTER_LOG);

	if (!line) {
		log_msg(process_log(p), LOG_LEVEL_ALERT, "the master has ended: stopping");
		report_msg(p->report, REPORT_ALERT, "the master has ended: stopping");
		process_on_signal(p, SIGTERM, 0);
	} else if (strncmp(line, MASTER_RELEASED, n) == 0) {
		char key[LISTENER_KEY_MAX];

		(void)snprintf(key, sizeof(key), "%s", line + n);
		process_each_listener(p, release_named, key);
	} else if (strncmp(line, MASTER_PASS, sizeof(MASTER_PASS) - 1) == 0) {
		pass_sockets(p, line + sizeof(MASTER_PASS) - 1);
	} else if (strncmp(line, MASTER_CLI, sizeof(MASTER_CLI) - 1) == 0) {
		serve_cli(p, line + sizeof(MASTER_CLI) - 1);
	} else if (strcmp(line, MASTER_GETSOCKS) == 0) {
		answer_getsocks(p);
	} else if (strncmp(line, MASTER_RELOADS, sizeof(MASTER_RELOADS) - 1) == 0) {
		note_reloads(p, line + sizeof(MASTER_RELOADS) - 1);
	} else if (strncmp(line, MASTER_LOG, l) == 0) {
		log_msg(process_log(p), LOG_LEVEL_ALERT, "%s", line + l);
	}
}
