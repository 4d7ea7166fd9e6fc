/* Idle connections to servers, on the fake kernel: which client may reuse which, and when they are
 * closed. */
#include "unit/proxy/pool_rig.h"

#include "base/err.h"
#include "proxy/backend/server_state.h"

static int
setup(void **st)
{
	(void)st;
	pool_rig_open(INTEREST_EDGE);
	return 0;
}

static int
teardown(void **st)
{
	(void)st;
	pool_rig_close();
	return 0;
}

static void
connect_user(struct pool_user *u)
{
	pool_rig_connect(u, NULL);
}

static int
get(struct pool_user *u, int first)
{
	u->ev = 0;
	if (!conn_pool_get(e, srv, first, on_user, u, &u->conn, &u->uses))
		return 0;
	u->uses++;
	loop_want(e->loop, u->conn.fd, EV_R);
	return 1;
}

static struct idle_conn *
newest_idle(void)
{
	return list_first(&srv->shard->idle.conns, struct idle_conn, link);
}

/* Puts n connections back, one after the other. */
static void
fill(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		connect_user(&user[i]);
	for (unsigned int i = 0; i < n; i++)
		assert_int_equal(put(&user[i]), 1);
	assert_int_equal(count(), n);
}

static void
the_newest_is_taken_without_a_call(void **st)
{
	uint64_t before;
	int fd[3];

	(void)st;
	for (int i = 0; i < 3; i++) {
		connect_user(&user[i]);
		fd[i] = user[i].conn.fd;
	}
	turn();
	before = ledger_total(&e->sys->ledger);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(put(&user[i]), 1);
		assert_false(conn_is_open(&user[i].conn));
	}
	assert_int_equal(count(), 3);
	for (int i = 2; i >= 0; i--) {
		assert_int_equal(get(&user[i], 1), 1);
		assert_int_equal(user[i].conn.fd, fd[i]);
		assert_int_equal(user[i].uses, 2);
	}
	assert_int_equal(get(&user[3], 1), 0);
	assert_int_equal(ledger_total(&e->sys->ledger), before);
	assert_int_equal(srv->shard->stat.reuse, 3);
	assert_int_equal(srv->be->shard->be.reuse, 3);
	/* In the next turn the only call was the wait. */
	before = ledger_sum(&e->sys->ledger, SYS_CALL_epoll_ctl);
	turn();
	assert_int_equal(ledger_sum(&e->sys->ledger, SYS_CALL_epoll_ctl), before);
}

static void
a_connection_closed_by_the_server_is_closed(void **st)
{
	static const char byte = 'x';
	int fd[3];

	(void)st;
	for (int i = 0; i < 3; i++) {
		connect_user(&user[i]);
		fd[i] = user[i].conn.fd;
	}
	for (int i = 0; i < 3; i++)
		assert_int_equal(put(&user[i]), 1);
	fake_peer_close(peer[fd[0]]);
	assert_int_equal(fake_peer_send(peer[fd[1]], &byte, 1), 1);
	fake_peer_reset(peer[fd[2]]);
	turn();
	assert_int_equal(count(), 0);
	assert_int_equal(get(&user[0], 1), 0);
	turn();
	assert_int_equal(fake_fds(w.k), base_fds);
}

/* A connection that was not drained is peeked at: unread bytes are not part of a response. */
static void
undrained_connections_are_peeked_at(void **st)
{
	static const char byte = 'x';

	(void)st;
	fill(2);
	list_each(it, &srv->shard->idle.conns)
		loop_presume_ready(
			e->loop, list_entry(it, struct idle_conn, link)->conn.fd, DIR_R);
	assert_int_equal(fake_peer_send(peer[newest_idle()->conn.fd], &byte, 1), 1);
	assert_int_equal(get(&user[0], 1), 1);
	assert_int_equal(count(), 0);
	assert_int_equal(get(&user[1], 1), 0);
}

