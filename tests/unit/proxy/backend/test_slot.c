/* Slots and queues: which session gets a slot that is freed, and what is counted. */
#include "proxy/backend/queue.c"
#include "unit/proxy/session_rig.h"

#include "proxy/backend/balance.h"
#include "proxy/backend/server_state.h"
#include "unit/proxy/backend_rig.h"

#define SESSIONS 6

static struct stream s[SESSIONS];
static struct server *a, *b;
static struct proxy *px;

static void
on_task(struct task *t)
{
	(void)t;
}

/* Two servers with one slot each, and sessions numbered in the order of their arrival. */
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
	memset(s, 0, sizeof(s));
	for (int i = 0; i < SESSIONS; i++) {
		s[i].engine = &w.engine;
		s[i].be = px;
		s[i].id = (uint64_t)i + 1;
		list_init(&s[i].queue_link);
		task_init(&s[i].task, on_task);
	}
	lock_take(&px->lock, w.engine.sys);
	return 0;
}

static int
teardown(void **st)
{
	(void)st;
	for (int i = 0; i < SESSIONS; i++)
		slot_unqueue_locked(&s[i]);
	for (int i = 0; i < SESSIONS; i++) {
		slot_put_locked(&s[i]);
		task_cancel(&s[i].task);
	}
	lock_drop(&px->lock);
	assert_int_equal(a->cur + b->cur + a->queued + b->queued + px->queued, 0);
	rig_close();
	return 0;
}

static void
hold(struct stream *x, struct server *srv)
{
	x->srv = srv;
	slot_get_locked(x);
}

static void
wait_for(struct stream *x, struct server *srv)
{
	x->srv = srv;
	slot_queue_locked(x);
}

/* Offers a freed slot; sessions that got one are removed from the list, as by the code that informs
 * them. */
static void
offer(struct server *srv)
{
	struct list ours;

	list_init(&ours);
	assert_int_equal(slot_offer_locked(&w.engine, srv, &ours), 0);
	list_each_safe(it, &ours)
		list_remove(it);
}

/* The state of a server has changed. */
static void
serve(void)
{
	if (!server_is_usable(a))
		slot_move_waiting_locked(a);
	offer(a);
	offer(b);
}

/* Releases the slot, as the end of a session does. */
static void
give_back(struct stream *x)
{
	slot_put_locked(x);
	offer(x->srv);
}

static int
got_slot(const struct stream *x)
{
	return x->has_slot && !x->waits && list_is_empty(&x->queue_link);
}

static void
a_slot_is_counted_once(void **st)
{
	(void)st;
	assert_true(server_has_room(a));
	hold(&s[0], a);
	assert_int_equal(a->cur, 1);
	assert_int_equal(s[0].queued_ms, loop_now_ms(w.loop));
	assert_false(server_has_room(a));
	slot_put_locked(&s[0]);
	assert_int_equal(a->cur, 0);
	slot_put_locked(&s[0]);
	assert_int_equal(a->cur, 0);
	assert_int_equal(a->shard->stat.cur_max, 1);
}

static void
slots_go_to_the_oldest(void **st)
{
	(void)st;
	hold(&s[0], a);
	for (int i = 1; i < 4; i++)
		wait_for(&s[i], NULL);
	assert_int_equal(px->queued, 3);
	assert_int_equal(px->shard->be.queued_max, 3);
	for (int i = 1; i < 4; i++) {
		give_back(&s[i - 1]);
		assert_true(got_slot(&s[i]));
		assert_ptr_equal(s[i].srv, a);
		assert_int_equal(a->cur, 1);
		assert_int_equal(px->queued, 3 - i);
	}
	assert_int_equal(px->shard->be.queued_max, 3);
	assert_int_equal(a->shard->stat.cur_max, 1);
}

