/* Streams of one client's connection, in a world: each goes to a server connection of its own. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "proxy/http2/h2_client.h"
#include "proxy/model/memory.h"
#include "proxy/session/session.h"
#include "sim/agent.h"
#include "sim/h2_wire.h"
#include "sim/world.h"
#include "unit/test.h"

#define LIMIT (100 * FAKE_SEC)
#define REQUEST GET "\r\n"
#define OK "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

static struct world w;

static void
open_world(unsigned int server_ms)
{
	struct world_config cfg = { .mode = INTEREST_EDGE, .http = 1, .h2 = 1, .n_servers = 1,
		.to = { .connect = 5000, .client = 30000, .server = server_ms, .queue = 5000 } };

	assert_int_equal(world_open(&w, &cfg), 0);
	w.origin_steps = NULL;
	w.origin_script = NULL;
	w.meddle = NULL;
}

static void
close_world(const char *terms)
{
	char got[100];

	assert_string_equal(world_terms(&w, got, sizeof(got)), terms);
	if (world_close(&w) < 0)
		fail_msg("%s", w.why);
}

/* Only the first connection gets an answer. */
static void
answer_the_first(struct world *of, unsigned int nth, struct step *steps)
{
	static const struct step answers[] = { AWAIT("\r\n\r\n"), { STEP_PAUSE, 20 }, SAY(OK),
		{ STEP_WAIT_EOF, 0 }, { STEP_CLOSE, 0 } };
	static const struct step is_silent[] = { { STEP_WAIT_EOF, 0 }, { STEP_CLOSE, 0 } };

	(void)of;
	if (nth == 0)
		memcpy(steps, answers, sizeof(answers));
	else
		memcpy(steps, is_silent, sizeof(is_silent));
}

/* Kills the third stream once it waits for its answer. */
static void
kill_the_third(struct world *of)
{
	unsigned int n = 0;

	list_each_safe(it, &of->engine.streams) {
		struct stream *s = list_entry(it, struct stream, link);

		if (s->is_carried && s->state == STREAM_RELAY && ++n == 3)
			stream_kill(s, 'K');
	}
}

/* One is answered, one is too late, one is killed: none of them is anything to the others. */
static void
three_streams_end_each_by_itself(void **st)
{
	static const struct step asks[] = { SAY(REQUEST REQUEST REQUEST), AWAIT("HTTP/2 200\r\n"),
		AWAIT("hello"), AWAIT("HTTP/2 504\r\n"), AWAIT("</html>"), AWAIT("RST "),
		SAY(REQUEST), AWAIT("HTTP/2 504\r\n"), AWAIT("</html>"), { STEP_CLOSE, 0 } };

	(void)st;
	open_world(100);
	w.origin_script = answer_the_first;
	w.meddle = kill_the_third;
	world_client(&w, asks, 0);
	world_run(&w, LIMIT);
	assert_int_equal(w.n_served, 3);
	close_world("KD -- sH sH");
}

/* The operator ends the session: its streams end first. */
static void
kill_the_session(struct world *of)
{
	list_each_safe(it, &of->engine.streams) {
		struct stream *s = list_entry(it, struct stream, link);

		if (s->state == STREAM_NEW && s->sess->h2->carrier.n_streams == 2)
			stream_kill(s, 'K');
	}
}

static void
a_killed_session_ends_with_its_streams(void **st)
{
	static const struct step asks[] = { SAY(REQUEST REQUEST), { STEP_WAIT_EOF, 0 },
		{ STEP_CLOSE, 0 } };
	static const struct step is_silent[] = { { STEP_WAIT_EOF, 0 }, { STEP_CLOSE, 0 } };

	(void)st;
	open_world(30000);
	w.origin_steps = is_silent;
	w.meddle = kill_the_session;
	world_client(&w, asks, 0);
	world_run(&w, LIMIT);
	assert_int_equal(w.engine.n_sessions, 0);
	close_world("CD CD");
}

/* A hard stop of the worker, while streams run. */
static void
a_hard_stop_ends_all(void **st)
{
	static const struct step asks[] = { SAY(REQUEST REQUEST), { STEP_WAIT_EOF, 0 },
		{ STEP_CLOSE, 0 } };
	static const struct step is_silent[] = { { STEP_WAIT_EOF, 0 }, { STEP_CLOSE, 0 } };

	(void)st;
	open_world(30000);
	w.origin_steps = is_silent;
	world_client(&w, asks, 0);
	world_run(&w, FAKE_SEC);
	assert_int_equal(w.engine.n_sessions, 1);
	assert_int_equal(w.engine.pools.substream.live, 2);
	engine_kill_all(&w.engine);
	world_run(&w, LIMIT);
	assert_int_equal(w.engine.n_sessions, 0);
	assert_int_equal(w.engine.pools.substream.live, 0);
	close_world("KD KD");
}

/* The tables of field blocks are memory of sessions: new ones wait for it, too. */
static void
tables_count_as_memory(void **st)
{
	static char ask[6000];
	struct step asks[] = { SAY(ask), { STEP_WAIT_EOF, 0 }, { STEP_CLOSE, 0 } };
	static const struct step is_silent[] = { { STEP_WAIT_EOF, 0 }, { STEP_CLOSE, 0 } };
	struct engine *e = &w.engine;
	struct h2_conn *h;
	uint64_t full;
	size_t n = (size_t)snprintf(ask, sizeof(ask), GET);

	(void)st;
	for (int i = 0; i < 60; i++)
		n += (size_t)snprintf(ask + n, sizeof(ask) - n, "x-%d: a value of its own\r\n", i);
	(void)snprintf(ask + n, sizeof(ask) - n, "\r\n");
	open_world(30000);
	w.origin_steps = is_silent;
	world_client(&w, asks, 0);
	world_run(&w, FAKE_SEC);
	h = &list_first(&e->streams, struct stream, link)->sess->h2->carrier.h2;
	full = memory_used(e);
	e->limits.max_memory = full * 4 / 3 - 1000;
	memory_weigh(e);
	assert_true(e->memory_tight);
	h2_conn_trim(h);
	assert_in_range(full - memory_used(e), 5000, 50000);
	e->limits.max_memory = memory_used(e) * 4 / 3 + 5000;
	e->memory_tight = 0;
	memory_weigh(e);
	assert_false(e->memory_tight);
	e->limits.max_memory = 0;
	engine_kill_all(e);
	world_run(&w, LIMIT);
	close_world("KD");
}

static _Atomic int is_over;

static void *
read_memory(void *arg)
{
	(void)arg;
	do {
		(void)memory_used(&w.engine);
	} while (!is_over);
	return NULL;
}

/* Another worker reads what this one uses, from before it has any HTTP/2. */
static void
another_thread_may_read_the_memory(void **st)
{
	static const struct step asks[] = { SAY(REQUEST), AWAIT("hello"), { STEP_CLOSE, 0 } };
	pthread_t reader;

	(void)st;
	open_world(100);
	w.origin_script = answer_the_first;
	world_client(&w, asks, 0);
	assert_int_equal(pthread_create(&reader, NULL, read_memory, NULL), 0);
	world_run(&w, LIMIT);
	is_over = 1;
	assert_int_equal(pthread_join(reader, NULL), 0);
	assert_true(memory_used(&w.engine) > 0);
	assert_int_equal(w.n_served, 1);
	close_world("--");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(three_streams_end_each_by_itself),
		cmocka_unit_test(a_killed_session_ends_with_its_streams),
		cmocka_unit_test(a_hard_stop_ends_all),
		cmocka_unit_test(tables_count_as_memory),
		cmocka_unit_test(another_thread_may_read_the_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
