/* Wakes another worker for work that waits there. Any worker; when the mailbox is full a flag
 * makes its owner check everything. */
#include "app/process/wake_worker.h"

#include "app/process/process.h"
#include "app/process/rings.h"
#include "base/atomic.h"
#include "event/mailbox.h"
#include "event/profile.h"
#include "proxy/backend/conn_pool.h"
#include "proxy/model/service.h"
#include "proxy/resolve/resolve.h"
#include "proxy/session/conn_limits.h"
#include "proxy/session/server_change.h"
#include "proxy/backend/queue.h"

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
