/* A worker's life: what it is made of, its turns, its thread. Functions run on the worker's own
 * thread, unless the header names another one. */
#include "app/process/worker.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "app/process/process.h"
#include "app/process/process_peers.h"
#include "app/process/wake_worker.h"
#include "base/atomic.h"
#include "base/counter.h"
#include "base/err.h"
#include "base/futex.h"
#include "base/sbuf.h"
#include "event/mailbox.h"
#include "event/poller.h"
#include "event/profile.h"
#include "net/listener.h"
#include "proxy/filter/compress.h"
#include "proxy/filter/spoe.h"
#include "proxy/log/log_conf.h"
#include "proxy/model/memory.h"
#include "proxy/model/stream_extras.h"
#include "proxy/relay/direction.h"
#include "proxy/relay/direction.h"
#include "proxy/sample/capture.h"
#include "proxy/session/session.h"
#include "tls/tls_io.h"

/* Interval of retries for which there is no event. */
#define PAUSE_MS 10

static uint64_t
wall_ns(void *arg)
{
	return loop_wall_ns(arg);
}

void
worker_init(struct worker *w, struct process *p, unsigned int index)
{
	memset(w, 0, sizeof(*w));
	w->process = p;
	w->index = index;
	w->sys = p->sys;
	if (index) {
		sys_init(&w->own_sys, p->sys->ops, p->sys->ctx);
		w->sys = &w->own_sys;
	}
	trace_init(&w->trace);
}

/* Returns the process's report, whose calls are made and counted by this worker. */
static struct report
report_by(const struct worker *w)
{
	struct report r = *w->process->report;

	if (r.sys)
		r.sys = w->sys;
	return r;
}

static void
on_notice(struct engine *e, int is_alert, const char *text)
{
	const struct report r = report_by(e->owner);

	report_msg(&r, is_alert ? REPORT_ALERT : REPORT_WARNING, "%s", text);
}

/* Reported once, for the first target that fails; DroppedLogs continues to count. */
static void
on_log_failure(void *arg, const struct log_dest *dest, int err)
{
	const struct worker *w = arg;
	const struct report r = report_by(w);
	char name[ADDR_TEXT];
	struct addr a = { .len = dest->len };

	if (atomic_swap(&w->process->log_failed, 1))
		return;
	if (dest->kind == LOG_DEST_FD) {
		(void)snprintf(name, sizeof(name), "fd@%d", dest->fd);
	} else {
		memcpy(&a.u, &dest->u, dest->len);
		(void)addr_text(&a, name);
	}
	report_msg(&r, REPORT_ALERT,
		"log target '%s' failed: %s (errno=%d); messages are dropped. DroppedLogs in 'show "
		"info' counts them.",
		name, strerror(err), err);
}

void
worker_open_log(struct worker *w, const char *progname)
{
	const struct process *p = w->process;
	struct log_ident id;

	log_global_ident(&p->cfg->proxies.log, progname, p->node, (int)sys_getpid(w->sys), &id);
	log_sink_init(&w->log, w->sys, &id);
	w->log.lines = &p->cfg->proxies.log.lines;
	w->log.on_failure = on_log_failure;
	w->log.failure_arg = w;
	w->log.on_ring = rings_on_log;
	w->log.ring_arg = w;
	w->log_open = 1;
}

/* The process is full: all frontends are held until a session has ended. */
static void
hold_one(struct listener *ln, void *arg)
{
	if (ln->on_accept == session_on_accept && ln->worker == arg)
		listener_hold(ln, LISTENER_HOLD_PROCESS);
}

static void
resume_one(struct listener *ln, void *arg)
{
	if (ln->on_accept == session_on_accept && ln->worker == arg && ln->state != LISTENER_CLOSED)
		listener_resume(ln, LISTENER_HOLD_PROCESS);
}

/* A process at its limit reaches it again with each session that ends. */
#define FULL_LOG_MS 60000

