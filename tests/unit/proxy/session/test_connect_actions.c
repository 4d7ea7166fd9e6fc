/* Connecting to servers: retries, redispatches, and their counters. */
#include "unit/proxy/session_rig.h"

#include "proxy/backend/balance.h"
#include "proxy/session/actions.h"
#include "unit/proxy/backend_rig.h"

static const struct step asks[] = { { STEP_SEND, 100 }, { STEP_WAIT_EOF, 0 }, { STEP_END, 0 } };
static const struct step answers[] = { { STEP_WAIT, 100 }, { STEP_SEND, 200 }, { STEP_END, 0 } };

/* The interval as in the manual; '1' for each retry that goes to another server. */
static const struct {
	enum balance_algo algo;
	int retries, every;
	const char *moves;
	int bound; /* 1: by persistence, 2: by force-persist */
} redispatch_rows[] = {
	{ BALANCE_SOURCE, 3, 0, "000", 0 },
	{ BALANCE_SOURCE, 3, -1, "001", 0 },
	{ BALANCE_SOURCE, 3, -2, "010", 0 },
	{ BALANCE_SOURCE, 3, -3, "111", 0 },
	{ BALANCE_SOURCE, 3, -4, "000", 0 },
	{ BALANCE_SOURCE, 3, -100, "000", 0 },
	{ BALANCE_SOURCE, 3, 1, "111", 0 },
	{ BALANCE_SOURCE, 3, 2, "010", 0 },
	{ BALANCE_SOURCE, 3, 3, "001", 0 },
	{ BALANCE_SOURCE, 3, 4, "000", 0 },
	{ BALANCE_SOURCE, 6, 3, "001001", 0 },
	{ BALANCE_SOURCE, 6, -3, "000100", 0 },
	{ BALANCE_SOURCE, 6, -5, "010101", 0 },
	{ BALANCE_SOURCE, 1, -1, "1", 0 },
	/* As for every hash. */
	{ BALANCE_URI, 3, -1, "001", 0 },
	{ BALANCE_URL_PARAM, 3, 2, "010", 0 },
	{ BALANCE_HDR, 3, -1, "001", 0 },
	{ BALANCE_HASH, 3, 1, "111", 0 },
	/* With these algorithms HAProxy never retries the server that failed. */
	{ BALANCE_ROUNDROBIN, 3, -1, "111", 0 },
	{ BALANCE_ROUNDROBIN, 3, 2, "111", 0 },
	{ BALANCE_ROUNDROBIN, 3, 0, "000", 0 },
	{ BALANCE_STATIC_RR, 3, -1, "111", 0 },
	{ BALANCE_LEASTCONN, 3, -1, "111", 0 },
	{ BALANCE_FIRST, 3, -1, "111", 0 },
	{ BALANCE_RANDOM, 3, -1, "111", 0 },
	/* A persistence cookie ties the session as a hash does. */
	{ BALANCE_ROUNDROBIN, 3, -1, "001", 1 },
	{ BALANCE_ROUNDROBIN, 3, 1, "111", 1 },
	{ BALANCE_ROUNDROBIN, 3, 1, "000", 2 },
	{ BALANCE_SOURCE, 3, 1, "000", 2 },
};

static void
retries_are_redispatched_at_their_intervals(void **st)
{
	struct world_config cfg = { RIG_WORLD, .n_servers = 3, .redispatch = -1 };
	struct stream *s;

	(void)st;
	rig_open(&cfg, NULL);
	for (size_t i = 0; i < ARRAY_LEN(redispatch_rows); i++) {
		char moves[8] = "";

		w.px->balance = redispatch_rows[i].algo;
		w.px->retries = redispatch_rows[i].retries;
		w.px->redispatch_every = redispatch_rows[i].every;
		s = rig_hand_made();
		s->bound = redispatch_rows[i].bound ? s->srv : NULL;
		s->forced = redispatch_rows[i].bound > 1;
		for (int n = 0; n < w.px->retries; n++) {
			assert_int_equal(stream_do_retry(s), STREAM_EV_NONE);
			assert_int_equal(s->retries, n + 1);
			moves[n] = s->redispatch ? '1' : '0';
			/* The same server is retried after a second, another one at once. */
			assert_int_equal(s->wake_ms - loop_now_ms(w.loop),
					 s->redispatch ? 0 : 1000);
		}
		if (strcmp(moves, redispatch_rows[i].moves) != 0)
			fail_msg("row %zu: %s, not %s", i, moves, redispatch_rows[i].moves);
		assert_int_equal(stream_do_retry(s), STREAM_EV_GIVE_UP);
		assert_int_equal(s->retries, w.px->retries);
	}
	w.px->balance = BALANCE_ROUNDROBIN;
	rig_close();
}

