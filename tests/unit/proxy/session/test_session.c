/* Sessions: how they are created, counted, held and ended, and that nothing leaks. */
#include "unit/proxy/session_rig.h"

#include "sim/faults.h"
#include "proxy/session/session.h"

static const struct step asks[] = { { STEP_SEND, 100 }, { STEP_WAIT_EOF, 0 }, { STEP_END, 0 } };
static const struct step answers[] = { { STEP_WAIT, 100 }, { STEP_PAUSE, 50 }, { STEP_SEND, 200 },
				       { STEP_END, 0 } };
static const struct step waits[] = { { STEP_WAIT_EOF, 0 }, { STEP_END, 0 } };

static struct world_config cfg = { RIG_WORLD };
static int full, released;

static void
on_full(struct engine *e)
{
	(void)e;
	full++;
}

static void
on_release(struct engine *e)
{
	(void)e;
	released++;
}

static void
accepted_sessions_are_counted_everywhere(void **st)
{
	struct stream *s;

	(void)st;
	rig_open(&cfg, answers);
	w.px->options |= OPT_SOCKET_STATS;
	for (int i = 0; i < 3; i++)
		(void)world_client(&w, asks, 0);
	world_run(&w, 10 * FAKE_MS);
	assert_int_equal(w.engine.n_sessions, 3);
	assert_int_equal(w.engine.stat.cum_conns, 3);
	assert_int_equal(w.engine.stat.cum_sess, 3);
	assert_int_equal(w.px->fe_gate.n, 3);
	assert_int_equal(w.px->be_cur, 3);
	assert_int_equal(w.px->shard->fe.cum_conn, 3);
	assert_int_equal(w.px->shard->be.cum_sess, 3);
	assert_int_equal(w.ln->stat.cur, 3);
	assert_int_equal(w.ln->stat.cum_conn, 3);
	assert_int_equal(w.srv[0]->cur, 3);
	assert_int_equal(freq_read(&w.engine.stat.conn_rate, loop_now_ms(w.loop)), 3);
	for (int i = 0; i < 3; i++) {
		s = rig_session(i);
		assert_int_equal(s->id, i + 1);
		assert_int_equal(s->state, STREAM_RELAY);
		assert_int_equal(addr_port(&s->sess->peer), fake_peer_port(w.client[i].s));
		assert_true(s->sess->accept_wall_ns > 0);
	}
	world_run(&w, RIG_LIMIT);
	assert_string_equal(rig_terms(), "-- -- --");
	assert_int_equal(w.engine.stat.cum_conns, 3);
	assert_int_equal(w.px->shard->fe.cur_max, 3);
	assert_int_equal(w.px->shard->be.cur_max, 3);
	assert_int_equal(w.ln->stat.cur_max, 3);
	/* Everything else is released: checked when the world is closed. */
	rig_close();
}

/* The memory of a session is reused; nothing of the old session is visible. */
static void
a_reused_session_starts_clean(void **st)
{
	static const struct step resets[] = { { STEP_SEND, 100 }, { STEP_PAUSE, 5 },
					      { STEP_RESET, 0 } };
	struct stream *s;

	(void)st;
	rig_open(&cfg, waits);
	(void)world_client(&w, resets, 0);
	world_run(&w, FAKE_SEC);
	assert_string_equal(rig_terms(), "CD");
	(void)world_client(&w, waits, 0);
	world_run(&w, FAKE_MS);
	s = rig_session(0);
	assert_int_equal(s->id, 2);
	assert_int_equal(s->dir[CLIENT].bytes, 0);
	assert_int_equal(s->dir[CLIENT].state, DIRECTION_OPEN);
	assert_false(s->dir[CLIENT].broken);
	assert_int_equal(s->term[0], '-');
	assert_int_equal(s->conn[CLIENT]->err, 0);
	assert_int_equal(s->retries + s->redispatched + s->own_line + s->linger_checks, 0);
	stream_kill(s, 'K');
	world_run(&w, FAKE_SEC);
	rig_close();
}

