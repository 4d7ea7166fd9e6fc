/* The order of the start, from the command line to the exit code. Main thread; what was begun
 * is undone in reverse order. */
#include "app/main/start.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "app/admin/admin.h"
#include "app/stats/stats.h"
#include "app/config/config.h"
#include "app/config/limits.h"
#include "app/config/options.h"
#include "app/config/version.h"
#include "app/process/check_helper.h"
#include "app/process/daemon.h"
#include "app/process/ledger_report.h"
#include "app/process/notify.h"
#include "app/process/pidfile.h"
#include "app/process/privileges.h"
#include "app/process/process.h"
#include "app/process/totals.h"
#include "base/err.h"
#include "base/sbuf.h"
#include "cfg/dump.h"
#include "proxy/check/checker.h"
#include "proxy/sample/route.h"
#include "rule/action/action_dump.h"
#include "rule/sample/dump.h"

#define SUMMARY_MAX 512 /* size of the line with the number of errors */

/* Data that lives as long as the process. */
struct start {
	struct sys sys;
	struct options opts;
	struct config cfg;
	struct report report;
	struct notify notify;
	struct daemon daemon;
	struct process process;
	int pid_fd;
};

static void
print_usage(const struct start *st, FILE *to)
{
	fprintf(to, "Usage : %s%s", st->opts.progname, options_usage());
}

static int
usage_error(const struct start *st, const char *why)
{
	version_print(stderr, 0);
	if (why[0])
		fprintf(stderr, "%s: %s\n", st->opts.progname, why);
	print_usage(st, stderr);
	return 1;
}

