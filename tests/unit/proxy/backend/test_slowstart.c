/* Servers that start slowly, on a clock of the test. Weights and lines are those of HAProxy 2.6. */
#define CONFIG WORLD_DEFAULTS \
	"backend b\n server s 127.0.0.1:1 weight 100 maxconn 50 slowstart 8s\n"              \
	" server t 127.0.0.1:1 weight 30 slowstart 40s\n server u 127.0.0.1:1 weight 5\n"    \
	"backend fix\n balance static-rr\n server x 127.0.0.1:1 weight 9 maxconn 8 slowstart 2s\n"

#include "base/err.h"
#include "base/mem.h"
#include "proxy/backend/server_state.h"
#include "unit/hand_clock.h"
#include "unit/proxy/proxies_rig.h"

static struct state_rig rig;
static struct sys_ops ops;
static struct server *s, *t;

/* Advances the clock to this many ms after the beginning of the test. */
static void
go_to(uint64_t ms)
{
	clock_ms = 1000000 + ms;
	assert_int_equal(loop_turn(rig.engine.loop, 0), 0);
}

static int
setup(void **st)
{
	(void)st;
	state_rig_open(&rig, CONFIG);
	ops = sys_linux;
	ops.clock_gettime = read_clock;
	rig.sys.ops = &ops;
	slowstart_init(&rig.engine);
	go_to(0);
	s = state_rig_server(&rig, "b", "s");
	t = state_rig_server(&rig, "b", "t");
	return 0;
}

/* The lines that were logged since the last call. */
static const char *
logged(void)
{
	return state_rig_logged(&rig);
}

static int
teardown(void **st)
{
	(void)st;
	slowstart_fini(&rig.engine);
	state_rig_close(&rig);
	return 0;
}

static void
restart(struct server *srv)
{
	server_set_oper(&rig.engine, srv, SERVER_STOPPED, "");
	server_set_oper(&rig.engine, srv, SERVER_RUNNING, "");
	(void)logged();
}

/* The server's share of its backend's turns, in thousandths. */
static unsigned int
share_of(const struct server *srv)
{
	const struct balance *lb = &srv->be->lb;
	unsigned int n = 0;

	for (unsigned int i = 0; i < lb->map.len; i++)
		n += lb->group[lb->map.slot[i]] == srv;
	return n * 1000 / lb->map.len;
}

static void
weight_and_maxconn_grow_with_time(void **st)
{
	static const struct {
		unsigned int ms, weight, limit;
	} rows[] = { { 0, 7, 1 }, { 499, 7, 1 }, { 500, 13, 3 }, { 1000, 19, 6 }, { 2000, 32, 12 },
		{ 4000, 57, 25 }, { 7000, 94, 43 }, { 7500, 100, 46 }, { 7999, 100, 46 },
		{ 8000, 100, 50 } };

	(void)st;
	restart(s);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(s->oper, SERVER_STARTING);
		go_to(rows[i].ms);
		assert_int_equal(server_shown_weight(s), rows[i].weight);
		assert_int_equal(server_limit(s), rows[i].limit);
		assert_in_range(share_of(s), rows[i].weight * 1000 / (rows[i].weight + 35) - 20,
			rows[i].weight * 1000 / (rows[i].weight + 35));
	}
	assert_int_equal(s->oper, SERVER_RUNNING);
	assert_string_equal(logged(), "<5>Server b/s is UP. 3 active and 0 backup servers online. "
		"0 sessions requeued, 0 total in queue.");
	go_to(20000);
	assert_string_equal(logged(), "");
}

/* Nothing wakes the loop once the last one is done; until then each second at least. */
static void
there_are_steps_only_while_a_server_starts(void **st)
{
	struct timers *timers = loop_timers(rig.engine.loop);

	(void)st;
	assert_int_equal(timers_next(timers), TIMER_NEVER);
	restart(t);
	assert_int_equal(timers_next(timers), clock_ms + 1000);
	go_to(300);
	restart(s);
	assert_int_equal(timers_next(timers), clock_ms + 500);
	server_set_oper(&rig.engine, s, SERVER_STOPPED, "");
	go_to(38900);
	assert_int_equal(server_shown_weight(t), 30);
	go_to(39100);
	assert_int_equal(timers_next(timers), 1000000 + 40000);
	assert_int_equal(t->oper, SERVER_STARTING);
	go_to(40000);
	assert_int_equal(t->oper, SERVER_RUNNING);
	assert_int_equal(timers_next(timers), TIMER_NEVER);
	restart(s);
	server_set_forced(&rig.engine, s, SERVER_MAINT_FORCED);
	assert_int_equal(timers_next(timers), TIMER_NEVER);
}

static void
only_those_that_come_back_start_slowly(void **st)
{
	(void)st;
	assert_int_equal(s->oper, SERVER_RUNNING);
	assert_int_equal(server_limit(s), 50);
	server_set_forced(&rig.engine, s, SERVER_DRAIN_FORCED);
	server_set_forced(&rig.engine, s, SERVER_READY);
	assert_int_equal(s->oper, SERVER_RUNNING);
	server_set_forced(&rig.engine, s, SERVER_MAINT_FORCED);
	server_set_forced(&rig.engine, s, SERVER_READY);
	assert_int_equal(s->oper, SERVER_STARTING);
	go_to(8000);
	server_set_oper(&rig.engine, s, SERVER_STOPPING, "");
	server_set_oper(&rig.engine, s, SERVER_RUNNING, "");
	assert_int_equal(s->oper, SERVER_STARTING);
	restart(state_rig_server(&rig, "b", "u"));
	assert_int_equal(state_rig_server(&rig, "b", "u")->oper, SERVER_RUNNING);
	/* For the first time. */
	server_begin_stopped(&rig.engine, t);
	server_set_oper(&rig.engine, t, SERVER_RUNNING, "");
	assert_int_equal(t->oper, SERVER_RUNNING);
	restart(t);
	assert_int_equal(t->oper, SERVER_STARTING);
}

