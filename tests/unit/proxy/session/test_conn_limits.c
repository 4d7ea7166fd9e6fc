/* Limits of frontend and process with two workers, which take turns on one loop here. */
#include "proxy/session/session_admit.c"
#include "unit/proxy/session_rig.h"

#include "base/mem.h"
#include "net/bind_conf.h"
#include "net/shards.h"
#include "proxy/session/session.h"

#define OTHER_PORT (WORLD_PORT + 1)

static const struct step asks[] = { { STEP_SEND, 10 }, { STEP_WAIT, 10 }, { STEP_PAUSE, 50 },
				    { STEP_END, 0 } };
static const struct step answers[] = { { STEP_WAIT, 10 }, { STEP_SEND, 10 }, { STEP_WAIT_EOF, 0 },
				       { STEP_END, 0 } };

static struct engine_shared shared;
static struct engine *e[2], other;
static struct listener *ln[2];
static unsigned int told[2], told_of_process[2];

static void
wake_resume(struct engine *from, unsigned int target, struct proxy *fe)
{
	assert_int_not_equal(from->index, target);
	if (fe)
		told[target]++;
	else
		told_of_process[target]++;
}

/* The callback of a worker. */
static void
on_full(struct engine *x)
{
	listener_hold(ln[x->index], LISTENER_HOLD_PROCESS);
}

static void
on_release(struct engine *x)
{
	if (!x->is_full)
		listener_resume(ln[x->index], LISTENER_HOLD_PROCESS);
}

static void
open_listener(void)
{
	struct bind_conf *b = bind_conf_new();
	char why[100];

	ln[1] = mem_zalloc(sizeof(*ln[1]));
	assert_true(b && ln[1]);
	list_append(&w.px->binds, &b->link);
	listener_init(ln[1], b);
	list_append(&b->listeners, &ln[1]->link);
	b->n_listeners = 1;
	session_listen(ln[1], w.px, e[1]);
	ln[1]->addr = w.ln->addr;
	addr_set_port(&ln[1]->addr, OTHER_PORT);
	assert_int_equal(listener_bind(ln[1], &w.sys, 128, why, sizeof(why)), 0);
	assert_int_equal(listener_start(ln[1], w.loop), 0);
}

static void
open_two(int maxconn, unsigned int max_sessions)
{
	struct world_config cfg = { RIG_WORLD, .maxconn = maxconn };

	rig_open(&cfg, answers);
	memset(&other, 0, sizeof(other));
	memset(&shared, 0, sizeof(shared));
	memset(told, 0, sizeof(told));
	memset(told_of_process, 0, sizeof(told_of_process));
	shared.n = 2;
	shared.max_sessions = max_sessions;
	e[0] = &w.engine;
	e[1] = &other;
	ln[0] = w.ln;
	assert_int_equal(proxy_make_shards(w.px, 2), 0);
	assert_int_equal(engine_init(e[1], &w.sys, w.loop, 16384, 0), 0);
	e[1]->owner = &w;
	for (unsigned int i = 0; i < 2; i++) {
		engine_join(e[i], &shared, i);
		e[i]->hooks.on_full = on_full;
		e[i]->hooks.on_release = on_release;
		e[i]->hooks.wake_resume = wake_resume;
	}
	fake_route(w.k, OTHER_PORT, FAKE_NEAR, 0);
	open_listener();
	world_run(&w, FAKE_MS);
}

static void
close_two(void)
{
	/* The world only waits for the sessions of its own engine. */
	for (int i = 0; i < 10 && e[1]->n_sessions; i++)
		world_run(&w, FAKE_MS);
	listener_close(ln[1], &w.sys);
	engine_fini(e[1]);
	rig_close();
}

/* A client of one of the two workers. */
static void
client(unsigned int worker)
{
	struct agent *a = &w.client[w.n_clients++];

	agent_start(a, w.k, fake_client(w.k, worker ? OTHER_PORT : WORLD_PORT), w.n_clients, asks,
		0);
	world_run(&w, FAKE_MS);
}

static void
end_one(unsigned int worker)
{
	stream_kill(list_first(&e[worker]->streams, struct stream, link), 'K');
	assert_int_equal(loop_turn(w.loop, 0), 0);
}

