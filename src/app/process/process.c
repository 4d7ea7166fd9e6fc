/* The process: makes the workers, starts them, serves, and takes all of it down. Main thread,
 * which is also the first worker. */
#include "app/process/process.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "app/process/cli_line.h"
#include "app/process/process_peers.h"
#include "app/process/process_tables.h"
#include "app/process/process_servers.h"
#include "app/process/totals.h"
#include "app/process/wake_worker.h"
#include "base/atomic.h"
#include "base/counter.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/random.h"
#include "event/mailbox.h"
#include "event/profile.h"
#include "net/listener.h"
#include "net/listener_key.h"
#include "proxy/backend/balance.h"
#include "proxy/check/checker.h"
#include "proxy/check/mailer.h"
#include "proxy/session/session.h"

static void process_run_mail(struct process *p);

static void
read_hostname(struct process *p)
{
	struct utsname u;

	if (sys_uname(p->sys, &u) < 0)
		return;
	snprintf(p->hostname, sizeof(p->hostname), "%s", u.nodename);
}

static void
on_status(struct timer *t)
{
	struct process *p = container_of(t, struct process, status_timer);
	struct loop *l = process_loop(p);
	struct totals now;

	totals_read(p, &now);
	notify_send(p->notify, "STATUS=Serving, %u connections now, %llu so far", now.sessions,
		(unsigned long long)now.cum_conns);
	(void)!timer_set(loop_timers(l), t, loop_now_ms(l) + PROCESS_STATUS_MS);
}
PROFILE_NAME(on_status, status_timer)

/* --- the stop -------------------------------------------------------------------------------- */

/*
 * The end of the process: what each signal means, and the way from serving to nothing left
 * open.
 */

static void
close_frontends(struct process *p, struct sbuf *lines)
{
	list_each(it, &p->cfg->proxies.all) {
		struct proxy *px = list_entry(it, struct proxy, link);

		if (!px->disabled && px->listening != PROXY_STOPPED)
			frontend_stop(p, px, lines);
	}
}

static void
set_stop_timer(struct process *p, uint64_t ms)
{
	/* The heap has room reserved for the worker's timers. */
	if (timer_set(loop_timers(process_loop(p)), &p->stop_timer,
		    loop_now_ms(process_loop(p)) + ms))
		log_msg(process_log(p), LOG_LEVEL_ALERT,
			"cannot set the timer of the stop: out of memory");
}

/* Another process accepts from them. */
static void
process_close_kept_admin(struct process *p)
{
	list_each(it, &p->cfg->global.admin_binds) {
		struct bind_conf *b = list_entry(it, struct bind_conf, link);

		list_each(lt, &b->listeners) {
			struct listener *ln = list_entry(lt, struct listener, link);

			if (ln->kept_open && ln->fd >= 0)
				listener_close(ln, p->sys);
		}
	}
}

/* Learns which sockets stay open in other processes. */
static void
learn_keepers(struct process *p)
{
	socket_pass_assume(&p->pass);
	if (p->master)
		master_link_read(p->master);
}

static void
stop_listening(struct process *p, int drains)
{
	struct sbuf lines;

	if (p->state >= PROCESS_STOPPING)
		return;
	learn_keepers(p);
	sbuf_init(&lines, 0);
	rendezvous_begin(p);
	p->state = PROCESS_STOPPING;
	(void)atomic_swap(&p->draining, 1);
	(void)atomic_swap(&p->shared.is_stopping, 1);
	notify_send(p->notify, "STOPPING=1\nSTATUS=Stopping, %u connections left",
		process_sessions(p));
	if (drains)
		process_drain_listeners(p);
	close_frontends(p, &lines);
	process_peers_end(p);
	process_close_kept_admin(p);
	if (p->admin)
		p->service->drain(p->admin);
	for (unsigned int i = 0; i < p->n_workers; i++)
		engine_soft_stop(&p->workers[i].engine);
	rendezvous_end(p);
	/* This may be a thousand lines: they are written while the other workers serve again. */
	if (lines.len)
		report_text(p->report, lines.p);
	sbuf_fini(&lines);
	timer_stop(loop_timers(process_loop(p)), &p->status_timer);
	timer_stop(loop_timers(process_loop(p)), &p->stop_timer);
	if (p->cfg->global.hard_stop_after_ms)
		set_stop_timer(p, p->cfg->global.hard_stop_after_ms);
}

