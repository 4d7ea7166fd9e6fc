/* The queue of a backend: sessions of three workers at two servers with one slot each, one critical
 * section after the other. In real threads: test_queue_threads.c. */
#include "unit/proxy/session_rig.h"

#include "proxy/backend/balance.h"
#include "proxy/backend/queue.h"
#include "proxy/config/proxy_life.h"
#include "proxy/session/actions.h"
#include "sim/dice.h"
#include "unit/proxy/backend_rig.h"

#define WORKERS 3
#define SESSIONS 24

static struct engine *e[WORKERS];
static struct engine other[WORKERS - 1];
static struct session sess[SESSIONS];
static struct stream s[SESSIONS];
static struct server *a, *b;
static struct proxy *px;
static unsigned int messages_sent[WORKERS]; /* messages that were sent and not delivered */

static void
on_task(struct task *t)
{
	(void)t;
}

static void
send_message(struct engine *from, unsigned int target, struct proxy *be)
{
	assert_ptr_equal(be, px);
	assert_int_not_equal(from->index, target);
	messages_sent[target]++;
}

/* Three workers on one loop, a backend of two servers with one slot each, sessions of each worker
 * in turn. */
static int
setup(void **st)
{
	struct world_config cfg = { RIG_WORLD, .n_servers = 2,
				    .server = { { .maxconn = 1 }, { .maxconn = 1 } } };

	(void)st;
	rig_open(&cfg, NULL);
	px = w.px;
	a = w.srv[0];
	b = w.srv[1];
	assert_int_equal(proxy_make_shards(px, WORKERS), 0);
	e[0] = &w.engine;
	memset(other, 0, sizeof(other));
	memset(messages_sent, 0, sizeof(messages_sent));
	for (unsigned int i = 1; i < WORKERS; i++) {
		e[i] = &other[i - 1];
		assert_int_equal(engine_init(e[i], &w.sys, w.loop, 1024, 1000), 0);
		e[i]->index = i;
		e[i]->owner = &w;
	}
	for (unsigned int i = 0; i < WORKERS; i++)
		e[i]->hooks.wake_worker = send_message;
	memset(s, 0, sizeof(s));
	memset(sess, 0, sizeof(sess));
	for (int i = 0; i < SESSIONS; i++) {
		s[i].engine = e[i % WORKERS];
		stream_join(&s[i], &sess[i], &sess[i].conn);
		s[i].sess->fe = px;
		s[i].id = (uint64_t)i + 1;
		s[i].term[0] = s[i].term[1] = '-';
		list_init(&s[i].queue_link);
		task_init(&s[i].task, on_task);
		conn_init(s[i].conn[CLIENT]);
		conn_init(s[i].conn[SERVER]);
	}
	return 0;
}

static enum stream_event
enter(struct stream *x)
{
	int moved;

	x->be = px;
	x->has_left = 0;
	balance_take_key(x);
	return queue_enter(x, &moved);
}

static void
leave(struct stream *x)
{
	queue_leave(x);
	task_cancel(&x->task);
	x->posted = STREAM_EV_NONE;
	x->be = NULL;
	x->srv = NULL;
	x->queued_ms = 0;
}

static void
collect(unsigned int worker)
{
	queue_collect(e[worker], px);
	messages_sent[worker] = 0;
}

static int
teardown(void **st)
{
	(void)st;
	for (int i = 0; i < SESSIONS; i++)
		if (s[i].be)
			leave(&s[i]);
	for (unsigned int i = 1; i < WORKERS; i++)
		engine_fini(e[i]);
	w.n_ends = 0; /* no session had connected */
	rig_close();
	return 0;
}

static int
got_slot(const struct stream *x)
{
	return x->has_slot && !x->waits && x->posted == STREAM_EV_SLOT &&
		list_is_empty(&x->queue_link);
}

static int
is_granted(const struct stream *x)
{
	return x->has_slot && x->waits && x->posted == STREAM_EV_NONE &&
		!list_is_empty(&x->queue_link);
}

