/*
 * Zero-copy sends of whole sessions: which buffers they use, when those are free again, and that
 * acknowledgements and errors are distinguished.
 */
#include "unit/proxy/session_rig.h"

#include <errno.h>

#include "proxy/relay/direction.h"
#include "proxy/model/memory.h"
#include "proxy/session/session.h"

#define THRESHOLD 2048
#define ZC RIG_WORLD, .zerocopy = THRESHOLD, .bufsize = 8192

static const struct step origin_waits[] = { { STEP_WAIT_EOF, 0 }, { STEP_END, 0 } };

static void
large_reads_are_sent_in_place_both_ways(void **st)
{
	static const struct step client[] = { { STEP_SEND, 200000 }, { STEP_SHUT, 0 },
					      { STEP_WAIT_EOF, 0 }, { STEP_END, 0 } };
	static const struct step origin[] = { { STEP_SEND, 150000 }, { STEP_WAIT_EOF, 0 },
					      { STEP_END, 0 } };
	static const enum interest_mode modes[] = { INTEREST_MERGED, INTEREST_UNMERGED,
						    INTEREST_EDGE };

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
		struct world_config cfg = { ZC, .sndbuf = 16384, .rcvbuf = 16384 };

		cfg.mode = modes[i];
		rig_open(&cfg, origin);
		w.allow_del = modes[i] == INTEREST_UNMERGED;
		(void)world_client(&w, client, 0);
		world_run(&w, RIG_LIMIT);
		assert_int_equal(w.served[0].got, 200000);
		assert_int_equal(w.client[0].got, 150000);
		assert_string_equal(rig_terms(), "--");
		/* Some reads are short. */
		assert_true(w.engine.zerocopy.bytes > 250000);
		assert_int_equal(w.engine.zerocopy.pinned, 0);
		rig_close();
	}
}

/* Between requests a connection owns no buffer, with zero-copy or without. */
static void
small_reads_are_copied(void **st)
{
	static const struct step client[] = { { STEP_SEND, THRESHOLD - 1 }, { STEP_WAIT, 100 },
					      { STEP_PAUSE, 50 }, { STEP_END, 0 } };
	static const struct step origin[] = { { STEP_WAIT, THRESHOLD - 1 }, { STEP_SEND, 100 },
					      { STEP_WAIT_EOF, 0 }, { STEP_END, 0 } };
	struct world_config cfg = { ZC };

	(void)st;
	rig_open(&cfg, origin);
	(void)world_client(&w, client, 0);
	world_run(&w, 10 * FAKE_MS);
	assert_int_equal(w.engine.n_sessions, 1);
	assert_int_equal(w.engine.pools.buf.live, 0);
	world_run(&w, RIG_LIMIT);
	assert_int_equal(w.engine.zerocopy.bytes, 0);
	/* The call that reads the acknowledgement. */
	assert_int_equal(w.sys.ledger.n[SYS_CALL_recvmmsg][SYS_OK], 1);
	rig_close();
}

/* Zero-copy is neither enabled nor used to the host itself: the kernel copies there. */
static void
loopback_is_not_used(void **st)
{
	static const struct step client[] = { { STEP_SEND, 50000 }, { STEP_SHUT, 0 },
					      { STEP_WAIT_EOF, 0 }, { STEP_END, 0 } };
	struct world_config cfg = { ZC };
	struct addr to;

	(void)st;
	rig_open(&cfg, origin_waits);
	fake_trace_on(w.k, 1);
	(void)addr_cell_get(&w.srv[0]->addr, &to);
	to.u.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	addr_cell_set(&w.srv[0]->addr, &to);
	(void)world_client(&w, client, 0);
	world_run(&w, RIG_LIMIT);
	assert_int_equal(w.served[0].got, 50000);
	assert_int_equal(w.engine.zerocopy.bytes, 0);
	assert_null(strstr(fake_trace(w.k), "ZEROCOPY"));
	rig_close();
}

