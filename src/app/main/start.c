/* The order of the start, from the command line to the exit code. Main thread; what was begun
 * is undone in reverse order. */
#include "app/main/start.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>

#include "app/admin/admin.h"
#include "app/config/keywords.h"
#include "app/config/version.h"
#include "app/main/own_pid.h"
#include "app/main/start_int.h"
#include "app/master/master_cli.h"
#include "app/process/confine.h"
#include "app/promex/promex.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/sbuf.h"
#include "cfg/format.h"

#define SUMMARY_MAX 512 /* size of the line with the number of errors */
#define HEALTH_LIMIT_S 2 /* of a process that does not answer, and is not healthy then */
#define PID_PAGE 4096   /* where pages are larger the kernel refuses it */

static void
print_usage(const struct start *st, FILE *to)
{
	fprintf(to, "Usage : %s%s", st->opts.progname, options_usage());
}

/* Reports what is wrong with the options; "": there are none, or -h, and all are shown. Returns the
 * exit code. */
static int
usage_error(const struct start *st, const char *why)
{
	const char *name = st->opts.progname;

	if (why[0]) {
		fprintf(stderr, "%s: %s ('%s --help' lists the options)\n", name, why, name);
		return 1;
	}
	version_print(stderr, name, 0);
	print_usage(st, stderr);
	return 1;
}

/* --- the master ------------------------------------------------------------------------------ */

/*
 * The master's start, with its first worker process, and its restart when it has executed a new
 * program in its place. Main thread.
 */

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

	/* No code reads the saved messages in this process, and there will be more. */
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

/* Continues as the master that has executed this program; state_fd: $TACIT_MASTER_STATE. Returns
 * the exit code. */
static int
start_resume(struct start *st, const char *state_fd)
{
	const char *notify_path = cfg_env_get(&st->cfg.env, "NOTIFY_SOCKET");
	const struct master_settings *s = &st->master.settings;
	struct global_conf *g = &st->cfg.global;
	int code = 1;

	/* The processes to be replaced have stopped. */
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
	st->report.pid = (int)sys_getpid(&st->sys);
	st->cfg.diag.pid = st->report.pid;
	report_diag(&st->report, &st->cfg.diag, st->cfg.global.quiet);
	return start_process(st);
}

static int
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

/* --- clients of a socket --------------------------------------------------------------------- */

/*
 * --reload is a client of the master's socket, --health one of a stats socket. Neither does
 * anything else.
 */

/* Connects to the unix socket at this path, and sends a command: a descriptor or -errno. `limit`
 * is for this and for each read; 0: none. */
