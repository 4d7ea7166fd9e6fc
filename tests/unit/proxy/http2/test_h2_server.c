/* Connections to servers of HTTP/2, in a world whose clients speak HTTP/1. */
#include <stdio.h>
#include <string.h>

#include "base/counter.h"
#include "proxy/http2/h2_engine.h"
#include "proxy/http2/h2_server.h"
#include "proxy/session/session.h"
#include "sim/agent.h"
#include "sim/world.h"
#include "unit/test.h"

#define LIMIT (100 * FAKE_SEC)
#define OK "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

static struct world w;

static void
open_world(unsigned int server_ms, int sockbuf, uint64_t one_way)
{
	struct world_config cfg = { .mode = INTEREST_EDGE, .http = 1, .h2_servers = 1,
		.n_servers = 1,
		.server = { { .path = one_way ? FAKE_FAR : FAKE_NEAR, .one_way = one_way } },
		.reuse = HTTP_REUSE_ALWAYS, .sndbuf = (unsigned int)sockbuf,
		.rcvbuf = (unsigned int)sockbuf,
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

static struct h2_server *
first_server(void)
{
	return list_first(&w.engine.h2->all_servers, struct h2_server, all);
}

/* A server reads no more: what is left of the output of a stream that was too late is given up with
 * its connection. */
static void
a_server_that_hangs_keeps_no_connection(void **st)
{
	static char upload[400000];
	static const struct step asks[] = { SAY(upload), AWAIT(" 504 "), { STEP_WAIT_EOF, 0 },
		{ STEP_CLOSE, 0 } };
	static const struct step hangs[] = { { STEP_STALL, 0 }, { STEP_PAUSE, 90000 },
		{ STEP_CLOSE, 0 } };

	(void)st;
	memset(upload, 'x', sizeof(upload) - 1);
	memcpy(upload, POST_LINE "Content-Length: 1000000\r\n\r\n",
		strlen(POST_LINE "Content-Length: 1000000\r\n\r\n"));
	open_world(100, 4096, 0);
	w.origin_steps = hangs;
	world_client(&w, asks, 0);
	world_run(&w, 80 * FAKE_SEC);
	assert_int_equal(w.n_served, 1);
	assert_true(list_is_empty(&w.engine.h2->all_servers));
	world_run(&w, LIMIT);
	close_world("sH");
}

static void
take_its_ids(struct world *of)
{
	if (of->n_served == 1 && of->engine.h2 && !list_is_empty(&of->engine.h2->all_servers) &&
		first_server()->carrier.h2.next_id < 9)
		first_server()->carrier.h2.next_id = H2_MAX31;
}

/* No id is left: other requests have another connection. */
static void
used_up_ids_are_those_of_a_connection(void **st)
{
	static const struct step asks[] = { SAY(GET "\r\n"), AWAIT("hello"), SAY(GET "\r\n"),
		AWAIT("hello"), SAY(GET "\r\n"), AWAIT("hello"), SAY(GET "\r\n"), AWAIT("hello"),
		{ STEP_CLOSE, 0 } };
	static const struct step answers[] = { AWAIT("\r\n\r\n"), SAY(OK), AWAIT("\r\n\r\n"),
		SAY(OK), AWAIT("\r\n\r\n"), SAY(OK), { STEP_WAIT_EOF, 0 }, { STEP_CLOSE, 0 } };

	(void)st;
	open_world(1000, 0, 0);
	w.origin_steps = answers;
	w.meddle = take_its_ids;
	world_client(&w, asks, 0);
	world_run(&w, LIMIT);
	assert_int_equal(w.n_served, 2);
	close_world("-- -- -- --");
}

static void
refuse_memory(struct world *of)
{
	of->engine.limits.max_memory = of->srv[0]->shard[0].n_joiners == 1 &&
		!of->px->shard[0].fe.hrsp[5];
}

/* There is no memory for HTTP/2 on an established connection: a stream that waits for it looks for
 * another one at once, though the client of the first one reads nothing of its reply. */
static void
a_stream_that_joins_does_not_wait_for_a_reply(void **st)
{
	static const struct step stalls[] = { { STEP_STALL, 0 }, SAY(GET "\r\n"),
		{ STEP_PAUSE, 20000 }, { STEP_CLOSE, 0 } };
	static const struct step asks[] = { SAY(GET "\r\n"), AWAIT("hello"), { STEP_CLOSE, 0 } };
	static const struct step answers[] = { AWAIT("\r\n\r\n"), SAY(OK), { STEP_WAIT_EOF, 0 },
		{ STEP_CLOSE, 0 } };

	(void)st;
	open_world(30000, 100, 50000000);
	w.origin_steps = answers;
	w.meddle = refuse_memory;
	world_client(&w, stalls, 0);
	world_client(&w, asks, 0);
	world_run(&w, LIMIT);
	assert_int_equal(w.px->shard[0].fe.hrsp[5], 1);
	assert_int_equal(w.px->shard[0].fe.hrsp[2], 1);
	close_world("-- RC");
}

/* tune.memory counts interim responses that wait because the client does not read. */
static void
interim_responses_count_as_memory(void **st)
{
	static char response[64000], *p = response;
	static const struct step stalls[] = { { STEP_STALL, 0 }, SAY(GET "\r\n"),
		{ STEP_PAUSE, 20000 }, { STEP_CLOSE, 0 } };
	struct step answers[] = { AWAIT("\r\n\r\n"), SAY(response), { STEP_WAIT_EOF, 0 },
		{ STEP_CLOSE, 0 } };

	(void)st;
	for (int i = 0; i < 60; i++)
		p += sprintf(p, "HTTP/1.1 103 Early Hints\r\nLink: %0900d\r\n\r\n", i);
	open_world(30000, 2000, 0);
	w.origin_steps = answers;
	world_client(&w, stalls, 0);
	world_run(&w, FAKE_SEC);
	assert_in_range(counter_read(w.engine.h2_bytes), 30000, 140000);
	engine_kill_all(&w.engine);
	world_run(&w, LIMIT);
	close_world("KD");
}

/* Another worker wants a place, and has not been notified since. */
static void
want_elsewhere(struct world *of)
{
	if (of->n_served == 1 && of->engine.h2 && !list_is_empty(&of->engine.h2->all_servers))
		of->srv[0]->places_wanted = of->srv[0]->conns ? UINT64_C(2) : 0;
}

static void
wake_nobody(struct engine *from, unsigned int target, struct server *of)
{
	assert_ptr_equal(from, &w.engine);
	assert_int_equal(target, 1);
	assert_ptr_equal(of, w.srv[0]);
}

/* A connection that has no stream any more gives its place back for a session that waits. */
static void
an_idle_connection_gives_a_wanted_place_back(void **st)
{
	static const struct step asks[] = { SAY(GET "\r\n"), AWAIT("hello"),
		{ STEP_PAUSE, 1000 }, { STEP_CLOSE, 0 } };
	static const struct step answers[] = { AWAIT("\r\n\r\n"), SAY(OK), { STEP_WAIT_EOF, 0 },
		{ STEP_CLOSE, 0 } };

	(void)st;
	open_world(1000, 0, 0);
	w.engine.hooks.wake_pool = wake_nobody;
	w.srv[0]->conf.maxconn = 1;
	w.srv[0]->conf.strict_maxconn = 1;
	w.origin_steps = answers;
	w.meddle = want_elsewhere;
	world_client(&w, asks, 0);
	world_run(&w, FAKE_SEC / 2);
	assert_int_equal(w.n_served, 1);
	assert_int_equal(w.srv[0]->conns, 0);
	assert_true(list_is_empty(&w.engine.h2->all_servers));
	world_run(&w, LIMIT);
	close_world("--");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_server_that_hangs_keeps_no_connection),
		cmocka_unit_test(used_up_ids_are_those_of_a_connection),
		cmocka_unit_test(a_stream_that_joins_does_not_wait_for_a_reply),
		cmocka_unit_test(interim_responses_count_as_memory),
		cmocka_unit_test(an_idle_connection_gives_a_wanted_place_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