/* A slow reader pins a limited number of buffers; the rest is copied correctly. */
static void
a_slow_reader_pins_a_bounded_number_of_buffers(void **st)
{
	static const struct step client[] = { { STEP_STALL, 0 }, { STEP_SEND, 4 },
		{ STEP_PAUSE, 1000 }, { STEP_READ, 0 }, { STEP_WAIT_EOF, 0 }, { STEP_END, 0 } };
	static const struct step origin[] = { { STEP_WAIT, 4 }, { STEP_SEND, 300000 },
					      { STEP_END, 0 } };
	struct world_config cfg = { ZC, .sndbuf = 200000, .rcvbuf = 8192, .pinned = 32768 };

	(void)st;
	rig_open(&cfg, origin);
	for (int i = 0; i < 4; i++)
		(void)world_client(&w, client, 0);
	world_run(&w, 500 * FAKE_MS);
	assert_int_equal(w.engine.zerocopy.pinned, 32768);
	assert_true(w.engine.zerocopy.full > 0);
	world_run(&w, RIG_LIMIT);
	for (int i = 0; i < 4; i++)
		assert_int_equal(w.client[i].got, 300000);
	assert_string_equal(rig_terms(), "-- -- -- --");
	rig_close();
}

/* Pinned buffers count as memory: at the limit sends are copied. */
static void
pinned_buffers_count_as_memory(void **st)
{
	static const struct step client[] = { { STEP_STALL, 0 }, { STEP_SEND, 4 },
		{ STEP_PAUSE, 1000 }, { STEP_READ, 0 }, { STEP_WAIT_EOF, 0 }, { STEP_END, 0 } };
	static const struct step origin[] = { { STEP_WAIT, 4 }, { STEP_SEND, 300000 },
					      { STEP_END, 0 } };
	struct world_config cfg = { ZC, .sndbuf = 200000, .rcvbuf = 8192, .memory = 65536 };

	(void)st;
	rig_open(&cfg, origin);
	(void)world_client(&w, client, 0);
	world_run(&w, 500 * FAKE_MS);
	assert_true(w.engine.zerocopy.pinned > 32768);
	assert_true(w.engine.stat.buf_waits > 0);
	assert_true(w.engine.memory_tight);
	world_run(&w, RIG_LIMIT);
	assert_int_equal(w.client[0].got, 300000);
	assert_false(w.engine.memory_tight);
	assert_string_equal(rig_terms(), "--");
	rig_close();
}

/* The session ends before the acknowledgements: all bytes arrive, and the buffers are free. */
static void
a_session_ends_before_its_acknowledgements(void **st)
{
	static const struct step client[] = { { STEP_SEND, 4 }, { STEP_WAIT_EOF, 0 },
					      { STEP_END, 0 } };
	static const struct step origin[] = { { STEP_WAIT, 4 }, { STEP_SEND, 40000 },
					      { STEP_CLOSE, 0 } };
	struct world_config cfg = { ZC, .client_delay = 50 * FAKE_MS };

	(void)st;
	rig_open(&cfg, origin);
	(void)world_client(&w, client, 0);
	world_run(&w, RIG_LIMIT);
	assert_int_equal(w.client[0].got, 40000);
	assert_true(w.client[0].eof);
	rig_close();
	/* Both ends close at once: the acknowledgements are not waited for. */
	rig_open(&cfg, origin);
	(void)world_client(&w, client, 0);
	world_run(&w, 180 * FAKE_MS);
	assert_true(w.engine.zerocopy.pinned > 0);
	engine_kill_all(&w.engine);
	world_run(&w, RIG_LIMIT);
	assert_true(w.sys.ledger.n[SYS_CALL_madvise][SYS_OK] > 0);
	assert_int_equal(w.engine.zerocopy.pinned, 0);
	rig_close();
}

/* LINGER: acknowledgements that arrive while the rest is delivered do not mean that the client has
 * ended. */