/* Drain and weight 0 do not stop the time, but a change of state restarts it. */
static void
other_changes_do_not_stop_the_slow_start(void **st)
{
	(void)st;
	restart(s);
	go_to(2000);
	assert_int_equal(server_set_weight(&rig.engine, s, 50), 0);
	assert_int_equal(server_shown_weight(s), 16);
	assert_int_equal(server_set_weight(&rig.engine, s, 0), 0);
	assert_int_equal(server_shown_weight(s), 0);
	assert_false(server_is_usable(s));
	go_to(3100);
	assert_int_equal(server_set_weight(&rig.engine, s, 100), 0);
	assert_int_equal(server_shown_weight(s), 44);
	server_set_forced(&rig.engine, s, SERVER_DRAIN_FORCED);
	go_to(11099);
	assert_int_equal(s->oper, SERVER_STARTING);
	(void)logged();
	go_to(11100);
	assert_int_equal(s->oper, SERVER_RUNNING);
	assert_string_equal(logged(), "<5>Server b/s is UP. 2 active and 0 backup servers online. "
		"0 sessions requeued, 0 total in queue.|"
		"<5>Server b/s remains in forced drain mode.");
}

/* The weight of a server that is down again stays what it was. */
static void
a_server_that_fails_again_begins_again(void **st)
{
	(void)st;
	restart(s);
	go_to(3000);
	server_set_oper(&rig.engine, s, SERVER_STOPPED, "");
	assert_int_equal(server_shown_weight(s), 44);
	go_to(30000);
	assert_int_equal(server_shown_weight(s), 44);
	server_set_oper(&rig.engine, s, SERVER_RUNNING, "");
	assert_int_equal(server_shown_weight(s), 7);
	assert_int_equal(server_limit(s), 1);
	go_to(37999);
	assert_int_equal(s->oper, SERVER_STARTING);
	go_to(38000);
	assert_int_equal(s->oper, SERVER_RUNNING);
}

static void
with_a_static_algorithm_only_maxconn_grows(void **st)
{
	struct server *x = state_rig_server(&rig, "fix", "x");

	(void)st;
	restart(x);
	assert_int_equal(x->oper, SERVER_STARTING);
	assert_int_equal(server_shown_weight(x), 9);
	assert_int_equal(server_limit(x), 1);
	go_to(1000);
	assert_int_equal(server_limit(x), 4);
	go_to(2000);
	assert_int_equal(server_limit(x), 8);
	assert_int_equal(x->oper, SERVER_RUNNING);
}

static void
a_tracking_server_starts_in_its_own_time(void **st)
{
	(void)st;
	t->track = state_rig_server(&rig, "b", "u");
	list_append(&t->track->trackers, &t->track_link);
	restart(t->track);
	assert_int_equal(t->track->oper, SERVER_RUNNING);
	assert_int_equal(t->oper, SERVER_STARTING);
	s->track = t;
	list_append(&t->trackers, &s->track_link);
	restart(t);
	go_to(8000);
	assert_int_equal(s->oper, SERVER_RUNNING);
	go_to(40000);
	assert_int_equal(t->oper, SERVER_RUNNING);
	assert_int_equal(s->oper, SERVER_RUNNING);
}

/*
 * This program has its own allocator, so that an array cannot grow. A server that cannot get its
 * timer has all of its load at once, and none remains behind.
 */
static int mem_is_out;

void *
mem_alloc(size_t size)
{
	return malloc(size ? size : 1);
}

void *
mem_zalloc(size_t size)
{
	return calloc(1, size ? size : 1);
}

void *
mem_alloc_aligned(size_t align, size_t size)
{
	return aligned_alloc(align, (size + align - 1) / align * align);
}

void *
mem_zalloc_aligned(size_t align, size_t size)
{
	void *p = mem_alloc_aligned(align, size);

	return p ? memset(p, 0, size) : NULL;
}

void *
mem_resize(void *p, size_t n, size_t size)
{
	return mem_is_out ? NULL : reallocarray(p, n ? n : 1, size);
}

char *
mem_strndup(const char *text, size_t n)
{
	return strndup(text, n);
}

char *
mem_strdup(const char *text)
{
	return strdup(text);
}

void
mem_free(void *p)
{
	free(p);
}

static void
without_memory_none_starts_slowly(void **st)
{
	(void)st;
	server_set_oper(&rig.engine, s, SERVER_STOPPED, "");
	mem_is_out = 1;
	server_set_oper(&rig.engine, s, SERVER_RUNNING, "");
	mem_is_out = 0;
	assert_int_equal(s->oper, SERVER_RUNNING);
	assert_int_equal(server_shown_weight(s), 100);
	assert_int_equal(server_limit(s), 50);
	assert_true(list_is_empty(&rig.engine.starting));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(weight_and_maxconn_grow_with_time),
		CASE(there_are_steps_only_while_a_server_starts),
		CASE(only_those_that_come_back_start_slowly),
		CASE(other_changes_do_not_stop_the_slow_start),
		CASE(a_server_that_fails_again_begins_again),
		CASE(with_a_static_algorithm_only_maxconn_grows),
		CASE(a_tracking_server_starts_in_its_own_time),
		CASE(without_memory_none_starts_slowly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
