/* Sessions that wait for a place of a server with strict-maxconn, and the idle connections that are
 * closed for them, while other workers take and want places at any moment. */
#include "proxy/backend/server_place.h"
#include "proxy/session/actions.h"
#include "proxy/session/connect.h"

#include "unit/proxy/pool_rig.h"

#define PLACES 3
#define IDLE (PLACES - 1)

static struct engine other; /* another worker's, which only wants and takes places */
static struct stream *s;
static int others_want; /* number of sessions on it that wait when this worker is notified */

static void
on_place(struct engine *to, struct server *of)
{
	assert_ptr_equal(to, e);
	assert_ptr_equal(of, srv);
	if (others_want)
		(void)server_place_want(&other, srv, PLACES + 1, NULL);
	connect_places_serve(e, srv);
}

static void
wake_pool(struct engine *from, unsigned int target, struct server *of)
{
	assert_ptr_equal(of, srv);
	assert_int_not_equal(from->index, target);
}

static void
on_task(struct task *t)
{
	(void)t;
}

static int
setup(void **st)
{
	(void)st;
	pool_rig_open(INTEREST_EDGE);
	assert_int_equal(proxy_make_shards(w.px, 2), 0);
	srv->shard->idle.wanted = USERS;
	srv->conf.maxconn = PLACES;
	srv->conf.strict_maxconn = 1;
	e->hooks.on_place = on_place;
	e->hooks.wake_pool = wake_pool;
	memset(&other, 0, sizeof(other));
	assert_int_equal(engine_init(&other, &w.sys, w.loop, 1024, 1000), 0);
	other.index = 1;
	other.hooks = e->hooks;
	others_want = 0;
	s = rig_hand_made();
	task_init(&s->task, on_task);
	return 0;
}

static int
teardown(void **st)
{
	(void)st;
	task_cancel(&s->task);
	(void)server_place_want(&other, srv, 0, NULL);
	conn_pool_drop_server(e, srv);
	assert_int_equal(srv->conns, 0);
	assert_int_equal(srv->places_wanted, 0);
	engine_fini(&other);
	pool_rig_close();
	return 0;
}

/* n connections with places, in use. */
static void
connect_with_places(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		assert_int_equal(server_place_take(e, srv), 1);
		pool_rig_connect(&user[i], NULL);
		user[i].conn.has_place = 1;
	}
}

/* The session finds no place, and waits. */
static void
wait_for_place(void)
{
	assert_int_equal(stream_do_connect(s), STREAM_EV_NONE);
	assert_true(s->awaits_place);
	assert_int_equal(srv->shard->n_place_waiters, 1);
}

/* The other worker gives a place back and takes it again, before this one has its message. */
static void
swap_on_other(void)
{
	server_place_put(&other, srv);
	assert_false(server_place_is_wanted(srv));
	assert_int_equal(server_place_take(&other, srv), 1);
}

/* Connections that become idle at that moment are kept. */
static void
fill_before_message(void)
{
	assert_int_equal(server_place_take(&other, srv), 1);
	connect_with_places(IDLE);
	wait_for_place();
	swap_on_other();
	for (unsigned int i = 0; i < IDLE; i++)
		assert_int_equal(put(&user[i]), 1);
	assert_int_equal(count(), IDLE);
}

/* The end of the session and of the other worker's connection. */
static void
end_all(void)
{
	connect_end_sharing(s, STREAM_EV_REFUSED);
	server_place_put(&other, srv);
}

static void
an_idle_connection_is_closed_for_a_session_of_this_worker(void **st)
{
	(void)st;
	fill_before_message();
	connect_places_collect(e, srv);
	assert_int_equal(count(), IDLE - 1);
	assert_int_equal(srv->shard->n_place_waiters, 0);
	assert_int_equal(s->posted, STREAM_EV_ASSIGNED);
	end_all();
}

/* While connections are closed for another reason none is closed for a place. */
static void
closing_all_closes_each_once(void **st)
{
	(void)st;
	fill_before_message();
	assert_int_equal(server_place_want(e, srv, 1, NULL), 0);
	others_want = 1;
	conn_pool_drop_server(e, srv);
	assert_int_equal(count(), 0);
	assert_int_equal(srv->conns, 1);
	end_all();
}

/* A session whose place another worker takes waits until the same moment. */
static void
the_time_of_a_wait_is_bounded(void **st)
{
	uint64_t due;

	(void)st;
	for (int i = 0; i < PLACES; i++)
		assert_int_equal(server_place_take(&other, srv), 1);
	wait_for_place();
	due = s->wake_ms;
	wait_ms(1000);
	server_place_put(&other, srv);
	connect_places_collect(e, srv);
	assert_int_equal(s->posted, STREAM_EV_ASSIGNED);
	assert_int_equal(server_place_take(&other, srv), 1);
	wait_for_place();
	assert_int_equal(s->wake_ms, due);
	connect_end_sharing(s, STREAM_EV_REFUSED);
	for (int i = 0; i < PLACES; i++)
		server_place_put(&other, srv);
}

/* Another session that waits for a place, with the next slot. */
static struct session second;

static struct stream *
wait_second(void)
{
	struct stream *t = &second.stream;

	second = *s->sess;
	stream_join(t, &second, &second.conn);
	t->engine = s->engine;
	t->be = s->be;
	t->srv = s->srv;
	t->slot = s->slot + 1;
	conn_init(t->conn[CLIENT]);
	conn_init(t->conn[SERVER]);
	list_init(&t->queue_link);
	task_init(&t->task, on_task);
	assert_int_equal(stream_do_connect(t), STREAM_EV_NONE);
	assert_true(t->awaits_place);
	return t;
}

/* A session whose place another worker takes is the next one again. */
static void
the_position_of_a_wait_is_kept(void **st)
{
	struct stream *t;

	(void)st;
	s->slot = UINT32_MAX;
	for (int i = 0; i < PLACES; i++)
		assert_int_equal(server_place_take(&other, srv), 1);
	wait_for_place();
	t = wait_second();
	server_place_put(&other, srv);
	connect_places_collect(e, srv);
	assert_int_equal(s->posted, STREAM_EV_ASSIGNED);
	assert_int_equal(t->posted, STREAM_EV_NONE);
	assert_int_equal(server_place_take(&other, srv), 1);
	s->posted = STREAM_EV_NONE;
	assert_int_equal(stream_do_connect(s), STREAM_EV_NONE);
	assert_int_equal(srv->shard->n_place_waiters, 2);
	server_place_put(&other, srv);
	connect_places_collect(e, srv);
	assert_int_equal(s->posted, STREAM_EV_ASSIGNED);
	assert_int_equal(t->posted, STREAM_EV_NONE);
	connect_end_sharing(s, STREAM_EV_REFUSED);
	assert_int_equal(t->posted, STREAM_EV_ASSIGNED);
	connect_end_sharing(t, STREAM_EV_REFUSED);
	task_cancel(&t->task);
	for (int i = 1; i < PLACES; i++)
		server_place_put(&other, srv);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			an_idle_connection_is_closed_for_a_session_of_this_worker, setup,
			teardown),
		cmocka_unit_test_setup_teardown(closing_all_closes_each_once, setup, teardown),
		cmocka_unit_test_setup_teardown(the_time_of_a_wait_is_bounded, setup, teardown),
		cmocka_unit_test_setup_teardown(the_position_of_a_wait_is_kept, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