/* Takes a connection on an event, before the other events of the turn are delivered. */
static void
on_early(void *owner, int fd, uint32_t ev)
{
	struct pool_user *u = owner;

	(void)ev;
	loop_want(e->loop, fd, 0);
	loop_again(e->loop, fd, DIR_R);
	u->ev = (uint32_t)get(&user[3], 1);
	u->uses++;
}

/* One wait reports an end or bytes on an idle connection and a request that would use it: the
 * request is not sent to a closed connection, and the bytes are not taken for its response. */
static void
pending_events_of_an_idle_connection_are_checked(void **st)
{
	static const char byte = 'x';

	(void)st;
	for (int ends = 0; ends < 2; ends++) {
		connect_user(&user[0]);
		connect_user(&user[1]);
		connect_user(&user[2]);
		loop_set_owner(e->loop, user[0].conn.fd, on_early, &user[0]);
		assert_true(put(&user[1]) && put(&user[2]));
		assert_int_equal(fake_peer_send(peer[user[0].conn.fd], &byte, 1), 1);
		if (ends)
			fake_peer_close(peer[newest_idle()->conn.fd]);
		else
			assert_int_equal(fake_peer_send(peer[newest_idle()->conn.fd], &byte, 1), 1);
		user[0].uses = 0;
		turn();
		assert_int_equal(user[0].uses, 1);
		/* The other connection, which has no event. */
		assert_int_equal(user[0].ev, 1);
		assert_int_equal(user[3].ev, 0);
		assert_int_equal(count(), 0);
		conn_close(&user[0].conn);
		conn_close(&user[3].conn);
		turn();
	}
}

static void
unusable_connections_are_not_kept(void **st)
{
	static const char byte = 'x';
	struct conn *c = &user[0].conn;

	(void)st;
	connect_user(&user[0]);
	c->eof = 1;
	assert_int_equal(put(&user[0]), 0);
	c->eof = 0;
	c->err = ECONNRESET;
	assert_int_equal(put(&user[0]), 0);
	c->err = 0;
	c->shut = 1;
	assert_int_equal(put(&user[0]), 0);
	c->shut = 0;
	c->zerocopy = (struct zerocopy *)(uintptr_t)&byte;
	assert_int_equal(put(&user[0]), 0);
	c->zerocopy = NULL;
	fake_peer_shut(peer[c->fd]);
	turn();
	assert_int_equal(put(&user[0]), 0);
	assert_true(conn_is_open(c));
	assert_int_equal(count(), 0);
}

/* The four modes of the manual: which requests may use a connection that has carried so many
 * requests. */
static void
http_reuse_modes(void **st)
{
	static const struct {
		enum http_reuse how;
		int first;
		unsigned int uses;
		int got;
	} t[] = {
		{ HTTP_REUSE_NEVER, 1, 2, 0 },      { HTTP_REUSE_NEVER, 0, 2, 0 },
		{ HTTP_REUSE_SAFE, 1, 2, 0 },       { HTTP_REUSE_SAFE, 0, 1, 1 },
		{ HTTP_REUSE_AGGRESSIVE, 1, 1, 0 }, { HTTP_REUSE_AGGRESSIVE, 1, 2, 1 },
		{ HTTP_REUSE_AGGRESSIVE, 0, 1, 1 }, { HTTP_REUSE_ALWAYS, 1, 1, 1 },
		{ HTTP_REUSE_ALWAYS, 0, 1, 1 },
	};

	(void)st;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		connect_user(&user[0]);
		user[0].uses = t[i].uses;
		assert_int_equal(put(&user[0]), 1);
		srv->be->http.reuse = t[i].how;
		if (get(&user[0], t[i].first) != t[i].got)
			fail_msg("row %zu: not %d", i, t[i].got);
		conn_close(&user[0].conn);
		conn_pool_drop_server(e, srv);
		turn();
	}
	/* An older connection that was reused, after a new one that was not. */
	srv->be->http.reuse = HTTP_REUSE_AGGRESSIVE;
	connect_user(&user[0]);
	connect_user(&user[1]);
	user[0].uses = 5;
	assert_true(put(&user[0]) && put(&user[1]));
	assert_int_equal(get(&user[2], 1), 1);
	assert_int_equal(user[2].uses, 6);
}

