/* Wakes another worker for work that waits there, pauses all, and watches them. Any worker; when
 * the mailbox is full a flag makes its owner check everything. */
#include "app/process/wake_worker.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "app/process/process.h"
#include "base/atomic.h"
#include "base/compiler.h"
#include "base/counter.h"
#include "base/err.h"
#include "base/futex.h"
#include "cfg/diag.h"
#include "event/mailbox.h"
#include "event/profile.h"
#include "event/timer.h"
#include "proxy/backend/conn_pool.h"
#include "proxy/http2/h2_server.h"
#include "proxy/backend/queue.h"
#include "proxy/check/mailer.h"
#include "proxy/filter/cache_use.h"
#include "proxy/model/ring_conf.h"
#include "proxy/model/service.h"
#include "proxy/resolve/resolve.h"
#include "proxy/session/connect.h"
#include "proxy/session/session_admit.h"
#include "proxy/session/server_change.h"
#include "tls/conn_info.h"
#include "tls/connect.h"

/* --- pauses ---------------------------------------------------------------------------------- */

/*
 * Workers at a standstill. The first worker begins and ends it; each of the others waits on its
 * own thread, in rendezvous_attend(). A round cannot end before all have been counted.
 */

/* Retry interval while the eventfd of a worker cannot be written. */
#define RETRY_MS 10

static void rings_collect(struct process *p);

void
rendezvous_attend(struct worker *w)
{
	struct rendezvous *v = &w->process->meet;
	uint32_t round = atomic_load_explicit(&v->round, memory_order_relaxed);

	if (!atomic_swap(&w->called, 0))
		return;
	if (atomic_fetch_add(&v->arrived, 1) + 1 == w->process->n_workers - 1)
		futex_wake(w->sys, &v->arrived);
	while (atomic_load_explicit(&v->round, memory_order_acquire) == round)
		futex_wait(w->sys, &v->round, round, -1);
}

static void
on_call(void *worker, struct mail *m)
{
	(void)m;
	rendezvous_attend(worker);
}
PROFILE_NAME(on_call, rendezvous_mail)

void
rendezvous_begin(struct process *p)
{
	struct rendezvous *v = &p->meet;
	struct worker *first = process_first(p);
	struct mail m = { .fn = on_call };
	unsigned int owed;
	uint32_t here;

	if (!p->running || v->depth++)
		return;
	v->held++;
	atomic_store(&v->arrived, 0);
	for (unsigned int i = 1; i < p->n_workers; i++) {
		(void)atomic_swap(&p->workers[i].called, 1);
		wake_worker_post(first, &p->workers[i], &m);
	}
	do {
		owed = mailbox_flush(first->mailbox);
		here = atomic_load_explicit(&v->arrived, memory_order_acquire);
		if (here < p->n_workers - 1)
			futex_wait(first->sys, &v->arrived, here, owed ? RETRY_MS : -1);
	} while (owed || here < p->n_workers - 1);
	v->since_ns = sys_clock_ns(first->sys, CLOCK_MONOTONIC);
}

void
rendezvous_end(struct process *p)
{
	struct rendezvous *v = &p->meet;
	struct sys *sys = process_first(p)->sys;

	if (!p->running || --v->depth)
		return;
	(void)atomic_fetch_add(&v->round, 1);
	futex_wake(sys, &v->round);
	v->longest_ns = MAX(v->longest_ns, sys_clock_ns(sys, CLOCK_MONOTONIC) - v->since_ns);
}

/* --- messages -------------------------------------------------------------------------------- */

static void
on_slots(void *worker, struct mail *m)
{
	struct worker *w = worker;

	queue_collect(&w->engine, m->arg);
}
PROFILE_NAME(on_slots, slots_mail)

/* Ends connections to an address that the server no longer has, and serves sessions that wait for
 * places. */
static void
catch_up_with_pool(struct worker *w, struct server *s)
{
	conn_pool_drop_stale(&w->engine, s);
	h2_server_leave(&w->engine, s, 1);
	connect_places_collect(&w->engine, s);
}

