/* The memory limit: what is refused, when new sessions wait, and when they are accepted again. */
#include "unit/proxy/session_rig.h"

#include "proxy/model/memory.h"
#include "sim/faults.h"

#define BUF 4096u
#define MAX_BYTES ((uint64_t)32 * BUF)

static const struct step client[] = { { STEP_STALL, 0 }, { STEP_SEND, 4 }, { STEP_PAUSE, 2000 },
	{ STEP_READ, 0 }, { STEP_WAIT_EOF, 0 }, { STEP_END, 0 } };
static const struct step origin[] = { { STEP_WAIT, 4 }, { STEP_PAUSE, 10 }, { STEP_SEND, 60000 },
	{ STEP_END, 0 } };

static struct engine e;
static unsigned int told;

static void
on_memory(struct engine *engine)
{
	assert_ptr_equal(engine, &e);
	told++;
}

static int
setup(void **st)
{
	(void)st;
	memset(&e, 0, sizeof(e));
	pool_init(&e.pools.session, "session", 512, 1024);
	pool_init(&e.pools.buf, "buffer", BUF, 256);
	e.hooks.on_memory = on_memory;
	told = 0;
	return 0;
}

static int
teardown(void **st)
{
	(void)st;
	pool_fini(&e.pools.session);
	pool_fini(&e.pools.buf);
	return 0;
}

static void
without_a_limit_nothing_waits(void **st)
{
	void *buf[200];

	(void)st;
	memory_bound(&e, 0);
	e.n_sessions = 1;
	for (size_t i = 0; i < ARRAY_LEN(buf); i++) {
		assert_true(memory_reserve_buffer(&e));
		buf[i] = pool_get(&e.pools.buf);
		memory_watch(&e);
	}
	assert_false(e.memory_tight);
	assert_int_equal(memory_live(&e), ARRAY_LEN(buf) * BUF);
	for (size_t i = 0; i < ARRAY_LEN(buf); i++)
		pool_put(&e.pools.buf, buf[i]);
	assert_int_equal(memory_live(&e), 0);
	assert_int_equal(told, 0);
}

/* At three quarters new sessions wait; at the limit there are no more buffers. */
static void
the_limit_is_kept(void **st)
{
	void *buf[64];
	unsigned int n = 0, tight_at = 0;

	(void)st;
	memory_bound(&e, MAX_BYTES);
	e.n_sessions = 1;
	while (memory_reserve_buffer(&e)) {
		assert_true(n < ARRAY_LEN(buf));
		buf[n++] = pool_get(&e.pools.buf);
		memory_watch(&e);
		if (e.memory_tight && !tight_at)
			tight_at = n;
		assert_true(memory_used(&e) <= MAX_BYTES);
	}
	/* One session is kept in reserve. */
	assert_in_range(n, 31, 32);
	assert_in_range(tight_at, 24, 25);
	assert_int_equal(e.stat.memory_holds, 1);
	assert_int_equal(told, 1);
	assert_int_equal(e.pools.buf.fails, 0);
	/* A buffer that was released can be taken again. */
	pool_put(&e.pools.buf, buf[--n]);
	assert_true(memory_reserve_buffer(&e));
	/* Some memory must be free before new sessions are accepted: no oscillation. */
	while (e.memory_tight) {
		pool_put(&e.pools.buf, buf[--n]);
		memory_watch(&e);
	}
	assert_in_range(n, 12, 22);
	assert_int_equal(told, 2);
	while (n)
		pool_put(&e.pools.buf, buf[--n]);
	/* Only a small part is kept for reuse. */
	assert_true(memory_used(&e) <= MAX_BYTES / 8 + BUF);
}