static void
bounds_are_kept(void **st)
{
	(void)st;
	srv->conf.pool_max = 2;
	for (int i = 0; i < 4; i++)
		connect_user(&user[i]);
	assert_true(put(&user[0]) && put(&user[1]));
	assert_int_equal(put(&user[2]), 0);
	assert_int_equal(get(&user[0], 1), 1);
	assert_int_equal(put(&user[2]), 1);
	assert_int_equal(put(&user[0]), 0);
	srv->conf.pool_max = 0;
	conn_pool_drop_server(e, srv);
	assert_int_equal(put(&user[0]), 0);
	srv->conf.pool_max = -1;
	srv->idle_total = 0;
	srv->conf.pool_purge_ms = 0;
	assert_int_equal(put(&user[0]), 0);
	srv->conf.pool_purge_ms = 5000;
	/* Two requests after the first one. */
	srv->conf.max_reuse = 2;
	user[0].uses = 3;
	assert_int_equal(put(&user[0]), 0);
	user[0].uses = 2;
	assert_int_equal(put(&user[0]), 1);
	assert_int_equal(get(&user[0], 1), 1);
	srv->conf.max_reuse = -1;
	e->idle.low_fds = loop_fds(e->loop) - 1;
	assert_int_equal(put(&user[0]), 0);
	e->idle.low_fds++;
	assert_int_equal(put(&user[0]), 1);
	assert_int_equal(get(&user[0], 1), 1);
	e->memory_tight = 1;
	assert_int_equal(put(&user[0]), 0);
	e->memory_tight = 0;
	srv->admin = SERVER_MAINT_FORCED;
	assert_int_equal(put(&user[0]), 0);
	srv->admin = SERVER_READY;
	/* The server's port depends on the client's: the next client may need another port. */
	srv->spec.has_offset = 1;
	assert_int_equal(put(&user[0]), 0);
	srv->spec.has_offset = 0;
	assert_int_equal(put(&user[0]), 1);
}

/* Half of the connections that were idle during a whole period are closed, oldest first, until none
 * is left. */
static void
unneeded_connections_are_closed_by_halves(void **st)
{
	static const unsigned int left[] = { 8, 4, 2, 1, 0, 0 };
	int newest;

	(void)st;
	for (int i = 0; i < 8; i++)
		connect_user(&user[i]);
	newest = user[7].conn.fd;
	for (int i = 0; i < 8; i++)
		assert_int_equal(put(&user[i]), 1);
	for (size_t i = 0; i < ARRAY_LEN(left); i++) {
		wait_ms(i ? 5000 : 5001);
		assert_int_equal(count(), left[i]);
		if (left[i])
			assert_int_equal(newest_idle()->conn.fd, newest);
	}
	/* Its timer is not running. */
	assert_int_equal(srv->shard->idle.timer.pos, 0);
	assert_int_equal(fake_fds(w.k), base_fds);
}

static void
connections_used_from_time_to_time_stay(void **st)
{
	(void)st;
	fill(6);
	wait_ms(5001);
	for (int round = 0; round < 5; round++) {
		for (int i = 0; i < 4; i++)
			assert_int_equal(get(&user[i], 1), 1);
		for (int i = 0; i < 4; i++)
			assert_int_equal(put(&user[i]), 1);
		assert_int_equal(conn_pool_needed(srv), 4);
		wait_ms(5000);
		assert_int_equal(count(), round ? 4 : 5);
	}
}

/* Requests that look for one and find none decide how many to keep: never more than are in use at
 * once, and not for a request that would not take what is there. */