/* s[0] and s[1] have the two slots, the next n are queued in the order of their workers. */
static void
fill(int n)
{
	assert_int_equal(enter(&s[0]), STREAM_EV_ASSIGNED);
	assert_int_equal(enter(&s[1]), STREAM_EV_ASSIGNED);
	for (int i = 2; i < 2 + n; i++)
		assert_int_equal(enter(&s[i]), STREAM_EV_FULL);
	assert_int_equal(a->cur + b->cur, 2);
	assert_int_equal(px->queued, n);
	assert_int_equal(px->be_cur, 2 + n);
}

static void
without_a_slot_a_session_waits(void **st)
{
	(void)st;
	fill(3);
	assert_int_equal(px->shard[0].be.cur_max, 4); /* by s[3], and 5 by s[4] */
	assert_int_equal(px->shard[1].be.cur_max, 5);
	assert_int_equal(px->shard[2].be.cur_max, 3);
	assert_int_equal(px->waiting, 7);
	assert_int_equal(freq_read(&px->be_rate, loop_now_ms(w.loop)), 5);
}

static void
a_slot_stays_with_its_worker(void **st)
{
	(void)st;
	fill(4); /* s[3] is of worker 0, like s[0] */
	leave(&s[0]);
	assert_true(got_slot(&s[3]));
	assert_int_equal(s[3].queued_ms, loop_now_ms(w.loop));
	assert_int_equal(e[0]->stat.elided_inline, 1);
	assert_int_equal(messages_sent[1] + messages_sent[2], 0);
}

static void
a_slot_for_another_worker_is_sent_and_collected(void **st)
{
	struct server *srv;

	(void)st;
	fill(1); /* s[2], of worker 2 */
	srv = s[0].srv;
	leave(&s[0]);
	assert_true(is_granted(&s[2]));
	assert_ptr_equal(s[2].srv, srv);
	assert_int_equal(srv->cur, 1);
	assert_int_equal(messages_sent[2], 1);
	assert_int_equal(e[0]->stat.granted, 1);
	assert_int_equal(srv->shard[2].stat.cum_sess, 0);
	collect(2);
	assert_true(got_slot(&s[2]));
	assert_int_equal(srv->shard[2].stat.cum_sess, 1);
	assert_int_equal(s[2].queued_ms, loop_now_ms(w.loop));
	/* Late messages find no session. */
	collect(2);
	collect(1);
	assert_int_equal(srv->cur, 1);
}

/* The session ended by timeout or by its client before the message arrived. */
static void
a_granted_session_that_ends_passes_its_slot_on(void **st)
{
	(void)st;
	fill(2); /* s[2] of worker 2, s[3] of worker 0 */
	s[2].waits_since_ms--;
	leave(&s[1]);
	assert_true(is_granted(&s[2]));
	leave(&s[2]);
	assert_true(is_granted(&s[3]));
	assert_int_equal(messages_sent[0], 1);
	collect(2);
	collect(0);
	assert_true(got_slot(&s[3]));
	assert_int_equal(a->cur + b->cur, 2);
	assert_int_equal(px->queued, 0);
}

/* The granted session ends and another one is granted: the message serves that one. */
static void
a_message_for_one_serves_another(void **st)
{
	(void)st;
	fill(4); /* s[2], s[5] are of worker 2 */
	leave(&s[0]);
	assert_true(got_slot(&s[3]));
	leave(&s[1]);
	assert_true(got_slot(&s[4]));
	leave(&s[3]);
	assert_true(is_granted(&s[2]));
	leave(&s[4]);
	assert_true(is_granted(&s[5]));
	assert_int_equal(messages_sent[2], 1);
	leave(&s[2]);
	collect(2);
	assert_true(got_slot(&s[5]));
}