/* Limit of the wait for handshakes, and time between two counts. A client that sends nothing more
 * holds its own for a minute. */
#define REFUSE_MAX_MS 1000u
#define REFUSE_STEP_MS 10u

/* Closes the listeners as soon as no handshake is in progress: its client would be reset. Until
 * then, for REFUSE_MAX_MS at most, clients are accepted as before. */
static void
stop_accepting(struct process *p)
{
	uint64_t now = loop_now_ms(process_loop(p));

	if (p->state >= PROCESS_STOPPING)
		return;
	learn_keepers(p);
	if (!p->refusing_ms)
		p->refusing_ms = now;
	if (!process_refuse_new(p) || now - p->refusing_ms >= REFUSE_MAX_MS) {
		stop_listening(p, 1);
		return;
	}
	p->state = PROCESS_GRACE;
	set_stop_timer(p, REFUSE_STEP_MS);
}

static void
note_kept(struct listener *ln, void *is_any)
{
	*(int *)is_any |= ln->kept_open != 0;
}

/* Returns 1 if another process serves instead: the master has reported one, or one accepts on
 * sockets of this process. Then `grace` does not apply: it is for a service that ends. */
static int
find_successor(struct process *p)
{
	int is_any = 0;

	learn_keepers(p);
	process_each_listener(p, note_kept, &is_any);
	return is_any || p->is_replaced;
}

/* Stops accepting; sessions finish by themselves, or are closed at hard-stop-after. */
static void
soft_stop(struct process *p)
{
	if (p->state == PROCESS_RUNNING && p->cfg->global.grace_ms && !find_successor(p)) {
		p->state = PROCESS_GRACE;
		(void)atomic_swap(&p->shared.is_stopping, 1);
		notify_send(p->notify, "STOPPING=1\nSTATUS=Stopping, still accepting");
		set_stop_timer(p, p->cfg->global.grace_ms);
		return;
	}
	stop_accepting(p);
}

/* Stops accepting and closes every session. */
static void
hard_stop(struct process *p)
{
	stop_listening(p, 0);
	if (p->state == PROCESS_KILLING)
		return;
	p->state = PROCESS_KILLING;
	rendezvous_begin(p);
	/* Connections that are being handed over become sessions, which are closed too. */
	process_run_mail(p);
	for (unsigned int i = 0; i < p->n_workers; i++)
		engine_kill_all(&p->workers[i].engine);
	rendezvous_end(p);
	set_stop_timer(p, PROCESS_KILL_MS);
}

/* Reports, to the terminal, too, that clients are disconnected. In HAProxy's words. */
static void
note_hard_stop(struct process *p)
{
	static const char text[] = "soft-stop running for too long, performing a hard-stop.";

	report_msg(p->report, REPORT_WARNING, "%s", text);
	log_msg(process_log(p), LOG_LEVEL_WARNING, "%s", text);
	list_each(it, &p->cfg->proxies.all) {
		struct proxy *px = list_entry(it, struct proxy, link);

		if (!px->disabled)
			frontend_note_hard_stop(p, px);
	}
}

/* The end of a time limit of a stop: grace, hard-stop-after, PROCESS_KILL_MS. */
static void
process_on_stop_timer(struct timer *t)
{
	struct process *p = container_of(t, struct process, stop_timer);

	if (p->state == PROCESS_GRACE) {
		stop_accepting(p);
	} else if (p->state == PROCESS_STOPPING) {
		note_hard_stop(p);
		hard_stop(p);
	} else {
		p->state = PROCESS_GONE;
	}
}
PROFILE_NAME(process_on_stop_timer, process_stop_timer)

