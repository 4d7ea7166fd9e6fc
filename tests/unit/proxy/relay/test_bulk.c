/* Bulk transfers: when a direction is one, the size of its reads, and the turns that they take. */
#include "proxy/relay/direction_buf.c"
#include "unit/proxy/session_rig.h"

#include "base/mem.h"
#include "proxy/model/memory.h"
#include "sim/faults.h"
#include "proxy/session/session.h"

#define SMALL .sndbuf = 65536, .rcvbuf = 65536, .bufsize = 4096
#define ASKS { STEP_SEND, 100 }, { STEP_WAIT_EOF, 0 }, { STEP_END, 0 }
#define SENDS(n) { STEP_WAIT, 100 }, { STEP_SEND, n }, { STEP_CLOSE, 0 }

static const struct step asks[] = { ASKS };
static const struct step stalled[] = { { STEP_SEND, 100 }, { STEP_STALL, 0 }, { STEP_PAUSE, 1000 },
	{ STEP_READ, 0 }, { STEP_WAIT_EOF, 0 }, { STEP_END, 0 } };

/* A session by itself, with only the results of its reads. */
static struct engine e;
static struct proxy px;
static struct session sess;
static struct stream s;

static struct direction *
fresh(unsigned int options)
{
	memset(&e, 0, sizeof(e));
	memset(&px, 0, sizeof(px));
	memset(&s, 0, sizeof(s));
	memset(&sess, 0, sizeof(sess));
	stream_join(&s, &sess, &sess.conn);
	e.bufsize = 1000;
	e.bulk.after = 5000;
	px.options = options;
	s.engine = &e;
	s.sess->fe = s.be = &px;
	return &s.dir[SERVER];
}

static void
enough_bytes_without_a_pause_are_a_bulk_transfer(void **st)
{
	struct direction *d = fresh(0);

	(void)st;
	for (int i = 0; i < 4; i++)
		bulk_note(&s, SERVER, 1000, 1000);
	assert_false(d->is_bulk);
	bulk_note(&s, SERVER, 1000, 1000);
	assert_true(d->is_bulk);
	/* Reads are larger now; a small one is a pause, and does not end the transfer. */
	bulk_note(&s, SERVER, 3000, 8000);
	assert_true(d->is_bulk);
	assert_int_equal(d->burst, 0);
	assert_int_equal(d->short_bursts, 0);
}

/* A body of known length is a bulk transfer at once, or is none. */
static void
a_known_length_decides_at_once(void **st)
{
	struct direction *d = fresh(0);

	(void)st;
	bulk_expect(&s, SERVER, 4999);
	assert_false(d->is_bulk);
	bulk_expect(&s, SERVER, 5000);
	assert_true(d->is_bulk);
	/* With the option, from the first full read. */
	d = fresh(OPT_SPLICE_RESPONSE);
	bulk_expect(&s, SERVER, 999);
	assert_false(d->is_bulk);
	bulk_expect(&s, SERVER, 1000);
	assert_true(d->is_bulk);
	bulk_expect(&s, CLIENT, 1000);
	assert_false(s.dir[CLIENT].is_bulk);
	/* Never for less than that. */
	d = fresh(0);
	e.bulk.after = 0;
	bulk_expect(&s, SERVER, 0);
	assert_false(d->is_bulk);
}

static void
a_pause_restarts_the_count(void **st)
{
	struct direction *d = fresh(0);

	(void)st;
	for (int i = 0; i < 20; i++) {
		for (int k = 0; k < 4; k++)
			bulk_note(&s, SERVER, 1000, 1000);
		if (i % 2)
			bulk_note(&s, SERVER, 999, 1000);
		else
			bulk_drained(&e, d);
	}
	assert_false(d->is_bulk);
}

static void
four_short_bursts_in_a_row_end_it(void **st)
{
	struct direction *d = fresh(0);

	(void)st;
	d->is_bulk = 1;
	for (int i = 0; i < 10; i++) {
		for (int k = 0; k < 3; k++)
			bulk_note(&s, SERVER, 10, 1000);
		bulk_note(&s, SERVER, 2000, 8000);
	}
	assert_true(d->is_bulk);
	for (int k = 0; k < 4; k++) {
		assert_true(d->is_bulk);
		bulk_drained(&e, d);
	}
	assert_false(d->is_bulk);
}