static void
a_granted_session_is_killed_as_if_queued(void **st)
{
	(void)st;
	fill(1);
	leave(&s[0]);
	assert_true(is_granted(&s[2]));
	(void)stream_do_close_killed(&s[2]);
	assert_int_equal(s[2].term[0], 'K');
	assert_int_equal(s[2].term[1], 'Q');
	assert_int_equal(a->cur + b->cur, 1);
	assert_true(list_is_empty(&px->shard[2].granted));
	s[2].be = NULL;
}

static void
a_change_of_servers_serves_all_workers(void **st)
{
	(void)st;
	put_admin(b, SERVER_MAINT_FORCED, 1);
	assert_int_equal(enter(&s[0]), STREAM_EV_ASSIGNED);
	for (int i = 1; i < 4; i++)
		assert_int_equal(enter(&s[i]), STREAM_EV_FULL);
	b->conf.maxconn = 3;
	put_admin(b, SERVER_READY, 2);
	queue_serve(e[1], px);
	assert_true(got_slot(&s[1]));
	assert_true(is_granted(&s[2]));
	assert_true(is_granted(&s[3]));
	assert_int_equal(messages_sent[0], 1);
	assert_int_equal(messages_sent[2], 1);
	assert_int_equal(b->cur, 3);
}

/* When a server goes down, queued sessions are moved; those of the current worker at once. */
static void
sessions_queued_for_a_stopped_server_are_moved(void **st)
{
	(void)st;
	px->balance = BALANCE_SOURCE;
	assert_int_equal(balance_init(px), 0);
	for (int i = 0; i < 6; i++) {
		s[i].sess->peer.len = sizeof(s[i].sess->peer.u.in);
		s[i].sess->peer.u.in.sin_family = AF_INET;
		(void)enter(&s[i]);
	}
	assert_int_equal(a->cur + b->cur, 1);
	assert_int_equal(a->queued + b->queued, 5);
	put_admin(s[0].srv, SERVER_MAINT_FORCED, 1);
	queue_serve(e[0], px);
	assert_int_equal(a->queued + b->queued, 0);
	assert_int_equal(px->queued, 4);
	assert_true(got_slot(&s[3]));
	assert_int_equal(a->cur, 1);
	assert_int_equal(b->cur, 1);
}

static void
a_redispatch_passes_its_slot_on(void **st)
{
	int moved = 7;

	(void)st;
	b->conf.maxconn = 2;
	assert_int_equal(enter(&s[0]), STREAM_EV_ASSIGNED);
	assert_int_equal(enter(&s[1]), STREAM_EV_ASSIGNED);
	assert_int_equal(enter(&s[2]), STREAM_EV_ASSIGNED);
	assert_ptr_equal(s[0].srv, a);
	assert_int_equal(b->cur, 2);
	assert_int_equal(enter(&s[4]), STREAM_EV_FULL);
	/* No other server has a free slot: it stays in the queue. */
	assert_int_equal(queue_change(&s[0], &moved), STREAM_EV_ASSIGNED);
	assert_int_equal(moved, 0);
	b->conf.maxconn = 3;
	assert_int_equal(queue_change(&s[0], &moved), STREAM_EV_ASSIGNED);
	assert_int_equal(moved, 1);
	assert_ptr_equal(s[0].srv, b);
	assert_true(is_granted(&s[4]));
	assert_ptr_equal(s[4].srv, a);
	assert_int_equal(messages_sent[1], 1);
}

/* --- sessions bound to a server --- */