/* Lists the servers and their state, for SIGHUP (management manual, 3). */
static void
log_proxies(struct process *p)
{
	list_each(it, &p->cfg->proxies.all) {
		struct proxy *px = list_entry(it, struct proxy, link);
		struct proxy_stat fe;

		proxy_stat_sum(px, PROXY_FE, &fe);
		list_each(st, &px->servers) {
			struct server *s = list_entry(st, struct server, link);
			char status[SERVER_STATUS_MAX];
			struct server_stat sum;

			server_stat_sum(s, &sum);
			log_msg(process_log(p), LOG_LEVEL_NOTICE,
				"Server %s/%s is %s. Conn: %u act, %u pend, %llu tot.", px->name,
				s->name, server_status_text(s, status), atomic_read(&s->cur),
				atomic_read(&s->queued),
				(unsigned long long)sum.cum_sess);
		}
		if (px->caps & PROXY_FE)
			log_msg(process_log(p), LOG_LEVEL_NOTICE,
				"Proxy %s: %u act(FE), %u act(BE), %llu tot(FE).", px->name,
				gate_count(&px->fe_gate), atomic_read(&px->be_cur),
				(unsigned long long)fe.cum_sess);
	}
}

static void
log_pools(struct process *p, const struct engine *e)
{
	const struct pool *pools[] = { &e->pools.session, &e->pools.buf };

	for (size_t i = 0; i < ARRAY_LEN(pools); i++)
		log_msg(process_log(p), LOG_LEVEL_NOTICE,
			"Pool %s (%zu bytes): %u used, %u kept, %u at most.", pools[i]->name,
			pools[i]->size, counter_read(&pools[i]->live),
			counter_read(&pools[i]->kept), counter_read(&pools[i]->peak));
}

void
process_on_signal(struct process *p, int sig, pid_t from)
{
	if (p->master && sig == SIGINT)
		return;
	switch (sig) {
	case SIGTERM:
	case SIGINT:
		p->exit_signal = sig;
		if (++p->stop_signals > 1)
			p->state = PROCESS_GONE;
		else
			hard_stop(p);
		break;
	case SIGUSR1:
		p->exit_signal = sig;
		soft_stop(p);
		break;
	case SIGUSR2:
		log_msg(process_log(p), LOG_LEVEL_WARNING,
			"SIGUSR2: there is no reload without a master (-W)");
		report_msg(p->report, REPORT_WARNING,
			"SIGUSR2: there is no reload without a master (-W)");
		break;
	case SIGTTOU:
		socket_pass_to(&p->pass, from, -1);
		break;
	case SIGHUP:
		log_proxies(p);
		break;
	case SIGQUIT:
		for (unsigned int i = 0; i < p->n_workers; i++)
			log_pools(p, &p->workers[i].engine);
		break;
	default:
		break;
	}
}

/* --- the start ------------------------------------------------------------------------------- */

int
process_init(struct process *p, struct sys *sys, struct config *cfg, struct report *report,
	     struct notify *notify)
{
	unsigned int n;
	int r;

	memset(p, 0, sizeof(*p));
	p->sys = sys;
	p->cfg = cfg;
	p->report = report;
	p->notify = notify;
	p->signals.fd = -1;
	p->helper.fd = -1;
	socket_pass_init(&p->pass, p);
	timer_init(&p->status_timer, on_status);
	timer_init(&p->stop_timer, process_on_stop_timer);
	read_hostname(p);
	p->node = cfg->global.node ? cfg->global.node : p->hostname;
	n = global_threads(&cfg->global, sys);
	p->workers = mem_zalloc(n * sizeof(*p->workers));
	if (!p->workers)
		return -ERR_NOMEM;
	p->n_workers = n;
	engine_shared_init(&p->shared, n, 0);
	vars_move(&p->shared.vars, &cfg->vars);
	for (unsigned int i = 0; i < n; i++)
		worker_init(&p->workers[i], p, i);
	if (proxies_shard(&cfg->proxies, n) < 0)
		return -ERR_NOMEM;
	r = process_open_tls(p);
	return r ? r : process_make_listeners(p);
}

