/* The queue of a backend, with workers that are real threads. One after the other: test_queue.c. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"
#include "event/poller.h"
#include "proxy/backend/balance.h"
#include "proxy/backend/queue.h"
#include "proxy/config/proxy_life.h"
#include "proxy/session/actions.h"
#include "sim/dice.h"
#include "sim/world_rules.h"
#include "unit/test.h"

#define THREADS 4
#define AT_ONCE 8        /* sessions of a thread at one time */
#define PER_THREAD 50000 /* sessions of a thread in total */

enum use { IDLE, WAITING, HOLDING };

struct thread {
	pthread_t id;
	struct sys sys;
	struct loop *loop;
	struct engine engine;
	struct session sess[AT_ONCE];
	struct stream session[AT_ONCE];
	enum use use[AT_ONCE];
	struct dice dice;
	unsigned int started, served, gave_up;
};

static struct {
	struct proxy *px;
	struct server *srv[2];
	struct thread thread[THREADS];
	unsigned int messages_sent[THREADS];
	unsigned int held[2]; /* as counted by the threads */
	unsigned int too_many;
	unsigned int idle; /* free slots seen while a session waited */
} storm;

static void
storm_poke(struct engine *from, unsigned int target, struct proxy *be)
{
	(void)from;
	(void)be;
	(void)atomic_swap(&storm.messages_sent[target], 1u);
}

static int
storm_index(const struct stream *x)
{
	return x->srv == storm.srv[1];
}

static void
storm_holds(struct thread *t, int i)
{
	int n = storm_index(&t->session[i]);

	t->use[i] = HOLDING;
	t->served++;
	if (atomic_add(&storm.held[n], 1u) > (unsigned int)storm.srv[n]->conf.maxconn)
		(void)atomic_add(&storm.too_many, 1u);
}

static void
storm_on_slot(struct task *task)
{
	struct stream *x = container_of(task, struct stream, task);
	struct thread *t = x->engine->owner;

	x->posted = STREAM_EV_NONE;
	storm_holds(t, (int)(x - t->session));
}

static void
storm_leave(struct thread *t, int i)
{
	struct stream *x = &t->session[i];

	if (t->use[i] == HOLDING)
		(void)atomic_sub(&storm.held[storm_index(x)], 1u);
	else
		t->gave_up++;
	queue_leave(x);
	task_cancel(&x->task);
	t->use[i] = IDLE;
}

static void
storm_enter(struct thread *t, int i)
{
	struct stream *x = &t->session[i];
	int moved;

	memset(x, 0, sizeof(*x));
	stream_join(x, &t->sess[i], &t->sess[i].conn);
	x->engine = &t->engine;
	x->sess->fe = x->be = storm.px;
	x->id = ++t->engine.next_id;
	list_init(&x->queue_link);
	task_init(&x->task, storm_on_slot);
	x->prio_class = dice(&t->dice, 2) ? (int)dice(&t->dice, 4) - 2 : 0;
	t->started++;
	if (queue_enter(x, &moved) == STREAM_EV_ASSIGNED)
		storm_holds(t, i);
	else
		t->use[i] = WAITING;
}

static void
storm_look(struct thread *t)
{
	struct proxy *be = storm.px;

	lock_take(&be->lock, &t->sys);
	if (be->waiting && (server_has_room(storm.srv[0]) || server_has_room(storm.srv[1])))
		storm.idle++;
	lock_drop(&be->lock);
}

/* A queued session stays queued at the end: it is served, or the test hangs. */
static int
storm_step(struct thread *t)
{
	int i = (int)dice(&t->dice, AT_ONCE), more = t->started < PER_THREAD;
	int busy = 0;

	if (atomic_swap(&storm.messages_sent[t->engine.index], 0u))
		queue_collect(&t->engine, storm.px);
	if (t->use[i] == HOLDING || (t->use[i] == WAITING && more && dice_is(&t->dice, 32)))
		storm_leave(t, i);
	else if (t->use[i] == IDLE && more)
		storm_enter(t, i);
	else
		storm_look(t);
	for (int k = 0; k < AT_ONCE; k++)
		busy |= t->use[k] != IDLE;
	return more || busy;
}

static void *
storm_thread(void *arg)
{
	struct thread *t = arg;

	for (unsigned int n = 0; storm_step(t); n++)
		if (n % 8 == 0)
			(void)!loop_turn(t->loop, 0);
	return NULL;
}

static void
storm_open(void)
{
	struct loop_config lc = { .poller = &poller_epoll, .max_fd = 64, .max_events = 8 };
	int r = 0;

	memset(&storm, 0, sizeof(storm));
	storm.px = proxy_new("px", PROXY_BE);
	assert_non_null(storm.px);
	for (int i = 0; i < 2; i++) {
		storm.srv[i] = server_new(storm.px, i ? "b" : "a", &storm.px->default_server);
		assert_non_null(storm.srv[i]);
		storm.srv[i]->conf.maxconn = 3 + i;
		list_append(&storm.px->servers, &storm.srv[i]->link);
		storm.px->n_servers++;
	}
	assert_int_equal(proxy_make_shards(storm.px, THREADS), 0);
	assert_int_equal(balance_init(storm.px), 0);
	for (unsigned int i = 0; i < THREADS; i++) {
		struct thread *t = &storm.thread[i];

		sys_init(&t->sys, &sys_linux, NULL);
		t->loop = loop_new(&t->sys, &lc, &r);
		assert_non_null(t->loop);
		assert_int_equal(engine_init(&t->engine, &t->sys, t->loop, 1024, 1000), 0);
		t->engine.index = i;
		t->engine.owner = t;
		t->engine.hooks.wake_worker = storm_poke;
		t->dice = dice_seed(i);
	}
}

