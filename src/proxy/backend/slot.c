/* Slots and queues of servers. Under the backend's lock, which each function asserts. When it is
 * free, no slot is free that a session waits for. */
#include "proxy/backend/slot.h"

#include "base/atomic.h"
#include "proxy/model/count.h"
#include "base/counter.h"
#include "proxy/backend/balance.h"

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

void
slot_get_locked(struct stream *s)
{
	lock_assert_held(&s->be->lock);
	assert(!s->has_slot);
	give_slot_locked(s, srv_stat(s));
	slot_taken_locked(s);
}

void
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

void
slot_put_locked(struct stream *s)
{
	lock_assert_held(&s->be->lock);
	if (!s->has_slot)
		return;
	s->has_slot = 0;
	server_put_slot(s->srv);
}

/* --- queues --- */

/* In a queue, or in the list of those granted a slot. */
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
 * A session's queue position is the number of sessions served while it waited, including itself;
 * positions in several queues are added (manual 8.2.2). Between joining and leaving the member
 * holds the difference.
 */
void
slot_queue_locked(struct stream *s)
{
	struct server *srv = s->srv;
	struct proxy *be = s->be;
	unsigned int w = s->engine->index;

	lock_assert_held(&s->be->lock);
	assert(!is_linked(s));
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

void
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

/* A session of another worker, which would have to be mailed, is served before ours if it has
 * another priority and comes first, or if it has waited too long. */
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

/* Grants the slot to a session of another worker: returns its bit if it has to be notified. */
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

uint64_t
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
		s->srv = srv;
		if (s->engine == e) {
			counter_add(&e->elided_inline, 1);
			slot_get_locked(s);
			list_append(ours, &s->queue_link);
		} else {
			counter_add(&e->granted, 1);
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
	s->srv = NULL;
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

void
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
