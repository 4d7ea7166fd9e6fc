/* The pump: what is forwarded, what is buffered when the sink is slow, and how a direction ends. */
#include "unit/proxy/session_rig.h"

#include <errno.h>

#include "proxy/relay/direction.h"
#include "sim/faults.h"

#define SMALL .sndbuf = 8192, .rcvbuf = 8192

static const struct step origin_waits[] = { { STEP_WAIT_EOF, 0 }, { STEP_END, 0 } };

static void
bytes_are_forwarded_and_no_buffer_is_kept(void **st)
{
	static const struct step client[] = { { STEP_SEND, 100 }, { STEP_WAIT, 300 },
					      { STEP_PAUSE, 50 }, { STEP_END, 0 } };
	static const struct step origin[] = { { STEP_WAIT, 100 }, { STEP_SEND, 300 },
					      { STEP_WAIT_EOF, 0 }, { STEP_END, 0 } };
	struct world_config cfg = { RIG_WORLD };
	struct stream *s;

	(void)st;
	rig_open(&cfg, origin);
	(void)world_client(&w, client, 0);
	world_run(&w, 10 * FAKE_MS);
	s = rig_session(0);
	assert_int_equal(s->dir[CLIENT].bytes, 100);
	assert_int_equal(s->dir[SERVER].bytes, 300);
	assert_null(s->dir[CLIENT].buf);
	assert_null(s->dir[SERVER].buf);
	assert_int_equal(w.engine.pools.buf.live, 0);
	assert_int_equal(w.engine.stat.bytes_in, 100);
	assert_int_equal(w.engine.stat.bytes_out, 300);
	assert_int_equal(w.px->shard->fe.bytes_in, 100);
	assert_int_equal(w.px->shard->be.bytes_out, 300);
	assert_int_equal(w.srv[0]->shard->stat.bytes_in, 100);
	assert_int_equal(w.srv[0]->shard->stat.bytes_out, 300);
	assert_int_equal(w.ln->stat.bytes_in, 100);
	assert_int_equal(w.ln->stat.bytes_out, 300);
	world_run(&w, RIG_LIMIT);
	assert_string_equal(rig_terms(), "--");
	rig_close();
}

/* Bytes that a slow sink does not take are buffered, reading stops, and all bytes arrive in the
 * end. */
static void
a_slow_sink_stops_reading(void **st)
{
	static const struct step client[] = { { STEP_STALL, 0 }, { STEP_SEND, 4 },
		{ STEP_PAUSE, 1000 }, { STEP_READ, 0 }, { STEP_WAIT_EOF, 0 }, { STEP_END, 0 } };
	static const struct step origin[] = { { STEP_WAIT, 4 }, { STEP_SEND, 100000 },
					      { STEP_END, 0 } };
	struct world_config cfg = { RIG_WORLD, SMALL, .bufsize = 1024 };
	struct stream *s;
	uint64_t kept;

	(void)st;
	rig_open(&cfg, origin);
	(void)world_client(&w, client, 0);
	world_run(&w, 100 * FAKE_MS);
	s = rig_session(0);
	assert_non_null(s->dir[SERVER].buf);
	assert_true(direction_pending(&s->dir[SERVER]) > 0);
	assert_true(s->dir[SERVER].tail <= w.engine.bufsize);
	assert_int_equal(w.engine.pools.buf.live, 1);
	kept = s->dir[SERVER].bytes;
	assert_true(kept < 100000);
	world_run(&w, 100 * FAKE_MS);
	assert_int_equal(s->dir[SERVER].bytes, kept);
	world_run(&w, RIG_LIMIT);
	assert_int_equal(w.client[0].got, 100000);
	assert_true(w.client[0].eof);
	assert_int_equal(w.engine.pools.buf.live, 0);
	assert_string_equal(rig_terms(), "--");
	rig_close();
}