static void
acknowledgements_do_not_end_lingering(void **st)
{
	static const struct step client[] = { { STEP_STALL, 0 }, { STEP_SEND, 4 },
		{ STEP_PAUSE, 100 }, { STEP_READ, 0 }, { STEP_WAIT, 20000 }, { STEP_STALL, 0 },
		{ STEP_PAUSE, 100 }, { STEP_READ, 0 }, { STEP_WAIT_EOF, 0 }, { STEP_END, 0 } };
	static const struct step origin[] = { { STEP_WAIT, 4 }, { STEP_SEND, 60000 },
					      { STEP_PAUSE, 5 }, { STEP_RESET, 0 } };
	struct world_config cfg = { ZC, .sndbuf = 100000, .rcvbuf = 8192,
				    .client_delay = 10 * FAKE_MS };
	unsigned int lingered = 0;

	(void)st;
	cfg.mode = INTEREST_EDGE;
	rig_open(&cfg, origin);
	(void)world_client(&w, client, 0);
	for (int i = 0; i < 60; i++) {
		world_run(&w, 5 * FAKE_MS);
		lingered += w.engine.n_sessions && rig_session(0)->state == STREAM_LINGER &&
			rig_session(0)->conn[CLIENT]->zerocopy;
	}
	assert_true(lingered > 5);
	world_run(&w, RIG_LIMIT);
	assert_int_equal(w.client[0].got, 60000);
	assert_int_equal(w.client[0].err, ECONNRESET);
	assert_string_equal(rig_terms(), "SD");
	rig_close();
}

/* The client's direction has ended and nothing is pending: its reset is noticed at once, not by a
 * timeout. */
static void
an_error_among_acknowledgements_is_seen_at_once(void **st)
{
	static const struct step client[] = { { STEP_SEND, 4 }, { STEP_SHUT, 0 },
		{ STEP_WAIT, 60000 }, { STEP_PAUSE, 20 }, { STEP_RESET, 0 } };
	static const struct step origin[] = { { STEP_WAIT, 4 }, { STEP_SEND, 60000 },
		{ STEP_PAUSE, 20000 }, { STEP_WAIT_EOF, 0 }, { STEP_END, 0 } };
	static const uint64_t late[] = { 0, 21 * FAKE_MS, 40 * FAKE_MS };

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(late); i++) {
		struct world_config cfg = { ZC };
		uint64_t began;

		cfg.mode = INTEREST_EDGE;
		cfg.zc.late = late[i];
		rig_open(&cfg, origin);
		began = fake_now(w.k);
		(void)world_client(&w, client, 0);
		world_run(&w, RIG_LIMIT);
		assert_true(w.engine.zerocopy.bytes > 0);
		assert_string_equal(rig_terms(), "CD");
		assert_true(w.ended - began < FAKE_SEC);
		rig_close();
	}
}

/* The same while the client still sends, and while the session lingers. */
static void
a_reset_among_acknowledgements_is_a_reset(void **st)
{
	static const struct step client[] = { { STEP_SEND, 4 }, { STEP_WAIT, 60000 },
					      { STEP_PAUSE, 20 }, { STEP_RESET, 0 } };
	static const struct step stalled[] = { { STEP_STALL, 0 }, { STEP_SEND, 4 },
					    { STEP_PAUSE, 100 }, { STEP_RESET, 0 } };
	static const struct step origin[] = { { STEP_WAIT, 4 }, { STEP_SEND, 60000 },
					      { STEP_WAIT_EOF, 0 }, { STEP_END, 0 } };
	static const struct step resets[] = { { STEP_WAIT, 4 }, { STEP_SEND, 60000 },
					      { STEP_PAUSE, 5 }, { STEP_RESET, 0 } };
	struct world_config cfg = { ZC };
	struct world_config slow = { ZC, .sndbuf = 100000, .rcvbuf = 8192 };
	uint64_t began;

	(void)st;
	cfg.zc.late = 20 * FAKE_MS;
	rig_play(&cfg, client, origin);
	assert_string_equal(rig_terms(), "CD");
	assert_false(w.served[0].eof);
	rig_close();
	slow.mode = INTEREST_EDGE;
	rig_open(&slow, resets);
	began = fake_now(w.k);
	(void)world_client(&w, stalled, 0);
	world_run(&w, RIG_LIMIT);
	assert_string_equal(rig_terms(), "SD");
	/* Not when a timeout expires. */
	assert_true(w.ended - began < 150 * FAKE_MS);
	rig_close();
}

#define CHUNKED "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