static int
ask_socket(struct sys *sys, const char *path, const char *command, time_t limit)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	struct timeval tv = { .tv_sec = limit };
	long fd, r = -ENAMETOOLONG;

	fd = sys_socket(sys, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return (int)fd;
	if (strlen(path) < sizeof(un.sun_path)) {
		memcpy(un.sun_path, path, strlen(path) + 1);
		r = sys_setsockopt(sys, (int)fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
	}
	if (r >= 0)
		r = sys_setsockopt(sys, (int)fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	if (r >= 0)
		r = sys_connect(sys, (int)fd, (const struct sockaddr *)(const void *)&un,
			sizeof(un));
	if (r >= 0)
		r = sys_sendto(sys, (int)fd, command, strlen(command), MSG_NOSIGNAL);
	if (r >= 0)
		return (int)fd;
	(void)sys_close(sys, (int)fd);
	return (int)r;
}

/* Reads the first line of an answer into buf, without its end: its length or -errno. */
static long
read_first_line(struct sys *sys, int fd, char *buf, size_t size)
{
	size_t have = 0;
	long r = 0;

	while (have + 1 < size && !memchr(buf, '\n', have) &&
		(r = sys_read(sys, fd, buf + have, size - 1 - have)) > 0)
		have += (size_t)r;
	buf[have] = '\0';
	buf[strcspn(buf, "\r\n")] = '\0';
	return r < 0 && !buf[0] ? r : (long)strlen(buf);
}

/* Asks the process with this stats socket, prints one line with its answer, or why there is none.
 * Returns the exit code: 0 if the process is healthy, otherwise 1. */
static int
start_health(struct sys *sys, const char *path)
{
	static const char good[] = "healthy:", bad[] = "unhealthy:";
	char line[512] = "";
	int fd = ask_socket(sys, path, "show health\n", HEALTH_LIMIT_S);
	long r = fd < 0 ? fd : read_first_line(sys, fd, line, sizeof(line));

	if (fd >= 0)
		(void)sys_close(sys, fd);
	if (r == -EAGAIN)
		printf("unhealthy: %s: no answer within %d s\n", path, HEALTH_LIMIT_S);
	else if (r < 0)
		printf("unhealthy: %s: %s\n", path, err_text((int)r));
	else if (r == 0)
		printf("unhealthy: %s: the process ends\n", path);
	else if (strncmp(line, good, sizeof(good) - 1) && strncmp(line, bad, sizeof(bad) - 1))
		printf("unhealthy: %s: not a stats socket of tacit: %s\n", path, line);
	else
		puts(line);
	return r <= 0 || strncmp(line, good, sizeof(good) - 1) != 0;
}

/* Asks the master with a unix socket at this path to reload, waits without a limit, since the
 * service manager has one, and prints its answer.
 * Returns the exit code: 0 if the reload was successful, otherwise 1. */
static int
start_reload(struct sys *sys, const char *path)
{
	static const char success[] = "Success=1\n";
	char buf[4096], first[sizeof(success) - 1];
	size_t have = 0;
	int fd = ask_socket(sys, path, "reload\n", 0);
	long r;

	if (fd < 0) {
		fprintf(stderr, "%s: %s\n", path, err_text(fd));
		return 1;
	}
	while ((r = sys_read(sys, fd, buf, sizeof(buf))) > 0) {
		size_t n = MIN((size_t)r, sizeof(first) - have);

		memcpy(first + have, buf, n);
		have += n;
		(void)!fwrite(buf, 1, (size_t)r, stdout);
	}
	(void)sys_close(sys, fd);
	return have == sizeof(first) && memcmp(first, success, have) == 0 ? 0 : 1;
}

/* --- layout ---------------------------------------------------------------------------------- */

enum { FORMAT_MAX = 64 << 20 };

/* --format: prints the file in one layout. Returns the exit code. */
static int
start_format(struct start *st)
{
	const char *path = st->opts.format_file;
	struct sbuf out;
	char *text;
	size_t len;
	long r = file_read(&st->sys, path, FORMAT_MAX, &text, &len);

	if (r < 0) {
		report_msg(&st->report, REPORT_ALERT, "cannot read '%s': %s", path,
			err_text((int)r));
		return 1;
	}
	sbuf_init(&out, 0);
	cfg_format(&out, text, len);
	mem_free(text);
	r = out.failed || fwrite(out.p ? out.p : "", 1, out.len, stdout) != out.len ||
		fflush(stdout) != 0;
	sbuf_fini(&out);
	return r != 0;
}

/* --- the start ------------------------------------------------------------------------------- */

/* Calls fn for each entry of tacit(8). */
static void
each_of_program(cfg_entry_fn *fn, void *arg)
{
	admin_entries(fn, arg);
	master_cli_entries(fn, arg);
	promex_entries(fn, arg);
}

/* Options without a configuration file. 1 when there is more to do, otherwise *code is the exit
 * code. */
static int
do_without_files(struct start *st, int *code)
{
	*code = 0;
	switch (st->opts.action) {
	case OPTIONS_VERSION:
	case OPTIONS_BUILD:
		version_print(stdout, st->opts.progname, st->opts.action == OPTIONS_BUILD);
		return 0;
	case OPTIONS_COND:
		*code = config_cond(&st->cfg, st->opts.cond, stderr);
		return 0;
	case OPTIONS_KEYWORDS:
		*code = keywords_print(&st->cfg, each_of_program,
				(enum cfg_dump)st->opts.dump, stdout) < 0;
		return 0;
	case OPTIONS_EXPLAIN:
		*code = keywords_explain(&st->cfg, each_of_program, st->opts.explain,
				st->opts.n_explain, stdout, stderr) < 0;
		return 0;
	case OPTIONS_DUMP_HELP:
		fputs("Classes of -dK : cfg, all, man, man8, vim, vscode, smp, cnv\n", stdout);
		return 0;
	case OPTIONS_HELP:
		print_usage(st, stdout);
		return 0;
	case OPTIONS_RELOAD:
		*code = start_reload(&st->sys, st->opts.reload_socket);
		return 0;
	case OPTIONS_HEALTH:
		*code = start_health(&st->sys, st->opts.health_socket);
		return 0;
	case OPTIONS_FORMAT:
		*code = start_format(st);
		return 0;
	case OPTIONS_USAGE:
		*code = usage_error(st, "");
		return 0;
	case OPTIONS_RUN:
	case OPTIONS_CHECK:
		break;
	}
	return 1;
}

/* The process that was started becomes a master, and is not one's worker process. */
static int
start_has_master(const struct start *st)
{
	return st->opts.action == OPTIONS_RUN && st->link.fd < 0 &&
		((st->opts.flags & OPTIONS_MASTER) || st->cfg.global.master);
}

/* Runs the configuration; returns the exit code. */
static int
run_configuration(struct start *st)
{
	if (!config_has_listener(&st->cfg)) {
		report_msg(&st->report, REPORT_ALERT,
			   "No enabled listener found (check for 'bind' directives) ! Exiting.");
		return 1;
	}
	if (start_has_master(st))
		return start_master(st);
	if (st->opts.master_socket && st->link.fd < 0) {
		report_msg(&st->report, REPORT_ALERT, "option '-S' needs a master (-W)");
		return 1;
	}
	return start_process(st);
}

/* Reads the sockets that other processes have opened. */
static void
init_sockets(struct start *st, const char *const *environment)
{
	inherited_init(&st->inherited, &st->sys);
	activation_read(&st->activation, &st->sys, environment);
	former_init(&st->former, &st->sys, &st->report, &st->inherited);
}

/* Takes over the link of a worker process that the master executed. */
static int
inherit_link(struct start *st)
{
	const char *value = cfg_env_get(&st->cfg.env, MASTER_LINK_ENV);

	if (!value)
		return 0;
	/* The first worker process has replaced the previous ones. */
	st->opts.n_former = 0;
	st->opts.fetch_from = NULL;
	return master_link_inherit(&st->link, value, &st->inherited);
}

/* The priority of the start ends with the configuration, unless that of tune.renice.runtime
 * follows in this process. */
static void
end_startup_priority(struct start *st)
{
	const struct renice_conf *c = &st->cfg.global.renice;
	int continues = c->has_runtime && !start_has_master(st);
	long r = 0;

	if (c->is_changed && st->opts.action == OPTIONS_RUN && !continues)
		r = sys_setpriority(&st->sys, c->before);
	if (r < 0)
		report_msg(&st->report, REPORT_WARNING,
			"the priority stays that of tune.renice.startup: %s (a higher one needs "
			"CAP_SYS_NICE)", err_text((int)r));
}

/* The address that a name of a server had before. */
static int
find_last_addr(void *arg, const struct server *s, struct addr *out)
{
	const struct start *st = arg;

	return (st->cfg.global.reload_keep & KEEP_DNS) && keep_last_addr(&st->keep, s, out);
}

static int
load_config(struct start *st)
{
	struct cfg_diag *d = &st->cfg.diag;
	int r;
	char sum[SUMMARY_MAX];
	int quiet;

	keep_open_former(&st->keep, &st->inherited, &st->report);
	st->cfg.proxies.last_addr = find_last_addr;
	st->cfg.proxies.last_arg = st;
	r = config_load(&st->cfg, &st->sys, &st->opts);
	end_startup_priority(st);
	quiet = st->cfg.global.quiet;
	st->report.quiet = quiet;
	/* With a master the first worker process prints warnings and notices: they belong to the
	 * log of its start. */
	if (st->opts.flags & OPTIONS_JSON) {
		cfg_diag_print_json(d, stdout);
		if (r)
			return 1;
		quiet = 1;
	} else if (r || !start_has_master(st)) {
		report_diag(&st->report, d, quiet);
	}
	cfg_diag_summary(d, sum, sizeof(sum));
	if (r) {
		report_msg(&st->report, REPORT_ALERT, "config : %s: %s.",
			d->count[CFG_ALERT]
				? "Fatal errors found in configuration"
				: "Some warnings were found and they are not allowed. Aborting",
			sum);
		return 1;
	}
	if (!config_has_listener(&st->cfg) && st->opts.action == OPTIONS_CHECK) {
		fputs("Configuration file has no error but will not start (no listener) => "
		      "exit(2).\n",
			stderr);
		return 2;
	}
	if (st->opts.action == OPTIONS_CHECK && !quiet) {
		if (d->count[CFG_WARNING])
			puts("Warnings were found.");
		puts("Configuration file is valid");
	}
	return 0;
}

/* The exit code. */
static int
load_and_run(struct start *st)
{
	int code, r = 0;

	/* The master has done that. */
	if (st->opts.directory && st->link.fd < 0)
		r = (int)sys_chdir(&st->sys, st->opts.directory);
	if (st->opts.n_hints)
		report_msg(&st->report, REPORT_NOTICE, "options of -d without effect here: %s",
			st->opts.hints);
	if (r) {
		report_msg(&st->report, REPORT_ALERT, "cannot change to directory %s: %s",
			st->opts.directory, err_text(r));
		return 1;
	}
	code = load_config(st);
	return !code && st->opts.action == OPTIONS_RUN ? run_configuration(st) : code;
}

static void
keep_pid(struct sys *sys)
{
	void *page = mem_zalloc_aligned(PID_PAGE, PID_PAGE);

	if (!page)
		return;
	if (sys_madvise(sys, page, PID_PAGE, MADV_WIPEONFORK) < 0)
		mem_free(page);
	else
		own_pid_keep(page);
}

int
start_main(int argc, char *const *argv, const char *const *environment)
{
	/* Static because it is large: the process itself. */
	static struct start st;
	const char *state = NULL;
	char why[256];
	int code = 1;
	int r;

	sys_init(&st.sys, &sys_linux, NULL);
	keep_pid(&st.sys);
	/* Loads the time zone for log dates: its file is not accessible after a chroot. */
	tzset();
	/* One line at a time: output of several processes does not mix. */
	setvbuf(stderr, NULL, _IOLBF, BUFSIZ);
	st.notify.fd = st.pid_fd = -1;
	st.daemon.report_fd = st.daemon.null_fd = -1;
	st.argv = argv;
	st.environment = environment;
	master_link_init(&st.link, &st.sys);
	init_sockets(&st, environment);
	st.report.to = stderr;
	st.report.sys = &st.sys;
	st.report.patience_ms = REPORT_PATIENCE_MS;
	st.report.kept = &st.startup;
	st.report.pid = (int)sys_getpid(&st.sys);
	if (options_parse(&st.opts, argc, argv, why, sizeof(why)))
		return usage_error(&st, why);
	st.report.quiet = (st.opts.flags & OPTIONS_QUIET) != 0;
	st.report.verbose = (st.opts.flags & OPTIONS_VERBOSE) || st.opts.place == OPTIONS_DEBUG;
	r = config_init(&st.cfg, environment);
	report_set_journal(&st.report, cfg_env_get(&st.cfg.env, "JOURNAL_STREAM"));
	st.cfg.diag.pid = st.report.pid;
	if (!r)
		r = inherit_link(&st);
	if (!r)
		state = cfg_env_get(&st.cfg.env, MASTER_STATE_ENV);
	if (r) {
		report_diag(&st.report, &st.cfg.diag, 1);
		report_msg(&st.report, REPORT_ALERT, "cannot start: %s", err_text(r));
	} else if (state) {
		code = start_resume(&st, state);
	} else if (do_without_files(&st, &code)) {
		code = load_and_run(&st);
	}
	former_close(&st.former);
	inherited_fini(&st.inherited);
	master_link_fini(&st.link);
	if (!st.config_is_gone)
		config_fini(&st.cfg);
	sbuf_fini(&st.startup);
	return code;
}