/* A direction in DRAIN first sends its buffered bytes, and then the FIN. */
static void
the_fin_waits_for_pending_bytes(void **st)
{
	static const struct step client[] = { { STEP_STALL, 0 }, { STEP_SEND, 4 },
		{ STEP_PAUSE, 1000 }, { STEP_READ, 0 }, { STEP_WAIT_EOF, 0 }, { STEP_PAUSE, 10 },
		{ STEP_END, 0 } };
	static const struct step origin[] = { { STEP_WAIT, 4 }, { STEP_SEND, 20000 },
					      { STEP_SHUT, 0 }, { STEP_WAIT_EOF, 0 },
					      { STEP_END, 0 } };
	struct world_config cfg = { RIG_WORLD, .sndbuf = 8192, .rcvbuf = 4096 };
	struct stream *s;

	(void)st;
	rig_open(&cfg, origin);
	(void)world_client(&w, client, 0);
	world_run(&w, 500 * FAKE_MS);
	s = rig_session(0);
	assert_true(direction_pending(&s->dir[SERVER]) > 0);
	assert_false(s->conn[CLIENT]->shut);
	assert_false(w.client[0].eof);
	world_run(&w, RIG_LIMIT);
	assert_int_equal(w.client[0].got, 20000);
	assert_true(w.client[0].eof);
	assert_string_equal(rig_terms(), "--");
	rig_close();
}

static void
one_direction_ends_the_other_continues(void **st)
{
	static const struct step client[] = { { STEP_SEND, 100 }, { STEP_SHUT, 0 },
					      { STEP_WAIT_EOF, 0 }, { STEP_END, 0 } };
	static const struct step origin[] = { { STEP_WAIT_EOF, 0 }, { STEP_PAUSE, 100 },
					      { STEP_SEND, 5000 }, { STEP_END, 0 } };
	struct world_config cfg = { RIG_WORLD };
	struct stream *s;

	(void)st;
	rig_open(&cfg, origin);
	(void)world_client(&w, client, 0);
	world_run(&w, 50 * FAKE_MS);
	s = rig_session(0);
	assert_int_equal(s->dir[CLIENT].state, DIRECTION_CLOSED);
	assert_int_equal(s->dir[SERVER].state, DIRECTION_OPEN);
	assert_false(s->dir[CLIENT].broken);
	assert_true(s->conn[SERVER]->shut);
	assert_false(s->conn[CLIENT]->shut);
	world_run(&w, RIG_LIMIT);
	assert_int_equal(w.client[0].got, 5000);
	assert_string_equal(rig_terms(), "--");
	rig_close();
}

/* A truncated stream must not look complete: a reset is forwarded as a reset. */
static void
a_reset_breaks_both_directions(void **st)
{
	static const struct step client[] = { { STEP_SEND, 100 }, { STEP_WAIT_EOF, 0 },
					      { STEP_END, 0 } };
	static const struct step resets[] = { { STEP_WAIT, 100 }, { STEP_SEND, 50 },
					      { STEP_RESET, 0 } };
	static const struct step client_resets[] = { { STEP_SEND, 100 }, { STEP_PAUSE, 10 },
						     { STEP_RESET, 0 } };
	struct world_config cfg = { RIG_WORLD };

	(void)st;
	rig_play(&cfg, client, resets);
	assert_string_equal(rig_terms(), "SD");
	assert_int_equal(w.client[0].got, 50);
	assert_false(w.client[0].eof);
	assert_int_equal(w.client[0].err, ECONNRESET);
	assert_int_equal(w.srv[0]->shard->stat.srv_abrt, 1);
	assert_int_equal(w.srv[0]->shard->stat.cli_abrt, 0);
	assert_int_equal(w.px->shard->be.srv_abrt, 1);
	assert_int_equal(w.px->shard->be.cli_abrt, 0);
	rig_close();
	rig_play(&cfg, client_resets, origin_waits);
	assert_string_equal(rig_terms(), "CD");
	assert_int_equal(w.served[0].got, 100);
	assert_false(w.served[0].eof);
	assert_int_equal(w.srv[0]->shard->stat.cli_abrt, 1);
	assert_int_equal(w.srv[0]->shard->stat.srv_abrt, 0);
	assert_int_equal(w.px->shard->be.cli_abrt, 1);
	assert_int_equal(w.px->shard->be.srv_abrt, 0);
	rig_close();
}

