/* Idle connections that have asked for names, on the fake kernel: which request gets which. */
#include "unit/proxy/pool_rig.h"

#include "base/err.h"

/* A transport that passes bytes through and knows a name; NULL: it was not asked for one. */
struct named {
	struct xprt x;
	const char *name;
};

static const char *next_name; /* of the next transport */
static int live;              /* transports */

static enum io_result
named_step(struct conn *c)
{
	(void)c;
	return IO_OK;
}

static enum io_result
named_send(struct conn *c, const void *buf, size_t len, int more, size_t *put)
{
	return conn_sock_send(c, buf, len, more, put);
}

static unsigned int
named_want(const struct xprt *x, unsigned int dir)
{
	(void)x;
	return dir;
}

static int
named_query(const struct conn *c, enum xprt_query what, struct str *out)
{
	const char *name = container_of(c->xprt, struct named, x)->name;

	if (what != XPRT_QUERY_SERVER_NAME || !name)
		return -ERR_UNKNOWN;
	*out = str_of(name);
	return 0;
}

static void
named_close(struct conn *c)
{
	free(container_of(c->xprt, struct named, x));
	live--;
}

static const struct xprt_ops named_ops = {
	0, named_step, conn_sock_recv, named_send, named_step, named_want, named_query, NULL,
	named_close,
};

static struct xprt *
make_named(const struct xprt_maker *m, const struct conn *c, int *reason)
{
	struct named *n = calloc(1, sizeof(*n));

	(void)m;
	(void)c;
	(void)reason;
	assert_non_null(n);
	n->x.ops = &named_ops;
	n->x.is_up = 1;
	n->name = next_name;
	live++;
	return &n->x;
}

static const struct xprt_maker maker = { make_named };
static const struct xprt_maker *const makers[] = { &maker };

static int
setup(void **st)
{
	(void)st;
	pool_rig_open(INTEREST_EDGE);
	srv->sni_varies = 1;
	srv->xprt = makers;
	return 0;
}

static int
teardown(void **st)
{
	(void)st;
	pool_rig_close();
	assert_int_equal(live, 0);
	return 0;
}

static void
connect_as(struct pool_user *u, const char *name)
{
	next_name = name;
	pool_rig_connect(u, &maker);
}

static void
put_new(struct pool_user *u, const char *name)
{
	connect_as(u, name);
	assert_int_equal(put(u), 1);
}

static struct str
str_or_none(const char *name)
{
	return name ? str_of(name) : (struct str){ NULL, 0 };
}

static int
get_bytes(struct pool_user *u, struct str name)
{
	if (!conn_pool_get_named(e, srv, name, 0, on_user, u, &u->conn, &u->uses))
		return 0;
	u->uses++;
	conn_want(&u->conn, EV_R);
	return 1;
}

static int
get(struct pool_user *u, const char *name)
{
	return get_bytes(u, str_or_none(name));
}

static void
a_request_gets_what_has_asked_for_its_name(void **st)
{
	int a, b, none, late_a;
	uint64_t before;

	(void)st;
	put_new(&user[0], "a.example");
	put_new(&user[1], "b.example");
	put_new(&user[2], NULL);
	connect_as(&user[3], "a.example");
	late_a = user[3].conn.fd;
	assert_int_equal(put(&user[3]), 1);
	before = ledger_total(&e->sys->ledger);
	/* Names that are alike. */
	assert_int_equal(get(&user[4], "A.example"), 0);
	assert_int_equal(get(&user[4], "a.exampl"), 0);
	assert_int_equal(get(&user[4], "a.example."), 0);
	assert_int_equal(get_bytes(&user[4], (struct str){ "a.example\0", 10 }), 0);
	assert_int_equal(get_bytes(&user[4], (struct str){ "\0", 1 }), 0);
	assert_int_equal(count(), 4);
	assert_int_equal(get(&user[4], NULL), 1);
	none = user[4].conn.fd;
	assert_int_equal(get(&user[5], NULL), 0);
	/* The newest first. */
	assert_int_equal(get(&user[5], "a.example"), 1);
	assert_int_equal(user[5].conn.fd, late_a);
	assert_int_equal(get(&user[6], "a.example"), 1);
	a = user[6].conn.fd;
	assert_int_equal(get(&user[7], "a.example"), 0);
	assert_int_equal(get(&user[7], "b.example"), 1);
	b = user[7].conn.fd;
	assert_true(a != b && a != none && b != none && a != late_a);
	assert_int_equal(count(), 0);
	/* Finding one takes no call. */
	assert_int_equal(ledger_total(&e->sys->ledger), before);
	assert_int_equal(srv->shard->stat.reuse, 4);
}