/* Neither queue must starve the other: the older session goes first. */
static void
the_server_queue_and_the_backend_queue_share_by_age(void **st)
{
	static const int order[] = { 1, 2, 3, 4 };

	(void)st;
	hold(&s[0], a);
	wait_for(&s[1], NULL);
	wait_for(&s[2], a);
	wait_for(&s[3], a);
	wait_for(&s[4], NULL);
	assert_int_equal(a->queued, 2);
	assert_int_equal(px->queued, 2);
	for (size_t i = 0; i < ARRAY_LEN(order); i++) {
		int n = order[i];

		give_back(&s[n - 1]);
		assert_true(got_slot(&s[n]));
		for (int later = n + 1; later < 5; later++)
			assert_false(s[later].has_slot);
	}
	assert_int_equal(a->shard->stat.queued_max, 2);
}

static void
a_session_bound_to_a_server_is_not_served_by_another(void **st)
{
	(void)st;
	hold(&s[0], a);
	hold(&s[1], b);
	wait_for(&s[2], a);
	wait_for(&s[3], NULL);
	give_back(&s[1]);
	assert_false(s[2].has_slot);
	assert_true(got_slot(&s[3]));
	assert_ptr_equal(s[3].srv, b);
	give_back(&s[0]);
	assert_true(got_slot(&s[2]));
	assert_ptr_equal(s[2].srv, a);
}

/* %sq and %bq: positions in the queues; sessions that gave up do not count as served. */
static void
positions_are_counted_for_each_queue(void **st)
{
	(void)st;
	hold(&s[0], a);
	wait_for(&s[1], NULL);
	wait_for(&s[2], NULL);
	wait_for(&s[3], NULL);
	wait_for(&s[4], a);
	slot_unqueue_locked(&s[2]);
	give_back(&s[0]);
	give_back(&s[1]);
	give_back(&s[3]);
	assert_true(got_slot(&s[4]));
	assert_int_equal(s[0].be_queue_before + s[0].queue_before, 0);
	assert_int_equal(s[1].be_queue_before, 1);
	assert_int_equal(s[3].be_queue_before, 2);
	assert_int_equal(s[4].queue_before, 1);
	assert_int_equal(s[4].be_queue_before, 0);
	/* A second wait is added to the first. */
	hold(&s[5], b);
	s[1].srv = NULL;
	slot_queue_locked(&s[1]);
	give_back(&s[5]);
	assert_int_equal(s[1].be_queue_before, 2);
	/* A counter that wraps around changes nothing. */
	give_back(&s[1]);
	px->queue_served = UINT32_MAX;
	hold(&s[5], b);
	wait_for(&s[0], NULL);
	wait_for(&s[3], NULL);
	give_back(&s[5]);
	give_back(&s[0]);
	assert_int_equal(s[0].be_queue_before, 1);
	assert_int_equal(s[3].be_queue_before, 2 + 2);
}

static void
an_unusable_server_gets_no_session(void **st)
{
	(void)st;
	hold(&s[0], a);
	wait_for(&s[1], a);
	wait_for(&s[2], NULL);
	server_put_state_locked(a, (struct server_state){ SERVER_DRAIN_FORCED, SERVER_RUNNING }, 1);
	give_back(&s[0]);
	assert_false(s[1].has_slot);
	assert_false(s[2].has_slot);
	assert_int_equal(a->cur, 0);
	/* The server comes back, now with two slots. */
	a->conf.maxconn = 2;
	server_put_state_locked(a, (struct server_state){ SERVER_READY, SERVER_RUNNING }, 2);
	server_put_state_locked(b, (struct server_state){ SERVER_MAINT_FORCED, SERVER_RUNNING }, 2);
	serve();
	assert_true(got_slot(&s[1]));
	assert_true(got_slot(&s[2]));
	assert_int_equal(a->cur, 2);
	assert_int_equal(px->queued + a->queued, 0);
	serve();
	assert_int_equal(a->cur, 2);
}

/* Otherwise they would wait for their timeout while other servers have free slots. */
static void
sessions_queued_for_a_stopped_server_use_another(void **st)
{
	(void)st;
	hold(&s[0], a);
	hold(&s[1], b);
	wait_for(&s[2], a);
	wait_for(&s[3], a);
	server_put_state_locked(a, (struct server_state){ SERVER_MAINT_FORCED, SERVER_RUNNING }, 1);
	serve();
	assert_int_equal(a->queued, 0);
	assert_int_equal(px->queued, 2);
	give_back(&s[1]);
	assert_true(got_slot(&s[2]));
	assert_ptr_equal(s[2].srv, b);
	give_back(&s[2]);
	assert_true(got_slot(&s[3]));
}

