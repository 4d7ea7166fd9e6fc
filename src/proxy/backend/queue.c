/* The critical sections of slots and queues. Any worker; each takes the backend's lock once
 * and logs, allocates and calls nothing under it. */
#include "proxy/backend/queue.h"

#include "base/atomic.h"
#include "proxy/model/count.h"
#include "base/counter.h"
#include "proxy/backend/balance.h"
#include "proxy/model/http_txn.h"
#include "proxy/backend/conn_pool.h"
#include "proxy/backend/slot.h"

/* --- after the lock --- */

/* Sessions of ours that got a slot: other workers no longer see them. */
static void
deliver_granted(struct list *ours)
{
	while (!list_is_empty(ours)) {
		struct stream *s = list_first(ours, struct stream, queue_link);

		list_remove(&s->queue_link);
		s->engine->on_slot(s);
	}
}

static void
wake_workers(struct engine *e, struct proxy *be, uint64_t who)
{
	for (; who; who &= who - 1)
		e->wake_worker(e, (unsigned int)__builtin_ctzll(who), be);
}

/* --- critical sections --- */

/* True if sessions are to stay with it (manual, option prefer-last-server and
 * max-keep-alive-queue). */
static int
is_preferred_locked(const struct server *srv)
{
	int max = srv->be->http.max_ka_queue;

	lock_assert_held(&srv->be->lock);
	return (srv->be->options & OPT_PREFER_LAST_SERVER) &&
		(max < 0 || srv->queued < (unsigned int)max || server_has_room(srv));
}

/*
 * The server to which the session still holds a connection of its own. If its client has
 * authenticated it, it would have to do so again with another one (manual, option
 * prefer-last-server). Hash algorithms make their own choice. NULL: none.
 */
static struct server *
last_server_locked(const struct stream *s)
{
	struct server *srv = session_held(s->sess) ? conn_pool_server(s->sess->held) : NULL;

	lock_assert_held(&s->be->lock);
	if (!srv || srv->be != s->be || !server_is_running(srv) || balance_hashes(s->be->balance))
		return NULL;
	return s->sess->held_private || is_preferred_locked(srv) ? srv : NULL;
}

static int
queue_is_full(const struct server *srv)
{
	return srv->conf.maxqueue && srv->queued >= (unsigned int)srv->conf.maxqueue;
}

/* The server for the session, or a place in its queue. Another server may be used if it is full and
 * the configuration permits it (manual 5.2, maxqueue). */
static enum stream_event
choose_that_locked(struct stream *s, struct server *srv)
{
	lock_assert_held(&s->be->lock);
	s->srv = srv;
	if (server_has_room(s->srv)) {
		slot_get_locked(s);
		return STREAM_EV_ASSIGNED;
	}
	return queue_is_full(srv) ? STREAM_EV_NO_SERVER : STREAM_EV_FULL;
}

static int
may_leave(const struct stream *s)
{
	return !s->bound || ((s->be->options & OPT_REDISPATCH) && !s->forced);
}

static enum stream_event
choose_server_locked(struct stream *s, const struct server *avoid)
{
	int full = 0;

	lock_assert_held(&s->be->lock);
	s->srv = balance_pick(s->be, s->has_key ? &s->key : NULL, avoid, &full);
	if (full)
		return s->srv && queue_is_full(s->srv) ? STREAM_EV_NO_SERVER : STREAM_EV_FULL;
	if (!s->srv)
		return STREAM_EV_NO_SERVER;
	slot_get_locked(s);
	return STREAM_EV_ASSIGNED;
}

static void
wait_in_queue_locked(struct stream *s)
{
	lock_assert_held(&s->be->lock);
	s->waits_since_ms = stream_now_ms(s);
	slot_queue_locked(s);
}

/* One session more raises the limits of servers with minconn, for those that wait already. Result
 * and ours: as those of slot_offer_locked(). */
static uint64_t
offer_raised_locked(struct engine *e, struct proxy *be, struct list *ours)
{
	uint64_t who = 0;

	lock_assert_held(&be->lock);
	list_each(it, &be->servers) {
		struct server *srv = list_entry(it, struct server, link);

		if (srv->conf.minconn)
			who |= slot_offer_locked(e, srv, ours);
	}
	return who;
}

static uint64_t
join_backend_locked(struct stream *s, struct list *ours)
{
	struct proxy *be = s->be;
	struct proxy_stat *st = be_stat(s);

	lock_assert_held(&s->be->lock);
	atomic_write(&be->be_cur, be->be_cur + 1);
	counter_max(&st->cur_max, be->be_cur);
	freq_add(&be->be_rate, stream_now_ms(s), 1);
	counter_max(&st->rate_max, be->be_rate.max);
	return be->has_minconn ? offer_raised_locked(s->engine, be, ours) : 0;
}

