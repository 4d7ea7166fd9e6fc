/* The engine: what the sessions of a worker share. */
#include "unit/proxy/session_rig.h"

#include "base/err.h"
#include "base/log.h"
#include "proxy/model/engine.h"
#include "sim/faults.h"

static struct fake *k;
static struct sys sys;
static struct loop *loop;

static int
setup(void **st)
{
	const struct loop_config lc = { .poller = &poller_epoll, .mode = INTEREST_EDGE,
		.max_fd = 64, .max_events = 8, .lazy = 1 };
	int reason;

	(void)st;
	k = fake_new();
	sys_init(&sys, &sys_fake, k);
	loop = loop_new(&sys, &lc, &reason);
	return loop ? 0 : -1;
}

static int
teardown(void **st)
{
	(void)st;
	loop_free(&loop);
	fake_free(&k);
	return 0;
}

/* Ids of sessions and requests are unique in the process, whichever engine assigns them. */
static void
no_id_is_given_twice(void **st)
{
	struct engine_shared shared;
	struct engine e[3];
	uint64_t seen = 0;

	(void)st;
	engine_shared_init(&shared, ARRAY_LEN(e), 10);
	for (unsigned int i = 0; i < ARRAY_LEN(e); i++) {
		assert_int_equal(engine_init(&e[i], &sys, loop, 4096, 10), 0);
		engine_join(&e[i], &shared, i);
	}
	for (unsigned int n = 0; n < 60; n++) {
		uint64_t id = engine_next_id(&e[n * n % 3]);

		assert_true(id > 0 && id < 200);
		for (unsigned int i = 0; i < ARRAY_LEN(e); i++)
			if (id % ARRAY_LEN(e) == i)
				assert_int_equal(i, n * n % 3);
		seen += id;
	}
	/* 20 ids of engine 0, 40 of engine 1: 3..60 and 4..121 in steps of three. */
	assert_int_equal(seen, 20 * (3 + 60) / 2 + 40 * (4 + 121) / 2);
	for (unsigned int i = 0; i < ARRAY_LEN(e); i++)
		engine_fini(&e[i]);
	engine_shared_fini(&shared);
}

/* Additions to a head use at most half of a buffer. */
static void
half_of_a_buffer_is_for_heads(void **st)
{
	struct engine e;

	(void)st;
	assert_int_equal(engine_init(&e, &sys, loop, 4096, 10), 0);
	assert_int_equal(e.limits.maxrewrite, 1024);
	assert_int_equal(e.limits.maxhdr, 101);
	engine_allow_http(&e, 2048, 7);
	assert_int_equal(e.limits.maxrewrite, 2048);
	assert_int_equal(e.limits.maxhdr, 7);
	engine_allow_http(&e, 2049, 7);
	assert_int_equal(e.limits.maxrewrite, 2048);
	engine_fini(&e);
}

/* Returns the number of messages that wait for the kernel. */
static unsigned int
messages(const struct log_sink *to)
{
	static size_t before;
	unsigned int n = to->used > before;

	before = to->used;
	return n;
}

static void
fall_short(struct engine *e, enum shortfall_kind kind)
{
	struct shortfalls *s = &e->eval.shortfalls;

	s->tell(s->arg, kind, "[web.cfg:7] : it is short.");
}

/* Two workers log one line in a second. */
static void
shortfalls_are_logged_once_a_second(void **st)
{
	struct engine_shared shared;
	struct log_sink sink;
	struct log_line line;
	struct log_ident id = { .tag = "t", .pid = 1 };
	struct engine e[2];
	struct list lines;

	(void)st;
	log_line_init(&line);
	line.dest.kind = LOG_DEST_FD;
	line.dest.fd = 1;
	list_init(&lines);
	list_append(&lines, &line.link);
	log_sink_init(&sink, &sys, &id);
	sink.lines = &lines;
	engine_shared_init(&shared, ARRAY_LEN(e), 10);
	for (unsigned int i = 0; i < ARRAY_LEN(e); i++) {
		assert_int_equal(engine_init(&e[i], &sys, loop, 4096, 10), 0);
		engine_join(&e[i], &shared, i);
		e[i].log = &sink;
	}
	fall_short(&e[0], SHORTFALL_REGEX);
	assert_int_equal(messages(&sink), 1);
	fall_short(&e[0], SHORTFALL_REGEX);
	fall_short(&e[1], SHORTFALL_REGEX);
	assert_int_equal(messages(&sink), 0);
	fake_advance(k, 2000000000);
	assert_int_equal(loop_turn(loop, 0), 0);
	fall_short(&e[1], SHORTFALL_REGEX);
	assert_int_equal(messages(&sink), 1);
	for (unsigned int i = 0; i < ARRAY_LEN(e); i++)
		engine_fini(&e[i]);
	engine_shared_fini(&shared);
	log_sink_fini(&sink);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(no_id_is_given_twice),
		CASE(half_of_a_buffer_is_for_heads),
		CASE(shortfalls_are_logged_once_a_second),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