static void
maxconn_of_a_frontend_counts_all_workers(void **st)
{
	(void)st;
	open_two(2, 100);
	client(0);
	assert_int_equal(ln[0]->state, LISTENER_READY);
	client(1);
	/* The worker that took the last place stops at once, the other one at its next
	 * connection. */
	assert_int_equal(ln[1]->state, LISTENER_FULL);
	assert_int_equal(ln[0]->state, LISTENER_READY);
	client(0);
	client(1);
	assert_int_equal(ln[0]->state, LISTENER_FULL);
	assert_int_equal(e[0]->n_sessions, 1);
	assert_int_equal(e[1]->n_sessions, 1);
	assert_int_equal(w.px->fe_gate.n, 2);
	assert_int_equal(w.px->fe_gate.held, 3);
	assert_int_equal(shared.gate.n, 2);
	/* Its own listener resumes at once, and the other worker is sent a message. */
	end_one(1);
	assert_int_equal(ln[1]->state, LISTENER_READY);
	assert_int_equal(told[0], 1);
	assert_int_equal(ln[0]->state, LISTENER_FULL);
	/* The message is too late: the connection stays in the backlog. */
	assert_int_equal(loop_turn(w.loop, 0), 0);
	assert_int_equal(e[1]->n_sessions, 1);
	conn_limits_resume(e[0], w.px);
	assert_int_equal(ln[0]->state, LISTENER_FULL);
	assert_int_equal(w.px->fe_gate.held, 3);
	/* Now a place is free. */
	end_one(1);
	assert_int_equal(told[0], 2);
	conn_limits_resume(e[0], w.px);
	assert_int_equal(ln[0]->state, LISTENER_READY);
	world_run(&w, RIG_LIMIT);
	assert_int_equal(w.n_ends, 4);
	assert_int_equal(MAX(w.px->shard[0].fe.cur_max, w.px->shard[1].fe.cur_max), 2);
	close_two();
}

static void
maxconn_of_the_process_counts_all_workers(void **st)
{
	(void)st;
	open_two(0, 2);
	client(0);
	client(1);
	assert_int_equal(ln[1]->state, LISTENER_FULL);
	assert_true(e[1]->is_full);
	client(0);
	assert_int_equal(ln[0]->state, LISTENER_FULL);
	assert_true(e[0]->is_full);
	assert_int_equal(shared.gate.n, 2);
	end_one(1);
	assert_false(e[1]->is_full);
	assert_int_equal(ln[1]->state, LISTENER_READY);
	assert_int_equal(told_of_process[0], 1);
	assert_int_equal(told[0], 0);
	conn_limits_resume(e[0], NULL);
	assert_int_equal(ln[0]->state, LISTENER_READY);
	assert_int_equal(loop_turn(w.loop, 0), 0);
	assert_int_equal(e[0]->n_sessions, 2);
	/* At the limit again: a late message changes nothing. */
	conn_limits_resume(e[0], NULL);
	assert_true(e[0]->is_full);
	assert_int_equal(ln[0]->state, LISTENER_FULL);
	conn_limits_resume(e[1], NULL);
	assert_int_equal(ln[1]->state, LISTENER_READY);
	world_run(&w, RIG_LIMIT);
	assert_int_equal(w.n_ends, 3);
	close_two();
}

/* A place taken for a connection that does not exist must be given back, since others may wait for
 * it. */
static void
a_place_without_a_connection_is_given_back(void **st)
{
	(void)st;
	open_two(1, 100);
	assert_int_equal(ln[0]->may_accept(ln[0]), 1);
	assert_int_equal(ln[1]->may_accept(ln[1]), 0);
	assert_int_equal(ln[1]->state, LISTENER_FULL);
	assert_int_equal(gate_taken(&shared.gate), 1);
	ln[0]->not_accepted(ln[0]);
	assert_int_equal(told[1], 1);
	assert_int_equal(w.px->fe_gate.n + shared.gate.n, 0);
	conn_limits_resume(e[1], w.px);
	assert_int_equal(ln[1]->state, LISTENER_READY);
	close_two();
	open_two(0, 1);
	assert_int_equal(ln[0]->may_accept(ln[0]), 1);
	assert_int_equal(ln[1]->may_accept(ln[1]), 0);
	assert_int_equal(gate_taken(&w.px->fe_gate), 1);
	ln[0]->not_accepted(ln[0]);
	assert_int_equal(told_of_process[1], 1);
	conn_limits_resume(e[1], NULL);
	assert_int_equal(ln[1]->state, LISTENER_READY);
	close_two();
}

/* Several workers wake up for one connection. Log lines and statistics count the one that accepts
 * it. */