/* Sessions bound to it stay in its queue as long as that is permitted. */
static void
bound_sessions_wait_for_their_server(void **st)
{
	(void)st;
	for (int i = 1; i < 5; i++)
		s[i].bound = i < 4 ? a : b;
	s[3].forced = 1;
	hold(&s[0], a);
	hold(&s[5], b);
	for (int i = 1; i < 5; i++)
		wait_for(&s[i], a);
	server_put_state_locked(a, (struct server_state){ SERVER_DRAIN_FORCED, SERVER_RUNNING }, 1);
	serve();
	assert_int_equal(a->queued, 3);
	assert_null(s[4].srv);
	give_back(&s[0]);
	assert_true(got_slot(&s[1]));
	/* The server is down; without `option redispatch` its sessions stay. */
	server_put_state_locked(a, (struct server_state){ SERVER_MAINT_FORCED, SERVER_RUNNING }, 1);
	serve();
	assert_int_equal(a->queued, 2);
	px->options |= OPT_REDISPATCH;
	serve();
	assert_int_equal(a->queued, 1);
	assert_null(s[2].srv);
	give_back(&s[1]);
	assert_true(got_slot(&s[3]));
	assert_ptr_equal(s[3].srv, a);
	assert_false(s[2].has_slot || s[4].has_slot);
	give_back(&s[3]);
	assert_int_equal(a->cur, 0);
	give_back(&s[5]);
	assert_true(got_slot(&s[4]));
	give_back(&s[4]);
	assert_true(got_slot(&s[2]));
	px->options &= ~OPT_REDISPATCH;
}

/* Messages have the number of sessions that wait elsewhere now, before balancing follows. */
static void
sessions_leave_servers_that_change_together(void **st)
{
	struct engine *e = &w.engine;

	(void)st;
	hold(&s[0], a);
	hold(&s[5], b);
	wait_for(&s[1], a);
	wait_for(&s[2], b);
	lock_drop(&px->lock);
	server_changes_begin(e, px);
	server_set_admin(e, a, SERVER_MAINT_UNRESOLVED, 1, "");
	assert_int_equal(a->queued, 0);
	assert_int_equal(px->queued, 1);
	assert_int_equal(proxy_usable_servers(px), 2);
	server_changes_end(e, px);
	assert_int_equal(proxy_usable_servers(px), 1);
	lock_take(&px->lock, e->sys);
	give_back(&s[0]);
	assert_int_equal(a->cur, 0);
	give_back(&s[5]);
	give_back(&s[2]);
	assert_true(got_slot(&s[1]));
	assert_ptr_equal(s[1].srv, b);
}

static void
a_backup_serves_the_queue_only_while_it_stands_in(void **st)
{
	(void)st;
	b->conf.backup = 1;
	balance_refresh(px);
	hold(&s[0], a);
	wait_for(&s[1], NULL);
	wait_for(&s[2], NULL);
	serve();
	assert_false(s[1].has_slot);
	/* The session that the backup server still had ends. */
	hold(&s[5], b);
	give_back(&s[5]);
	assert_false(s[1].has_slot);
	server_put_state_locked(a, (struct server_state){ SERVER_MAINT_FORCED, SERVER_RUNNING }, 1);
	serve();
	assert_true(got_slot(&s[1]));
	assert_ptr_equal(s[1].srv, b);
}

static void
without_maxconn_all_are_served(void **st)
{
	(void)st;
	hold(&s[0], a);
	hold(&s[1], b);
	for (int i = 2; i < SESSIONS; i++)
		wait_for(&s[i], NULL);
	a->conf.maxconn = 0;
	serve();
	for (int i = 2; i < SESSIONS; i++)
		assert_ptr_equal(s[i].srv, a);
	assert_int_equal(a->cur, 5);
}

/* --- several workers --- */

static struct engine others[2];

