/* HTTP/2 to servers: a worker's carriers, which its streams share. */
#include "proxy/http2/h2_server.h"

#include <string.h>

#include "base/counter.h"
#include "base/err.h"
#include "event/profile.h"
#include "h2/h2_xprt.h"
#include "net/xprt.h"
#include "proxy/backend/conn_pool.h"
#include "proxy/backend/server_place.h"
#include "proxy/http2/h2_engine.h"
#include "proxy/model/count.h"
#include "proxy/model/http_txn.h"
#include "proxy/model/memory.h"
#include "proxy/model/stream_extras.h"

int
h2_server_speaks(const struct stream *s)
{
	struct conn *c = s->conn[SERVER];
	struct str name;

	if (!s->txn || conn_is_stream(c))
		return 0;
	if (s->srv->conf.proto == MUX_H2)
		return 1;
	return c->xprt && conn_query(c, XPRT_QUERY_PROTOCOL, &name) == 0 && str_is(name, STR("h2"));
}

/* --- its end --- */

static struct h2_server *
h2_server_of(struct h2_carrier *k)
{
	return container_of(k, struct h2_server, carrier);
}

static void
server_on_end(struct task *t)
{
	struct h2_server *m = container_of(t, struct h2_server, end);
	struct engine *e = m->engine;

	timer_stop(loop_timers(e->loop), &m->idle);
	list_remove(&m->link);
	list_remove(&m->all);
	counter_sub(&m->stat->open_connections, 1);
	h2_carrier_fini(&m->carrier);
	server_conn_close_late(e, m->srv, &m->conn);
	pool_put(&engine_h2(e)->servers, m);
	memory_watch(e);
}
PROFILE_NAME(server_on_end, h2_server_end)

/* Derives what it waits for after any change, or schedules it to be freed. */
static void
settle_carrier(struct h2_server *m)
{
	/* No stream needs the output that is left, and a server that hangs would never take it. */
	if (m->carrier.is_over && !m->carrier.n_streams && h2_carrier_is_blocked(&m->carrier))
		h2_carrier_lose(&m->carrier);
	if (m->carrier.is_over)
		list_remove(&m->link);
	if (m->carrier.is_lost)
		conn_want(&m->conn, 0);
	else
		conn_want(&m->conn, h2_carrier_wants(&m->carrier));
	if (h2_carrier_has_ended(&m->carrier))
		loop_post_end(m->engine->loop, &m->end);
}

/* Takes no more streams, and ends with the last one that it has. */
static void
leave_carrier(struct h2_server *m)
{
	h2_carrier_leave(&m->carrier, 1);
	(void)h2_carrier_flush(&m->carrier);
	settle_carrier(m);
}

static void
server_on_idle(struct timer *t)
{
	leave_carrier(container_of(t, struct h2_server, idle));
}
PROFILE_NAME(server_on_idle, h2_server_idle)

/* Closes a carrier without a stream later, or at once if it cannot be used again, or takes a place
 * that sessions wait for (strict-maxconn). */
static void
begin_idle(struct h2_server *m)
{
	struct loop *l = m->engine->loop;
	const struct server *srv = m->srv;
	unsigned int ms = srv->conf.pool_purge_ms;

	if (m->is_own || !ms || srv->conf.pool_max == 0 || !server_is_running(srv) ||
		!conn_pool_leads_to(srv, &m->conn) ||
		(m->conn.has_place && server_place_is_wanted(srv)) ||
		timer_set(loop_timers(l), &m->idle, loop_now_ms(l) + ms) < 0)
		leave_carrier(m);
}

/* --- reports of the connection --- */

static void
server_on_change(struct h2_carrier *k)
{
	settle_carrier(h2_server_of(k));
}

static void
server_on_close(struct h2_carrier *k, enum conn_stream_end end unused)
{
	struct h2_server *m = h2_server_of(k);

	if (k->h2.has_settings)
		m->srv->shard[m->engine->index].h2_streams = h2_conn_max_streams(&k->h2);
	if (!k->n_streams && !k->is_over)
		begin_idle(m);
	settle_carrier(m);
}

static const struct h2_carrier_user h2_server_user = {
	.on_close = server_on_close,
	.on_change = server_on_change,
};

static void
on_carrier_io(void *owner, int fd, uint32_t ev)
{
	struct h2_server *m = owner;
	struct engine *e = m->engine;

	(void)fd;
	if (ev & EV_R)
		(void)h2_carrier_read(&m->carrier, e->scratch, e->bufsize);
	if (ev & EV_W)
		(void)h2_carrier_flush(&m->carrier);
	if ((ev & EV_SPIN) ||
		((ev & EV_ERR) && !m->carrier.is_lost && conn_take_error(&m->conn)))
		h2_carrier_lose(&m->carrier);
	settle_carrier(m);
}
PROFILE_NAME(on_carrier_io, h2_server_io)

/* --- streams --- */

/* True if what its connection carries depends on the client. */
static int
is_of_client(const struct stream *s)
{
	const struct server *srv = s->srv;

	return srv->conf.proxy_header || source_is_of_client(&srv->conf.source) ||
		srv->sni_varies || s->be->http.reuse == HTTP_REUSE_NEVER || stream_packets(s);
}