/* With option splice-response the first full read from the server is enough. */
static void
splice_response_makes_it_one_at_once(void **st)
{
	struct direction *d = fresh(OPT_SPLICE_RESPONSE);

	(void)st;
	bulk_note(&s, SERVER, 999, 1000);
	assert_false(d->is_bulk);
	bulk_note(&s, SERVER, 1000, 1000);
	assert_true(d->is_bulk);
	bulk_note(&s, CLIENT, 1000, 1000);
	assert_false(s.dir[CLIENT].is_bulk);
}

static void
the_count_does_not_overflow(void **st)
{
	struct direction *d = fresh(0);

	(void)st;
	d->burst = UINT32_MAX - 10;
	bulk_note(&s, SERVER, 1000, 1000);
	assert_int_equal(d->burst, UINT32_MAX);
}

/* Large reads, and no byte is lost when a slow sink takes only a part. */
static void
a_bulk_transfer_is_read_in_big_pieces(void **st)
{
	static const struct step origin[] = { SENDS(400000) };
	struct world_config cfg = { RIG_WORLD, SMALL, .splice_after = 8192,
				    .bulk_bufsize = 65536 };
	uint64_t small, big;

	(void)st;
	rig_play(&cfg, asks, origin);
	assert_int_equal(w.client[0].got, 400000);
	big = ledger_sum(&w.sys.ledger, SYS_CALL_recvfrom);
	rig_close();
	cfg.bulk_bufsize = 0;
	rig_play(&cfg, asks, origin);
	small = ledger_sum(&w.sys.ledger, SYS_CALL_recvfrom);
	rig_close();
	assert_true(small > 95 && big < 20);
}

static void
unsent_bytes_are_kept_in_a_big_buffer(void **st)
{
	static const struct step origin[] = { SENDS(400000) };
	struct world_config cfg = { RIG_WORLD, SMALL, .splice_after = 8192,
				    .bulk_bufsize = 65536 };
	struct direction *d;

	(void)st;
	rig_open(&cfg, origin);
	(void)world_client(&w, stalled, 0);
	world_run(&w, 100 * FAKE_MS);
	d = &rig_session(0)->dir[SERVER];
	assert_true(d->is_big);
	assert_true(direction_pending(d) > 4096);
	assert_int_equal(w.engine.bulk.bufs.live, 1);
	assert_int_equal(w.engine.pools.buf.live, 0);
	assert_true(memory_live(&w.engine) > 65536);
	world_run(&w, RIG_LIMIT);
	assert_int_equal(w.client[0].got, 400000);
	assert_int_equal(w.engine.bulk.bufs.live, 0);
	assert_string_equal(rig_terms(), "--");
	rig_close();
}

/* Large buffers are limited in number and by tune.memory: other transfers use small reads. */
static void
big_buffers_are_bounded(void **st)
{
	char *buf[64];

	(void)st;
	memset(&e, 0, sizeof(e));
	e.bufsize = 1000;
	pool_init(&e.pools.session, "session", 500, 4);
	pool_init(&e.pools.buf, "buffer", 1000, 4);
	assert_int_equal(engine_allow_bulk(&e, 1, 10000, 0), 0);
	memset(&s, 0, sizeof(s));
	memset(&sess, 0, sizeof(sess));
	stream_join(&s, &sess, &sess.conn);
	assert_int_equal(bulk_reach(&e, &s.dir[0]), 1000);
	s.dir[0].is_bulk = 1;
	for (size_t i = 0; i < ARRAY_LEN(buf); i++) {
		assert_int_equal(bulk_reach(&e, &s.dir[0]), 10000);
		buf[i] = bulk_buf(&e);
	}
	assert_int_equal(bulk_reach(&e, &s.dir[0]), 1000);
	for (size_t i = 0; i < ARRAY_LEN(buf); i++)
		bulk_buf_put(&e, buf[i]);
	assert_int_equal(bulk_reach(&e, &s.dir[0]), 10000);
	/* A direction that has a buffer keeps it. */
	s.dir[0].buf = buf[0];
	assert_int_equal(bulk_reach(&e, &s.dir[0]), 1000);
	s.dir[0].buf = NULL;
	pool_fini(&e.bulk.bufs);
	pool_init(&e.bulk.bufs, "stream", 10000, 4);
	memory_bound(&e, 9999);
	assert_int_equal(bulk_reach(&e, &s.dir[0]), 1000);
	pool_fini(&e.bulk.bufs);
	pool_fini(&e.pools.buf);
	pool_fini(&e.pools.session);
	mem_free(e.scratch);
}