static void
on_moved(void *worker, struct mail *m)
{
	catch_up_with_pool(worker, m->arg);
}
PROFILE_NAME(on_moved, moved_mail)

static void
collect_asks(struct worker *w)
{
	if (!w->engine.shared->asks)
		return;
	if (w->index == 0)
		resolve_take_asks(w->engine.shared->asks);
	dns_ask_collect(&w->engine);
}

static void
on_asks_mail(void *worker, struct mail *m)
{
	(void)m;
	collect_asks(worker);
}
PROFILE_NAME(on_asks_mail, asks_mail)

static void
on_services_mail(void *worker, struct mail *m)
{
	struct worker *w = worker;

	(void)m;
	services_collect(&w->engine);
}
PROFILE_NAME(on_services_mail, services_mail)

static void
on_caches_mail(void *worker, struct mail *m)
{
	struct worker *w = worker;

	(void)m;
	cache_waits_collect(&w->engine);
}
PROFILE_NAME(on_caches_mail, caches_mail)

static void
on_room(void *worker, struct mail *m)
{
	struct worker *w = worker;

	conn_limits_resume(&w->engine, m->arg);
}
PROFILE_NAME(on_room, room_mail)

static void
on_server(void *worker, struct mail *m)
{
	struct worker *w = worker;

	server_change_apply(&w->engine, m->arg);
}
PROFILE_NAME(on_server, server_mail)

static void
pass_alarm(struct worker *w, struct server *srv)
{
	if (w->engine.hooks.on_alarm)
		w->engine.hooks.on_alarm(&w->engine, srv);
}

static void
on_alarm_mail(void *worker, struct mail *m)
{
	pass_alarm(worker, m->arg);
}
PROFILE_NAME(on_alarm_mail, check_alarm_mail)

/*
 * A full mailbox will be emptied, and wake_worker_catch_up() follows. If it was full only before
 * the flag was set, the second try finds room.
 */
void
wake_worker_post(struct worker *from, struct worker *to, const struct mail *m)
{
	if (mailbox_post(from->mailbox, to->mailbox, m) == 0)
		return;
	(void)atomic_swap(&to->behind, 1);
	(void)!mailbox_post(from->mailbox, to->mailbox, m);
}

static void
post_to_worker(struct engine *e, unsigned int target, mail_fn *fn, void *arg)
{
	struct worker *from = e->owner;
	struct mail m = { .fn = fn, .arg = arg };

	wake_worker_post(from, &from->process->workers[target], &m);
}

static void
wake_for_slots(struct engine *e, unsigned int target, struct proxy *be)
{
	post_to_worker(e, target, on_slots, be);
}

static void
wake_for_pool(struct engine *e, unsigned int target, struct server *srv)
{
	post_to_worker(e, target, on_moved, srv);
}

static void
wake_for_asks(struct engine *e, unsigned int target)
{
	post_to_worker(e, target, on_asks_mail, NULL);
}

static void
wake_for_services(struct engine *e, unsigned int target)
{
	post_to_worker(e, target, on_services_mail, NULL);
}

static void
wake_for_caches(struct engine *e, unsigned int target)
{
	post_to_worker(e, target, on_caches_mail, NULL);
}

static void
wake_for_room(struct engine *e, unsigned int target, struct proxy *fe)
{
	post_to_worker(e, target, on_room, fe);
}

static void
wake_for_server(struct engine *e, unsigned int target, struct server *srv)
{
	post_to_worker(e, target, on_server, srv);
}

static void
wake_for_alarm(struct engine *e, unsigned int target, struct server *srv)
{
	post_to_worker(e, target, on_alarm_mail, srv);
}

void
wake_worker_enable(struct worker *w)
{
	w->engine.hooks.wake_for_server = wake_for_server;
	w->engine.hooks.wake_worker = wake_for_slots;
	w->engine.hooks.wake_resume = wake_for_room;
	w->engine.hooks.wake_pool = wake_for_pool;
	w->engine.hooks.wake_for_alarm = wake_for_alarm;
	w->engine.hooks.wake_asks = wake_for_asks;
	w->engine.hooks.wake_services = wake_for_services;
	w->engine.hooks.wake_caches = wake_for_caches;
}

