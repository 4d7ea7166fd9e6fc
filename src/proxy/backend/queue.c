/* Slots of servers, the queues for them, and their critical sections: a public function takes the
 * backend's lock once, and logs, allocates and calls nothing under it. */
#include "proxy/backend/queue.h"

#include "base/atomic.h"
#include "proxy/model/count.h"
#include "base/counter.h"
#include "proxy/backend/balance.h"
#include "proxy/model/http_txn.h"
#include "proxy/backend/conn_pool.h"

/*
 * Slots. The caller of each function holds the backend's lock (proxy.lock). When that is free, no
 * slot is free that a session waits for.
 *
 * Each worker's sessions wait in separate queues (proxy/model/stream_queue.h), so that a freed
 * slot finds one of the same worker first; the masks server.waiting and proxy.waiting show which
 * queues are not empty.
 */

/* A session of another worker is preferred to ours if it has waited longer, and longer than
 * this. */
#define QUEUE_UNFAIR_MS 10

static inline uint64_t
worker_bit(unsigned int worker)
{
	return UINT64_C(1) << worker;
}

static struct server_shard *
queue_of_server(const struct stream *s)
{
	return &s->srv->shard[s->engine->index];
}

static struct proxy_shard *
queue_of_backend(const struct stream *s)
{
	return &s->be->shard[s->engine->index];
}

static void
give_slot_locked(struct stream *s, struct server_stat *st)
{
	struct server *srv = s->srv;

	lock_assert_held(&s->be->lock);
	server_get_slot(srv, st);
	s->slot = srv->slots + 1;
	atomic_write(&srv->slots, s->slot);
	s->has_slot = 1;
}

/* The session has learned of its slot: sets the time and the worker's counters. To be called before
 * the slot is used. */
static void
slot_taken_locked(struct stream *s)
{
	lock_assert_held(&s->be->lock);
	s->waits = 0;
	s->queued_ms = stream_now_ms(s);
	s->queued_us = US_BITS(stream_now_us(s));
	counter_add(&srv_stat(s)->cum_sess, 1);
	counter_set(&srv_stat(s)->last_sess_ms, s->queued_ms);
	counter_set(&be_stat(s)->last_sess_ms, s->queued_ms);
	freq_add(&s->srv->sess_rate, s->queued_ms, 1);
	counter_max(&srv_stat(s)->rate_max, s->srv->sess_rate.max);
}

/* Takes a slot of s->srv for a session of this worker. */
static void
slot_get_locked(struct stream *s)
{
	lock_assert_held(&s->be->lock);
	assert(!s->has_slot);
	give_slot_locked(s, srv_stat(s));
	slot_taken_locked(s);
}

/* Releases its slot, if it has one; slot_offer_locked() must follow. */
static void
slot_put_locked(struct stream *s)
{
	if (!s->has_slot)
		return;
	lock_assert_held(&s->be->lock);
	s->has_slot = 0;
	server_put_slot(s->srv);
}

/* --- queues --- */

/* True if the stream is in a queue, or in the list of those granted a slot. */
static int
is_linked(const struct stream *s)
{
	return heap_has(&s->queue_node) || !list_is_empty(&s->queue_link);
}

static void
count_queued(unsigned int *queued, unsigned int n, _Atomic unsigned int *max)
{
	atomic_write(queued, n);
	counter_max(max, n);
}

/*
 * Puts it into the queue of s->srv, or of its backend if there is none.
 * A session's queue position is the number of sessions served while it waited, including itself;
 * positions in several queues are added (manual 8.2.2). Between joining and leaving the member
 * holds the difference.
 */
static void
slot_queue_locked(struct stream *s)
{
	struct server *srv = s->srv;
	struct proxy *be = s->be;
	unsigned int w = s->engine->index;

	lock_assert_held(&s->be->lock);
	assert(!is_linked(s));
	/* Its worker reads this without the lock: another one, which moves it, does not write. */
	if (!s->waits)
		s->waits = 1;
	if (srv) {
		s->queue_before -= srv->queue_served;
		stream_queue_add(&queue_of_server(s)->queue, s);
		srv->waiting |= worker_bit(w);
		count_queued(&srv->queued, srv->queued + 1, &srv_stat(s)->queued_max);
	} else {
		s->be_queue_before -= be->queue_served;
		stream_queue_add(&queue_of_backend(s)->queue, s);
		be->waiting |= worker_bit(w);
		count_queued(&be->queued, be->queued + 1, &be_stat(s)->queued_max);
	}
}