static enum stream_event
choose_or_wait_locked(struct stream *s, int *moved)
{
	struct server *want = s->bound ? s->bound : last_server_locked(s);
	enum stream_event ev;

	lock_assert_held(&s->be->lock);
	ev = want ? choose_that_locked(s, want) : choose_server_locked(s, NULL);
	if (ev == STREAM_EV_NO_SERVER && want && may_leave(s))
		ev = choose_server_locked(s, want);
	/* Once it is queued and the lock is released, other workers may set its server. */
	*moved = s->bound && s->srv != s->bound;
	if (ev == STREAM_EV_FULL)
		wait_in_queue_locked(s);
	return ev;
}

enum stream_event
queue_enter(struct stream *s, int *moved)
{
	struct engine *e = s->engine;
	struct proxy *be = s->be;
	enum stream_event ev;
	struct list ours;
	uint64_t who;

	list_init(&ours);
	lock_take(&be->lock, e->sys);
	who = join_backend_locked(s, &ours);
	ev = choose_or_wait_locked(s, moved);
	lock_drop(&be->lock);
	deliver_granted(&ours);
	wake_workers(e, be, who);
	return ev;
}

void
queue_join(struct stream *s)
{
	struct engine *e = s->engine;
	struct proxy *be = s->be;
	struct list ours;
	uint64_t who;

	list_init(&ours);
	lock_take(&be->lock, e->sys);
	who = join_backend_locked(s, &ours);
	lock_drop(&be->lock);
	deliver_granted(&ours);
	wake_workers(e, be, who);
}

enum stream_event
queue_choose(struct stream *s, int *moved)
{
	enum stream_event ev;

	lock_take(&s->be->lock, s->engine->sys);
	ev = choose_or_wait_locked(s, moved);
	lock_drop(&s->be->lock);
	return ev;
}

enum stream_event
queue_change(struct stream *s, int *moved)
{
	struct engine *e = s->engine;
	struct proxy *be = s->be;
	struct server *old = s->srv;
	struct list ours;
	enum stream_event ev;
	uint64_t who;

	list_init(&ours);
	lock_take(&be->lock, e->sys);
	slot_put_locked(s);
	ev = choose_server_locked(s, old);
	*moved = s->srv != old;
	who = slot_offer_locked(e, old, &ours);
	if (ev == STREAM_EV_FULL)
		wait_in_queue_locked(s);
	lock_drop(&be->lock);
	deliver_granted(&ours);
	wake_workers(e, be, who);
	return ev;
}

void
queue_leave(struct stream *s)
{
	struct engine *e = s->engine;
	struct proxy *be = s->be;
	struct list ours;
	uint64_t who = 0;

	if (!be)
		return;
	list_init(&ours);
	lock_take(&be->lock, e->sys);
	if (s->waits)
		slot_unqueue_locked(s);
	s->waits = 0;
	slot_put_locked(s);
	atomic_write(&be->be_cur, be->be_cur - 1);
	s->has_left = 1;
	s->left_be_cur = be->be_cur;
	s->left_srv_cur = s->srv ? s->srv->cur : 0;
	if (s->srv)
		who = slot_offer_locked(e, s->srv, &ours);
	lock_drop(&be->lock);
	deliver_granted(&ours);
	wake_workers(e, be, who);
}

void
queue_collect(struct engine *e, struct proxy *be)
{
	struct list *granted = &be->shard[e->index].granted;
	struct list ours;

	list_init(&ours);
	lock_take(&be->lock, e->sys);
	while (!list_is_empty(granted)) {
		struct stream *s = list_first(granted, struct stream, queue_link);

		list_remove(&s->queue_link);
		list_append(&ours, &s->queue_link);
		slot_taken_locked(s);
	}
	lock_drop(&be->lock);
	deliver_granted(&ours);
}

void
queue_serve(struct engine *e, struct proxy *be)
{
	struct list ours;
	uint64_t who = 0;

	list_init(&ours);
	lock_take(&be->lock, e->sys);
	list_each(it, &be->servers) {
		struct server *srv = list_entry(it, struct server, link);

		if (!server_takes_sessions(srv))
			slot_move_waiting_locked(srv);
	}
	list_each(it, &be->servers)
		who |= slot_offer_locked(e, list_entry(it, struct server, link), &ours);
	lock_drop(&be->lock);
	deliver_granted(&ours);
	wake_workers(e, be, who);
}