static void
no_more_connections_stay_idle_than_are_requested(void **st)
{
	struct idle_list *l = &srv->shard->idle;

	(void)st;
	l->wanted = 0;
	for (int i = 0; i < 4; i++)
		connect_user(&user[i]);
	assert_int_equal(put(&user[0]), 1);
	assert_int_equal(put(&user[1]), 0);
	srv->be->http.reuse = HTTP_REUSE_SAFE;
	srv->cur = 3;
	assert_int_equal(get(&user[5], 1), 0);
	srv->be->http.reuse = HTTP_REUSE_AGGRESSIVE;
	assert_int_equal(get(&user[5], 1), 0);
	assert_int_equal(put(&user[1]), 0);
	srv->be->http.reuse = HTTP_REUSE_ALWAYS;
	assert_int_equal(get(&user[0], 1), 1);
	assert_int_equal(get(&user[5], 1), 0);
	assert_true(put(&user[0]) && put(&user[1]));
	assert_int_equal(put(&user[2]), 0);
	assert_true(get(&user[0], 1) && get(&user[1], 1));
	srv->cur = 1;
	assert_int_equal(get(&user[5], 1), 0);
	srv->cur = 0;
	assert_true(put(&user[0]) && put(&user[1]));
	assert_int_equal(put(&user[2]), 0);
	/* Surplus connections do not come back. */
	wait_ms(10001);
	assert_int_equal(count(), 1);
	assert_int_equal(put(&user[2]), 0);
	srv->conf.pool_low = 1;
	assert_int_equal(put(&user[2]), 1);
	assert_int_equal(put(&user[3]), 0);
	srv->conf.pool_low = 0;
}

static void
a_session_may_hold_a_private_connection(void **st)
{
	struct idle_conn *mine = NULL, *other = NULL;
	unsigned int uses;

	(void)st;
	srv->be->http.reuse = HTTP_REUSE_NEVER;
	srv->conf.pool_max = 0;
	connect_user(&user[0]);
	connect_user(&user[1]);
	assert_int_equal(conn_pool_put(e, srv, &user[0].conn, 1, &mine), 1);
	assert_int_equal(conn_pool_put(e, srv, &user[1].conn, 1, &other), 1);
	assert_int_equal(count(), 0);
	srv->be->http.reuse = HTTP_REUSE_ALWAYS;
	assert_int_equal(get(&user[2], 0), 0);
	assert_int_equal(conn_pool_take_held(e, &mine, on_user, &user[0], &user[0].conn, &uses), 1);
	assert_null(mine);
	assert_int_equal(uses, 1);
	conn_pool_release(e, &mine);
	/* A held connection is dropped when the server closes it or goes into maintenance. */
	fake_peer_close(peer[other->conn.fd]);
	turn();
	assert_null(other);
	assert_int_equal(conn_pool_put(e, srv, &user[0].conn, 2, &mine), 1);
	conn_pool_drop_server(e, srv);
	assert_null(mine);
	connect_user(&user[0]);
	assert_int_equal(conn_pool_put(e, srv, &user[0].conn, 2, &mine), 1);
	conn_pool_release(e, &mine);
	assert_null(mine);
	/* Unrequested bytes are not the response to its next request. */
	connect_user(&user[0]);
	assert_int_equal(conn_pool_put(e, srv, &user[0].conn, 2, &mine), 1);
	assert_int_equal(fake_peer_send(peer[mine->conn.fd], "x", 1), 1);
	loop_presume_ready(w.loop, mine->conn.fd, DIR_R);
	assert_int_equal(conn_pool_take_held(e, &mine, on_user, &user[0], &user[0].conn, &uses), 0);
	assert_null(mine);
	turn();
	assert_int_equal(fake_fds(w.k), base_fds);
}

static void
the_oldest_is_closed_to_make_room(void **st)
{
	struct idle_conn *oldest;

	(void)st;
	fill(3);
	conn_pool_make_room(e);
	assert_int_equal(count(), 3);
	e->idle.high_fds = 1;
	oldest = container_of(srv->shard->idle.conns.prev, struct idle_conn, link);
	conn_pool_make_room(e);
	assert_null(oldest->of);
	assert_int_equal(count(), 2);
}