/* Three workers; their clocks are one clock here. */
static void
more_workers(void)
{
	assert_int_equal(proxy_make_shards(px, 3), 0);
	for (unsigned int i = 0; i < 2; i++) {
		others[i].index = i + 1;
		others[i].loop = w.loop;
	}
}

static void
wait_since(struct stream *x, struct engine *e, struct server *srv, uint64_t ago)
{
	x->engine = e;
	x->waits_since_ms = loop_now_ms(w.loop) - ago;
	wait_for(x, srv);
}

/* Frees a slot of a: 0 if our session x gets it, or the bit of the worker whose session gets it. */
static uint64_t
free_one(struct stream *expected)
{
	struct list ours;
	uint64_t who;

	list_init(&ours);
	a->conf.maxconn++;
	who = slot_offer_locked(&w.engine, a, &ours);
	assert_true(expected->has_slot);
	assert_ptr_equal(expected->srv, a);
	if (expected->engine == &w.engine) {
		assert_ptr_equal(ours.next, &expected->queue_link);
		assert_int_equal(w.engine.stat.elided_inline, 1);
		list_remove(&expected->queue_link);
	} else {
		assert_true(list_is_empty(&ours));
		assert_true(expected->waits);
		assert_int_equal(expected->queued_ms, 0);
		assert_int_equal(w.engine.stat.granted, 1);
	}
	return who;
}

static void
own_sessions_come_first_for_a_while(void **st)
{
	(void)st;
	more_workers();
	hold(&s[0], a);
	wait_since(&s[1], &others[0], NULL, QUEUE_UNFAIR_MS);
	wait_since(&s[2], &w.engine, NULL, 3);
	assert_int_equal(free_one(&s[2]), 0);
}

static void
sessions_that_waited_too_long_come_before_own(void **st)
{
	(void)st;
	more_workers();
	hold(&s[0], a);
	wait_since(&s[1], &others[1], NULL, QUEUE_UNFAIR_MS + 1);
	wait_since(&s[2], &w.engine, NULL, QUEUE_UNFAIR_MS);
	assert_int_equal(free_one(&s[1]), 1u << 2);
}

static void
own_sessions_come_first_after_the_same_wait(void **st)
{
	(void)st;
	more_workers();
	hold(&s[0], a);
	wait_since(&s[1], &w.engine, a, 500);
	wait_since(&s[2], &others[0], NULL, 500);
	assert_int_equal(free_one(&s[1]), 0);
}

static void
the_oldest_session_of_other_workers_is_served(void **st)
{
	(void)st;
	more_workers();
	hold(&s[0], a);
	wait_since(&s[1], &others[0], NULL, 5);
	wait_since(&s[2], &others[1], a, 7);
	wait_since(&s[3], &others[1], a, 3);
	assert_int_equal(free_one(&s[2]), 1u << 2);
}

static void
sessions_queued_for_another_server_are_not_served(void **st)
{
	(void)st;
	more_workers();
	hold(&s[0], a);
	wait_since(&s[1], &others[0], b, 500);
	wait_since(&s[2], &others[1], NULL, 5);
	assert_int_equal(free_one(&s[2]), 1u << 2);
	assert_false(s[1].has_slot);
}

/* One message is enough for all sessions granted before the worker checks. */
static void
a_second_grant_needs_no_second_message(void **st)
{
	struct list ours;

	(void)st;
	more_workers();
	list_init(&ours);
	hold(&s[0], a);
	for (int i = 1; i < 4; i++)
		wait_since(&s[i], &others[0], NULL, 5);
	assert_int_equal(free_one(&s[1]), 1u << 1);
	a->conf.maxconn++;
	assert_int_equal(slot_offer_locked(&w.engine, a, &ours), 0);
	assert_true(s[2].has_slot);
	/* The worker has checked. */
	slot_unqueue_locked(&s[1]);
	slot_unqueue_locked(&s[2]);
	a->conf.maxconn++;
	assert_int_equal(slot_offer_locked(&w.engine, a, &ours), 1u << 1);
	assert_int_equal(a->cur, 4);
	assert_int_equal(a->shard[0].stat.cur_max, 4);
	assert_int_equal(px->queued, 0);
	assert_int_equal(px->waiting, 0);
}

