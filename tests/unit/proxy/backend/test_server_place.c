/* Places of a server with strict-maxconn, of three workers, one critical section after the
 * other. */
#include "unit/proxy/session_rig.h"

#include "proxy/backend/server_place.h"
#include "proxy/backend/server_state.h"

#define WORKERS 3

static struct engine *e[WORKERS];
static struct engine other[WORKERS - 1];
static struct server *srv;
static unsigned int woken[WORKERS]; /* number of times, by worker */

static void
on_place(struct engine *to, struct server *of)
{
	assert_ptr_equal(of, srv);
	woken[to->index]++;
}

static void
wake_pool(struct engine *from, unsigned int target, struct server *of)
{
	assert_ptr_equal(of, srv);
	assert_int_not_equal(from->index, target);
	woken[target]++;
}

static int
setup(void **st)
{
	struct world_config cfg = { RIG_WORLD, .server = { { .maxconn = 2 } } };

	(void)st;
	rig_open(&cfg, NULL);
	srv = w.srv[0];
	srv->conf.strict_maxconn = 1;
	assert_int_equal(proxy_make_shards(w.px, WORKERS), 0);
	memset(other, 0, sizeof(other));
	memset(woken, 0, sizeof(woken));
	for (unsigned int i = 0; i < WORKERS; i++) {
		e[i] = i ? &other[i - 1] : &w.engine;
		if (i)
			assert_int_equal(engine_init(e[i], &w.sys, w.loop, 1024, 1000), 0);
		e[i]->index = i;
		e[i]->hooks.on_place = on_place;
		e[i]->hooks.wake_pool = wake_pool;
	}
	return 0;
}

static int
teardown(void **st)
{
	(void)st;
	assert_int_equal(srv->conns, 0);
	for (unsigned int i = 1; i < WORKERS; i++)
		engine_fini(e[i]);
	rig_close();
	return 0;
}

static void
workers_share_places(void **st)
{
	(void)st;
	assert_int_equal(server_place_take(e[0], srv), 1);
	assert_int_equal(server_place_take(e[1], srv), 1);
	assert_int_equal(server_place_take(e[2], srv), 0);
	server_place_put(e[0], srv);
	assert_int_equal(server_place_take(e[2], srv), 1);
	server_place_put(e[1], srv);
	server_place_put(e[2], srv);
	assert_int_equal(woken[0] + woken[1] + woken[2], 0);
}

/* A place that is given back notifies all that wait, once. */
static void
workers_that_wait_are_notified(void **st)
{
	(void)st;
	assert_int_equal(server_place_want(e[0], srv, 1, NULL), 1);
	assert_false(server_place_is_wanted(srv));
	assert_int_equal(server_place_take(e[0], srv), 1);
	assert_int_equal(server_place_want(e[0], srv, 2, NULL), 1);
	assert_int_equal(server_place_take(e[0], srv), 1);
	assert_int_equal(server_place_want(e[1], srv, 1, NULL), 0);
	assert_true(server_place_is_wanted(srv));
	assert_true(server_place_is_wanted_elsewhere(e[0], srv));
	server_place_put(e[0], srv);
	assert_int_equal(woken[0], 1);
	assert_int_equal(woken[1], 1);
	assert_false(server_place_is_wanted(srv));
	server_place_put(e[0], srv);
	assert_int_equal(woken[0] + woken[1] + woken[2], 2);
}

/* A worker that does not wait any more is not notified: it may have ended. */
static void
workers_that_gave_up_are_left_alone(void **st)
{
	(void)st;
	assert_int_equal(server_place_take(e[0], srv), 1);
	assert_int_equal(server_place_take(e[0], srv), 1);
	assert_int_equal(server_place_want(e[1], srv, 2, NULL), 0);
	assert_int_equal(server_place_want(e[2], srv, 1, NULL), 0);
	assert_int_equal(server_place_want(e[1], srv, 0, NULL), 0);
	server_place_put(e[0], srv);
	assert_int_equal(woken[1], 0);
	assert_int_equal(woken[2], 1);
	server_place_put(e[0], srv);
}

/* Others are asked for a place once, and again after one was given back. */
static void
a_worker_begins_to_wait_once(void **st)
{
	int is_new;

	(void)st;
	assert_int_equal(server_place_take(e[0], srv), 1);
	assert_int_equal(server_place_take(e[0], srv), 1);
	assert_int_equal(server_place_want(e[1], srv, 1, &is_new), 0);
	assert_int_equal(is_new, 1);
	assert_int_equal(server_place_want(e[1], srv, 2, &is_new), 0);
	assert_int_equal(is_new, 0);
	server_place_put(e[0], srv);
	assert_int_equal(server_place_want(e[1], srv, 1, &is_new), 1);
	assert_int_equal(is_new, 0);
	assert_int_equal(server_place_take(e[2], srv), 1);
	assert_int_equal(server_place_want(e[1], srv, 1, &is_new), 0);
	assert_int_equal(is_new, 1);
	server_place_put(e[0], srv);
	server_place_put(e[2], srv);
}

static void
a_change_of_maxconn_counts(void **st)
{
	(void)st;
	assert_int_equal(server_place_take(e[0], srv), 1);
	assert_int_equal(server_place_take(e[0], srv), 1);
	server_set_maxconn(e[0], srv, 1);
	assert_int_equal(server_place_want(e[2], srv, 1, NULL), 0);
	server_place_put(e[0], srv);
	assert_int_equal(woken[2], 1);
	assert_int_equal(server_place_want(e[2], srv, 1, NULL), 0);
	server_set_maxconn(e[0], srv, 2);
	assert_int_equal(woken[2], 2);
	/* no limit */
	server_set_maxconn(e[0], srv, 0);
	for (int i = 0; i < 5; i++)
		assert_int_equal(server_place_take(e[1], srv), 1);
	for (int i = 0; i < 6; i++)
		server_place_put(e[1], srv);
}

static void
closing_gives_a_place_back(void **st)
{
	struct conn c;

	(void)st;
	conn_init(&c);
	server_conn_close(e[0], srv, &c);
	server_conn_close_late(e[0], NULL, &c);
	assert_int_equal(server_place_take(e[0], srv), 1);
	c.has_place = 1;
	server_conn_close_late(e[0], srv, &c);
	assert_int_equal(c.has_place, 0);
	assert_int_equal(srv->conns, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(workers_share_places, setup, teardown),
		cmocka_unit_test_setup_teardown(workers_that_wait_are_notified, setup, teardown),
		cmocka_unit_test_setup_teardown(
			workers_that_gave_up_are_left_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(a_worker_begins_to_wait_once, setup, teardown),
		cmocka_unit_test_setup_teardown(a_change_of_maxconn_counts, setup, teardown),
		cmocka_unit_test_setup_teardown(closing_gives_a_place_back, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