/* Counts that maxconn is reached; one of the workers logs it, once a minute at most. */
static void
process_note_full(struct worker *w)
{
	struct process *p = w->process;
	uint64_t now = loop_now_ms(w->loop), last = atomic_read(&p->full_log_ms);

	counter_add(&w->full_times, 1);
	/* Another worker may have been faster. */
	if ((last && now < last + FULL_LOG_MS) || !atomic_replace(&p->full_log_ms, &last, now))
		return;
	log_msg(&w->log, LOG_LEVEL_WARNING,
		"maxconn %u of the process is reached: more connections wait until others end. "
		"maxconn_reached in 'show activity' counts this.",
		w->engine.shared->max_sessions);
}

static void
on_full(struct engine *e)
{
	struct worker *w = e->owner;

	if (!w->full) {
		w->full = 1;
		process_note_full(w);
		process_each_listener(w->process, hold_one, e);
	}
}

static void
on_notified(void *worker, struct mail *m)
{
	(void)worker;
	(void)m;
}
PROFILE_NAME(on_notified, worker_notified)

/* The first worker may be asleep and has to make the checks of process_run() after each turn. If
 * its mailbox is full it is awake and will make them. */
static void
notify_first(struct worker *w)
{
	struct mail m = { .fn = on_notified };

	(void)!mailbox_post(w->mailbox, process_first(w->process)->mailbox, &m);
}

static void
on_release(struct engine *e)
{
	struct worker *w = e->owner;

	if (atomic_look(&w->process->draining)) {
		if (w->index && process_sessions(w->process) == 0)
			notify_first(w);
		return;
	}
	if (w->full && !e->is_full) {
		w->full = 0;
		process_each_listener(w->process, resume_one, e);
	}
}

/* Opens all targets now: descriptors may be scarce later. */
static void
open_logs(struct worker *w)
{
	struct proxies *ps = &w->process->cfg->proxies;

	log_open(&w->log, &ps->log.lines);
	list_each(it, &ps->all)
		log_open(&w->log, &list_entry(it, struct proxy, link)->logs);
}

static int
open_mailbox(struct worker *w)
{
	struct mailbox_config mc = {
		.sys = w->sys,
		.loop = w->loop,
		.worker = w,
		.index = w->index,
		.elision = w->process->cfg->global.wake_elision,
	};
	int r = 0;

	w->mailbox = mailbox_new(&mc, &r);
	return w->mailbox ? 0 : r;
}

static void
hold_for_memory(struct listener *ln, void *arg)
{
	struct worker *w = arg;

	if (ln->worker != &w->engine || ln->state == LISTENER_CLOSED)
		return;
	if (w->engine.memory_tight)
		listener_hold(ln, LISTENER_HOLD_MEMORY);
	else
		listener_resume(ln, LISTENER_HOLD_MEMORY);
}

static void
on_memory(struct engine *e)
{
	struct worker *w = e->owner;

	if (!atomic_look(&w->process->draining))
		process_each_listener(w->process, hold_for_memory, w);
}

static void
hold_for_rate(struct listener *ln, void *arg)
{
	struct engine *e = arg;

	if (ln->worker != e || ln->on_accept != session_on_accept || ln->state == LISTENER_CLOSED)
		return;
	if (e->rate_held)
		listener_hold(ln, LISTENER_HOLD_RATE);
	else
		listener_resume(ln, LISTENER_HOLD_RATE);
}

static void
on_rate(struct engine *e)
{
	const struct worker *w = e->owner;

	process_each_listener(w->process, hold_for_rate, e);
}

/* A worker's share of a percentage of the process's descriptors. */
static unsigned int
fd_share(const struct process *p, unsigned int percent)
{
	return (unsigned int)((uint64_t)p->limits.fds * percent / 100 / p->n_workers);
}