void
process_open_log(struct process *p, const char *progname)
{
	for (unsigned int i = 0; i < p->n_workers; i++)
		worker_open_log(&p->workers[i], progname);
}

static void
on_signal(void *owner, int sig, pid_t from)
{
	process_on_signal(owner, sig, from);
}

static int
open_workers(struct process *p)
{
	const struct global_conf *g = &p->cfg->global;
	int r = 0;

	p->shared.max_sessions = p->limits.maxconn;
	p->shared.conn_limit.max = (unsigned int)g->maxconnrate;
	p->shared.sess_limit.max = (unsigned int)g->maxsessrate;
	p->shared.tls_limit.max = (unsigned int)g->maxsslrate;
	p->shared.denies_low_ports = g->deny_low_ports;
	p->tls.max = (unsigned int)g->maxsslconn;
	p->shared.comp_rate = (unsigned int)g->comp_rate * 1024;
	p->shared.comp_memory = (uint64_t)g->comp_memory << 20;
	p->shared.comp_cpu = (unsigned int)g->comp_cpu;
	p->shared.stop_spread_ms = g->close_spread_ms;
	p->shared.name_case = &p->cfg->proxies.name_case;
	for (unsigned int i = 0; i < p->n_workers && !r; i++)
		r = worker_open(&p->workers[i]);
	return r;
}

/* --- messages of the master ------------------------------------------------------------------ */

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

/* Takes over the numbers of reloads, which the master counts over all of its worker processes. */
static void
note_reloads(struct process *p, const char *value)
{
	char *at = NULL;

	p->reloads.n = (unsigned int)strtoul(value, &at, 10);
	p->reloads.failed = *at ? (unsigned int)strtoul(at + 1, &at, 10) : 0;
	p->reloads.last_failed = *at ? (unsigned int)strtoul(at + 1, &at, 10) : 0;
}

/* Handles a line of the master; a master_link_fn. */
static void
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
	} else if (strcmp(line, MASTER_REPLACED) == 0) {
		p->is_replaced = 1;
	} else if (strcmp(line, MASTER_GETSOCKS) == 0) {
		answer_getsocks(p);
	} else if (strncmp(line, MASTER_RELOADS, sizeof(MASTER_RELOADS) - 1) == 0) {
		note_reloads(p, line + sizeof(MASTER_RELOADS) - 1);
	} else if (strncmp(line, MASTER_ENDED, sizeof(MASTER_ENDED) - 1) == 0) {
		process_tables_on_end(p, (pid_t)strtol(line + sizeof(MASTER_ENDED) - 1, NULL, 10));
	} else if (strncmp(line, MASTER_LOG, l) == 0) {
		log_msg(process_log(p), LOG_LEVEL_ALERT, "%s", line + l);
	}
}

/* --- start and end --------------------------------------------------------------------------- */

/* Makes what the first worker alone has: 0 or a negative reason. */
static int
open_own(struct process *p)
{
	struct worker *w = process_first(p);

	if (p->service && (p->master || !list_is_empty(&p->cfg->global.admin_binds))) {
		p->admin = p->service->open(w);
		if (!p->admin)
			return -ERR_NOMEM;
	}
	services_start(&p->services, &w->engine, p);
	p->services.stats = p->stats;
	p->services.metrics = p->metrics;
	if (p->master) {
		int r = master_link_open(p->master, w->loop, process_on_master, p);

		if (r)
			return r;
	}
	return signals_open(&p->signals, w->loop, on_signal, p);
}