static void
a_bound_session_uses_its_server_or_waits(void **st)
{
	(void)st;
	for (int i = 0; i < 5; i++)
		s[i].bound = a;
	a->conf.maxqueue = 1;
	assert_int_equal(enter(&s[0]), STREAM_EV_ASSIGNED);
	assert_int_equal(enter(&s[1]), STREAM_EV_FULL);
	assert_ptr_equal(s[0].srv, a);
	assert_ptr_equal(s[1].srv, a);
	assert_int_equal(a->queued, 1);
	/* Neither a free slot nor a place in the queue. */
	assert_int_equal(enter(&s[2]), STREAM_EV_NO_SERVER);
	assert_ptr_equal(s[2].srv, a);
	px->options |= OPT_REDISPATCH;
	assert_int_equal(enter(&s[3]), STREAM_EV_ASSIGNED);
	assert_ptr_equal(s[3].srv, b);
	s[4].forced = 1;
	assert_int_equal(enter(&s[4]), STREAM_EV_NO_SERVER);
	assert_ptr_equal(s[4].srv, a);
	/* Only sessions bound to it choose a server that is down. */
	leave(&s[0]);
	assert_true(got_slot(&s[1]) || is_granted(&s[1]));
	px->options &= ~OPT_REDISPATCH;
	put_admin(a, SERVER_MAINT_FORCED, 1);
	assert_int_equal(enter(&s[0]), STREAM_EV_FULL);
	assert_ptr_equal(s[0].srv, a);
}

/* --- random operations --- */

/* At this load the limit grows by one for every two sessions. */
static void
with_minconn_a_session_makes_room_for_those_before_it(void **st)
{
	(void)st;
	put_admin(b, SERVER_MAINT_FORCED, 1);
	a->conf.minconn = px->has_minconn = 1;
	a->conf.maxconn = 4;
	px->fullconn = 8;
	assert_int_equal(enter(&s[0]), STREAM_EV_ASSIGNED);
	assert_int_equal(enter(&s[3]), STREAM_EV_FULL);
	assert_int_equal(enter(&s[6]), STREAM_EV_FULL);
	assert_int_equal(server_limit(a), 1);
	assert_int_equal(enter(&s[9]), STREAM_EV_FULL);
	assert_int_equal(server_limit(a), 2);
	assert_true(got_slot(&s[3]));
	/* In two steps, and for another worker. */
	s[1].be = s[4].be = px;
	queue_join(&s[1], px);
	assert_true(s[6].waits);
	queue_join(&s[4], px);
	assert_int_equal(server_limit(a), 3);
	assert_true(is_granted(&s[6]));
	assert_int_equal(messages_sent[0], 1);
	collect(0);
	/* Less load, a lower limit: two have to leave before the next one gets a slot. */
	leave(&s[1]);
	leave(&s[4]);
	leave(&s[0]);
	assert_true(s[9].waits);
	assert_int_equal(a->cur, 2);
	leave(&s[3]);
	assert_true(s[9].waits);
	leave(&s[6]);
	assert_true(got_slot(&s[9]));
}

static void
check_counts(void)
{
	unsigned int slots = 0, queued = 0, here = 0;
	int for_any = 0;

	for (int i = 0; i < SESSIONS; i++) {
		slots += s[i].has_slot;
		queued += s[i].waits && !s[i].has_slot;
		here += s[i].be != NULL;
		for_any |= s[i].waits && !s[i].has_slot && !s[i].srv;
		assert_false(s[i].has_slot && !s[i].srv);
		assert_int_equal(s[i].waits,
			!list_is_empty(&s[i].queue_link) || heap_has(&s[i].queue_node));
	}
	assert_int_equal(slots, a->cur + b->cur);
	assert_int_equal(queued, a->queued + b->queued + px->queued);
	assert_int_equal(here, px->be_cur);
	assert_in_range(a->cur, 0, (unsigned int)a->conf.maxconn);
	assert_in_range(b->cur, 0, (unsigned int)b->conf.maxconn);
	/* No slot is free while a session waits for it. */
	for (int i = 0; i < 2; i++) {
		const struct server *srv = i ? b : a;

		if (server_is_usable(srv) && server_has_room(srv))
			assert_false(for_any || srv->queued);
	}
	/* Only bound sessions wait for a server that is not in use, and they get its slots. */
	for (int i = 0; i < SESSIONS; i++) {
		if (!s[i].srv || !s[i].waits || s[i].has_slot || server_is_usable(s[i].srv))
			continue;
		assert_ptr_equal(s[i].srv, s[i].bound);
		assert_false(server_has_room(s[i].srv));
	}
	/* For every granted session a message is on its way. */
	for (unsigned int i = 0; i < WORKERS; i++)
		if (!list_is_empty(&px->shard[i].granted))
			assert_true(messages_sent[i] > 0);
}