/* No allocation succeeds from now on; a buffer kept for reuse is taken away. */
static void *
without_memory(void)
{
	void *kept = w.engine.pools.buf.kept ? pool_get(&w.engine.pools.buf) : NULL;

	w.mem_faults = 1;
	faults_set(1);
	faults_set_again(UINT32_MAX);
	return kept;
}

static void
with_memory(void *kept)
{
	faults_set(0);
	if (kept)
		pool_put(&w.engine.pools.buf, kept);
}

/* Sends 100,000 bytes from that side to one that does not read. */
static void
play_without_memory(enum interest_mode mode, enum side from)
{
	static const struct step deaf_client[] = { { STEP_STALL, 0 }, { STEP_SEND, 4 },
		{ STEP_PAUSE, 1000 }, { STEP_READ, 0 }, { STEP_WAIT_EOF, 0 }, { STEP_END, 0 } };
	static const struct step origin[] = { { STEP_WAIT, 4 }, { STEP_PAUSE, 10 },
		{ STEP_SEND, 100000 }, { STEP_SHUT, 0 }, { STEP_WAIT_EOF, 0 }, { STEP_END, 0 } };
	static const struct step client[] = { { STEP_SEND, 4 }, { STEP_PAUSE, 20 },
		{ STEP_SEND, 99996 }, { STEP_SHUT, 0 }, { STEP_WAIT_EOF, 0 }, { STEP_END, 0 } };
	static const struct step deaf_origin[] = { { STEP_WAIT, 4 }, { STEP_STALL, 0 },
		{ STEP_PAUSE, 1000 }, { STEP_READ, 0 }, { STEP_WAIT_EOF, 0 }, { STEP_END, 0 } };
	struct world_config cfg = { RIG_WORLD, SMALL };
	struct stream *s;
	uint64_t waits, stuck_at;
	void *kept;

	cfg.mode = mode;
	rig_open(&cfg, from == SERVER ? origin : deaf_origin);
	w.allow_del = mode == INTEREST_UNMERGED;
	(void)world_client(&w, from == SERVER ? deaf_client : client, 0);
	world_run(&w, 5 * FAKE_MS);
	kept = without_memory();
	world_run(&w, 500 * FAKE_MS);
	s = rig_session(0);
	assert_true(s->dir[from].left_in_kernel);
	assert_null(s->dir[from].buf);
	stuck_at = s->dir[from].bytes;
	assert_true(stuck_at < 100000);
	/* At rest it makes no calls. */
	waits = fake_waits(w.k);
	world_run(&w, 400 * FAKE_MS);
	assert_in_range(fake_waits(w.k) - waits, 0, 2);
	assert_int_equal(s->dir[from].bytes, stuck_at);
	world_run(&w, RIG_LIMIT);
	with_memory(kept);
	assert_true(w.engine.stat.buf_waits > 2);
	assert_int_equal(from == SERVER ? w.client[0].got : w.served[0].got, 100000);
	assert_true(w.client[0].eof && w.served[0].eof);
	assert_string_equal(rig_terms(), "--");
	rig_close();
}

/* Without a buffer, bytes that the sink does not take stay in the source's socket, and all arrive
 * in the end. */
static void
forwarding_works_without_memory(void **st)
{
	static const enum interest_mode modes[] = { INTEREST_MERGED, INTEREST_UNMERGED,
						    INTEREST_EDGE };

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
		play_without_memory(modes[i], CLIENT);
		play_without_memory(modes[i], SERVER);
	}
}

/* The sink reads nothing until its timeout; the bytes left in the kernel are lost, so the stream
 * must not look complete. */