/* The end arrives in the turn in which a user took the connection: the user gets the event. */
static void
a_pending_end_is_delivered_to_the_new_user(void **st)
{
	int fd;

	(void)st;
	connect_user(&user[0]);
	fd = user[0].conn.fd;
	assert_int_equal(put(&user[0]), 1);
	turn();
	fake_peer_close(peer[fd]);
	assert_int_equal(get(&user[1], 1), 1);
	turn();
	assert_true(user[1].ev & EV_RDHUP);
}

/* --- random operations: a connection has one owner, and a closed one is never handed out --- */

static uint64_t seed;

static unsigned int
dice(unsigned int n)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned int)(seed >> 33) % n;
}

static uint8_t ended[1024]; /* by descriptor: the server has closed, and a turn has run since */
static uint8_t ending[1024];
static uint8_t fresh[1024]; /* put back in this turn: not watched yet */

static void
check_owners(void)
{
	struct idle_list *l = &srv->shard->idle;
	unsigned int in_list = 0, in_age = 0, safe = 0, used = 0, all, counted;
	struct interest in;
	void *owner;

	for (struct list *it = l->conns.next; l->engine && it != &l->conns; it = it->next) {
		struct idle_conn *c = list_entry(it, struct idle_conn, link);

		assert_int_equal(loop_peek(e->loop, c->conn.fd, &in, &owner), 0);
		assert_ptr_equal(owner, c);
		assert_false(ended[c->conn.fd] && !fresh[c->conn.fd]);
		in_list++;
		safe += c->uses > 1;
	}
	list_each(it, &e->idle.all)
		in_age++;
	for (int i = 0; i < USERS; i++)
		if (conn_is_open(&user[i].conn)) {
			assert_int_equal(loop_peek(e->loop, user[i].conn.fd, &in, &owner), 0);
			assert_ptr_equal(owner, &user[i]);
			used++;
		}
	conn_pool_count(srv, &all, &counted);
	assert_int_equal(in_list, in_age);
	assert_int_equal(in_list, all);
	assert_int_equal(safe, counted);
	assert_true(l->least <= all);
	assert_true(fake_fds(w.k) - base_fds >= all + used);
}

static void
play(struct pool_user *u)
{
	static const char byte = 'x';

	switch (dice(9)) {
	case 0:
		if (conn_is_open(&u->conn))
			break;
		connect_user(u);
		ended[u->conn.fd] = ending[u->conn.fd] = 0;
		break;
	case 1:
	case 2:
		if (!conn_is_open(&u->conn))
			break;
		fresh[u->conn.fd] = 1;
		if (!put(u))
			conn_close(&u->conn);
		break;
	case 3:
	case 4:
		if (!conn_is_open(&u->conn) && get(u, (int)dice(2)))
			assert_false(ended[u->conn.fd]);
		break;
	case 5:
	case 6:
		for (int fd = FAKE_FD_MIN + (int)dice(8); fd < 64; fd++)
			if (peer[fd] && !ending[fd]) {
				ending[fd] = 1;
				if (dice(3))
					fake_peer_close(peer[fd]);
				else
					(void)fake_peer_send(peer[fd], &byte, 1);
				break;
			}
		break;
	case 7:
		wait_ms(dice(3000));
		break;
	default:
		if (!dice(8))
			conn_pool_drop_server(e, srv);
		else
			conn_pool_make_room(e);
		break;
	}
}

