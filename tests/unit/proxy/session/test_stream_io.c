/* Sessions in the loop: the first exchange, tasks for the next turn, and events that are not
 * theirs. */
#include "unit/proxy/session_rig.h"
#include "proxy/session/stream_post.h"

static const struct step asks[] = { { STEP_SEND, 100 }, { STEP_WAIT_EOF, 0 }, { STEP_END, 0 } };
static const struct step answers[] = { { STEP_WAIT, 100 }, { STEP_PAUSE, 50 }, { STEP_SEND, 200 },
				       { STEP_END, 0 } };

static const struct world_config cfg = { RIG_WORLD };

/* A missing row is a bug: it is counted, and ends that session alone. */
static void
a_pair_outside_the_table_ends_the_session(void **st)
{
	(void)st;
	rig_open(&cfg, answers);
	(void)world_client(&w, asks, 0);
	(void)world_client(&w, asks, 0);
	world_run(&w, 10 * FAKE_MS);
	stream_post(rig_session(0), STREAM_EV_SLOT);
	assert_int_equal(loop_turn(w.loop, 0), 0);
	assert_int_equal(w.engine.stat.fsm_bugs, 1);
	assert_int_equal(w.n_ends, 1);
	w.engine.stat.fsm_bugs = 0;
	world_run(&w, RIG_LIMIT);
	assert_int_equal(w.n_ends, 2);
	assert_int_equal(w.client[1].got, 200);
	rig_close();
}

/* The first exchange happens in the turn of the accept, without an event. */
static void
a_near_request_is_forwarded_in_one_turn(void **st)
{
	static const struct step origin[] = { { STEP_WAIT, 100 }, { STEP_END, 0 } };

	(void)st;
	rig_open(&cfg, origin);
	(void)world_client(&w, asks, 0);
	for (int i = 0; i < 3 && !w.engine.stat.cum_conns; i++)
		assert_int_equal(loop_turn(w.loop, 1), 0);
	assert_int_equal(w.engine.stat.cum_conns, 1);
	assert_int_equal(rig_session(0)->state, STREAM_RELAY);
	assert_int_equal(rig_session(0)->dir[CLIENT].bytes, 100);
	assert_int_equal(w.engine.stat.bytes_in, 100);
	world_run(&w, RIG_LIMIT);
	assert_string_equal(rig_terms(), "--");
	rig_close();
}

/* Runs turns until the first session has left a response unread. */
static struct stream *
play_until_the_early_read(const struct step *client, const struct step *origin)
{
	static const struct world_config smart = { RIG_WORLD, .options = OPT_SMART_CONNECT };

	rig_open(&smart, origin);
	(void)world_client(&w, client, 0);
	for (int i = 0; i < 10; i++) {
		assert_int_equal(loop_turn(w.loop, 1), 0);
		if (w.engine.n_sessions && rig_session(0)->looked_again)
			return rig_session(0);
	}
	fail_msg("it never did");
	return NULL;
}

static void
a_response_waits_one_turn_for_its_fin(void **st)
{
	static const struct step origin[] = { { STEP_WAIT, 100 }, { STEP_SEND, 200 },
					      { STEP_PAUSE, 5000 }, { STEP_END, 0 } };
	struct stream *s;

	(void)st;
	s = play_until_the_early_read(asks, origin);
	assert_int_equal(s->dir[SERVER].bytes, 0);
	fake_peer_shut(w.served[0].s);
	assert_int_equal(loop_turn(w.loop, 0), 0);
	assert_int_equal(s->dir[SERVER].bytes, 200);
	assert_int_not_equal(s->dir[SERVER].state, DIRECTION_OPEN);
	world_run(&w, RIG_LIMIT);
	assert_string_equal(rig_terms(), "--");
	rig_close();
}

static void
a_response_without_a_fin_is_sent_in_the_next_turn(void **st)
{
	static const struct step origin[] = { { STEP_WAIT, 100 }, { STEP_SEND, 200 },
					      { STEP_PAUSE, 5000 }, { STEP_END, 0 } };
	uint64_t t;
	struct stream *s;

	(void)st;
	s = play_until_the_early_read(asks, origin);
	t = loop_now_ns(w.loop);
	assert_int_equal(loop_turn(w.loop, 1000), 0);
	assert_int_equal(s->dir[SERVER].bytes, 200);
	assert_int_equal(s->dir[SERVER].state, DIRECTION_OPEN);
	assert_true(loop_now_ns(w.loop) - t < FAKE_MS);
	world_run(&w, RIG_LIMIT);
	assert_string_equal(rig_terms(), "--");
	rig_close();
}

/* A client that has sent its request and a FIN is served; with option abortonclose it counts as
 * gone. */
