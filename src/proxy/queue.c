#include "proxy/queue.h"

#include "base/atomic.h"
#include "count.h"
#include "proxy/balance.h"
#include "proxy/http_txn.h"
#include "proxy/slot.h"

/* --- after the lock --- */

/* Sessions of ours that got a slot: nobody else sees them any more. */
static void
deliver(struct list *ours)
{
	while (!list_is_empty(ours)) {
		struct session *s = list_first(ours, struct session, queue_link);

		list_remove(&s->queue_link);
		session_post(s, SESSION_EV_SLOT);
	}
}

static void
tell(struct engine *e, struct proxy *be, uint64_t who)
{
	for (; who; who &= who - 1)
		e->poke(e, (unsigned int)__builtin_ctzll(who), be);
}

/* --- critical sections --- */

/* Of the client's address, or what was found in the request while it was there to be looked at. */
static int
key_of(const struct session *s, uint32_t *key)
{
	if (s->be->balance == BALANCE_SOURCE)
		return balance_key_of_addr(&s->be->hash_type, &s->peer, key);
	if (!s->txn || !s->txn->has_key)
		return 0;
	*key = s->txn->key;
	return 1;
}

static enum session_event
choose(struct session *s, const struct server *avoid)
{
	uint32_t key;
	int full = 0, known = key_of(s, &key);

	s->srv = balance_pick(s->be, known ? &key : NULL, avoid, &full);
	if (full)
		return SESSION_EV_FULL;
	if (!s->srv)
		return SESSION_EV_NO_SERVER;
	slot_get(s);
	return SESSION_EV_ASSIGNED;
}

static void
wait_in_queue(struct session *s)
{
	s->waits_since_ms = loop_now_ms(s->engine->loop);
	slot_queue(s);
}

enum session_event
queue_enter(struct session *s)
{
	struct proxy *be = s->be;
	struct proxy_stat *st = be_stat(s);
	enum session_event ev;

	lock_take(&be->lock, s->engine->sys);
	atomic_write(&be->be_cur, be->be_cur + 1);
	st->cur_max = MAX(st->cur_max, be->be_cur);
	freq_add(&be->be_rate, loop_now_ms(s->engine->loop), 1);
	ev = choose(s, NULL);
	if (ev == SESSION_EV_FULL)
		wait_in_queue(s);
	lock_drop(&be->lock);
	return ev;
}

enum session_event
queue_change(struct session *s, int *moved)
{
	struct engine *e = s->engine;
	struct proxy *be = s->be;
	struct server *old = s->srv;
	struct list ours;
	enum session_event ev;
	uint64_t who;

	list_init(&ours);
	lock_take(&be->lock, e->sys);
	slot_put(s);
	ev = choose(s, old);
	*moved = s->srv != old;
	who = slot_offer(e, old, &ours);
	if (ev == SESSION_EV_FULL)
		wait_in_queue(s);
	lock_drop(&be->lock);
	deliver(&ours);
	tell(e, be, who);
	return ev;
}

void
queue_leave(struct session *s)
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
		slot_unqueue(s);
	s->waits = 0;
	slot_put(s);
	atomic_write(&be->be_cur, be->be_cur - 1);
	s->has_left = 1;
	s->left_be_cur = be->be_cur;
	s->left_srv_cur = s->srv ? s->srv->cur : 0;
	if (s->srv)
		who = slot_offer(e, s->srv, &ours);
	lock_drop(&be->lock);
	deliver(&ours);
	tell(e, be, who);
}

void
queue_collect(struct engine *e, struct proxy *be)
{
	struct list *granted = &be->shard[e->index].granted;
	struct list ours;

	list_init(&ours);
	lock_take(&be->lock, e->sys);
	while (!list_is_empty(granted)) {
		struct session *s = list_first(granted, struct session, queue_link);

		list_remove(&s->queue_link);
		list_append(&ours, &s->queue_link);
		slot_taken(s);
	}
	lock_drop(&be->lock);
	deliver(&ours);
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

		if (!server_is_usable(srv))
			slot_move_waiting(srv);
	}
	list_each(it, &be->servers)
		who |= slot_offer(e, list_entry(it, struct server, link), &ours);
	lock_drop(&be->lock);
	deliver(&ours);
	tell(e, be, who);
}