static void
an_accept_without_a_client_is_not_counted(void **st)
{
	(void)st;
	open_two(0, 100);
	client(0);
	assert_int_equal(ln[1]->may_accept(ln[1]), 1);
	assert_int_equal(gate_count(&w.px->fe_gate), 1);
	assert_int_equal(gate_count(&shared.gate), 1);
	ln[1]->not_accepted(ln[1]);
	assert_int_equal(gate_count(&w.px->fe_gate), 1);
	assert_int_equal(gate_taken(&shared.gate), 1);
	assert_int_equal(ln[1]->may_accept(ln[1]), 1);
	ln[1]->did_accept(ln[1]);
	assert_int_equal(gate_count(&w.px->fe_gate), 2);
	assert_int_equal(gate_count(&shared.gate), 2);
	conn_limits_give_back(ln[1]);
	assert_int_equal(gate_count(&w.px->fe_gate), 1);
	world_run(&w, RIG_LIMIT);
	assert_int_equal(w.px->fe_gate.n + shared.gate.n, 0);
	close_two();
}

/* A session of another worker ends between the check and the registration for a wake-up. */
static void
make_room(struct engine *x)
{
	on_full(x);
	assert_int_equal(gate_leave(&shared.gate, GATE_TRIED, shared.max_sessions), 0);
}

static void
a_place_freed_meanwhile_is_noticed(void **st)
{
	(void)st;
	open_two(0, 1);
	assert_int_equal(ln[0]->may_accept(ln[0]), 1);
	e[1]->hooks.on_full = make_room;
	assert_int_equal(ln[1]->may_accept(ln[1]), 0);
	assert_false(e[1]->is_full);
	assert_int_equal(ln[1]->state, LISTENER_READY);
	assert_int_equal(shared.gate.held, 0);
	w.px->fe_gate.n = 0;
	close_two();
}

static void
sessions_have_ids_of_their_own(void **st)
{
	(void)st;
	open_two(0, 100);
	for (unsigned int i = 0; i < 6; i++)
		client(i % 2);
	for (unsigned int i = 0; i < 2; i++) {
		uint64_t last = 0;

		assert_int_equal(e[i]->n_sessions, 3);
		list_each(it, &e[i]->streams) {
			const struct stream *s = list_entry(it, struct stream, link);

			assert_true(s->id > last);
			assert_int_equal(s->id % 2, i);
			last = s->id;
		}
	}
	world_run(&w, RIG_LIMIT);
	close_two();
}

/* Three connections of each worker in one second are a rate of six. */
static void
the_highest_rate_is_that_of_all(void **st)
{
	struct proxy_stat sum;

	(void)st;
	open_two(0, 100);
	for (unsigned int i = 0; i < 6; i++)
		client(i % 2);
	proxy_stat_sum(w.px, PROXY_FE, &sum);
	assert_int_equal(sum.conn_rate.max, 6);
	assert_int_equal(sum.sess_rate.max, 6);
	assert_int_equal(freq_read(&sum.conn_rate, loop_now_ms(w.loop)), 6);
	assert_int_equal(MAX(e[0]->stat.conn_rate.max, e[1]->stat.conn_rate.max), 6);
	assert_int_equal(MAX(e[0]->stat.sess_rate.max, e[1]->stat.sess_rate.max), 6);
	world_run(&w, RIG_LIMIT);
	close_two();
}

/* With option socket-stats also of a listener, whose copies are those of the workers. */
static void
the_most_sessions_of_a_listener_are_those_of_all(void **st)
{
	struct listener_group all = { .n = 2 };
	struct listener_stat sum;

	(void)st;
	open_two(0, 100);
	all.of[0] = ln[0];
	all.of[1] = ln[1];
	ln[0]->group = ln[1]->group = &all;
	w.px->options |= OPT_SOCKET_STATS;
	for (unsigned int i = 0; i < 3; i++)
		client(i % 2);
	listener_stat_sum(ln[0], &sum);
	assert_int_equal(sum.cur, 3);
	assert_int_equal(sum.cur_max, 3);
	world_run(&w, RIG_LIMIT);
	ln[0]->group = ln[1]->group = NULL;
	close_two();
}

static uint64_t
sessions_so_far(void)
{
	return w.px->shard[0].fe.cum_sess + w.px->shard[1].fe.cum_sess;
}