static void
modes_count_requests_of_a_connection(void **st)
{
	(void)st;
	put_new(&user[0], "a");
	srv->be->http.reuse = HTTP_REUSE_NEVER;
	assert_int_equal(get(&user[1], "a"), 0);
	srv->be->http.reuse = HTTP_REUSE_SAFE;
	assert_int_equal(conn_pool_get_named(e, srv, STR("a"), 1, on_user, &user[1], &user[1].conn,
		&user[1].uses), 0);
	srv->be->http.reuse = HTTP_REUSE_AGGRESSIVE;
	assert_int_equal(conn_pool_get_named(e, srv, STR("a"), 1, on_user, &user[1], &user[1].conn,
		&user[1].uses), 0);
	assert_int_equal(get(&user[1], "a"), 1);
	assert_int_equal(put(&user[1]), 1);
	assert_int_equal(conn_pool_get_named(e, srv, STR("a"), 1, on_user, &user[1], &user[1].conn,
		&user[1].uses), 1);
}

/* Limits and ages are those of the server: names do not matter. */
static void
bounds_are_of_all_names(void **st)
{
	(void)st;
	srv->conf.pool_max = 2;
	put_new(&user[0], "a");
	put_new(&user[1], "b");
	connect_as(&user[2], "c");
	assert_int_equal(put(&user[2]), 0);
	assert_int_equal(get(&user[3], "a"), 1);
	assert_int_equal(put(&user[2]), 1);
	/* The oldest: b. */
	e->idle.high_fds = 1;
	conn_pool_make_room(e);
	assert_int_equal(count(), 1);
	assert_int_equal(get(&user[4], "b"), 0);
	assert_int_equal(get(&user[4], "c"), 1);
}

/* One that is dropped is not found any more. */
static void
closed_connections_are_not_found(void **st)
{
	struct idle_conn *mine = NULL;
	struct addr to;
	unsigned int uses;
	int fd;

	(void)st;
	connect_as(&user[0], "a");
	fd = user[0].conn.fd;
	assert_int_equal(put(&user[0]), 1);
	fake_peer_close(peer[fd]);
	turn();
	assert_int_equal(get(&user[0], "a"), 0);
	/* A server that speaks unasked; the event has not come yet. */
	connect_as(&user[0], "a");
	fd = user[0].conn.fd;
	put_new(&user[1], "a");
	assert_int_equal(put(&user[0]), 1);
	assert_int_equal(fake_peer_send(peer[fd], "x", 1), 1);
	loop_presume_ready(e->loop, fd, DIR_R);
	assert_int_equal(get(&user[2], "a"), 1);
	assert_true(user[2].conn.fd != fd);
	assert_int_equal(count(), 0);
	/* Surplus. */
	assert_int_equal(put(&user[2]), 1);
	wait_ms(11000);
	assert_int_equal(count(), 0);
	assert_int_equal(get(&user[2], "a"), 0);
	/* A private one belongs to its client, whatever its name is. */
	connect_as(&user[3], "a");
	assert_int_equal(conn_pool_put(e, srv, &user[3].conn, 1, &mine), 1);
	assert_int_equal(get(&user[2], "a"), 0);
	assert_int_equal(conn_pool_take_held(e, &mine, on_user, &user[3], &user[3].conn, &uses), 1);
	/* A server that moves. */
	assert_int_equal(put(&user[3]), 1);
	(void)addr_cell_get(&srv->addr, &to);
	addr_set_port(&to, PORT + 1);
	addr_cell_set(&srv->addr, &to);
	assert_int_equal(get(&user[4], "a"), 0);
	assert_int_equal(count(), 0);
}