static void
catch_up_with_backend(struct worker *w, struct proxy *be)
{
	queue_collect(&w->engine, be);
	list_each(it, &be->servers) {
		struct server *s = list_entry(it, struct server, link);

		server_change_apply(&w->engine, s);
		catch_up_with_pool(w, s);
		pass_alarm(w, s);
	}
}

void
wake_worker_catch_up(struct worker *w)
{
	if (likely(!atomic_read(&w->behind)) || !atomic_swap(&w->behind, 0))
		return;
	rendezvous_attend(w);
	collect_asks(w);
	services_collect(&w->engine);
	cache_waits_collect(&w->engine);
	if (w->index == 0)
		rings_collect(w->process);
	conn_limits_resume(&w->engine, NULL);
	list_each(it, &w->process->cfg->proxies.all) {
		struct proxy *p = list_entry(it, struct proxy, link);

		if (p->caps & PROXY_FE)
			conn_limits_resume(&w->engine, p);
		if (p->caps & PROXY_BE)
			catch_up_with_backend(w, p);
	}
}

/* --- the watchdog ---------------------------------------------------------------------------- */

/*
 * Asks all workers whether they still run. Timer of the first worker; the others answer on their
 * own threads.
 */

uint64_t
watchdog_interval(const char *usec, const char *watched, long pid)
{
	char *end;
	uint64_t ms;

	if (!usec || (watched && strtol(watched, NULL, 10) != pid))
		return 0;
	ms = strtoull(usec, &end, 10) / 1000;
	if (*end || end == usec || ms == 0)
		return 0;
	return MAX(1, ms / WATCHDOG_ROUNDS);
}

/* On the worker that is asked. */
static void
on_watchdog_mail(void *worker, struct mail *m)
{
	struct worker *w = worker;

	(void)m;
	(void)atomic_swap(&w->watchdog_round, atomic_read(&w->process->watchdog.round));
}
PROFILE_NAME(on_watchdog_mail, watchdog_mail)

static int
has_answered(const struct process *p, const struct worker *w)
{
	return w->index == 0 ||
		atomic_read(&w->watchdog_round) == atomic_read(&p->watchdog.round);
}

static int
all_have_answered(const struct process *p)
{
	for (unsigned int i = 0; i < p->n_workers; i++)
		if (!has_answered(p, &p->workers[i]))
			return 0;
	return 1;
}

static void
on_watchdog_round(struct timer *t)
{
	struct process *p = container_of(t, struct process, watchdog.timer);
	struct mail m = { .fn = on_watchdog_mail };
	struct loop *l = process_loop(p);

	if (all_have_answered(p)) {
		notify_send(p->notify, "WATCHDOG=1");
		(void)atomic_fetch_add(&p->watchdog.round, 1);
	}
	/* Repeated: a message that finds a full mailbox is lost. */
	for (unsigned int i = 0; i < p->n_workers; i++)
		if (!has_answered(p, &p->workers[i]))
			wake_worker_post(process_first(p), &p->workers[i], &m);
	/* The timer is in the heap already. */
	(void)!timer_set(loop_timers(l), t, loop_now_ms(l) + p->watchdog.interval_ms);
}
PROFILE_NAME(on_watchdog_round, watchdog_round)

int
watchdog_start(struct process *p)
{
	struct loop *l = process_loop(p);

	timer_init(&p->watchdog.timer, on_watchdog_round);
	if (!p->watchdog.interval_ms || p->notify->fd < 0)
		return 0;
	return timer_set(loop_timers(l), &p->watchdog.timer,
		loop_now_ms(l) + p->watchdog.interval_ms);
}

void
watchdog_stop(struct process *p)
{
	timer_stop(loop_timers(process_loop(p)), &p->watchdog.timer);
}

/* --- rings ----------------------------------------------------------------------------------- */

/*
 * Rings of logs. Workers post without a lock and notify the first worker, which owns what is
 * stored; before the threads run, and after they have ended, the logging thread owns it.
 */

static struct list *
rings_of(const struct process *p)
{
	return &p->cfg->proxies.log.rings;
}

