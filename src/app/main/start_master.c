/* The master's start, with its first worker process, and its restart when it has executed a new
 * program in its place. Main thread. */
#include <stdio.h>

#include "app/main/start_int.h"
#include "app/process/confine.h"
#include "base/err.h"
#include "base/mem.h"

static int
init_master(struct start *st)
{
	const struct global_conf *g = &st->cfg.global;
	struct master *m = &st->master;
	char why[160] = "out of memory";

	m->sys = &st->sys;
	m->report = &st->report;
	m->daemon = &st->daemon;
	m->former = &st->former;
	start_name_former(st);
	m->spawn.argv = st->argv;
	m->spawn.environment = st->environment;
	/* The configuration will be gone. */
	m->settings = (struct master_settings){
		.quiet = st->report.quiet,
		.insecure_caps = g->insecure_caps,
		.insecure_setuid = g->insecure_setuid,
		.insecure_syscalls = g->insecure_syscalls,
		.set_dumpable = g->set_dumpable,
	};
	if (mem_copy_string(&m->pidfile, start_pidfile(st))) {
		report_msg(&st->report, REPORT_ALERT, "cannot start: %s", err_text(-ERR_NOMEM));
		return -ERR_NOMEM;
	}
	if (st->opts.master_socket &&
		master_cli_parse(&m->cli, st->opts.master_socket, why, sizeof(why))) {
		report_msg(&st->report, REPORT_ALERT, "option '-S': '%s': %s",
			st->opts.master_socket, why);
		return -ERR_INVAL;
	}
	return 0;
}

/* Runs the master, begun from a configuration or from a saved state. */
static int
run_confined_master(struct start *st)
{
	int r = confine_master(&st->sys, &st->cfg.global, &st->report);

	/* Nothing reads them here, and there will be more. */
	st->report.kept = NULL;
	config_fini(&st->cfg);
	st->config_is_gone = 1;
	return r ? 1 : master_run(&st->master);
}

static void
free_master_options(struct master *m)
{
	mem_free(m->pidfile);
	bind_conf_free(&m->cli.bind);
}

int
start_resume(struct start *st, const char *state_fd)
{
	const char *notify_path = cfg_env_get(&st->cfg.env, "NOTIFY_SOCKET");
	const struct master_settings *s = &st->master.settings;
	struct global_conf *g = &st->cfg.global;
	int code = 1;

	/* They have stopped. */
	st->opts.n_former = 0;
	if (init_master(st) == 0 && master_resume(&st->master, notify_path, state_fd) == 0) {
		st->report.quiet = s->quiet;
		g->insecure_caps = s->insecure_caps;
		g->insecure_setuid = s->insecure_setuid;
		g->insecure_syscalls = s->insecure_syscalls;
		g->set_dumpable = s->set_dumpable;
		code = run_confined_master(st);
	}
	free_master_options(&st->master);
	return code;
}

/* The first worker process continues with the configuration that was read. */
static int
run_first_worker(struct start *st)
{
	daemon_leave(&st->daemon);
	st->report.has_priorities = 0;
	st->report.pid = (int)sys_getpid(&st->sys);
	st->cfg.diag.pid = st->report.pid;
	report_diag(&st->report, &st->cfg.diag, st->cfg.global.quiet);
	return start_process(st);
}

int
start_master(struct start *st)
{
	const char *notify_path = cfg_env_get(&st->cfg.env, "NOTIFY_SOCKET");
	int code = 0;
	int r;

	fflush(NULL);
	if (!start_background(st, &code))
		return code;
	r = init_master(st);
	if (!r)
		r = master_start(&st->master, notify_path, &st->link.fd, &st->link.stderr_fd);
	if (r == 0)
		code = run_first_worker(st);
	else if (r < 0)
		code = 1;
	if (r == 1)
		code = run_confined_master(st);
	free_master_options(&st->master);
	return code;
}