static int
start_checks(struct process *p)
{
	struct checker_config conf = {
		.spread = (unsigned int)p->cfg->proxies.spread_checks,
		.never_local = p->cfg->proxies.never_local,
		.max_spread_ms = p->cfg->proxies.max_spread_checks_ms,
		.node = p->node,
		.helper = &p->helper,
	};

	return checker_new(&process_first(p)->engine, &p->cfg->proxies, &conf, &p->checker);
}

static int
start_mailers(struct process *p)
{
	return mailers_start(&process_first(p)->engine, &p->cfg->proxies, p->node);
}

static void
begin_alerts(struct process *p)
{
	mailers_begin(&process_first(p)->engine, &p->cfg->proxies);
}

static void
start_one(struct listener *ln, void *arg)
{
	struct process *p = arg;
	int r = ln->on_accept ? listener_start(ln, p->workers[ln->thread].loop) : 0;

	if (r && !p->start_error)
		p->start_error = r;
}

/* Choices of `balance random` must not be predictable. Any seed will do if the kernel has no random
 * bytes. */
static uint64_t
draw_seed(struct process *p)
{
	struct random_source source;
	uint64_t seed;

	random_init(&source, p->sys);
	return random_bytes(&source, &seed, sizeof(seed)) == 0 ? seed : p->started_wall_ns;
}

/* Servers and backends have been in their configured state since now; each run has a different
 * seed. */
static void
date_states(struct process *p)
{
	uint64_t seed = draw_seed(p);

	list_each(it, &p->cfg->proxies.all) {
		struct proxy *px = list_entry(it, struct proxy, link);

		px->last_change_ms = px->down_since_ms = p->started_ms;
		balance_seed(px, seed ^ (uint64_t)px->id << 32);
		list_each(st, &px->servers) {
			struct server *s = list_entry(st, struct server, link);

			s->last_change_ms = s->down_since_ms = p->started_ms;
		}
	}
}

static int
start_threads(struct process *p)
{
	int r = 0;

	/* Other threads report too from now on: the log of the start is complete. */
	p->report->is_started = 1;
	worker_bind_cpus(process_first(p));
	for (unsigned int i = 1; i < p->n_workers && !r; i++)
		r = worker_run(&p->workers[i]);
	p->running = p->n_workers > 1;
	return r;
}

static int
start_resolving(struct process *p)
{
	return resolve_start(&p->resolve, &process_first(p)->engine, &p->cfg->proxies);
}

static int
start_listeners(struct process *p)
{
	process_each_listener(p, start_one, p);
	return p->start_error;
}

static int
start_status(struct process *p)
{
	struct loop *l = process_loop(p);

	if (p->notify->fd < 0 || !p->notify->periodic)
		return 0;
	return timer_set(loop_timers(l), &p->status_timer, loop_now_ms(l) + PROCESS_STATUS_MS);
}

/* Starts that may fail, in their order. Each returns 0 or a negative reason. */
static int (*const starts[])(struct process *p) = {
	open_workers, open_own, start_resolving, rings_start, start_mailers,
	start_checks,	process_peers_start, start_listeners, start_status, watchdog_start,
	process_start_tickets, process_tables_start
};

/* Restores what lives longer than a process: from files, then from what the previous process has
 * saved. Updates of OCSP responses start behind all that. */
static void (*const restores[])(struct process *p) = {
	date_states, state_files_apply, keep_restore_states, begin_alerts,
	keep_restore_maps, process_tables_restore, process_caches_restore,
	keep_restore_tickets, keep_forget_names, ocsp_updates_start
};