static void
random_step(struct dice *d)
{
	struct stream *x = &s[dice(d, SESSIONS)];
	unsigned int worker = dice(d, WORKERS);
	int moved;

	switch (dice(d, 16)) {
	case 0:
		put_admin(dice(d, 2) ? a : b, forced_states[dice(d, 3)], 1);
		queue_serve(e[worker], px);
		break;
	case 1:
		if (x->has_slot && !x->waits)
			(void)queue_change(x, &moved);
		break;
	case 2:
	case 3:
	case 4:
		if (messages_sent[worker])
			collect(worker);
		break;
	case 5:
		(void)!loop_turn(w.loop, (int)dice(d, 8));
		break;
	default:
		if (x->be) {
			leave(x);
			break;
		}
		/* One of four is bound. */
		x->bound = dice(d, 4) ? NULL : dice(d, 2) ? a : b;
		x->forced = (uint8_t)dice(d, 2);
		if (x->bound && (x->bound->admin & SERVER_MAINT) && !x->forced &&
			!(px->options & OPT_PERSIST))
			x->bound = NULL;
		/* Half of them have a priority. */
		x->prio_class = dice(d, 2) ? (int)dice(d, 3) - 1 : 0;
		x->prio_offset = dice(d, 4) ? 0 : (int)dice(d, 100) - 50;
		if (enter(x) == STREAM_EV_NO_SERVER)
			leave(x);
		break;
	}
}

static void
counts_hold_in_random_order(void **st)
{
	static const enum balance_algo algo[] = { BALANCE_ROUNDROBIN, BALANCE_LEASTCONN,
		BALANCE_SOURCE, BALANCE_RANDOM, BALANCE_FIRST };

	(void)st;
	for (unsigned int seed = 0; seed < 5 * ARRAY_LEN(algo); seed++) {
		struct dice d = { .state = seed + 1 };

		px->balance = algo[seed % ARRAY_LEN(algo)];
		assert_int_equal(balance_init(px), 0);
		a->conf.maxconn = 1 + (int)dice(&d, 3);
		b->conf.maxconn = 1 + (int)dice(&d, 6);
		a->conf.maxqueue = (int)dice(&d, 2) * 3;
		b->conf.minconn = (int)dice(&d, 3);
		px->has_minconn = b->conf.minconn > 0;
		px->fullconn = 1 + (int)dice(&d, SESSIONS);
		px->options = (dice(&d, 2) ? OPT_REDISPATCH : 0) | (dice(&d, 4) ? 0 : OPT_PERSIST);
		for (int i = 0; i < 4000; i++) {
			random_step(&d);
			check_counts();
		}
		for (int i = 0; i < SESSIONS; i++)
			if (s[i].be)
				leave(&s[i]);
		for (unsigned int i = 0; i < WORKERS; i++)
			collect(i);
		check_counts();
		assert_int_equal(a->cur + b->cur + px->be_cur, 0);
		put_admin(a, SERVER_READY, 2);
		put_admin(b, SERVER_READY, 2);
	}
	assert_true(e[0]->stat.granted > 0 && e[0]->stat.elided_inline > 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(without_a_slot_a_session_waits),
		CASE(a_slot_stays_with_its_worker),
		CASE(a_slot_for_another_worker_is_sent_and_collected),
		CASE(a_granted_session_that_ends_passes_its_slot_on),
		CASE(a_message_for_one_serves_another),
		CASE(a_granted_session_is_killed_as_if_queued),
		CASE(a_change_of_servers_serves_all_workers),
		CASE(sessions_queued_for_a_stopped_server_are_moved),
		CASE(a_redispatch_passes_its_slot_on),
		CASE(with_minconn_a_session_makes_room_for_those_before_it),
		CASE(a_bound_session_uses_its_server_or_waits),
		CASE(counts_hold_in_random_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