static void
bytes_left_in_the_kernel_are_pending(void **st)
{
	static const struct step client[] = { { STEP_STALL, 0 }, { STEP_SEND, 4 },
		{ STEP_PAUSE, 5000 }, { STEP_READ, 0 }, { STEP_WAIT_EOF, 0 }, { STEP_END, 0 } };
	static const struct step origin[] = { { STEP_WAIT, 4 }, { STEP_PAUSE, 10 },
		{ STEP_SEND, 100000 }, { STEP_SHUT, 0 }, { STEP_WAIT_EOF, 0 }, { STEP_END, 0 } };
	struct world_config cfg = { RIG_WORLD, SMALL };
	void *kept;

	(void)st;
	cfg.to.client = 1000;
	rig_open(&cfg, origin);
	(void)world_client(&w, client, 0);
	world_run(&w, 5 * FAKE_MS);
	kept = without_memory();
	world_run(&w, RIG_LIMIT);
	with_memory(kept);
	assert_string_equal(rig_terms(), "cD");
	assert_false(w.client[0].eof);
	assert_int_equal(w.client[0].err, ECONNRESET);
	rig_close();
}

/* Before there is a server the client's bytes stay in its socket; that it closes is still
 * noticed. */
static void
without_memory_the_first_bytes_wait(void **st)
{
	static const struct step sends[] = { { STEP_SEND, 50000 }, { STEP_WAIT_EOF, 0 },
					     { STEP_END, 0 } };
	static const struct step resets[] = { { STEP_PAUSE, 10 }, { STEP_SEND, 500 },
					      { STEP_PAUSE, 20 }, { STEP_RESET, 0 } };
	static const struct step origin[] = { { STEP_WAIT, 50000 }, { STEP_END, 0 } };
	struct world_config cfg = { RIG_WORLD, .memory = 1, .n_servers = 1,
				    .server = { { .path = FAKE_FAR, .one_way = 50 * FAKE_MS } } };
	struct stream *s;

	(void)st;
	cfg.mode = INTEREST_EDGE;
	rig_open(&cfg, origin);
	(void)world_client(&w, sends, 0);
	world_run(&w, 60 * FAKE_MS);
	s = rig_session(0);
	assert_int_equal(s->state, STREAM_CONNECT);
	assert_true(s->dir[CLIENT].left_in_kernel);
	assert_int_equal(s->dir[CLIENT].bytes, 0);
	world_run(&w, RIG_LIMIT);
	assert_int_equal(w.served[0].got, 50000);
	assert_string_equal(rig_terms(), "--");
	(void)world_client(&w, resets, 0);
	world_run(&w, 50 * FAKE_MS);
	assert_string_equal(rig_terms(), "-- CC");
	rig_close();
}

/* Bytes were peeked at and sent but cannot be consumed: sending them again would duplicate them, so
 * the session ends with a reset. */
static void
bytes_that_cannot_be_consumed_break_the_stream(void **st)
{
	static const struct step client[] = { { STEP_SEND, 4 }, { STEP_WAIT_EOF, 0 },
					      { STEP_END, 0 } };
	static const struct step origin[] = { { STEP_WAIT, 4 }, { STEP_PAUSE, 10 },
		{ STEP_SEND, 5000 }, { STEP_WAIT_EOF, 0 }, { STEP_END, 0 } };
	struct world_config cfg = { RIG_WORLD, .memory = 1 };

	(void)st;
	rig_open(&cfg, origin);
	(void)world_client(&w, client, 0);
	world_run(&w, 5 * FAKE_MS);
	/* The peek is the call before. */
	fake_fail(w.k, SYS_CALL_recvfrom, ledger_sum(&w.sys.ledger, SYS_CALL_recvfrom) + 2, ENOMEM);
	world_run(&w, RIG_LIMIT);
	assert_string_equal(rig_terms(), "SD");
	assert_true(w.client[0].got <= 5000);
	assert_false(w.client[0].eof);
	assert_false(w.served[0].eof);
	rig_close();
}