static void
on_ring_mail(void *worker, struct mail *m)
{
	const struct worker *w = worker;

	log_ring_collect(m->arg, process_log(w->process));
}
PROFILE_NAME(on_ring_mail, ring_mail)

void
rings_on_log(void *worker, struct log_ring *r)
{
	struct worker *w = worker, *first = process_first(w->process);
	struct mail m = { .fn = on_ring_mail, .arg = r };

	if (w == first || !w->has_thread)
		log_ring_collect(r, &first->log);
	else
		wake_worker_post(w, first, &m);
}

/* Called on the first worker: stores what was posted to any ring. */
static void
rings_collect(struct process *p)
{
	list_each(it, rings_of(p))
		log_ring_collect(&list_entry(it, struct ring_conf, link)->ring, process_log(p));
}

/* --- files --- */

static void
on_file_failure(void *arg, int err)
{
	const struct ring_conf *c = arg;
	const struct process *p = c->process;

	report_msg(p->report, REPORT_WARNING,
		"ring '%s': backing-file '%s' cannot be written: %s. It lacks messages from now "
		"on.",
		c->name, c->backing_file, err_text(-err));
}

/* In the form of errors of the configuration. */
static void
report_at_path(const struct ring_conf *c, enum cfg_sev sev, const char *fmt, ...) fmt_printf(3, 4);

static void
report_at_path(const struct ring_conf *c, enum cfg_sev sev, const char *fmt, ...)
{
	const struct process *p = c->process;
	struct cfg_diag d;
	va_list ap;

	cfg_diag_init(&d, p->report->pid);
	va_start(ap, fmt);
	cfg_diag_vadd(&d, sev, &c->backing_where, fmt, ap);
	va_end(ap);
	report_diag(p->report, &d, p->report->quiet);
	cfg_diag_fini(&d);
}

static int
open_ring_file(struct process *p, struct ring_conf *c)
{
	int r;

	c->process = p;
	c->file.on_failure = on_file_failure;
	c->file.arg = c;
	r = log_ring_file_open(&c->file, p->sys, &c->ring, c->backing_file);
	if (r < 0) {
		report_at_path(c, CFG_ALERT, "cannot open backing-file '%s' for ring '%s': %s.",
			c->backing_file, c->name,
			r == -ERR_UNSUPPORTED ? "it is no regular file" : err_text(r));
		return -ERR_SYS;
	}
	if (c->file.rename_err)
		report_at_path(c, CFG_WARNING,
			"backing-file '%s' of ring '%s' is overwritten: it cannot get the suffix "
			"'%s': %s.",
			c->backing_file, c->name, LOG_RING_FILE_SUFFIX,
			err_text(c->file.rename_err));
	return 0;
}

int
rings_open_files(struct process *p)
{
	int bad = 0;

	list_each(it, rings_of(p)) {
		struct ring_conf *c = list_entry(it, struct ring_conf, link);

		if (c->backing_file)
			bad |= open_ring_file(p, c);
	}
	return bad ? -ERR_SYS : 0;
}

/* --- servers --- */

static int
on_server_open(void *arg, struct conn *c)
{
	const struct ring_server *s = arg;
	const char *name = s->tls_conf.sni;
	struct tls_ask ask = { .name = name ? str_of(name) : (struct str){ NULL, 0 } };

	return tls_connect_as(c, &ask);
}

/* Reported once per server: DroppedLogs counts what is lost. */
static void
on_server_failure(void *arg, const char *why)
{
	struct ring_server *s = arg;
	const struct process *p = s->process;
	struct sbuf more;

	if (s->has_failed)
		return;
	s->has_failed = 1;
	sbuf_init(&more, 0);
	/* OpenSSL's reason. */
	if (s->client.conn.xprt &&
		tls_info_text(&s->client.conn, TLS_INFO_ERROR_TEXT, &more) < 0)
		more.len = 0;
	report_msg(p->report, REPORT_WARNING,
		"ring '%s': server '%s' cannot be reached or has closed the connection: %s%s%s%s. "
		"tacit tries again. DroppedLogs in 'show info' counts messages that are lost.",
		s->ring->name, s->name, why, more.len ? " (" : "", more.len ? more.p : "",
		more.len ? ")" : "");
	sbuf_fini(&more);
}