static void
without_memory_it_uses_small_pieces(void **st)
{
	(void)st;
	memset(&e, 0, sizeof(e));
	e.bufsize = 1000;
	w.mem_faults = 1;
	faults_set(1);
	faults_apply(1);
	assert_true(engine_allow_bulk(&e, 1, 10000, 0) < 0);
	faults_apply(0);
	assert_int_equal(e.bulk.bufsize, 0);
	assert_int_equal(engine_allow_bulk(&e, 1, 1000, 0), 0);
	assert_int_equal(e.bulk.bufsize, 0);
	faults_set(0);
}

/* Five transfers at once: no one is ahead of another by more than its turn, and no turn forwards
 * more than its limit. */
static void
bulk_transfers_take_turns(void **st)
{
	static const struct step origin[] = { SENDS(1000000) };
	struct world_config cfg = { RIG_WORLD, .bufsize = 4096, .sndbuf = 1 << 20,
				    .rcvbuf = 1 << 20, .splice_after = 4096, .bulk_turn = 20000 };
	uint64_t before, waits = 0;

	(void)st;
	rig_open(&cfg, origin);
	for (int i = 0; i < 5; i++)
		(void)world_client(&w, asks, 0);
	for (int i = 0; i < 10; i++)
		assert_int_equal(loop_turn(w.loop, 0), 0);
	for (int i = 0; i < 50; i++) {
		uint64_t least = UINT64_MAX, most = 0;

		before = w.engine.stat.bytes_out;
		assert_int_equal(loop_turn(w.loop, 0), 0);
		assert_in_range(w.engine.stat.bytes_out - before, 1, 20000 + 4096);
		for (int k = 0; k < 5; k++) {
			least = MIN(least, rig_session(k)->dir[SERVER].bytes);
			most = MAX(most, rig_session(k)->dir[SERVER].bytes);
			waits += rig_session(k)->dir[SERVER].waits;
		}
		assert_true(most - least <= 8 * 4096 + 2 * 20480);
	}
	assert_true(waits > 100);
	assert_true(w.engine.bulk.waits > 10);
	world_run(&w, RIG_LIMIT);
	for (int k = 0; k < 5; k++)
		assert_int_equal(w.client[k].got, 1000000);
	rig_close();
}

/* Sessions with little data do not wait for bulk transfers. */
static void
other_sessions_are_served_in_between(void **st)
{
	static const struct step big[] = { { STEP_WAIT, 100 }, { STEP_SEND, 3000000 },
					   { STEP_CLOSE, 0 } };
	static const struct step talk[] = { { STEP_SEND, 200 }, { STEP_WAIT, 100 },
		{ STEP_SEND, 200 }, { STEP_WAIT, 100 }, { STEP_CLOSE, 0 } };
	struct world_config cfg = { RIG_WORLD, .bufsize = 4096, .sndbuf = 1 << 22,
				    .rcvbuf = 1 << 22, .splice_after = 4096, .bulk_turn = 4096 };
	unsigned int turns = 0;
	struct agent *small;

	(void)st;
	rig_open(&cfg, big);
	for (int i = 0; i < 8; i++)
		(void)world_client(&w, asks, 0);
	for (int i = 0; i < 20; i++)
		assert_int_equal(loop_turn(w.loop, 0), 0);
	assert_true(w.engine.bulk.waits > 0);
	small = world_client(&w, talk, 0);
	while (small->got < 100 && ++turns < 100)
		assert_int_equal(loop_turn(w.loop, 0), 0);
	assert_in_range(turns, 1, 6);
	engine_kill_all(&w.engine);
	world_run(&w, RIG_LIMIT);
	rig_close();
}

/* With only bulk transfers the turn is longer and reads are larger; as soon as another session has
 * data they are short again. */