/* Before there is a server the client's bytes are read up to one full buffer. */
static void
the_clients_first_bytes_are_kept(void **st)
{
	static const struct step client[] = { { STEP_SEND, 50000 }, { STEP_WAIT_EOF, 0 },
					      { STEP_END, 0 } };
	static const struct step origin[] = { { STEP_WAIT, 50000 }, { STEP_END, 0 } };
	struct world_config cfg = { RIG_WORLD, .bufsize = 4096, .n_servers = 1,
				    .server = { { .path = FAKE_FAR, .one_way = 50 * FAKE_MS } } };
	struct stream *s;

	(void)st;
	rig_open(&cfg, origin);
	(void)world_client(&w, client, 0);
	world_run(&w, 60 * FAKE_MS);
	s = rig_session(0);
	assert_int_equal(s->state, STREAM_CONNECT);
	assert_int_equal(direction_pending(&s->dir[CLIENT]), 4096);
	assert_int_equal(s->dir[CLIENT].bytes, 4096);
	assert_false(direction_has_room(&w.engine, &s->dir[CLIENT]));
	world_run(&w, RIG_LIMIT);
	assert_int_equal(w.served[0].got, 50000);
	assert_string_equal(rig_terms(), "--");
	rig_close();
}

/* The early send right after connect() is tried as long as it works. */
static void
near_and_far_are_learned(void **st)
{
	static const struct step client[] = { { STEP_SEND, 10 }, { STEP_WAIT_EOF, 0 },
					      { STEP_END, 0 } };
	static const struct step origin[] = { { STEP_WAIT, 10 }, { STEP_END, 0 } };
	struct world_config near = { RIG_WORLD };
	struct world_config far = { RIG_WORLD, .n_servers = 1,
				    .server = { { .path = FAKE_FAR, .one_way = FAKE_MS } } };

	(void)st;
	rig_play(&near, client, origin);
	assert_true(w.srv[0]->shard->guess[SERVER_NEAR].trust > 0);
	rig_close();
	rig_open(&far, origin);
	for (int i = 0; i < 4; i++) {
		(void)world_client(&w, client, 0);
		world_run(&w, FAKE_SEC);
	}
	assert_true(w.srv[0]->shard->guess[SERVER_NEAR].trust < 0);
	/* The server counts as far: no more tries. */
	assert_in_range(w.sys.ledger.n[SYS_CALL_sendto][SYS_AGAIN], 1, 2);
	assert_string_equal(rig_terms(), "-- -- -- --");
	rig_close();
}

/* A fast stream leaves time for others: a dispatch ends after max_reads. */
static void
reads_of_one_dispatch_are_bounded(void **st)
{
	static const struct step client[] = { { STEP_SEND, 100000 }, { STEP_WAIT_EOF, 0 },
					      { STEP_END, 0 } };
	static const struct step origin[] = { { STEP_WAIT, 100000 }, { STEP_END, 0 } };
	struct world_config cfg = { RIG_WORLD, .bufsize = 1024 };
	struct stream *s;
	uint64_t before;

	(void)st;
	rig_open(&cfg, origin);
	(void)world_client(&w, client, 0);
	assert_int_equal(loop_turn(w.loop, 0), 0);
	assert_int_equal(loop_turn(w.loop, 0), 0);
	s = rig_session(0);
	assert_int_equal(s->state, STREAM_RELAY);
	before = s->dir[CLIENT].bytes;
	assert_int_equal(direction_pump(s, CLIENT), STREAM_EV_NONE);
	assert_int_equal(s->dir[CLIENT].bytes - before, w.engine.limits.max_reads * 1024);
	world_run(&w, RIG_LIMIT);
	assert_string_equal(rig_terms(), "--");
	rig_close();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_are_forwarded_and_no_buffer_is_kept),
		cmocka_unit_test(a_slow_sink_stops_reading),
		cmocka_unit_test(the_fin_waits_for_pending_bytes),
		cmocka_unit_test(one_direction_ends_the_other_continues),
		cmocka_unit_test(a_reset_breaks_both_directions),
		cmocka_unit_test(forwarding_works_without_memory),
		cmocka_unit_test(bytes_left_in_the_kernel_are_pending),
		cmocka_unit_test(without_memory_the_first_bytes_wait),
		cmocka_unit_test(bytes_that_cannot_be_consumed_break_the_stream),
		cmocka_unit_test(the_clients_first_bytes_are_kept),
		cmocka_unit_test(near_and_far_are_learned),
		cmocka_unit_test(reads_of_one_dispatch_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