/* -dK: the keywords, then rules. Returns the exit code. */
static int
dump_words(struct start *st)
{
	const struct rule_vocab *v = &st->cfg.proxies.vocab;
	struct sbuf out;
	int failed;

	cfg_dump(&st->cfg.registry, (enum cfg_dump)st->opts.dump, stdout);
	sbuf_init(&out, 0);
	if (st->opts.dump == CFG_DUMP_MAN) {
		rule_dump_actions_man(v, &out);
		rule_dump_man(v, &out);
	}
	if (st->opts.dump == CFG_DUMP_SMP || st->opts.dump == CFG_DUMP_ALL)
		rule_dump_fetches(v, &out);
	if (st->opts.dump == CFG_DUMP_CNV || st->opts.dump == CFG_DUMP_ALL)
		rule_dump_convs(v, &out);
	failed = out.failed;
	if (out.len > 0)
		fputs(out.p, stdout);
	sbuf_fini(&out);
	return failed;
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
		version_print(stdout, st->opts.action == OPTIONS_BUILD);
		return 0;
	case OPTIONS_COND:
		*code = config_cond(&st->cfg, st->opts.cond, stderr);
		return 0;
	case OPTIONS_KEYWORDS:
		*code = dump_words(st);
		return 0;
	case OPTIONS_DUMP_HELP:
		fputs("Classes of -dK : cfg, all, man, vim, smp, cnv\n", stdout);
		return 0;
	case OPTIONS_HELP:
		print_usage(st, stdout);
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

static int
load_config(struct start *st)
{
	struct cfg_diag *d = &st->cfg.diag;
	int r = config_load(&st->cfg, &st->sys, &st->opts);
	int quiet = st->cfg.global.quiet;
	char sum[SUMMARY_MAX];

	st->report.quiet = quiet;
	cfg_diag_print(d, stderr, quiet);
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

/* Determines the number of connections and their descriptors. */
static int
set_limits(struct start *st)
{
	const struct global_conf *g = &st->cfg.global;
	struct limits *l = &st->process.limits;
	struct limits_in in = {
		.maxconn = (unsigned int)g->maxconn,
		.ulimit_n = (unsigned int)g->ulimit_n,
		.hard_limit = (unsigned int)g->fd_hard_limit,
		.listeners = process_listeners(&st->process) +
			resolve_descriptors(&st->cfg.proxies),
		.workers = st->process.n_workers,
		.admin_conns = list_is_empty(&g->admin_binds) ? 0 : (unsigned int)g->stats_maxconn,
		.maxpipes = (unsigned int)g->splice.maxpipes,
		.splices = config_splices(&st->cfg),
		.may_splice = !g->splice.off && config_may_splice(&st->cfg),
	};
	char text[160];
	int r = limits_read(&st->sys, &in);

	if (r) {
		report_msg(&st->report, REPORT_ALERT, "cannot read the limit on descriptors: %s",
			err_text(r));
		return r;
	}
	*l = limits_plan(&in);
	limits_explain(l, text, sizeof(text));
	r = l->short_of ? -EPERM : limits_apply(&st->sys, &in, l);
	if (!r) {
		report_msg(&st->report, REPORT_NOTICE, "%s", text);
		return 0;
	}
	if (g->strict_limits) {
		report_msg(&st->report, REPORT_ALERT,
			"%s, but only %llu can be had (%s). Raise 'ulimit -n', lower maxconn, or "
			"say 'no strict-limits'.",
			text, (unsigned long long)in.hard, err_text(r));
		return r;
	}
	limits_lower(&in, l, (unsigned int)in.hard);
	report_msg(&st->report, REPORT_WARNING,
		"%s, but only %llu can be had: maxconn lowered to %u", text,
		(unsigned long long)in.hard, l->maxconn);
	return limits_apply(&st->sys, &in, l);
}

/* -m also limits mapped memory, as in HAProxy. */
static int
set_memory(struct start *st)
{
	int mb = st->opts.memory_mb;
	int r = mb ? limits_memory(&st->sys, (unsigned int)mb) : 0;

	if (r)
		report_msg(&st->report, REPORT_ALERT, "cannot limit memory to %d MB: %s", mb,
			err_text(r));
	return r;
}

static int
wants_background(const struct start *st)
{
	return st->opts.place == OPTIONS_DAEMON ||
	       (st->opts.place == OPTIONS_AS_CONFIGURED && st->cfg.global.daemon);
}

static const char *
pidfile_path(const struct start *st)
{
	return st->opts.pidfile ? st->opts.pidfile : st->cfg.global.pidfile;
}

static int
open_pidfile(struct start *st)
{
	const char *path = pidfile_path(st);
	int r;

	st->pid_fd = -1;
	if (!path)
		return 0;
	r = pidfile_open(&st->sys, path, &st->pid_fd);
	if (r)
		report_msg(&st->report, REPORT_ALERT, "cannot create pidfile %s: %s", path,
			err_text(r));
	return r;
}

/* A process of its own runs commands: this one will not be allowed to. */
static int
start_helper(struct start *st)
{
	struct check_helper_conf conf = {
		.global = &st->cfg.global,
		.soft_fds = st->process.limits.soft,
		.background = st->daemon.report_fd >= 0 || st->report.quiet,
	};
	int r;

	if (!checker_needs_helper(&st->cfg.proxies))
		return 0;
	r = check_helper_start(&st->sys, &conf, &st->process.helper);
	if (r)
		report_msg(&st->report, REPORT_ALERT,
			"cannot start the helper process of external checks: %s", err_text(r));
	return r;
}

/* Opens what needs privileges, drops them, and starts to serve. */
static int
bring_up(struct start *st, const char *notify_path)
{
	struct process *p = &st->process;
	char why[160] = "";
	int r;

	process_open_log(p, st->opts.progname);
	r = signals_block(&st->sys);
	if (!r)
		r = start_helper(st);
	if (!r)
		r = open_pidfile(st);
	if (r)
		return r;
	if (notify_open(&st->notify, &st->sys, notify_path))
		report_msg(&st->report, REPORT_WARNING, "$NOTIFY_SOCKET '%s' cannot be used",
			notify_path);
	r = process_bind(p);
	if (r)
		return r;
	state_files_read(p);
	if (privileges_keeps_group(&st->sys, &st->cfg.global))
		report_msg(&st->report, REPORT_WARNING,
			"'user %s' without 'group': the process keeps the group of root.",
			st->cfg.global.user);
	r = privileges_drop(&st->sys, &st->cfg.global, why, sizeof(why));
	if (r) {
		report_msg(&st->report, REPORT_ALERT, "cannot drop privileges: %s", why);
		return r;
	}
	r = process_start(p);
	if (!r) {
		r = privileges_seal(&st->sys, &st->cfg.global);
		if (r)
			report_msg(&st->report, REPORT_ALERT, "cannot limit processes: %s",
				err_text(r));
	}
	if (!r && st->pid_fd >= 0) {
		r = pidfile_write(&st->sys, st->pid_fd, (pid_t)sys_getpid(&st->sys));
		st->pid_fd = -1;
		if (r)
			report_msg(&st->report, REPORT_ALERT, "cannot write the pidfile: %s",
				err_text(r));
	}
	if (!r) {
		notify_send(&st->notify, "READY=1\nSTATUS=Serving, at most %u connections",
			    p->limits.maxconn);
		daemon_ready(&st->daemon);
	}
	return r;
}

static int
exit_code(const struct start *st)
{
	if (st->process.failed)
		return 1;
	/* Supervisors of HAProxy's master expect to see the interrupt. */
	if ((st->opts.flags & OPTIONS_MASTER) && st->process.exit_signal == SIGINT)
		return 128 + SIGINT;
	return 0;
}

static void
report_ledger(const struct start *st)
{
	const struct process *p = &st->process;
	int what = st->cfg.global.ledger_at_exit;
	struct totals now;
	char wakes[200];

	if (what == LEDGER_SILENT)
		return;
	totals_read(p, &now);
	ledger_report(stdout, &now.ledger, what == LEDGER_ALL ? NULL : &p->at_start, now.cum_conns);
	if (p->n_workers > 1) {
		totals_wakes_text(&now, wakes, sizeof(wakes));
		puts(wakes);
	}
}

static int
run_process(struct start *st)
{
	struct process *p = &st->process;
	enum daemon_side side = DAEMON_CHILD;
	int code = 0;
	int r;

	if (!config_has_listener(&st->cfg)) {
		report_msg(&st->report, REPORT_ALERT,
			   "No enabled listener found (check for 'bind' directives) ! Exiting.");
		return 1;
	}
	if (process_init(p, &st->sys, &st->cfg, &st->report, &st->notify)) {
		report_msg(&st->report, REPORT_ALERT, "cannot start: %s", err_text(-ERR_NOMEM));
		return 1;
	}
	p->service = &admin_service;
	p->stats = &stats_service;
	p->debug = st->opts.place == OPTIONS_DEBUG;
	if (set_limits(st) || set_memory(st)) {
		process_fini(p);
		return 1;
	}
	proxies_set_fullconn(&st->cfg.proxies, p->limits.maxconn);
	fflush(NULL);
	st->daemon.report_fd = -1;
	if (wants_background(st)) {
		r = daemon_fork(&st->daemon, &st->sys, &side, &code);
		if (r) {
			report_msg(&st->report, REPORT_ALERT, "cannot go to the background: %s",
				err_text(r));
			code = 1;
		}
		if (r || side == DAEMON_PARENT) {
			process_fini(p);
			return code;
		}
		st->report.pid = (int)sys_getpid(&st->sys);
	}
	r = bring_up(st, cfg_env_get(&st->cfg.env, "NOTIFY_SOCKET"));
	if (!r) {
		process_run(p);
		/* Other workers use memory that would be freed, and there is no time to wait. */
		if (process_join(p)) {
			fflush(NULL);
			_Exit(exit_code(st));
		}
		report_ledger(st);
	}
	process_fini(p);
	notify_close(&st->notify);
	if (st->pid_fd >= 0)
		(void)sys_close(&st->sys, st->pid_fd);
	else if (pidfile_path(st))
		pidfile_remove(&st->sys, pidfile_path(st), (pid_t)sys_getpid(&st->sys));
	return r ? 1 : exit_code(st);
}

int
start_main(int argc, char *const *argv, const char *const *environment)
{
	/* Static because it is large: the process itself. */
	static struct start st;
	char why[256];
	int code = 1;
	int r;

	sys_init(&st.sys, &sys_linux, NULL);
	/* Loads the time zone for log dates: its file is not accessible after a chroot. */
	tzset();
	/* One line at a time: output of several processes does not mix. */
	setvbuf(stderr, NULL, _IOLBF, BUFSIZ);
	st.notify.fd = st.pid_fd = -1;
	st.report.to = stderr;
	st.report.pid = (int)sys_getpid(&st.sys);
	if (options_parse(&st.opts, argc, argv, why, sizeof(why)))
		return usage_error(&st, why);
	st.report.quiet = (st.opts.flags & OPTIONS_QUIET) != 0;
	st.report.verbose = (st.opts.flags & OPTIONS_VERBOSE) || st.opts.place == OPTIONS_DEBUG;
	r = config_init(&st.cfg, environment);
	st.cfg.diag.pid = st.report.pid;
	if (r) {
		cfg_diag_print(&st.cfg.diag, stderr, 1);
		report_msg(&st.report, REPORT_ALERT, "cannot start: %s", err_text(r));
	} else if (do_without_files(&st, &code)) {
		r = st.opts.directory ? (int)sys_chdir(&st.sys, st.opts.directory) : 0;
		if (st.opts.n_hints)
			report_msg(&st.report, REPORT_NOTICE,
				"options of -d without effect here: %s", st.opts.hints);
		if (r)
			report_msg(&st.report, REPORT_ALERT, "cannot change to directory %s: %s",
				   st.opts.directory, err_text(r));
		else
			code = load_config(&st);
		if (!r && !code && st.opts.action == OPTIONS_RUN)
			code = run_process(&st);
		else if (r)
			code = 1;
	}
	config_fini(&st.cfg);
	return code;
}
