/* A server with an origin, and users of connections to it, for tests of idle connections. */
#ifndef TESTS_UNIT_PROXY_POOL_RIG_H
#define TESTS_UNIT_PROXY_POOL_RIG_H

#include <errno.h>

#include "net/xprt.h"
#include "proxy/backend/conn_pool.h"
#include "proxy/backend/server_addr.h"
#include "unit/proxy/session_rig.h"

#define PORT 3000
#define USERS 24

/* A user of connections; u->conn.fd is -1 when it has none. */
struct pool_user {
	struct conn conn;
	unsigned int uses;
	uint32_t ev; /* the event it received */
};

static struct pool_user user[USERS];
static struct fake_sock *origin;
static struct fake_sock *peer[1024]; /* by descriptor: the server's end */
static struct server *srv;
static struct engine *e;
static unsigned int base_fds;

static inline void
on_user(void *owner, int fd, uint32_t ev)
{
	struct pool_user *u = owner;

	assert_int_equal(u->conn.fd, fd);
	u->ev |= ev;
	conn_want(&u->conn, 0);
}

static inline void
pool_rig_open(enum interest_mode mode)
{
	struct world_config cfg = { RIG_WORLD };

	cfg.mode = mode;
	rig_open(&cfg, NULL);
	e = &w.engine;
	srv = w.srv[0];
	srv->be->http.reuse = HTTP_REUSE_ALWAYS;
	/* All are kept, as if requests had looked for them. */
	srv->shard->idle.wanted = USERS;
	origin = fake_origin(w.k, PORT, 128);
	base_fds = fake_fds(w.k);
	memset(user, 0, sizeof(user));
	memset(peer, 0, sizeof(peer));
	for (int i = 0; i < USERS; i++)
		conn_init(&user[i].conn);
}

static inline void
turn(void)
{
	(void)fake_run_due(w.k);
	assert_int_equal(loop_turn(e->loop, 0), 0);
}

/* Everything is freed: the world checks descriptors and pools. */
static inline void
pool_rig_close(void)
{
	for (int i = 0; i < USERS; i++)
		conn_close(&user[i].conn);
	conn_pool_drop_server(e, srv);
	turn();
	assert_int_equal(fake_fds(w.k), base_fds);
	assert_int_equal(e->idle.pool.live, 0);
	rig_close();
}

/* A new connection as it is after a response: drained and registered. m NULL: without a
 * transport. */
static inline void
pool_rig_connect(struct pool_user *u, const struct xprt_maker *m)
{
	struct addr_spec spec;
	const char *why;
	long fd = sys_socket(e->sys, AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

	assert_true(fd >= 0);
	assert_int_equal(addr_parse("127.0.0.1:3000", 0, &spec, &why), 0);
	assert_int_equal(
		sys_connect(e->sys, (int)fd, &spec.addr.u.sa, spec.addr.len), -EINPROGRESS);
	assert_int_equal(
		conn_open_xprt(&u->conn, e->loop, (int)fd, on_user, u, CONN_TCP, m), 0);
	conn_want(&u->conn, EV_R);
	loop_again(e->loop, (int)fd, DIR_R);
	turn();
	peer[fd] = fake_origin_accept(origin);
	assert_non_null(peer[fd]);
	u->conn.addr_gen = addr_cell_gen(&srv->addr);
	u->uses = 1;
	u->ev = 0;
}

static inline int
put(struct pool_user *u)
{
	return conn_pool_put(e, srv, &u->conn, u->uses, NULL);
}

static inline unsigned int
count(void)
{
	unsigned int all, safe;

	conn_pool_count(srv, &all, &safe);
	assert_true(safe <= all);
	return all;
}

static inline void
wait_ms(uint64_t ms)
{
	uint64_t until = fake_now(w.k) + ms * FAKE_MS;

	while (fake_now(w.k) < until) {
		int left = (int)((until - fake_now(w.k)) / FAKE_MS) + 1;

		assert_int_equal(loop_turn(e->loop, left), 0);
	}
}

#endif