/* Bodies that need not be parsed; bytes after a body are not sent with it. */
static void
bodies_are_sent_in_place(void **st)
{
#define LATE { .late = 20 * FAKE_MS }
	static const struct http_dialogue d[] = {
		{ .name = "a length",
			.reuses = 1,
			.served = 2,
			.cfg = { RIG_WORLD, .zerocopy = 600, .bufsize = 1024, .zc = LATE,
				.client_delay = 5 * FAKE_MS },
			.client = { SAY(LONG_POST LONG_BODY GET "\r\n"), AWAIT(LONG_BODY),
				AWAIT(LONG_BODY), { STEP_PAUSE, 50 }, { STEP_CLOSE, 0 } },
			.origin = { AWAIT("\r\n\r\n"),
				SAY(LONG_OK LONG_BODY "HTTP/1.1 500 NO\r\n\r\n"), EOF_CLOSE },
			.to_client = LONG_OK LONG_BODY LONG_OK LONG_BODY,
			.terms = "-- --" },
		{ .name = "until the close",
			.served = 1,
			.cfg = { RIG_WORLD, .zerocopy = 600, .bufsize = 1024, .zc = LATE,
				.client_delay = 5 * FAKE_MS },
			.client = { SAY(GET_CLOSE), EOF_CLOSE },
			.origin = { AWAIT("\r\n\r\n"), SAY("HTTP/1.1 200 OK\r\n\r\n" LONG_BODY),
				{ STEP_CLOSE, 0 } },
			.to_client = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" LONG_BODY,
			.terms = "--" },
	};

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(d); i++) {
		http_play(&d[i]);
		assert_true(w.engine.zerocopy.bytes >= 600);
		assert_int_equal(w.engine.zerocopy.pinned, 0);
	}
}

/* Chunked framing is parsed in the copy. */
static void
chunks_are_copied(void **st)
{
	static const struct http_dialogue d = { .name = "chunks", .reuses = 1, .served = 1,
		.cfg = { RIG_WORLD, .zerocopy = 600, .bufsize = 1024 },
		.client = { SAY(GET "\r\n"), AWAIT("0\r\n\r\n"), { STEP_CLOSE, 0 } },
		.origin = { AWAIT("\r\n\r\n"), SAY(CHUNKED "898\r\n" LONG_BODY "\r\n0\r\n\r\n"),
			EOF_CLOSE },
		.to_client = CHUNKED "898\r\n" LONG_BODY "\r\n0\r\n\r\n", .terms = "--" };

	(void)st;
	http_play(&d);
	assert_int_equal(w.engine.zerocopy.bytes, 0);
}

/* When memory is short, acknowledgements are read without waiting for an event. */
static void
acknowledgements_are_polled(void **st)
{
	static const struct step client[] = { { STEP_SEND, 4 }, { STEP_WAIT_EOF, 0 },
					      { STEP_END, 0 } };
	static const struct step origin[] = { { STEP_WAIT, 4 }, { STEP_SEND, 30000 },
					      { STEP_PAUSE, 1000 }, { STEP_END, 0 } };
	struct world_config cfg = { ZC, .zc = { .late = 50 * FAKE_MS } };

	(void)st;
	rig_open(&cfg, origin);
	(void)world_client(&w, client, 0);
	world_run(&w, 10 * FAKE_MS);
	assert_true(w.engine.zerocopy.pinned > 0);
	fake_advance(w.k, 100 * FAKE_MS);
	direction_reap_zc(rig_session(0));
	assert_int_equal(w.engine.zerocopy.pinned, 0);
	world_run(&w, RIG_LIMIT);
	rig_close();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(large_reads_are_sent_in_place_both_ways),
		cmocka_unit_test(small_reads_are_copied),
		cmocka_unit_test(loopback_is_not_used),
		cmocka_unit_test(a_slow_reader_pins_a_bounded_number_of_buffers),
		cmocka_unit_test(pinned_buffers_count_as_memory),
		cmocka_unit_test(a_session_ends_before_its_acknowledgements),
		cmocka_unit_test(acknowledgements_do_not_end_lingering),
		cmocka_unit_test(an_error_among_acknowledgements_is_seen_at_once),
		cmocka_unit_test(a_reset_among_acknowledgements_is_a_reset),
		cmocka_unit_test(bodies_are_sent_in_place),
		cmocka_unit_test(chunks_are_copied),
		cmocka_unit_test(acknowledgements_are_polled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