static void
threads_never_exceed_maxconn_and_are_all_served(void **st)
{
	unsigned int served = 0, gave_up = 0;
	uint64_t granted = 0, inline_ = 0;

	(void)st;
	storm_open();
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&storm.thread[i].id, NULL, storm_thread,
					 &storm.thread[i]), 0);
	for (int i = 0; i < THREADS; i++) {
		struct thread *t = &storm.thread[i];

		assert_int_equal(pthread_join(t->id, NULL), 0);
		served += t->served;
		gave_up += t->gave_up;
		granted += t->engine.stat.granted;
		inline_ += t->engine.stat.elided_inline;
		engine_fini(&t->engine);
		loop_free(&t->loop);
	}
	assert_int_equal(storm.too_many, 0);
	assert_int_equal(storm.idle, 0);
	assert_int_equal(served + gave_up, THREADS * PER_THREAD);
	assert_true(served > THREADS * PER_THREAD / 100);
	assert_true(granted > 0 && inline_ > 0);
	assert_int_equal(storm.srv[0]->cur + storm.srv[1]->cur, 0);
	assert_int_equal(storm.px->be_cur + storm.px->queued, 0);
	assert_int_equal(storm.held[0] + storm.held[1], 0);
	for (int i = 0; i < 2; i++) {
		struct server_stat sum;

		server_stat_sum(storm.srv[i], &sum);
		assert_int_equal(sum.cur_max, storm.srv[i]->conf.maxconn);
	}
	proxy_free(&storm.px);
}

/* --- data protected by the lock while a session waits: for ThreadSanitizer --- */

#define ROUNDS 50

static struct {
	struct world_rules *rules;
	pthread_barrier_t round;
	unsigned int wrong;
} handing;

static struct stream *
handing_enter(struct thread *t, enum stream_event want)
{
	struct stream *x = &t->session[0];

	memset(x, 0, sizeof(*x));
	stream_join(x, &t->sess[0], &t->sess[0].conn);
	x->engine = &t->engine;
	x->sess->fe = storm.px;
	x->id = ++t->engine.next_id;
	list_init(&x->queue_link);
	task_init(&x->task, storm_on_slot);
	if (stream_do_assign(x) != want)
		(void)atomic_add(&handing.wrong, 1u);
	return x;
}

/* Holds the slot, and releases it as soon as another session waits. */
static void *
handing_giver(void *arg)
{
	struct thread *t = arg;

	for (int i = 0; i < ROUNDS; i++) {
		struct stream *x = handing_enter(t, STREAM_EV_ASSIGNED);
		unsigned int waiting = 0;

		(void)pthread_barrier_wait(&handing.round);
		while (!waiting) {
			lock_take(&storm.px->lock, &t->sys);
			waiting = storm.srv[0]->queued;
			lock_drop(&storm.px->lock);
		}
		queue_leave(x);
		(void)pthread_barrier_wait(&handing.round);
	}
	return NULL;
}

/* Finds no free slot, reads its server, as `show sess` does, and gets a slot before it checks
 * again. It takes no lock in between, which would order its accesses before those of the other
 * thread. */
static void *
handing_taker(void *arg)
{
	struct thread *t = arg;

	for (int i = 0; i < ROUNDS; i++) {
		const struct server *seen;
		struct stream *x;

		(void)pthread_barrier_wait(&handing.round);
		x = handing_enter(t, STREAM_EV_FULL);
		seen = stream_chosen_server(x);
		if (seen && seen != storm.srv[0])
			(void)atomic_add(&handing.wrong, 1u);
		while (!atomic_swap(&storm.messages_sent[t->engine.index], 0u))
			(void)sched_yield();
		queue_collect(&t->engine, storm.px);
		if (x->srv != storm.srv[0] || x->redispatched)
			(void)atomic_add(&handing.wrong, 1u);
		queue_leave(x);
		task_cancel(&x->task);
		(void)pthread_barrier_wait(&handing.round);
	}
	return NULL;
}

static void
a_waiting_session_may_get_its_slot_at_once(void **st)
{
	static void *(*const run[])(void *) = { handing_giver, handing_taker };
	char why[256];

	(void)st;
	storm_open();
	storm.srv[0]->conf.maxconn = 1;
	storm.px->default_be = storm.px;
	storm.px->caps |= PROXY_FE;
	handing.rules = world_rules_new(storm.px, "use-server a if TRUE", why, sizeof(why));
	if (!handing.rules)
		fail_msg("%s", why);
	assert_int_equal(pthread_barrier_init(&handing.round, NULL, 2), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&storm.thread[i].id, NULL, run[i],
					 &storm.thread[i]), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_join(storm.thread[i].id, NULL), 0);
	for (int i = 0; i < THREADS; i++) {
		engine_fini(&storm.thread[i].engine);
		loop_free(&storm.thread[i].loop);
	}
	assert_int_equal(handing.wrong, 0);
	assert_int_equal(pthread_barrier_destroy(&handing.round), 0);
	proxy_free(&storm.px);
	world_rules_free(&handing.rules);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_never_exceed_maxconn_and_are_all_served),
		cmocka_unit_test(a_waiting_session_may_get_its_slot_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