static void
without_another_server_there_is_no_redispatch(void **st)
{
	struct world_config cfg = { RIG_WORLD, .n_servers = 2, .redispatch = 1, .retries = 3 };
	struct stream *s;

	(void)st;
	rig_open(&cfg, NULL);
	s = rig_hand_made();
	put_admin(w.srv[1], SERVER_MAINT_FORCED, 1);
	assert_int_equal(stream_do_retry(s), STREAM_EV_NONE);
	assert_false(s->redispatch);
	assert_int_equal(w.srv[0]->shard->stat.wretr, 1);
	/* The other way round: this server is down. */
	put_admin(w.srv[1], SERVER_READY, 1);
	put_admin(w.srv[0], SERVER_MAINT_FORCED, 1);
	assert_int_equal(stream_do_retry(s), STREAM_EV_NONE);
	assert_true(s->redispatch);
	assert_int_equal(w.srv[0]->shard->stat.wretr, 1);
	/* A backup server named by a cookie, while an active server is up. */
	put_admin(w.srv[0], SERVER_READY, 1);
	w.srv[0]->conf.backup = 1;
	balance_refresh(w.px);
	s->retries = 0;
	s->bound = s->srv;
	assert_int_equal(stream_do_retry(s), STREAM_EV_NONE);
	assert_true(s->redispatch);
	w.srv[0]->conf.backup = 0;
	s->bound = NULL;
	s->retries = 2;
	w.px->options &= ~(unsigned int)OPT_REDISPATCH;
	assert_int_equal(stream_do_retry(s), STREAM_EV_NONE);
	assert_false(s->redispatch);
	rig_close();
}

/* The turn-around is the connect timeout, at most a second; after a timeout there is no further
 * delay. */
static void
a_retry_waits_before_the_same_server(void **st)
{
	static const unsigned int t[][2] = { { 5000, 1000 }, { 1000, 1000 }, { 300, 300 },
					     { 0, 1000 } };
	struct world_config cfg = { RIG_WORLD, .retries = 9 };

	(void)st;
	rig_open(&cfg, NULL);
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		struct stream *s = rig_hand_made();

		w.px->to.connect = t[i][0];
		(void)stream_do_retry(s);
		assert_int_equal(s->wake_ms - loop_now_ms(w.loop), t[i][1]);
		(void)stream_do_retry_timeout(s);
		assert_int_equal(s->wake_ms - loop_now_ms(w.loop), 0);
		assert_int_equal(s->connect_err, 0);
	}
	assert_int_equal(w.srv[0]->shard->stat.wretr, 2 * ARRAY_LEN(t));
	rig_close();
}

static void
attempts_are_counted(void **st)
{
	struct world_config cfg = { RIG_WORLD, .retries = 3, .n_servers = 1,
				    .server = { { .absent = 1 } } };
	struct world_config two = { RIG_WORLD, .retries = 3, .redispatch = -1, .n_servers = 2,
				    .server = { { .absent = 1 }, { .path = FAKE_NEAR } } };
	uint64_t before;

	(void)st;
	rig_open(&cfg, NULL);
	before = fake_now(w.k);
	(void)world_client(&w, asks, 0);
	world_run(&w, RIG_LIMIT);
	assert_string_equal(rig_terms(), "SC");
	assert_int_equal(w.end[0].retries, 3);
	assert_int_equal(w.srv[0]->shard->stat.connect, 4);
	assert_int_equal(w.srv[0]->shard->stat.wretr, 3);
	assert_int_equal(w.srv[0]->shard->stat.wredis, 0);
	assert_int_equal(w.srv[0]->shard->stat.econ, 1);
	assert_int_equal(w.px->shard->be.econ, 1);
	assert_in_range((fake_now(w.k) - before) / FAKE_MS, 3000, 3100);
	rig_close();
	rig_play(&two, asks, answers);
	assert_string_equal(rig_terms(), "--");
	assert_int_equal(w.end[0].retries, 1);
	assert_int_equal(w.end[0].server, 1);
	assert_int_equal(w.srv[0]->shard->stat.wredis, 1);
	assert_int_equal(w.srv[0]->shard->stat.wretr + w.srv[0]->shard->stat.econ, 0);
	assert_int_equal(w.px->shard->be.wredis, 1);
	rig_close();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(retries_are_redispatched_at_their_intervals),
		cmocka_unit_test(without_another_server_there_is_no_redispatch),
		cmocka_unit_test(a_retry_waits_before_the_same_server),
		cmocka_unit_test(attempts_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