static void
a_frontend_at_its_maxconn_leaves_clients_waiting(void **st)
{
	struct world_config two = { RIG_WORLD, .maxconn = 2 };

	(void)st;
	rig_open(&two, answers);
	for (int i = 0; i < 5; i++)
		(void)world_client(&w, asks, 0);
	world_run(&w, 10 * FAKE_MS);
	assert_int_equal(w.engine.n_sessions, 2);
	assert_int_equal(w.ln->state, LISTENER_FULL);
	world_run(&w, RIG_LIMIT);
	assert_int_equal(w.n_ends, 5);
	assert_int_equal(w.px->shard->fe.cur_max, 2);
	assert_int_equal(w.ln->state, LISTENER_READY);
	rig_close();
}

static void
the_engine_reports_its_limit(void **st)
{
	(void)st;
	rig_open(&cfg, answers);
	w.engine.shared->max_sessions = 2;
	w.engine.hooks.on_full = on_full;
	w.engine.hooks.on_release = on_release;
	full = released = 0;
	(void)world_client(&w, asks, 0);
	world_run(&w, FAKE_MS);
	assert_int_equal(full, 0);
	(void)world_client(&w, asks, 0);
	world_run(&w, FAKE_MS);
	assert_int_equal(full, 1);
	assert_int_equal(released, 0);
	world_run(&w, RIG_LIMIT);
	assert_int_equal(released, 2);
	rig_close();
}

/* If no session can be allocated, only its client is affected. */
static void
without_memory_the_client_is_closed(void **st)
{
	(void)st;
	rig_open(&cfg, answers);
	w.mem_faults = 1;
	faults_set(1);
	(void)world_client(&w, asks, 0);
	world_run(&w, FAKE_SEC);
	faults_set(0);
	assert_int_equal(w.engine.pools.session.fails, 1);
	assert_int_equal(w.engine.stat.cum_conns, 0);
	assert_int_equal(w.ln->conns, 0);
	assert_int_equal(w.n_ends, 0);
	assert_int_equal(w.client[0].got, 0);
	assert_true(w.client[0].over);
	(void)world_client(&w, asks, 0);
	world_run(&w, RIG_LIMIT);
	assert_string_equal(rig_terms(), "--");
	assert_int_equal(w.client[1].got, 200);
	rig_close();
}

static void
killing_one_leaves_the_others(void **st)
{
	(void)st;
	rig_open(&cfg, answers);
	for (int i = 0; i < 3; i++)
		(void)world_client(&w, asks, 0);
	world_run(&w, 10 * FAKE_MS);
	stream_kill(rig_session(1), 'K');
	/* Killing it again changes nothing. */
	stream_kill(rig_session(1), 'K');
	assert_int_equal(rig_session(1)->state, STREAM_CLOSED);
	/* Its descriptors are closed at the end of the turn. */
	assert_true(conn_is_open(rig_session(1)->conn[CLIENT]));
	assert_int_equal(w.engine.n_sessions, 3);
	world_run(&w, RIG_LIMIT);
	assert_string_equal(rig_terms(), "KD -- --");
	assert_int_equal(w.client[0].got + w.client[2].got, 400);
	assert_false(w.client[1].eof);
	rig_close();
}

static void
all_can_be_killed_in_any_state(void **st)
{
	struct world_config mixed = { RIG_WORLD, .n_servers = 1, .server = { { .maxconn = 2 } } };

	(void)st;
	rig_open(&mixed, waits);
	for (int i = 0; i < 5; i++)
		(void)world_client(&w, waits, 0);
	world_run(&w, 10 * FAKE_MS);
	assert_int_equal(w.px->queued + w.srv[0]->queued, 3);
	engine_kill_all(&w.engine);
	assert_int_equal(loop_turn(w.loop, 0), 0);
	assert_int_equal(w.engine.n_sessions, 0);
	assert_int_equal(w.n_ends, 5);
	for (unsigned int i = 0; i < w.n_ends; i++)
		assert_int_equal(w.end[i].term[0], 'K');
	world_run(&w, RIG_LIMIT);
	rig_close();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accepted_sessions_are_counted_everywhere),
		cmocka_unit_test(a_reused_session_starts_clean),
		cmocka_unit_test(a_frontend_at_its_maxconn_leaves_clients_waiting),
		cmocka_unit_test(the_engine_reports_its_limit),
		cmocka_unit_test(without_memory_the_client_is_closed),
		cmocka_unit_test(killing_one_leaves_the_others),
		cmocka_unit_test(all_can_be_killed_in_any_state),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