/* Removes it from the queue, or from the list of sessions granted a slot. */
static void
slot_unqueue_locked(struct stream *s)
{
	struct server *srv = s->srv;
	struct proxy *be = s->be;
	unsigned int w = s->engine->index;

	lock_assert_held(&s->be->lock);
	if (!is_linked(s))
		return;
	/* The session was granted a slot and is in no queue. */
	if (s->has_slot) {
		list_remove(&s->queue_link);
		return;
	}
	if (srv) {
		stream_queue_remove(&queue_of_server(s)->queue, s);
		s->queue_before += srv->queue_served + 1;
		atomic_write(&srv->queued, srv->queued - 1);
		if (stream_queue_is_empty(&queue_of_server(s)->queue))
			srv->waiting &= ~worker_bit(w);
	} else {
		stream_queue_remove(&queue_of_backend(s)->queue, s);
		s->be_queue_before += be->queue_served + 1;
		atomic_write(&be->queued, be->queued - 1);
		if (stream_queue_is_empty(&queue_of_backend(s)->queue))
			be->waiting &= ~worker_bit(w);
	}
}

/* --- the next session --- */

/* True if the session is bound to this server by force-persist, or by persistence while the server
 * is up. */
static int
is_tied(const struct stream *s)
{
	unsigned int options = s->be->options;

	return s->srv == s->bound &&
		(s->forced || server_is_running(s->srv) || (options & OPT_PERSIST) ||
			!(options & OPT_REDISPATCH));
}

/* The first one of one worker's sessions; any: including the backend's queue. */
static struct stream *
next_of(const struct server *srv, unsigned int worker, int any)
{
	struct stream *own = stream_queue_first(&srv->shard[worker].queue);
	struct stream *other = any ? stream_queue_first(&srv->be->shard[worker].queue) : NULL;

	if (own && !server_takes_sessions(srv) && !is_tied(own))
		own = NULL;
	if (!own || !other)
		return own ? own : other;
	return stream_queue_is_before(other, own) ? other : own;
}

/* True if a session of another worker, which has to be notified, is served before ours: it has
 * another priority and comes first, or has waited too long. */
static int
comes_before_ours(const struct stream *s, const struct stream *ours, uint64_t now)
{
	if (s->prio_class != ours->prio_class || s->prio_offset != ours->prio_offset)
		return stream_queue_is_before(s, ours);
	return s->waits_since_ms + QUEUE_UNFAIR_MS < now;
}

/*
 * The next session for a slot of this server. Sessions in the backend's queue only go to servers of
 * the group in use, not to a backup that is no longer used.
 */
static struct stream *
next_waiting_locked(const struct engine *e, const struct server *srv)
{
	struct stream *ours, *best;
	uint64_t who, now = loop_now_ms(e->loop);
	int any;

	lock_assert_held(&srv->be->lock);
	any = atomic_read(&srv->in_group);
	who = srv->waiting | (any ? srv->be->waiting : 0);
	best = ours = who & worker_bit(e->index) ? next_of(srv, e->index, any) : NULL;
	for (who &= ~worker_bit(e->index); who; who &= who - 1) {
		struct stream *s = next_of(srv, (unsigned int)__builtin_ctzll(who), any);

		if (!s || (ours && !comes_before_ours(s, ours, now)))
			continue;
		if (!best || stream_queue_is_before(s, best))
			best = s;
	}
	return best;
}

/* Grants the slot to a session of another worker: returns the worker's bit if it has to be
 * notified. */
static uint64_t
grant_slot_locked(struct stream *s, struct server_stat *st)
{
	struct list *granted = &queue_of_backend(s)->granted;
	uint64_t told;

	lock_assert_held(&s->be->lock);
	told = list_is_empty(granted) ? worker_bit(s->engine->index) : 0;
	give_slot_locked(s, st);
	list_append(granted, &s->queue_link);
	return told;
}

/*
 * Gives free slots of srv to the sessions of the best priority, among them to those that have
 * waited longest, ours first (QUEUE_UNFAIR_MS).
 * Sessions of e's worker are appended to `ours` by queue_link, those of others to `granted` of
 * their shard. Returns the workers (one bit each) that have to be notified: their list was empty.
 */