static void
close_engine(struct worker *w)
{
	spoe_engine_free(&w->engine);
	engine_compression_free(&w->engine);
	engine_fini(&w->engine);
}

static int
make_engine(struct worker *w)
{
	const struct process *p = w->process;
	const struct global_conf *g = &p->cfg->global;
	const struct splice_conf *s = &g->splice;
	int r = engine_init(
		&w->engine, w->sys, w->loop, (unsigned int)g->bufsize, p->limits.maxconn);

	if (r)
		return r;
	w->engine.limits.line_max = (unsigned int)MIN(g->http_line_max, g->bufsize);
	engine_allow_http(&w->engine, (unsigned int)g->maxrewrite, (unsigned int)g->http_maxhdr);
	w->engine.takes_old_content = g->h1_any_payload != 0;
	w->engine.low_water = g->http_low_water;
	h2_tune_apply(&g->h2, H2_FE, &w->h2_client);
	h2_tune_apply(&g->h2, H2_BE, &w->h2_server);
	w->engine.h2_client_config = &w->h2_client;
	w->engine.h2_server_config = &w->h2_server;
	engine_allow_captures(&w->engine, p->cfg->proxies.capture_size);
	engine_allow_tracking(&w->engine, p->cfg->proxies.n_tracked);
	w->engine.err_codes = p->cfg->proxies.err_codes;
	w->engine.fail_codes = p->cfg->proxies.fail_codes;
	w->engine.idle.low_fds = fd_share(p, g->pool_low_fds);
	w->engine.idle.high_fds = fd_share(p, g->pool_high_fds);
	if (!s->off && p->limits.pipes)
		engine_allow_splice(&w->engine, MAX(1u, p->limits.pipes / p->n_workers),
			(unsigned int)s->pipesize);
	r = engine_allow_compression(&w->engine, &p->cfg->proxies, &g->deflate);
	if (!r)
		r = engine_allow_bulk(&w->engine, (unsigned int)s->after,
		(unsigned int)s->bulk_bufsize, (unsigned int)s->bulk_turn);
	if (r)
		close_engine(w);
	return r;
}

int
worker_open(struct worker *w)
{
	const struct process *p = w->process;
	const struct global_conf *g = &p->cfg->global;
	struct loop_config lc = {
		.poller = poller_find(global_poller(g)),
		.mode = g->epoll_mode,
		.max_fd = (int)p->limits.table,
		.max_events = g->maxpollevents,
		.lazy = g->lazy,
	};
	int r = 0;

	r = ledger_open_accounts(w->sys, p->cfg->proxies.n_accounts + 1);
	if (r)
		return r;
	w->loop = loop_new(w->sys, &lc, &r);
	if (!w->loop)
		return r;
	profile_set_mode(loop_profile(w->loop), (enum profile_mode)g->profile_tasks);
	r = make_engine(w);
	if (r) {
		loop_free(&w->loop);
		return r;
	}
	engine_join(&w->engine, &w->process->shared, w->index);
	w->engine.owner = w;
	w->engine.hooks.on_full = on_full;
	w->engine.hooks.on_release = on_release;
	w->engine.hooks.on_memory = on_memory;
	w->engine.hooks.on_rate = on_rate;
	w->engine.hooks.on_notice = on_notice;
	engine_allow_zerocopy(&w->engine, (size_t)g->zerocopy_threshold,
		g->zerocopy_max / p->n_workers, g->ranges_fast_path);
	memory_bound(&w->engine, g->memory / p->n_workers);
	w->engine.log = &w->log;
	w->engine.tls = w->tls;
	w->engine.server_buf = sockbuf_is_set(&g->server_buf) ? &g->server_buf : NULL;
	w->engine.trace = &w->trace;
	w->log.wall_ns = wall_ns;
	w->log.wall_arg = w->loop;
	open_logs(w);
	if (p->n_workers > 1) {
		wake_worker_enable(w);
		r = open_mailbox(w);
	}
	return !r && p->debug ? trace_start(&w->trace, TRACE_STATE, 0) : r;
}

