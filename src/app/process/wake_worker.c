/* Wakes another worker for work that waits there, pauses all, and watches them. Any worker; when
 * the mailbox is full a flag makes its owner check everything. */
#include "app/process/wake_worker.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "app/process/process.h"
#include "app/process/rings.h"
#include "base/atomic.h"
#include "base/compiler.h"
#include "base/err.h"
#include "base/futex.h"
#include "event/mailbox.h"
#include "event/profile.h"
#include "event/timer.h"
#include "proxy/backend/conn_pool.h"
#include "proxy/backend/queue.h"
#include "proxy/model/service.h"
#include "proxy/resolve/resolve.h"
#include "proxy/session/conn_limits.h"
#include "proxy/session/server_change.h"

/* --- pauses ---------------------------------------------------------------------------------- */

/*
 * Workers at a standstill. The first worker begins and ends it; each of the others waits on its
 * own thread, in rendezvous_attend(). A round cannot end before all have been counted.
 */

/* Retry interval while the eventfd of a worker cannot be written. */
#define RETRY_MS 10

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

static void
on_moved(void *worker, struct mail *m)
{
	struct worker *w = worker;

	conn_pool_drop_stale(&w->engine, m->arg);
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
	if (w->engine.on_alarm)
		w->engine.on_alarm(&w->engine, srv);
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
	w->engine.wake_for_server = wake_for_server;
	w->engine.wake_worker = wake_for_slots;
	w->engine.wake_resume = wake_for_room;
	w->engine.wake_pool = wake_for_pool;
	w->engine.wake_for_alarm = wake_for_alarm;
	w->engine.wake_asks = wake_for_asks;
	w->engine.wake_services = wake_for_services;
}

static void
catch_up_with_backend(struct worker *w, struct proxy *be)
{
	queue_collect(&w->engine, be);
	list_each(it, &be->servers) {
		struct server *s = list_entry(it, struct server, link);

		server_change_apply(&w->engine, s);
		conn_pool_drop_stale(&w->engine, s);
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
 * Asks all workers for a sign of life. Timer of the first worker; the others answer on their
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