static void
abortonclose_and_half_closed_clients(void **st)
{
	static const struct step half[] = { { STEP_SEND, 100 }, { STEP_PAUSE, 20 },
					    { STEP_SHUT, 0 }, { STEP_WAIT_EOF, 0 },
					    { STEP_END, 0 } };
	struct world_config far = { RIG_WORLD, .n_servers = 1 };

	(void)st;
	far.server[0] = (struct world_server){ .path = FAKE_FAR, .one_way = 50 * FAKE_MS };
	rig_play(&far, half, answers);
	assert_string_equal(rig_terms(), "--");
	rig_close();
	far.options = OPT_ABORTONCLOSE;
	rig_play(&far, half, answers);
	assert_string_equal(rig_terms(), "CC");
	rig_close();
	/* The request was complete and the server is near: it is served. */
	far.server[0] = (struct world_server){ .path = FAKE_NEAR };
	rig_play(&far, half, answers);
	assert_string_equal(rig_terms(), "--");
	rig_close();
}

/*
 * Ten connections of one request each, one after the other: which descriptors are registered. If
 * the server responds and closes at once, and then the client, none is. After an early read without
 * data the descriptor is registered, and for later sessions at once.
 */
static void
short_connections_are_not_registered(void **st)
{
	static const struct step stays[] = { { STEP_SEND, 100 }, { STEP_WAIT_EOF, 0 },
					     { STEP_PAUSE, 5 }, { STEP_CLOSE, 0 } };
	static const struct step at_once[] = { { STEP_WAIT, 100 }, { STEP_SEND, 200 },
					       { STEP_CLOSE, 0 } };
	static const struct step slow[] = { { STEP_WAIT, 100 }, { STEP_PAUSE, 5 },
					    { STEP_SEND, 200 }, { STEP_CLOSE, 0 } };
	static const struct step continues[] = { { STEP_WAIT, 100 }, { STEP_SEND, 200 },
					       { STEP_PAUSE, 5 }, { STEP_CLOSE, 0 } };
	static const struct {
		const struct step *client, *origin;
		uint64_t registered, looks, failed;
	} t[] = {
		{ asks, at_once, 0, 10, 0 },
		{ stays, at_once, 10, 10, 1 },
		{ asks, slow, 20, 1, 1 },
		{ asks, continues, 20, 1, 0 },
	};
	struct world_config deferred = { RIG_WORLD, .defer = 1 };

	(void)st;
	deferred.mode = INTEREST_EDGE;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		const struct ledger *l = &w.sys.ledger;
		uint64_t ctl;

		rig_open(&deferred, t[i].origin);
		ctl = ledger_sum(l, SYS_CALL_epoll_ctl);
		for (int n = 0; n < 10; n++) {
			(void)world_client(&w, t[i].client, 0);
			world_run(&w, FAKE_SEC);
			assert_int_equal(w.client[n].got, 200);
		}
		assert_int_equal(w.n_ends, 10);
		assert_int_equal(ledger_sum(l, SYS_CALL_epoll_ctl) - ctl, t[i].registered);
		assert_int_equal(ledger_sum(l, SYS_CALL_recvmmsg), t[i].looks);
		assert_int_equal(l->n[SYS_CALL_recvmmsg][SYS_AGAIN] +
				l->n[SYS_CALL_recvfrom][SYS_AGAIN], t[i].failed);
		rig_close();
	}
}

/* A client that sends more data, or closes, while its server is being read early is noticed. */
static void
a_client_is_noticed_after_an_early_read(void **st)
{
	static const struct step more[] = { { STEP_SEND, 100 }, { STEP_PAUSE, 1 },
					    { STEP_SEND, 50 }, { STEP_WAIT, 200 },
					    { STEP_CLOSE, 0 } };
	static const struct step leaves[] = { { STEP_SEND, 100 }, { STEP_PAUSE, 1 },
					      { STEP_RESET, 0 } };
	static const struct step origin[] = { { STEP_WAIT, 150 }, { STEP_SEND, 200 },
					      { STEP_WAIT_EOF, 0 }, { STEP_END, 0 } };

	(void)st;
	rig_play(&cfg, more, origin);
	assert_int_equal(w.served[0].got, 150);
	assert_string_equal(rig_terms(), "--");
	rig_close();
	rig_play(&cfg, leaves, origin);
	assert_string_equal(rig_terms(), "CD");
	rig_close();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pair_outside_the_table_ends_the_session),
		cmocka_unit_test(a_near_request_is_forwarded_in_one_turn),
		cmocka_unit_test(a_response_waits_one_turn_for_its_fin),
		cmocka_unit_test(a_response_without_a_fin_is_sent_in_the_next_turn),
		cmocka_unit_test(abortonclose_and_half_closed_clients),
		cmocka_unit_test(short_connections_are_not_registered),
		cmocka_unit_test(a_client_is_noticed_after_an_early_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