static void
bulk_transfers_alone_take_more_at_once(void **st)
{
	static const struct step origin[] = { SENDS(9000000) };
	static const struct step word[] = { { STEP_SEND, 10 }, { STEP_WAIT_EOF, 0 },
		{ STEP_CLOSE, 0 } };
	struct world_config cfg = { RIG_WORLD, .bufsize = 4096, .sndbuf = 1 << 22,
				    .rcvbuf = 1 << 22, .splice_after = 4096, .bulk_turn = 8192,
				    .bulk_bufsize = 65536 };
	uint64_t before, calls;

	(void)st;
	rig_open(&cfg, origin);
	(void)world_client(&w, asks, 0);
	while (!w.engine.n_sessions || !rig_session(0)->dir[SERVER].is_bulk)
		assert_int_equal(loop_turn(w.loop, 0), 0);
	for (int i = 0; i < 10; i++) {
		before = w.engine.stat.bytes_out;
		assert_int_equal(loop_turn(w.loop, 0), 0);
		assert_in_range(w.engine.stat.bytes_out - before, 1, 16384);
	}
	/* As if the last other session had data long ago. */
	w.engine.bulk.others_ms -= 50;
	for (int i = 0; i < 10; i++) {
		before = w.engine.stat.bytes_out;
		calls = ledger_sum(&w.sys.ledger, SYS_CALL_recvfrom);
		assert_int_equal(loop_turn(w.loop, 0), 0);
		assert_in_range(w.engine.stat.bytes_out - before, 65536, 2 * 65536);
		assert_true(ledger_sum(&w.sys.ledger, SYS_CALL_recvfrom) - calls <= 2);
	}
	(void)world_client(&w, word, 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(loop_turn(w.loop, 0), 0);
	before = w.engine.stat.bytes_out;
	assert_int_equal(loop_turn(w.loop, 0), 0);
	assert_in_range(w.engine.stat.bytes_out - before, 1, 16384);
	engine_kill_all(&w.engine);
	world_run(&w, RIG_LIMIT);
	rig_close();
}

/* A session that ends while it waits for its turn is removed from the queue. */
static void
a_session_that_ends_leaves_the_queue(void **st)
{
	static const struct step origin[] = { SENDS(1000000) };
	struct world_config cfg = { RIG_WORLD, .bufsize = 4096, .sndbuf = 1 << 20,
				    .rcvbuf = 1 << 20, .splice_after = 4096, .bulk_turn = 4096 };
	int n = 0;

	(void)st;
	rig_open(&cfg, origin);
	for (int i = 0; i < 4; i++)
		(void)world_client(&w, asks, 0);
	for (int i = 0; i < 12; i++)
		assert_int_equal(loop_turn(w.loop, 0), 0);
	list_each_safe(it, &w.engine.streams) {
		struct stream *x = list_entry(it, struct stream, link);

		if (x->dir[SERVER].waits && ++n)
			stream_kill(x, 'K');
	}
	assert_true(n >= 3);
	assert_int_equal(loop_turn(w.loop, 0), 0);
	assert_true(list_is_empty(&w.engine.bulk.waiting) || w.engine.n_sessions);
	world_run(&w, RIG_LIMIT);
	assert_true(list_is_empty(&w.engine.bulk.waiting));
	rig_close();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(enough_bytes_without_a_pause_are_a_bulk_transfer),
		cmocka_unit_test(a_known_length_decides_at_once),
		cmocka_unit_test(a_pause_restarts_the_count),
		cmocka_unit_test(four_short_bursts_in_a_row_end_it),
		cmocka_unit_test(splice_response_makes_it_one_at_once),
		cmocka_unit_test(the_count_does_not_overflow),
		cmocka_unit_test(a_bulk_transfer_is_read_in_big_pieces),
		cmocka_unit_test(unsent_bytes_are_kept_in_a_big_buffer),
		cmocka_unit_test(big_buffers_are_bounded),
		cmocka_unit_test(without_memory_it_uses_small_pieces),
		cmocka_unit_test(bulk_transfers_take_turns),
		cmocka_unit_test(other_sessions_are_served_in_between),
		cmocka_unit_test(bulk_transfers_alone_take_more_at_once),
		cmocka_unit_test(a_session_that_ends_leaves_the_queue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