/* Bytes in pipes count as memory; they may use what new sessions must not use. */
static void
pipes_count(void **st)
{
	(void)st;
	assert_true(memory_room(&e) == UINT64_MAX);
	memory_bound(&e, MAX_BYTES);
	e.n_sessions = 1;
	assert_int_equal(memory_room(&e), MAX_BYTES / 4 * 3);
	e.pipes.bytes = MAX_BYTES / 2;
	memory_watch(&e);
	assert_false(e.memory_tight);
	assert_int_equal(memory_live(&e), MAX_BYTES / 2);
	assert_in_range(memory_room(&e), MAX_BYTES / 4 - 512, MAX_BYTES / 4);
	e.pipes.bytes = MAX_BYTES;
	memory_watch(&e);
	assert_true(e.memory_tight);
	assert_int_equal(memory_room(&e), 0);
	assert_false(memory_reserve_buffer(&e));
	/* Not before new sessions are accepted again. */
	e.pipes.bytes = MAX_BYTES / 4 * 3 - 1024;
	assert_int_equal(memory_room(&e), 0);
	e.pipes.bytes = 0;
	memory_watch(&e);
	assert_false(e.memory_tight);
	assert_true(memory_reserve_buffer(&e));
}

/* When no session is left that could release memory, waiting would never end. */
static void
without_sessions_new_ones_do_not_wait(void **st)
{
	void *s;

	(void)st;
	memory_bound(&e, 100);
	s = pool_get(&e.pools.session);
	assert_non_null(s);
	e.n_sessions = 1;
	memory_watch(&e);
	assert_true(e.memory_tight);
	pool_put(&e.pools.session, s);
	e.n_sessions = 0;
	memory_watch(&e);
	assert_false(e.memory_tight);
	assert_int_equal(told, 2);
}

/* The allocator has no memory: the next client waits until another session has ended. */
static void
without_memory_new_sessions_wait(void **st)
{
	struct world_config cfg = { RIG_WORLD };
	void *taken[8];
	int n = 0;

	(void)st;
	rig_open(&cfg, origin);
	(void)world_client(&w, client, 0);
	world_run(&w, RIG_LIMIT);
	assert_int_equal(w.engine.n_sessions, 0);
	/* There is memory for one session only. */
	assert_int_equal(pool_reserve(&w.engine.pools.session), 0);
	while (w.engine.pools.session.kept > 1)
		taken[n++] = pool_get(&w.engine.pools.session);
	(void)world_client(&w, client, 0);
	w.mem_faults = 1;
	faults_set(1);
	faults_set_again(UINT32_MAX);
	world_run(&w, 100 * FAKE_MS);
	assert_int_equal(w.engine.n_sessions, 1);
	assert_true(w.engine.memory_tight);
	assert_int_equal(w.ln->held, LISTENER_HOLD_MEMORY);
	(void)world_client(&w, client, 0);
	world_run(&w, 100 * FAKE_MS);
	assert_int_equal(w.engine.n_sessions, 1);
	faults_set(0);
	while (n)
		pool_put(&w.engine.pools.session, taken[--n]);
	world_run(&w, RIG_LIMIT);
	assert_int_equal(w.client[1].got, 60000);
	assert_int_equal(w.client[2].got, 60000);
	assert_int_equal(w.ln->held, 0);
	assert_string_equal(rig_terms(), "-- -- --");
	rig_close();
}

/* More slow readers than fit into memory: all are served, and no turn exceeds the limit. */
static void
many_slow_readers_are_served(void **st)
{
	struct world_config cfg = { RIG_WORLD, .sndbuf = 4096, .rcvbuf = 4096, .bufsize = BUF,
				    .memory = MAX_BYTES };
	unsigned int most = 0;

	(void)st;
	rig_open(&cfg, origin);
	for (int i = 0; i < 200; i++)
		(void)world_client(&w, client, 0);
	for (int i = 0; i < 300; i++) {
		world_run(&w, 100 * FAKE_MS);
		most = MAX(most, w.engine.n_sessions);
	}
	world_run(&w, RIG_LIMIT);
	assert_in_range(most, 10, 150);
	assert_true(w.engine.stat.memory_holds > 1);
	assert_int_equal(w.n_ends, 200);
	for (int i = 0; i < 200; i++) {
		assert_int_equal(w.client[i].got, 60000);
		assert_true(w.client[i].eof);
	}
	rig_close();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(without_a_limit_nothing_waits),
		CASE(the_limit_is_kept),
		CASE(pipes_count),
		CASE(without_sessions_new_ones_do_not_wait),
		cmocka_unit_test(without_memory_new_sessions_wait),
		cmocka_unit_test(many_slow_readers_are_served),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
