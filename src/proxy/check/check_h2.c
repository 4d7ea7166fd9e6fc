/* HTTP/2 of the connections of checks. On the first worker; a run has one stream at most, and what
 * all runs share is made with the first. */
#include "proxy/check/check_h2.h"

#include <errno.h>

#include "base/counter.h"
#include "base/mem.h"
#include "event/profile.h"
#include "h2/h2_xprt.h"
#include "net/xprt.h"
#include "proxy/model/http_txn.h"
#include "proxy/model/proxy.h"

/* A connection that carries the stream of a check. */
struct check_h2 {
	struct h2_carrier carrier;
	struct conn conn;
	struct check_run *run;
	struct h2_stat *stat;        /* the backend's */
};

int
check_h2_is_forced(const struct check_run *r)
{
	const struct check_connect *c = &check_connect_rule(r)->u.connect;
	const struct server_conf *conf = &check_run_server(r)->conf;

	if (r->conf->method != CHECK_HTTP)
		return 0;
	if (c->proto != CHECK_PROTO_DEFAULT)
		return c->proto == CHECK_PROTO_H2;
	if (!c->defaults)
		return 0;
	return conf->check.proto == CHECK_PROTO_DEFAULT ? conf->proto == MUX_H2
							: conf->check.proto == CHECK_PROTO_H2;
}

/* True if HTTP/1 is what the configuration asks for. */
static int
is_ruled_out(const struct check_run *r)
{
	const struct check_connect *c = &check_connect_rule(r)->u.connect;

	return r->conf->method != CHECK_HTTP || c->proto == CHECK_PROTO_H1 ||
		(c->proto == CHECK_PROTO_DEFAULT && c->defaults &&
			check_run_server(r)->conf.check.proto == CHECK_PROTO_H1);
}

static int
is_spoken(const struct check_run *r)
{
	struct str name;

	if (check_h2_is_forced(r))
		return 1;
	return !is_ruled_out(r) && r->conn.xprt &&
		conn_query(&r->conn, XPRT_QUERY_PROTOCOL, &name) == 0 && str_is(name, STR("h2"));
}

/* The memory that all connections of checks share, made for the first one; NULL without memory. */
static struct h2_worker *
shared_worker(struct check_shared *shared)
{
	struct engine *e = shared->engine;

	if (shared->h2)
		return shared->h2;
	shared->h2 = mem_alloc(sizeof(*shared->h2));
	if (!shared->h2)
		return NULL;
	if (h2_worker_init(shared->h2, e->bufsize, e->limits.maxhdr + HTTP_FIELDS_ADDED) < 0) {
		mem_free(shared->h2);
		shared->h2 = NULL;
		return NULL;
	}
	if (e->h2_server_config)
		shared->h2->server = *e->h2_server_config;
	return shared->h2;
}

void
check_h2_fini(struct check_shared *shared)
{
	if (!shared->h2)
		return;
	h2_worker_fini(shared->h2);
	mem_free(shared->h2);
	shared->h2 = NULL;
}

/* --- the carrier --- */

static void
settle_check_carrier(struct check_h2 *h)
{
	conn_want(&h->conn, h2_carrier_wants(&h->carrier));
}

static void
carrier_on_change(struct h2_carrier *k)
{
	settle_check_carrier(container_of(k, struct check_h2, carrier));
}

/* The run ends the connection, after its stream. */
static void
carrier_on_close(struct h2_carrier *k unused, enum conn_stream_end end unused)
{
}

static const struct h2_carrier_user check_h2_user = {
	.on_close = carrier_on_close,
	.on_change = carrier_on_change,
};

static void
on_check_carrier_io(void *owner, int fd, uint32_t ev)
{
	struct check_h2 *h = owner;
	struct check_shared *shared = h->run->shared;

	(void)fd;
	if (ev & EV_R)
		(void)h2_carrier_read(&h->carrier, shared->scratch, shared->engine->bufsize);
	if (ev & EV_W)
		(void)h2_carrier_flush(&h->carrier);
	if ((ev & EV_SPIN) ||
		((ev & EV_ERR) && !h->carrier.is_lost && conn_take_error(&h->conn)))
		h2_carrier_lose(&h->carrier);
	settle_check_carrier(h);
}
PROFILE_NAME(on_check_carrier_io, check_h2_io)

/* As HAProxy the backend counts it among those of sessions. */
static struct h2_stat *
check_h2_stat_of(const struct check_run *r)
{
	return &check_run_server(r)->be->shard[r->shared->engine->index].be.h2;
}

static int
begin_check_carrier(struct check_run *r, struct check_h2 *h, struct h2_worker *w)
{
	h->run = r;
	h->conn = r->conn;
	if (h2_carrier_init(&h->carrier, &h->conn, w, &w->server, 1, &check_h2_user) < 0)
		return -ENOMEM;
	conn_init(&r->conn);
	conn_set_owner(&h->conn, on_check_carrier_io, h);
	h->stat = h->carrier.h2.stat = check_h2_stat_of(r);
	counter_add(&h->stat->open_connections, 1);
	counter_add(&h->stat->total_connections, 1);
	/* Its SETTINGS may be there, but the request comes first. */
	if (!h->conn.xprt)
		conn_again(&h->conn, DIR_R);
	r->h2 = h;
	return 0;
}

static int
open_check_carrier(struct check_run *r)
{
	struct h2_worker *w = shared_worker(r->shared);
	struct check_h2 *h = w ? mem_zalloc(sizeof(*h)) : NULL;

	if (!h)
		return -ENOMEM;
	if (begin_check_carrier(r, h, w) == 0)
		return 0;
	mem_free(h);
	return -ENOMEM;
}

/* --- streams --- */

int
check_h2_begin(struct check_run *r)
{
	struct h2_xprt *x;

	if (!is_spoken(r))
		return 0;
	if (open_check_carrier(r) < 0)
		return -ENOMEM;
	if (h2_xprt_open(&r->h2->carrier, &r->conn, check_run_on_io, r, NULL, &x) < 0)
		return -ENOMEM;
	settle_check_carrier(r->h2);
	return 0;
}

void
check_h2_end(struct check_run *r)
{
	struct check_h2 *h = r->h2;

	if (!h)
		return;
	if (conn_is_open(&r->conn))
		conn_close(&r->conn);
	counter_sub(&h->stat->open_connections, 1);
	h2_carrier_fini(&h->carrier);
	r->conn = h->conn;
	conn_set_owner(&r->conn, check_run_on_io, r);
	conn_want(&r->conn, 0);
	mem_free(h);
	r->h2 = NULL;
}

int
check_h2_has_eof(const struct check_run *r)
{
	return r->h2 && r->h2->conn.eof;
}
