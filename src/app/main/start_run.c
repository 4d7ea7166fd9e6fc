/* Runs the process that serves, or the master: from a configuration to the exit code. Main thread;
 * what was begun is undone in reverse order. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/admin/admin.h"
#include "app/config/limits.h"
#include "app/config/version.h"
#include "app/main/start_int.h"
#include "app/master/master_state.h"
#include "app/process/process_peers.h"
#include "app/process/check_helper.h"
#include "app/process/confine.h"
#include "app/process/connect_targets.h"
#include "app/process/daemon.h"
#include "app/process/keep.h"
#include "app/process/privileges.h"
#include "app/process/wake_worker.h"
#include "app/process/totals.h"
#include "app/promex/promex.h"
#include "app/stats/stats.h"
#include "base/err.h"
#include "base/mem.h"
#include "proxy/check/checker.h"
#include "proxy/check/mailer.h"
#include "proxy/model/ring_conf.h"
#include "proxy/sample/route.h"

/* For changes of maps: memory that is not written to is not taken. */
#define MAPS_ROOM ((size_t)256 << 20)

/* --- the previous process -------------------------------------------------------------------- */

/*
 * The processes that the new one replaces: -sf, -st, -x. Main thread, at start; with a master
 * its first worker process takes the sockets, and the master sends the signals.
 */

void
start_name_former(struct start *st)
{
	st->former.pids = st->opts.former;
	st->former.n_pids = st->opts.n_former;
	st->former.sig = st->opts.former_sig;
}

/* Before anything is bound: fetches the sockets of the previous process, if -x is given. 0 or a
 * negative reason that was reported. A process of root may lose the right to signal those of
 * others. */
static int
start_prepare_former(struct start *st)
{
	struct former *f = &st->former;
	int r = 0;

	start_name_former(st);
	f->user = st->cfg.global.uid;
	st->process.former = f;
	if (st->opts.fetch_from && strcmp(st->opts.fetch_from, "/dev/null") != 0)
		r = former_fetch(f, st->opts.fetch_from);
	/* A master continues without: it has reported why, and there is another way to get them. */
	if (st->link.fd >= 0)
		r = 0;
	if (r || st->link.fd >= 0 || sys_getuid(&st->sys) != 0)
		return r;
	r = former_keep_privileges(f);
	if (r)
		report_msg(&st->report, REPORT_ALERT,
			"cannot keep the privilege to end previous processes: %s", err_text(r));
	return r;
}

/* --- start ----------------------------------------------------------------------------------- */