static void
random_operations_keep_one_owner(void **st)
{
	static const enum interest_mode modes[] = { INTEREST_EDGE, INTEREST_MERGED,
						    INTEREST_UNMERGED };

	for (unsigned int i = 0; i < 60; i++) {
		(void)teardown(st);
		pool_rig_open(modes[i % ARRAY_LEN(modes)]);
		seed = i + 1;
		memset(ended, 0, sizeof(ended));
		memset(ending, 0, sizeof(ending));
		srv->be->http.reuse = (enum http_reuse)dice(4);
		srv->conf.pool_max = (int)dice(6) - 1;
		e->idle.high_fds = base_fds + 6;
		for (int step = 0; step < 300; step++) {
			play(&user[dice(USERS)]);
			if (dice(2)) {
				turn();
				turn();
				memcpy(ended, ending, sizeof(ended));
				memset(fresh, 0, sizeof(fresh));
			}
			check_owners();
		}
	}
}

/* A connection to a previous address is closed, and not kept, not even by a session for itself. */
static void
a_server_that_moves_leaves_none_behind(void **st)
{
	struct idle_conn *mine = NULL;
	struct addr to;
	uint32_t gen = addr_cell_get(&srv->addr, &to);
	unsigned int uses;

	(void)st;
	fill(2);
	connect_user(&user[2]);
	connect_user(&user[3]);
	assert_int_equal(conn_pool_put(e, srv, &user[3].conn, 1, &mine), 1);
	addr_set_port(&to, PORT + 1);
	server_set_addr(e, srv, &to);
	assert_true(addr_cell_gen(&srv->addr) != gen);
	assert_int_equal(count(), 0);
	assert_null(mine);
	assert_int_equal(put(&user[2]), 0);
	conn_close(&user[2].conn);
	turn();
	assert_int_equal(fake_fds(w.k), base_fds);
	/* The connection is not used even before its worker has received the message. */
	fill(1);
	connect_user(&user[3]);
	assert_int_equal(conn_pool_put(e, srv, &user[3].conn, 1, &mine), 1);
	addr_set_port(&to, PORT);
	addr_cell_set(&srv->addr, &to);
	assert_int_equal(get(&user[0], 0), 0);
	assert_int_equal(conn_pool_take_held(e, &mine, on_user, &user[3], &user[3].conn, &uses), 0);
	assert_null(mine);
	assert_int_equal(count(), 0);
	turn();
}

/* Without an address it is in maintenance: none is kept, and what it had is closed. */
static void
a_server_without_an_address_is_not_used(void **st)
{
	char text[SERVER_STATUS_MAX];

	(void)st;
	fill(1);
	connect_user(&user[1]);
	server_set_admin(e, srv, SERVER_MAINT_UNRESOLVED, 1, "");
	assert_false(server_is_usable(srv));
	assert_false(server_is_running(srv));
	assert_string_equal(server_status_text(srv, text), "MAINT (resolution)");
	assert_int_equal(put(&user[1]), 0);
	server_set_admin(e, srv, SERVER_MAINT_UNRESOLVED, 0, "");
	assert_true(server_is_usable(srv));
	assert_int_equal(get(&user[0], 0), 0);
	assert_int_equal(server_set_weight(e, srv, 0), 0);
	assert_false(server_is_usable(srv));
	assert_int_equal(server_set_weight(e, srv, 1000), -ERR_RANGE);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(the_newest_is_taken_without_a_call),
		CASE(a_connection_closed_by_the_server_is_closed),
		CASE(undrained_connections_are_peeked_at),
		CASE(pending_events_of_an_idle_connection_are_checked),
		CASE(unusable_connections_are_not_kept),
		CASE(http_reuse_modes),
		CASE(bounds_are_kept),
		CASE(unneeded_connections_are_closed_by_halves),
		CASE(connections_used_from_time_to_time_stay),
		CASE(no_more_connections_stay_idle_than_are_requested),
		CASE(a_session_may_hold_a_private_connection),
		CASE(the_oldest_is_closed_to_make_room),
		CASE(a_server_that_moves_leaves_none_behind),
		CASE(a_server_without_an_address_is_not_used),
		CASE(a_pending_end_is_delivered_to_the_new_user),
		CASE(random_operations_keep_one_owner),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