/* One more is kept for each name that was looked for and not found, not for one that is there but
 * may not be used. */
static void
as_many_connections_stay_idle_as_names_are_requested(void **st)
{
	struct pool_user *u = &user[2];

	(void)st;
	srv->shard->idle.wanted = 0;
	srv->cur = 1;
	put_new(&user[0], "a");
	connect_as(&user[1], "b");
	assert_int_equal(put(&user[1]), 0);
	srv->be->http.reuse = HTTP_REUSE_AGGRESSIVE;
	assert_int_equal(
		conn_pool_get_named(e, srv, str_of("a"), 1, on_user, u, &u->conn, &u->uses), 0);
	assert_int_equal(put(&user[1]), 0);
	assert_int_equal(get(u, "b"), 0);
	assert_int_equal(put(&user[1]), 1);
	assert_true(get(&user[0], "a") && get(&user[1], "b"));
	srv->cur = 0;
}

/* Without memory for the table nothing is shared, and nothing is lost. */
static void
without_a_table_none_is_kept(void **st)
{
	(void)st;
	connect_as(&user[0], "a");
	e->eval.random.left = 0;
	fake_fail(w.k, SYS_CALL_getrandom, 1, ENOSYS);
	assert_int_equal(put(&user[0]), 0);
	assert_true(conn_is_open(&user[0].conn));
	assert_int_equal(get(&user[1], "a"), 0);
	assert_int_equal(put(&user[0]), 1);
	assert_int_equal(get(&user[1], "a"), 1);
}

/* --- random operations, beside a model: numbers of idle connections by name --- */

static uint64_t seed;

static unsigned int
dice(unsigned int n)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned int)(seed >> 33) % n;
}

static const char *const names[] = { NULL, "a", "b", "A", "aa", "a.example", "b.example" };

static const char *
name_of(const struct pool_user *u)
{
	return container_of(u->conn.xprt, struct named, x)->name;
}

static void
random_operations_follow_a_model(void **st)
{
	unsigned int idle[ARRAY_LEN(names)] = { 0 }, total = 0;

	(void)st;
	seed = 7;
	for (int step = 0; step < 20000; step++) {
		struct pool_user *u = &user[dice(USERS)];
		unsigned int n = dice(ARRAY_LEN(names));

		if (!conn_is_open(&u->conn)) {
			int got = get(u, names[n]);

			assert_int_equal(got, idle[n] > 0);
			if (got)
				assert_ptr_equal(name_of(u), names[n]);
			else if (dice(2))
				connect_as(u, names[n]);
			idle[n] -= (unsigned int)got;
			total -= (unsigned int)got;
		} else if (dice(8)) {
			for (n = 0; names[n] != name_of(u);)
				n++;
			assert_int_equal(put(u), 1);
			idle[n]++;
			total++;
		} else {
			conn_close(&u->conn);
		}
		if (!dice(500)) {
			conn_pool_drop_server(e, srv);
			memset(idle, 0, sizeof(idle));
			total = 0;
		}
		turn();
		assert_int_equal(count(), total);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_request_gets_what_has_asked_for_its_name),
		CASE(modes_count_requests_of_a_connection),
		CASE(bounds_are_of_all_names),
		CASE(closed_connections_are_not_found),
		CASE(as_many_connections_stay_idle_as_names_are_requested),
		CASE(without_a_table_none_is_kept),
		CASE(random_operations_follow_a_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