int
rings_start(struct process *p)
{
	int r = 0;

	list_each(it, rings_of(p)) {
		struct ring_conf *c = list_entry(it, struct ring_conf, link);

		list_each(st, &c->servers) {
			struct ring_server *s = list_entry(st, struct ring_server, link);

			s->process = p;
			s->client.on_open = on_server_open;
			s->client.on_failure = on_server_failure;
			s->client.arg = s;
			if (!r)
				r = log_client_start(&s->client, process_loop(p), &c->ring,
					&s->conf);
		}
	}
	return r;
}

/* --- the stop --- */

static int
servers_are_busy(const struct process *p)
{
	list_each(it, rings_of(p))
		list_each(st, &list_entry(it, struct ring_conf, link)->servers)
			if (log_client_is_busy(&list_entry(st, struct ring_server, link)->client))
				return 1;
	return 0;
}

static int
is_sending(const struct process *p)
{
	return servers_are_busy(p) || mailers_are_busy(&p->cfg->proxies);
}

/* Bytes that servers of rings took and that mailers received: more of them mean progress. */
static uint64_t
bytes_moved(const struct process *p)
{
	uint64_t n = mailers_received(&p->cfg->proxies);

	list_each(it, rings_of(p))
		list_each(st, &list_entry(it, struct ring_conf, link)->servers)
			n += list_entry(st, struct ring_server, link)->client.taken;
	return n;
}

/* Servers that are connected, or will be, get time to take what the rings have, and mailers to
 * send their alerts: RINGS_DRAIN_MS after each progress, RINGS_DRAIN_MAX_MS in all. A second
 * SIGTERM ends it. */
static void
drain_rings(struct process *p)
{
	struct loop *l = process_loop(p);
	uint64_t until = l ? loop_now_ms(l) + RINGS_DRAIN_MS : 0;
	uint64_t end = l ? loop_now_ms(l) + RINGS_DRAIN_MAX_MS : 0;
	uint64_t moved = bytes_moved(p);

	if (!is_sending(p))
		return;
	/* The workers have ended and do not answer. */
	watchdog_stop(p);
	/* PROCESS_KILL_MS is for sessions, which are closed. */
	if (p->state == PROCESS_KILLING)
		timer_stop(loop_timers(l), &p->stop_timer);
	while (is_sending(p) && p->state != PROCESS_GONE && loop_now_ms(l) < until) {
		if (loop_turn(l, (int)(until - loop_now_ms(l))) < 0)
			return;
		if (bytes_moved(p) == moved)
			continue;
		moved = bytes_moved(p);
		until = MIN(loop_now_ms(l) + RINGS_DRAIN_MS, end);
	}
}

static void
stop_server(struct process *p, struct ring_conf *c, struct ring_server *s)
{
	unsigned int lost = log_client_stop(&s->client);

	if (!lost)
		return;
	counter_add(&c->ring.dropped, lost);
	report_msg(p->report, REPORT_WARNING,
		"ring '%s': %u messages are lost: server '%s' did not take them in time.",
		c->name, lost, s->name);
}

void
rings_stop(struct process *p)
{
	/* Time is up: other threads may run. */
	if (p->running)
		return;
	for (unsigned int i = 0; i < p->n_workers; i++) {
		struct log_sink *k = &p->workers[i].log;

		if (p->workers[i].log_open)
			log_flush(k);
		k->on_ring = NULL;
	}
	drain_rings(p);
	list_each(it, rings_of(p)) {
		struct ring_conf *c = list_entry(it, struct ring_conf, link);

		list_each(st, &c->servers)
			stop_server(p, c, list_entry(st, struct ring_server, link));
		log_ring_file_close(&c->file, p->state < PROCESS_RUNNING);
	}
}

uint64_t
rings_dropped(const struct process *p)
{
	uint64_t n = 0;

	list_each(it, rings_of(p))
		n += counter_read(&list_entry(it, struct ring_conf, link)->ring.dropped);
	return n;
}