static int
add_stream(struct h2_server *m, struct stream *s)
{
	struct h2_xprt *x;
	int r = h2_xprt_open(
		&m->carrier, s->conn[SERVER], m->engine->hooks.on_server_io, s, NULL, &x);

	if (r < 0)
		return r;
	timer_stop(loop_timers(m->engine->loop), &m->idle);
	s->uses = m->uses++;
	return 0;
}

/* Takes the connection over, and begins HTTP/2 on it: 0, or -ERR_NOMEM, and it is closed. */
static int
begin_carrier(struct h2_server *m, struct conn *c, struct h2_worker *w)
{
	m->conn = *c;
	conn_init(c);
	conn_set_owner(&m->conn, on_carrier_io, m);
	if (h2_carrier_init(&m->carrier, &m->conn, w, &w->server, 1, &h2_server_user) < 0) {
		server_conn_close(m->engine, m->srv, &m->conn);
		return -ERR_NOMEM;
	}
	m->carrier.h2.stat = m->stat;
	counter_add(&m->stat->open_connections, 1);
	counter_add(&m->stat->total_connections, 1);
	return 0;
}

int
h2_server_begin(struct stream *s)
{
	struct engine *e = s->engine;
	struct server_shard *shard = srv_shard(s, s->srv);
	struct h2_engine *h = engine_h2(e);
	struct h2_server *m;

	if (!h || !memory_reserve(e, &h->servers)) {
		server_conn_close(e, s->srv, s->conn[SERVER]);
		return -ERR_NOMEM;
	}
	m = pool_get(&h->servers);
	memset(m, 0, sizeof(*m));
	m->engine = e;
	m->srv = s->srv;
	m->is_own = (uint8_t)is_of_client(s);
	list_init(&m->link);
	timer_init(&m->idle, server_on_idle);
	task_init(&m->end, server_on_end);
	m->stat = &be_stat(s)->h2;
	if (begin_carrier(m, s->conn[SERVER], &h->worker) < 0) {
		pool_put(&h->servers, m);
		return -ERR_NOMEM;
	}
	list_append(&h->all_servers, &m->all);
	if (add_stream(m, s) < 0) {
		h2_carrier_lose(&m->carrier);
		settle_carrier(m);
		return -ERR_NOMEM;
	}
	if (!shard->carriers.next)
		list_init(&shard->carriers);
	if (!m->is_own)
		list_append(&shard->carriers, &m->link);
	settle_carrier(m);
	memory_watch(e);
	return 0;
}

/* True if it may carry another request, for which it must have carried `least`. */
static int
is_usable(const struct h2_server *m, unsigned int least)
{
	const struct server *srv = m->srv;

	return m->uses >= least && h2_carrier_has_room(&m->carrier) &&
		conn_pool_leads_to(srv, &m->conn) &&
		(srv->conf.max_reuse < 0 || m->uses <= (unsigned int)srv->conf.max_reuse);
}

int
h2_server_may_share(const struct stream *s)
{
	return !is_of_client(s);
}

unsigned int
h2_server_streams(struct stream *s)
{
	const struct engine *e = s->engine;
	unsigned int known = srv_shard(s, s->srv)->h2_streams, most = H2_STREAMS_GUESS;

	if (e->h2_server_config)
		most = MIN(most, e->h2_server_config->max_streams);
	return known ? known : most;
}

int
h2_server_join(struct stream *s)
{
	struct server_shard *shard = srv_shard(s, s->srv);
	unsigned int least =
		conn_pool_least_uses(s->be->http.reuse, session_is_first_request(s));

	if (!least || is_of_client(s) || !shard->carriers.next)
		return 0;
	list_each(it, &shard->carriers) {
		struct h2_server *m = list_entry(it, struct h2_server, link);

		if (!is_usable(m, least) || add_stream(m, s) < 0)
			continue;
		counter_add(&srv_stat(s)->reuse, 1);
		counter_add(&be_stat(s)->reuse, 1);
		return 1;
	}
	return 0;
}

/* --- calls of others --- */

void
h2_server_leave(struct engine *e, struct server *srv, int only_stale)
{
	struct server_shard *shard = &srv->shard[e->index];

	if (!shard->carriers.next)
		return;
	list_each_safe(it, &shard->carriers) {
		struct h2_server *m = list_entry(it, struct h2_server, link);

		if (!only_stale || !conn_pool_leads_to(srv, &m->conn))
			leave_carrier(m);
	}
}

int
h2_server_drop_idle(struct engine *e, struct server *srv)
{
	struct server_shard *shard = &srv->shard[e->index];

	if (!shard->carriers.next)
		return 0;
	list_each_safe(it, &shard->carriers) {
		struct h2_server *m = list_entry(it, struct h2_server, link);

		if (m->carrier.n_streams)
			continue;
		leave_carrier(m);
		return 1;
	}
	return 0;
}

int
h2_server_exists(const struct engine *e, const struct server *srv)
{
	if (!e->h2)
		return 0;
	list_each(it, &e->h2->all_servers)
		if (list_entry(it, const struct h2_server, all)->srv == srv)
			return 1;
	return 0;
}

void
h2_server_close_all(struct engine *e)
{
	if (!e->h2)
		return;
	list_each_safe(it, &e->h2->all_servers) {
		struct h2_server *m = list_entry(it, struct h2_server, all);

		h2_carrier_lose(&m->carrier);
		task_cancel(&m->end);
		server_on_end(&m->end);
	}
}