static void
sessions_of_all_workers_leave_a_server_in_order(void **st)
{
	(void)st;
	more_workers();
	for (int i = 0; i < SESSIONS; i++)
		wait_since(&s[i], i % 3 ? &others[i % 3 - 1] : &w.engine, i < 3 ? NULL : a, 5);
	slot_move_waiting_locked(a);
	assert_int_equal(a->queued, 0);
	assert_int_equal(a->waiting, 0);
	assert_int_equal(px->queued, SESSIONS);
	assert_int_equal(px->waiting, 7);
	for (unsigned int i = 0; i < 3; i++) {
		assert_ptr_equal(px->shard[i].queue.fifo.next, &s[i].queue_link);
		assert_ptr_equal(px->shard[i].queue.fifo.prev, &s[i + 3].queue_link);
		assert_null(s[i + 3].srv);
	}
}

/* --- priorities --- */

static void
wait_with(struct stream *x, struct engine *e, struct server *srv, int class, int offset)
{
	x->prio_class = class;
	x->prio_offset = offset;
	wait_since(x, e, srv, 500);
}

static void
classes_come_first_then_times(void **st)
{
	static const int order[] = { 3, 5, 2, 1, 4 };

	(void)st;
	hold(&s[0], a);
	wait_with(&s[1], &w.engine, NULL, 0, 0);
	wait_with(&s[2], &w.engine, a, 0, -1);
	wait_with(&s[3], &w.engine, NULL, -1, 100);
	wait_with(&s[4], &w.engine, a, 1, -524287);
	wait_with(&s[5], &w.engine, a, 0, -2);
	assert_int_equal(a->queued, 3);
	assert_int_equal(px->queued, 2);
	for (size_t i = 0; i < ARRAY_LEN(order); i++) {
		give_back(&s[i ? order[i - 1] : 0]);
		assert_true(got_slot(&s[order[i]]));
	}
	assert_int_equal(a->queued + px->queued, 0);
	assert_int_equal(a->waiting | px->waiting, 0);
}

/* Sessions of other workers have to be mailed, but their priority is what counts. */
static void
classes_count_across_workers(void **st)
{
	(void)st;
	more_workers();
	hold(&s[0], a);
	wait_with(&s[1], &w.engine, a, 0, 0);
	wait_with(&s[2], &others[0], NULL, -2, 0);
	wait_with(&s[3], &others[1], a, -3, 0);
	s[2].waits_since_ms = s[3].waits_since_ms = loop_now_ms(w.loop);
	assert_int_equal(free_one(&s[3]), 1u << 2);
}

static void
lower_classes_of_other_workers_wait(void **st)
{
	(void)st;
	more_workers();
	hold(&s[0], a);
	wait_with(&s[1], &others[0], a, 1, 0);
	s[1].waits_since_ms = 0;
	wait_with(&s[2], &w.engine, NULL, 0, 0);
	assert_int_equal(free_one(&s[2]), 0);
}

static void
a_prioritized_session_may_give_up(void **st)
{
	(void)st;
	hold(&s[0], a);
	for (int i = 1; i < 4; i++)
		wait_with(&s[i], &w.engine, i == 1 ? a : NULL, -i, 0);
	slot_unqueue_locked(&s[3]);
	slot_unqueue_locked(&s[1]);
	assert_int_equal(a->waiting, 0);
	assert_int_equal(a->queued, 0);
	assert_int_equal(px->queued, 1);
	give_back(&s[0]);
	assert_true(got_slot(&s[2]));
	assert_false(s[1].has_slot || s[3].has_slot);
}

/* Sessions that persistence binds to the server stay, in the same order. The last one leaves while
 * they are out of the queue. */
static void
prioritized_sessions_leave_a_server_too(void **st)
{
	(void)st;
	hold(&s[0], a);
	for (int i = 1; i < 5; i++) {
		wait_with(&s[i], &w.engine, a, -i, 0);
		s[i].bound = i & 1 ? NULL : a;
		s[i].forced = 1;
	}
	slot_move_waiting_locked(a);
	assert_int_equal(a->queued, 2);
	assert_int_equal(px->queued, 2);
	assert_int_equal(a->waiting, 1);
	assert_int_equal(px->waiting, 1);
	assert_ptr_equal(stream_queue_first(&a->shard->queue), &s[4]);
	assert_ptr_equal(stream_queue_first(&px->shard->queue), &s[3]);
	assert_null(s[1].srv);
	assert_ptr_equal(s[2].srv, a);
}