static uint64_t
slot_offer_locked(struct engine *e, struct server *srv, struct list *ours)
{
	uint64_t tell = 0;

	lock_assert_held(&srv->be->lock);
	while (server_has_room(srv)) {
		struct stream *s = next_waiting_locked(e, srv);
		uint32_t *served;

		if (!s)
			break;
		served = s->srv ? &srv->queue_served : &srv->be->queue_served;
		slot_unqueue_locked(s);
		(*served)++;
		atomic_write(&s->srv, srv);
		if (s->engine == e) {
			counter_add(&e->stat.elided_inline, 1);
			slot_get_locked(s);
			list_append(ours, &s->queue_link);
		} else {
			counter_add(&e->stat.granted, 1);
			tell |= grant_slot_locked(s, &srv->shard[e->index].stat);
		}
	}
	return tell;
}

/* Makes the session wait for any server. */
static void
move_to_backend_locked(struct stream *s)
{
	lock_assert_held(&s->be->lock);
	slot_unqueue_locked(s);
	atomic_write(&s->srv, NULL);
	slot_queue_locked(s);
}

/* Moves sessions with a priority, in their order. Sessions that stay are out of the queue for a
 * moment. */
static void
move_prioritized_locked(struct server *srv, struct stream_queue *queue)
{
	struct list kept;
	struct stream *s;

	lock_assert_held(&srv->be->lock);
	list_init(&kept);
	while ((s = stream_queue_first_prioritized(queue))) {
		if (!is_tied(s)) {
			move_to_backend_locked(s);
			continue;
		}
		stream_queue_remove(queue, s);
		list_append(&kept, &s->queue_link);
	}
	while (!list_is_empty(&kept)) {
		s = list_first(&kept, struct stream, queue_link);
		list_remove(&s->queue_link);
		stream_queue_add(queue, s);
		srv->waiting |= worker_bit(s->engine->index);
	}
}

/* Moves sessions that wait for an unusable server to the backend's queue, except those that
 * persistence has bound to it. */
static void
slot_move_waiting_locked(struct server *srv)
{
	lock_assert_held(&srv->be->lock);
	for (uint64_t who = srv->waiting; who; who &= who - 1) {
		struct stream_queue *queue = &srv->shard[__builtin_ctzll(who)].queue;

		list_each_safe(it, &queue->fifo) {
			struct stream *s = list_entry(it, struct stream, queue_link);

			if (!is_tied(s))
				move_to_backend_locked(s);
		}
		move_prioritized_locked(srv, queue);
	}
}

/* --- after the lock --- */

/* Sessions of ours that got a slot: other workers no longer see them. */
static void
deliver_granted(struct list *ours)
{
	while (!list_is_empty(ours)) {
		struct stream *s = list_first(ours, struct stream, queue_link);

		list_remove(&s->queue_link);
		s->engine->hooks.on_slot(s);
	}
}

static void
wake_workers(struct engine *e, struct proxy *be, uint64_t who)
{
	for (; who; who &= who - 1)
		e->hooks.wake_worker(e, (unsigned int)__builtin_ctzll(who), be);
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
join_backend_locked(struct stream *s, struct proxy *be, struct list *ours)
{
	struct proxy_stat *st = &be->shard[s->engine->index].be;

	lock_assert_held(&be->lock);
	s->has_joined = 1;
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
	who = join_backend_locked(s, be, &ours);
	ev = choose_or_wait_locked(s, moved);
	lock_drop(&be->lock);
	deliver_granted(&ours);
	wake_workers(e, be, who);
	return ev;
}

void
queue_join(struct stream *s, struct proxy *be)
{
	struct engine *e = s->engine;
	struct list ours;
	uint64_t who;

	list_init(&ours);
	lock_take(&be->lock, e->sys);
	who = join_backend_locked(s, be, &ours);
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
	struct proxy *be = stream_backend(s);
	struct list ours;
	uint64_t who = 0;

	if (!s->has_joined || s->has_left)
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
queue_move_waiting(struct engine *e, struct server *srv)
{
	lock_take(&srv->be->lock, e->sys);
	slot_move_waiting_locked(srv);
	lock_drop(&srv->be->lock);
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
