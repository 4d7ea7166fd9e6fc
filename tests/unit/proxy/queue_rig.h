/* Sessions of three workers at a backend of two servers with one slot each. */
#ifndef TESTS_UNIT_PROXY_QUEUE_RIG_H
#define TESTS_UNIT_PROXY_QUEUE_RIG_H

#include "unit/proxy/session_rig.h"

#include "proxy/backend/balance.h"
#include "proxy/backend/queue.h"
#include "proxy/config/proxy_life.h"
#include "unit/proxy/states.h"

#define WORKERS 3
#define SESSIONS 24

static struct engine *e[WORKERS];
static struct engine other[WORKERS - 1];
static struct session s[SESSIONS];
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
		e[i]->wake_worker = send_message;
	memset(s, 0, sizeof(s));
	for (int i = 0; i < SESSIONS; i++) {
		s[i].engine = e[i % WORKERS];
		s[i].fe = px;
		s[i].id = (uint64_t)i + 1;
		s[i].term[0] = s[i].term[1] = '-';
		list_init(&s[i].queue_link);
		task_init(&s[i].task, on_task);
		conn_init(&s[i].conn[CLIENT]);
		conn_init(&s[i].conn[SERVER]);
	}
	return 0;
}

static enum session_event
enter(struct session *x)
{
	int moved;

	x->be = px;
	x->has_left = 0;
	balance_take_key(x);
	return queue_enter(x, &moved);
}

static void
leave(struct session *x)
{
	queue_leave(x);
	task_cancel(&x->task);
	x->posted = SESSION_EV_NONE;
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

#endif