static void
the_session_rate_of_a_frontend_counts_all_workers(void **st)
{
	uint64_t from;

	(void)st;
	open_two(0, 100);
	from = loop_now_ms(w.loop);
	w.px->sess_limit.max = 3;
	client(0);
	client(1);
	client(0);
	assert_int_equal(w.px->sess_limit.cur, 3);
	/* At the limit the client waits in the backlog, and only this listener with it. */
	client(1);
	assert_int_equal(ln[1]->state, LISTENER_FULL);
	assert_int_equal(ln[0]->state, LISTENER_READY);
	assert_int_equal(e[0]->n_sessions + e[1]->n_sessions, 3);
	for (int i = 0; i < 3000 && sessions_so_far() < 4; i++)
		world_run(&w, FAKE_MS);
	assert_int_equal(sessions_so_far(), 4);
	/* One place is free again when a part of that second is out of sight. */
	assert_in_range(loop_now_ms(w.loop) - from, 1000, 1100);
	world_run(&w, RIG_LIMIT);
	close_two();
}

/* Connections that are no session are not counted; with accept-proxy the session begins with the
 * header. */
static void
the_session_rate_counts_sessions_only(void **st)
{
	(void)st;
	open_two(1, 100);
	w.px->sess_limit.max = 3;
	assert_int_equal(ln[0]->may_accept(ln[0]), 1);
	assert_int_equal(w.px->sess_limit.cur, 1);
	/* maxconn refuses it */
	assert_int_equal(ln[1]->may_accept(ln[1]), 0);
	assert_int_equal(w.px->sess_limit.cur, 1);
	ln[0]->not_accepted(ln[0]);
	assert_int_equal(w.px->sess_limit.cur, 0);
	/* so does a limit of the process */
	shared.conn_limit.max = 1;
	shared.conn_limit.cur = 1;
	shared.conn_limit.start_ms = loop_now_ms(w.loop);
	assert_int_equal(ln[0]->may_accept(ln[0]), 0);
	assert_int_equal(w.px->sess_limit.cur, 0);
	conn_limits_stop_rates(e[0]);
	shared.conn_limit.max = 0;
	ln[0]->bind->accept_proxy = 1;
	assert_int_equal(ln[0]->may_accept(ln[0]), 1);
	assert_int_equal(w.px->sess_limit.cur, 0);
	ln[0]->not_accepted(ln[0]);
	conn_limits_count_session(ln[0], loop_now_ms(w.loop));
	assert_int_equal(w.px->sess_limit.cur, 1);
	conn_limits_no_session(ln[0]);
	assert_int_equal(w.px->sess_limit.cur, 1);
	ln[0]->bind->accept_proxy = 0;
	close_two();
}

/* The place that one worker has before accept() may be given back: another one asks again soon. */
static void
a_rate_is_not_used_up_by_a_try(void **st)
{
	struct rate_limit *limits[2];

	(void)st;
	open_two(0, 0);
	limits[0] = &w.px->sess_limit;
	limits[1] = &shared.conn_limit;
	for (unsigned int i = 0; i < ARRAY_LEN(limits); i++) {
		uint64_t now = loop_now_ms(w.loop);

		limits[i]->max = 1;
		assert_int_equal(ln[0]->may_accept(ln[0]), 1);
		assert_int_equal(rate_limit_wait(limits[i], e[1]->sys, now, 1), 1);
		ln[0]->not_accepted(ln[0]);
		assert_int_equal(ln[1]->may_accept(ln[1]), 1);
		ln[1]->did_accept(ln[1]);
		assert_int_equal(limits[i]->asked, 0);
		assert_true(rate_limit_wait(limits[i], e[0]->sys, now, 1) > 1);
		conn_limits_give_back(ln[1]);
		limits[i]->max = 0;
	}
	close_two();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(maxconn_of_a_frontend_counts_all_workers),
		cmocka_unit_test(maxconn_of_the_process_counts_all_workers),
		cmocka_unit_test(a_place_without_a_connection_is_given_back),
		cmocka_unit_test(an_accept_without_a_client_is_not_counted),
		cmocka_unit_test(a_place_freed_meanwhile_is_noticed),
		cmocka_unit_test(sessions_have_ids_of_their_own),
		cmocka_unit_test(the_highest_rate_is_that_of_all),
		cmocka_unit_test(the_most_sessions_of_a_listener_are_those_of_all),
		cmocka_unit_test(the_session_rate_of_a_frontend_counts_all_workers),
		cmocka_unit_test(the_session_rate_counts_sessions_only),
		cmocka_unit_test(a_rate_is_not_used_up_by_a_try),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