/* -d: prints the events of the last turn. */
static void
print_trace(struct worker *w)
{
	struct sbuf out;

	if (!w->process->debug || w->trace.seq == w->traced)
		return;
	sbuf_init(&out, 0);
	w->traced = trace_dump(&w->trace, w->traced, 0, &out);
	if (out.len)
		fwrite(out.p, 1, out.len, stdout);
	fflush(stdout);
	sbuf_fini(&out);
}

int
worker_turn(struct worker *w)
{
	int r = loop_turn(w->loop, -1);

	wake_worker_catch_up(w);
	if (unlikely(atomic_read(&w->process->cfg->proxies.peers_news) == 1))
		process_peers_report(w);
	print_trace(w);
	if (log_has_pending(&w->log))
		log_flush(&w->log);
	return r == -EINTR ? 0 : r;
}

/* --- threads --- */

/*
 * Its loop has failed, which the process must report. It still takes part in pauses, since the
 * first worker may wait for it; it does nothing else.
 */
static void
wait_for_the_end(struct worker *w)
{
	(void)atomic_swap(&w->process->failed_worker, w->index);
	notify_first(w);
	while (!w->leave) {
		(void)mailbox_flush(w->mailbox);
		mailbox_run(w->mailbox);
		rendezvous_attend(w);
		futex_pause(w->sys, PAUSE_MS);
	}
}

static void
thread_main(void *arg)
{
	struct worker *w = arg;
	struct report report;
	int r = 0;

	worker_bind_cpus(w);
	while (!r && !w->leave)
		r = worker_turn(w);
	if (!r)
		return;
	report = report_by(w);
	report_msg(&report, REPORT_ALERT, "worker %u cannot wait for events: %s", w->index + 1,
		err_text(r));
	wait_for_the_end(w);
}

int
worker_run(struct worker *w)
{
	char name[THREAD_NAME_MAX];
	int r;

	snprintf(name, sizeof(name), "tacit/%u", w->index + 1);
	/* The thread reads it. */
	w->has_thread = 1;
	r = thread_start(&w->thread, thread_main, w, name);
	if (r)
		w->has_thread = 0;
	return r;
}

static void
on_leave(void *worker, struct mail *m)
{
	struct worker *w = worker;

	(void)m;
	w->leave = 1;
}
PROFILE_NAME(on_leave, worker_leave_mail)

void
worker_leave(struct worker *w, struct mailbox *from)
{
	struct mail m = { .fn = on_leave };

	while (mailbox_post(from, w->mailbox, &m) < 0 || mailbox_flush(from))
		futex_pause(w->process->sys, PAUSE_MS);
	(void)!thread_join(&w->thread);
	w->has_thread = 0;
}

void
worker_bind_cpus(struct worker *w)
{
	const cpu_set_t *cpus = global_cpus(&w->process->cfg->global, w->index);
	const struct report report = report_by(w);
	long r;

	if (!cpus)
		return;
	r = sys_sched_setaffinity(w->sys, sizeof(*cpus), cpus);
	if (r < 0)
		report_msg(&report, REPORT_WARNING, "worker %u cannot be bound to its CPUs: %s",
			w->index + 1, err_text((int)r));
}

void
worker_fini(struct worker *w)
{
	/* Time is up: what is still open is closed at exit. */
	if (w->loop && w->engine.n_sessions == 0) {
		mailbox_free(&w->mailbox);
		close_engine(w);
		loop_free(&w->loop);
		tls_io_free(&w->tls);
	} else if (!w->loop) {
		tls_io_free(&w->tls);
	}
	if (w->log_open) {
		/* The loop's clock was freed with it. */
		w->log.wall_ns = NULL;
		log_sink_fini(&w->log);
	}
	trace_fini(&w->trace);
	ledger_close_accounts(w->sys);
}