/* Descriptors of connections with peers. */
static unsigned int
peers_descriptors(const struct proxies *ps)
{
	unsigned int n = 0;

	list_each(it, &ps->peers) {
		const struct peers_conf *c = list_entry(it, const struct peers_conf, link);

		n += c->is_used ? PEERS_LINKS_MORE : 0;
		list_each(st, &c->peers)
			n += c->is_used ? 2 : 0;
	}
	return n;
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
			resolve_descriptors(&st->cfg.proxies) +
			ring_confs_descriptors(&st->cfg.proxies.log.rings) +
			mailers_descriptors(&st->cfg.proxies) +
			peers_descriptors(&st->cfg.proxies) +
			(st->process.keep.tables.own.map ? TABLES_DESCRIPTORS : 0) +
			(st->cfg.tls.ocsp.is_wanted ? OCSP_UPDATES_AT_ONCE : 0),
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
		if (l->derived && l->maxconn < LIMITS_AUTO_FEW)
			report_msg(&st->report, REPORT_WARNING,
				"%s. Raise 'ulimit -n' or set maxconn.", text);
		else
			report_msg(&st->report, REPORT_NOTICE, "%s", text);
		return 0;
	}
	if (g->strict_limits) {
		report_msg(&st->report, REPORT_ALERT,
			"%s, but only %llu can be had (%s). Raise 'ulimit -n', lower maxconn, or "
			"set 'no strict-limits'.",
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

const char *
start_pidfile(const struct start *st)
{
	/* The master writes its own pid. */
	if (st->link.fd >= 0)
		return NULL;
	return st->opts.pidfile ? st->opts.pidfile : st->cfg.global.pidfile;
}

/* A pid file matters little in the foreground: HAProxy does not write the file then. */
static enum report_level
pidfile_failure(const struct start *st)
{
	return wants_background(st) ? REPORT_ALERT : REPORT_WARNING;
}

static int
open_pidfile(struct start *st)
{
	const char *path = start_pidfile(st);
	int r;

	st->pid_fd = -1;
	if (!path)
		return 0;
	r = pidfile_open(&st->sys, path, &st->pid_fd);
	if (r)
		report_msg(&st->report, pidfile_failure(st), "cannot create pidfile %s: %s", path,
			err_text(r));
	if (!r || wants_background(st))
		return r;
	st->process.pidfile = NULL;
	return 0;
}

/* Starts the helper process, which executes commands: this process will not be allowed to. */
static int
start_helper(struct start *st)
{
	struct check_helper_conf conf = {
		.global = &st->cfg.global,
		.soft_fds = st->process.limits.soft,
		.background = wants_background(st) || st->report.quiet,
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

/* True if a server is the master's socket: then this process may connect to it. */
static int
asks_master(struct start *st)
{
	struct master_cli own = { 0 };
	char why[160];
	int r = 0;

	if (st->opts.master_socket &&
		master_cli_parse(&own, st->opts.master_socket, why, sizeof(why)) == 0)
		r = addr_family(&own.listener.addr) == AF_UNIX &&
			connect_targets_have(&st->cfg, &st->sys, &own.listener.addr);
	bind_conf_free(&own.bind);
	return r;
}

static void
report_ready(struct start *st)
{
	const struct global_conf *g = &st->cfg.global;

	former_report_ready(&st->former);
	if (st->link.fd < 0)
		former_stop(&st->former);
	if (st->link.fd >= 0) {
		notify_send(&st->notify,
			"X_EXIT_ON_FAILURE=%d\nX_MAX_RELOADS=%u\nX_VERSION=%s\nX_MASTER_STATE=%d\n"
			"X_ASKS_MASTER=%d",
			g->exit_on_failure, (unsigned int)g->max_reloads, VERSION_COMPAT,
			MASTER_STATE_VERSION, st->asks_master);
		fflush(stderr);
		master_link_restore_stderr(&st->link);
		daemon_detach(&st->daemon);
	}
	notify_send(&st->notify, "READY=1\nSTATUS=Serving, at most %u connections",
		st->process.limits.maxconn);
	daemon_ready(&st->daemon);
}

static void
open_notify(struct start *st, const char *path)
{
	const struct cfg_env *env = &st->cfg.env;
	struct process *p = &st->process;

	if (st->link.fd >= 0) {
		st->notify = (struct notify){ &st->sys, st->link.fd, path != NULL };
		p->master = &st->link;
	} else if (notify_open(&st->notify, &st->sys, path)) {
		report_msg(&st->report, REPORT_WARNING, "$NOTIFY_SOCKET '%s' cannot be used", path);
	}
	p->watchdog.interval_ms = watchdog_interval(cfg_env_get(env, "WATCHDOG_USEC"),
		st->link.fd < 0 ? cfg_env_get(env, "WATCHDOG_PID") : NULL,
		sys_getpid(&st->sys));
}

static int
write_pidfile(struct start *st)
{
	int r;

	if (st->pid_fd < 0)
		return 0;
	r = pidfile_write(&st->sys, st->pid_fd, (pid_t)sys_getpid(&st->sys));
	st->pid_fd = -1;
	if (r)
		report_msg(&st->report, pidfile_failure(st), "cannot write the pidfile: %s",
			err_text(r));
	return wants_background(st) ? r : 0;
}

/* Opens what needs privileges, drops them, and starts to serve. */
static int
bring_up(struct start *st, const char *notify_path)
{
	struct process *p = &st->process;
	int r;

	process_open_log(p, st->opts.progname);
	r = signals_block(&st->sys);
	if (!r)
		r = start_prepare_former(st);
	if (!r)
		r = start_helper(st);
	if (!r)
		r = open_pidfile(st);
	if (r)
		return r;
	open_notify(st, notify_path);
	r = capabilities_raise(&st->sys, capabilities_wanted(&st->cfg));
	if (!r)
		r = process_bind(p);
	if (r)
		return r;
	process_tables_fetch(p);
	inherited_close_rest(&st->inherited);
	state_files_read(p);
	st->asks_master = asks_master(st);
	r = rings_open_files(p);
	if (!r)
		r = confine_privileges(p);
	if (!r && st->link.fd >= 0)
		r = master_link_end_with(&st->link);
	if (!r)
		r = process_start(p);
	if (!r)
		r = write_pidfile(st);
	if (r)
		return r;
	/* Before seccomp: report_ready() sends signals to the previous processes. */
	report_ready(st);
	return confine_calls(p);
}

/* tune.renice.runtime. Threads inherit the priority. */
static void
set_priority(struct start *st)
{
	const struct renice_conf *c = &st->cfg.global.renice;
	long r = c->has_runtime ? sys_setpriority(&st->sys, c->runtime) : 0;

	if (r < 0)
		report_msg(&st->report, REPORT_WARNING,
			"'tune.renice.runtime %d' : the priority stays as it is: %s (a higher one "
			"needs CAP_SYS_NICE)", c->runtime, err_text((int)r));
}

static int
exit_code(const struct start *st)
{
	if (st->process.failed)
		return 1;
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
	ledger_report(stdout, &now.ledger, what == LEDGER_ALL ? NULL : &p->at_start, now.cum_conns,
		now.requests);
	if (p->n_workers > 1) {
		totals_wakes_text(&now, wakes, sizeof(wakes));
		puts(wakes);
	}
}

int
start_background(struct start *st, int *code)
{
	enum daemon_side side = DAEMON_CHILD;
	int r;

	if (!wants_background(st))
		return 1;
	fflush(NULL);
	r = daemon_fork(&st->daemon, &st->sys, &side, code);
	if (r) {
		report_msg(&st->report, REPORT_ALERT, "cannot go to the background: %s",
			err_text(r));
		*code = 1;
		return 0;
	}
	st->report.pid = (int)sys_getpid(&st->sys);
	return side == DAEMON_CHILD;
}

int
start_process(struct start *st)
{
	struct process *p = &st->process;
	int code = 0;
	int r;

	set_priority(st);
	if (activation_apply(&st->activation, &st->sys, &st->cfg, &st->report))
		return 1;
	if (process_init(p, &st->sys, &st->cfg, &st->report, &st->notify)) {
		report_msg(&st->report, REPORT_ALERT, "cannot start: %s", err_text(-ERR_NOMEM));
		return 1;
	}
	p->service = &admin_service;
	p->stats = &stats_service;
	p->metrics = &promex_service;
	p->debug = st->opts.place == OPTIONS_DEBUG;
	p->inherited = &st->inherited;
	p->pidfile = start_pidfile(st);
	if (st->link.fd >= 0)
		p->master = &st->link;
	p->keep = st->keep;
	/* Addresses that are not used count for -m. */
	p->keep.maps_room = st->opts.memory_mb ? ((size_t)st->opts.memory_mb << 20) / 8 : MAPS_ROOM;
	if (keep_open(p) || process_caches_open(p)) {
		process_fini(p);
		return 1;
	}
	process_tables_open(p);
	if (set_limits(st) || set_memory(st)) {
		process_fini(p);
		return 1;
	}
	proxies_set_fullconn(&st->cfg.proxies, p->limits.maxconn);
	fflush(NULL);
	if (st->link.fd < 0 && !start_background(st, &code)) {
		process_fini(p);
		return code;
	}
	r = bring_up(st, cfg_env_get(&st->cfg.env, "NOTIFY_SOCKET"));
	if (!r) {
		process_run(p);
		/* Other workers still use the memory, and there is no time to wait for them:
		 * nothing is freed. */
		if (process_join(p)) {
			fflush(NULL);
			_Exit(exit_code(st));
		}
		report_ledger(st);
	}
	process_fini(p);
	if (st->link.fd < 0)
		notify_close(&st->notify);
	if (st->pid_fd >= 0)
		(void)sys_close(&st->sys, st->pid_fd);
	else if (start_pidfile(st))
		pidfile_remove(&st->sys, start_pidfile(st), (pid_t)sys_getpid(&st->sys));
	return r ? 1 : exit_code(st);
}