int
process_start(struct process *p)
{
	struct worker *first = process_first(p);
	int r = 0;

	for (size_t i = 0; i < ARRAY_LEN(starts) && !r; i++)
		r = starts[i](p);
	if (r) {
		report_msg(p->report, REPORT_ALERT, "cannot start: %s", err_text(r));
		return r;
	}
	if (p->debug)
		report_msg(p->report, REPORT_NOTICE, "Using %s (%s) as the polling mechanism.",
			   loop_poller_name(first->loop),
			   interest_mode_name(loop_mode(first->loop)));
	p->started_ms = loop_now_ms(first->loop);
	p->started_wall_ns = loop_wall_ns(first->loop);
	for (size_t i = 0; i < ARRAY_LEN(restores); i++)
		restores[i](p);
	r = totals_clear_ledger(p);
	if (r) {
		report_msg(p->report, REPORT_ALERT, "cannot start: %s", err_text(r));
		return r;
	}
	p->at_start = p->cleared.ledger;
	p->state = PROCESS_RUNNING;
	r = start_threads(p);
	if (r)
		report_msg(p->report, REPORT_ALERT, "cannot start a thread: %s", err_text(r));
	return r;
}

static int
is_over(const struct process *p)
{
	if (p->state == PROCESS_GONE)
		return 1;
	if (p->state < PROCESS_STOPPING || process_sessions(p))
		return 0;
	/* A client of the stats socket is answered during a reload, too. */
	return p->state > PROCESS_STOPPING || !p->admin || !p->service->is_owing(p->admin);
}

static void
give_up(struct process *p, unsigned int index)
{
	log_msg(process_log(p), LOG_LEVEL_EMERG, "worker %u has failed: the process ends",
		index + 1);
	p->failed = 1;
	p->state = PROCESS_GONE;
}

void
process_run(struct process *p)
{
	while (!is_over(p)) {
		int r = worker_turn(process_first(p));
		unsigned int failed = atomic_read(&p->failed_worker);

		keep_after_turn(p);
		if (failed)
			give_up(p, failed);

		if (r) {
			report_msg(p->report, REPORT_ALERT, "waiting for events failed: %s",
				err_text(r));
			p->failed = 1;
			p->state = PROCESS_GONE;
			break;
		}
	}
}

/* Runs the messages that the workers have not read yet. They are paused or have ended. */
static void
process_run_mail(struct process *p)
{
	for (unsigned int i = 0; i < p->n_workers; i++)
		if (p->workers[i].mailbox)
			mailbox_run(p->workers[i].mailbox);
}

int
process_join(struct process *p)
{
	if (p->state == PROCESS_GONE && (p->running || (p->failed && process_sessions(p))))
		return 1;
	for (unsigned int i = 1; i < p->n_workers; i++)
		if (p->workers[i].has_thread)
			worker_leave(&p->workers[i], process_first(p)->mailbox);
	p->running = 0;
	process_run_mail(p);
	return 0;
}

void
process_fini(struct process *p)
{
	struct worker *w = process_first(p);

	state_files_free(p);
	process_tables_finish(p);
	rings_stop(p);
	ocsp_updates_stop(p);
	process_peers_end(p);
	process_close_listeners(p, 1);
	resolve_stop(&p->resolve);
	services_stop(&p->services);
	checker_free(&p->checker);
	mailers_stop(&w->engine, &p->cfg->proxies);
	external_helper_end(&p->helper, p->sys);
	/* Time is up: what is still open is closed at exit. */
	if (w->loop && w->engine.n_sessions == 0) {
		socket_pass_close(&p->pass);
		timer_stop(loop_timers(w->loop), &p->status_timer);
		watchdog_stop(p);
		timer_stop(loop_timers(w->loop), &p->tickets_timer);
		timer_stop(loop_timers(w->loop), &p->keep.tables.timer);
		timer_stop(loop_timers(w->loop), &p->stop_timer);
		signals_close(&p->signals);
		if (p->master)
			master_link_close(p->master);
		if (p->service)
			p->service->close(&p->admin);
	}
	for (unsigned int i = 0; i < p->n_workers; i++)
		worker_fini(&p->workers[i]);
	keep_close(p);
	mem_free(p->cleared_accounts);
	p->cleared_accounts = NULL;
	mem_free(p->workers);
	p->workers = NULL;
	p->n_workers = 0;
	engine_shared_fini(&p->shared);
}