/* --- whole sessions, with one worker --- */

/* Six clients, two slots: each is served and nothing is left. The sessions take the backend's lock
 * themselves. */
/* They take the backend's lock themselves. */
static void
run_sessions(uint64_t ns)
{
	lock_drop(&px->lock);
	world_run(&w, ns);
	lock_take(&px->lock, w.engine.sys);
}

static void
clients_wait_their_turn(void **st)
{
	static const struct step ask[] = { { STEP_SEND, 100 }, { STEP_WAIT_EOF, 0 },
					   { STEP_END, 0 } };
	static const struct step answer[] = { { STEP_WAIT, 100 }, { STEP_PAUSE, 10 },
					      { STEP_SEND, 200 }, { STEP_END, 0 } };

	(void)st;
	w.origin_steps = answer;
	for (int i = 0; i < 6; i++)
		(void)world_client(&w, ask, 0);
	run_sessions(FAKE_MS);
	assert_int_equal(w.engine.n_sessions, 6);
	assert_int_equal(px->queued + a->queued + b->queued, 4);
	assert_int_equal(a->cur, 1);
	assert_int_equal(b->cur, 1);
	run_sessions(RIG_LIMIT);
	assert_string_equal(rig_terms(), "-- -- -- -- -- --");
	assert_int_equal(a->shard->stat.cur_max, 1);
	assert_int_equal(b->shard->stat.cur_max, 1);
}

static void
a_wait_ends_with_its_timeout_or_its_client(void **st)
{
	static const struct step keep[] = { { STEP_SEND, 4 }, { STEP_PAUSE, 9000 },
					    { STEP_END, 0 } };
	static const struct step leave[] = { { STEP_SEND, 4 }, { STEP_PAUSE, 100 },
					     { STEP_RESET, 0 } };
	static const struct step origin[] = { { STEP_WAIT_EOF, 0 }, { STEP_END, 0 } };

	(void)st;
	w.origin_steps = origin;
	(void)world_client(&w, keep, 0);
	(void)world_client(&w, keep, 0);
	run_sessions(FAKE_MS);
	(void)world_client(&w, leave, 0);
	(void)world_client(&w, keep, 0);
	run_sessions(RIG_LIMIT);
	assert_string_equal(rig_terms(), "CQ sQ -- --");
	assert_int_equal(px->shard->be.econ, 1);
	assert_int_equal(px->shard->be.cli_abrt, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_slot_is_counted_once),
		CASE(slots_go_to_the_oldest),
		CASE(the_server_queue_and_the_backend_queue_share_by_age),
		CASE(a_session_bound_to_a_server_is_not_served_by_another),
		CASE(positions_are_counted_for_each_queue),
		CASE(an_unusable_server_gets_no_session),
		CASE(sessions_queued_for_a_stopped_server_use_another),
		CASE(bound_sessions_wait_for_their_server),
		CASE(sessions_leave_servers_that_change_together),
		CASE(a_backup_serves_the_queue_only_while_it_stands_in),
		CASE(without_maxconn_all_are_served),
		CASE(own_sessions_come_first_for_a_while),
		CASE(sessions_that_waited_too_long_come_before_own),
		CASE(own_sessions_come_first_after_the_same_wait),
		CASE(the_oldest_session_of_other_workers_is_served),
		CASE(sessions_queued_for_another_server_are_not_served),
		CASE(a_second_grant_needs_no_second_message),
		CASE(sessions_of_all_workers_leave_a_server_in_order),
		CASE(classes_come_first_then_times),
		CASE(classes_count_across_workers),
		CASE(lower_classes_of_other_workers_wait),
		CASE(a_prioritized_session_may_give_up),
		CASE(prioritized_sessions_leave_a_server_too),
		CASE(clients_wait_their_turn),
		CASE(a_wait_ends_with_its_timeout_or_its_client),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
