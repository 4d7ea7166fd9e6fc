#include "sim/random_world.h"

#include <stdio.h>
#include <string.h>

#include "h2/h2_conn_int.h"
#include "proxy/http2/h2_client.h"
#include "proxy/http2/h2_server.h"
#include "proxy/model/http_conf.h"
#include "proxy/model/http_txn.h"
#include "proxy/model/memory.h"
#include "sim/filters.h"
#include "sim/http_book.h"
#include "sim/http_ends.h"
#include "proxy/session/session.h"

#define CLIENTS_MAX 24
#define REQUESTS_MAX 6 /* of a client */
#define CONNECTIONS_MAX 512
#define CARRIERS_MAX 256
/* Worlds of so many clients (bits) have servers that speak HTTP/2, some of them not only. */
#define H2_SERVERS (1u << 5 | 1u << 9 | 1u << 10 | 1u << 13 | 1u << 14)
#define H2_DEPTH 5 /* unanswered requests of a client that speaks HTTP/2 */

struct plan {
	struct world w;
	struct dice *d;
	struct http_book book;
	int kind;
	int leaves; /* kind servers close idle connections */
	int wild;
	int waits_for_body; /* a rule waits for the body */
	int stops; /* there will be a soft stop */
	char rules[1000], lines[1600 + sizeof(((struct http_long *)0)->lines)];
	uint32_t max_bytes;
	unsigned int n, started;
	struct http_client client[CLIENTS_MAX];
	struct http_origin origin[CONNECTIONS_MAX];
	unsigned int n_origins;
	struct http_carrier carrier[CARRIERS_MAX];
	unsigned int n_carriers;
};

/* --- ends --- */

/* The last request that was planned asks for a tunnel. */
static int
ends_tunnel(const struct plan *p)
{
	return p->book.req[p->book.n - 1].wish == HTTP_SHAPE_TUNNEL;
}

/* Some of the clients of a third of the worlds, without TLS, or all of them. */
static int
speaks_h2(const struct plan *p, const struct http_client *c)
{
	return p->n % 3 == 1 && !(p->w.cfg.tls & 1u << CLIENT) &&
		(p->w.cfg.proto == MUX_H2 || (c - p->client) % 4 != 3);
}

static void
plan_client(struct plan *p, struct http_client *c)
{
	struct dice *d = p->d;
	/* tacit then asks for the body itself, and must have room for it. */
	int asks = p->kind && p->w.cfg.memory &&
		((p->w.cfg.options & OPT_HTTP_BUFFER_REQUEST) || p->waits_for_body);
	struct http_plan how = { d, p->kind, p->leaves, asks, p->max_bytes,
		p->w.cfg.h2_servers != 0 };
	int last = 0;

	c->book = &p->book;
	c->first = p->book.n;
	c->n = 1 + dice(d, REQUESTS_MAX);
	c->depth = dice_is(d, 3) ? 2 + dice(d, 3) : 1;
	/* No random choice here, to keep existing worlds unchanged. */
	c->h2 = speaks_h2(p, c);
	if (c->h2)
		c->depth = 1 + dice(d, H2_DEPTH);
	for (unsigned int i = 0; i < c->n; i++) {
		struct http_request *q = http_book_add(&p->book);

		http_plan_request(&how, q);
		if (c->h2)
			http_plan_stream(&how, q);
		http_persist_plan(&p->book, d, q);
		/* Nothing is sent after a request that ends the connection: it would be lost and
		 * cause a reset. */
		last = q->upgrade || q->verb == HTTP_VERB_CONNECT || q->close || !q->minor ||
			q->wish == HTTP_SHAPE_END;
		if (last && (p->kind || q->wish == HTTP_SHAPE_TUNNEL))
			c->n = i + 1;
	}
	/* The same for a world that closes after each response, or from some time on. */
	if ((p->w.px->http.persistence == HTTP_CLOSE || p->stops) && p->kind && !c->h2)
		c->depth = 1;
	c->up = http_plan_size(&how);
	c->down = p->book.req[p->book.n - 1].wish_len;
	if (p->w.cfg.announced)
		c->header = random_header(d, 1);
	/* A kind client of a tunnel takes the closing message of TLS, too, and frames of HTTP/2:
	 * they would meet a closed socket, which is a reset. */
	c->leave = p->kind && (p->w.cfg.tls & 1u << CLIENT || c->h2) && ends_tunnel(p)
		? HTTP_LEAVE_SHUT : HTTP_LEAVE_CLOSE;
	if (dice_is(d, 4)) {
		c->deaf_at = dice(d, 100) * FAKE_MS;
		c->deaf_for = (1 + http_plan_pause(&how)) * FAKE_MS;
	}
	if (p->kind)
		return;
	c->leave = (enum http_leave)dice(d, HTTP_LEAVE_WAIT + 1);
	c->quits = dice_is(d, 4) ? (1 + http_plan_pause(&how)) * FAKE_MS : 0;
}

static void
client_arrives(struct fake *k, void *arg)
{
	struct plan *p = arg;

	(void)k;
	http_client_start(&p->client[p->started++]);
}

/* Another end of a server; NULL: there are too many. */
static struct http_origin *
add_origin(struct plan *p, unsigned int server)
{
	struct http_origin *o = &p->origin[p->n_origins];

	if (p->n_origins == CONNECTIONS_MAX) {
		world_error(&p->w, "too many connections to the servers");
		return NULL;
	}
	p->n_origins++;
	o->book = &p->book;
	o->server = server;
	o->dice = p->d;
	o->far = p->w.cfg.server[server].one_way != 0;
	o->wild = p->wild;
	o->may_leave = p->leaves;
	return o;
}

static struct http_origin *
add_stream(struct http_carrier *c)
{
	return add_origin(c->arg, c->server);
}

static void
carrier_accepted(struct plan *p, unsigned int server, struct fake_sock *s)
{
	struct http_carrier *c = &p->carrier[p->n_carriers];

	if (p->n_carriers == CARRIERS_MAX) {
		world_error(&p->w, "too many carriers to the servers");
		fake_peer_reset(s);
		return;
	}
	p->n_carriers++;
	c->book = &p->book;
	c->server = server;
	c->dice = p->d;
	c->wild = p->wild;
	c->may_leave = p->leaves;
	c->add = add_stream;
	c->arg = p;
	http_carrier_start(c, s);
}

static void
server_accepted(struct world *w, unsigned int server, struct fake_sock *s)
{
	struct plan *p = w->arg;
	struct http_origin *o;

	if (w->cfg.h2_servers & 1u << server) {
		carrier_accepted(p, server, s);
		return;
	}
	o = add_origin(p, server);
	if (o)
		http_origin_start(o, s);
	else
		fake_peer_reset(s);
}

static int
ends_are_over(const struct world *w)
{
	const struct plan *p = w->arg;

	for (unsigned int i = 0; i < p->n; i++)
		if (!p->client[i].closed)
			return 0;
	for (unsigned int i = 0; i < p->n_origins; i++)
		if (!p->origin[i].closed || p->origin[i].ends)
			return 0;
	for (unsigned int i = 0; i < p->n_carriers; i++)
		if (!p->carrier[i].closed)
			return 0;
	return 1;
}

/* True if the client at that port has reset a stream. */
static int
gave_up(const struct plan *p, unsigned int port)
{
	for (unsigned int i = 0; i < p->started; i++) {
		const struct http_client *c = &p->client[i];

		if (fake_peer_port(c->s) != port)
			continue;
		for (unsigned int n = 0; n < c->n; n++)
			if (p->book.req[c->first + n].given_up)
				return 1;
	}
	return 0;
}

/* True if the stream is of a request that may fail. */
static int
may_fail(const struct plan *p, const struct stream *s)
{
	char line[HTTP_LINE_MAX + 1];
	unsigned int id = 0;

	if (!s->txn)
		return 0;
	/* A request that was reset before it ran has no line. */
	if (!s->txn->line_len)
		return gave_up(p, addr_port(&s->sess->peer));
	(void)snprintf(line, sizeof(line), "%.*s", (int)s->txn->line_len, s->txn->line);
	return (sscanf(line, "%*s /%u", &id) == 1 || sscanf(line, "%*s http://a/%u", &id) == 1) &&
		id && id <= p->book.n &&
		http_book_may_fail(&p->book.req[id - 1]);
}

static void
session_ended(struct world *w, const struct world_end *e)
{
	struct plan *p = w->arg;

	if (p->kind && strcmp(e->term, "--") != 0 && !may_fail(p, e->session))
		world_error(w, "a kind request ended with %s: %.*s", e->term,
			e->session->txn ? (int)e->session->txn->line_len : 0,
			e->session->txn ? e->session->txn->line : "");
	http_persist_check_log(&p->book, e->session);
}

/* --- the world --- */

/* A local reply of the world, or none for an empty file. */
static void
own_answers(struct plan *p)
{
	static const struct http_field field = { .name = STR("X-Own"), .value = STR("1") };
	static const unsigned int statuses[] = { 400, 408, 502, 503, 504 };
	static struct cfg_where nowhere;
	struct proxy_errors *e = &p->w.px->errors;

	for (size_t i = 0; i < ARRAY_LEN(statuses); i++) {
		struct http_reply *r = NULL;
		int id = http_error_id(statuses[i]), bad;

		if (!dice_is(p->d, 6))
			continue;
		bad = dice_is(p->d, 3) ? http_reply_make(0, STR(""), NULL, 0, STR(""), &r)
				       : http_reply_new(statuses[i], &field, 1, STR("own"), &r);
		if (bad || proxy_errors_add(e, 1u << id, r, NULL, nowhere))
			assert(!"no memory for an answer");
		e->own[id] = http_reply_get(r);
	}
}

/* Rules, which apply to certain request numbers. The first ones are harmless. */
static void
rules(struct plan *p)
{
	const char *const lines[] = { p->kind ? "http-request wait-for-body time 1h\n"
					      : "http-request wait-for-body time 200ms\n",
		"http-response wait-for-body time 1h\n",
		"http-request set-header X-Rule 1\n", "http-response set-header X-Rule 2\n",
		"http-after-response set-header X-After 3\n",
		"http-request deny deny_status 403 if { path_end 7 }\n",
		"http-request tarpit deny_status 429 if { path_end 3 }\n",
		"http-request return status 200 content-type text/plain string own "
		"if { path_end 5 }\n",
		"http-request redirect location /elsewhere if { path_end 9 }\n",
		"http-response deny deny_status 502 if { status 404 }\n" };
	size_t n = 0;

	for (unsigned int i = 0; i < (p->kind ? 5 : ARRAY_LEN(lines)); i++) {
		if (!dice_is(p->d, 4))
			continue;
		p->waits_for_body |= i == 0;
		n += (size_t)snprintf(p->rules + n, sizeof(p->rules) - n, "%s", lines[i]);
	}
	p->book.rules = n != 0;
}

static void
http_timeouts(struct plan *p, struct proxy_timeouts *to)
{
	struct dice *d = p->d;

	if (p->kind)
		return;
	to->http_request = dice_is(d, 3) ? 1 + dice(d, 3000) : 0;
	to->http_keep_alive = dice_is(d, 3) ? 1 + dice(d, 1000) : 0;
	to->tarpit = dice_is(d, 2) ? 1 + dice(d, 1000) : 0;
	to->tunnel = dice_is(d, 3) ? 1 + dice(d, 5000) : 0;
}

static struct world_config
config(struct plan *p)
{
	static const unsigned int options[] = { OPT_ABORTONCLOSE, OPT_HTTP_BUFFER_REQUEST,
		OPT_HTTP_IGNORE_PROBES, OPT_REDISPATCH };
	struct dice *d = p->d;
	struct world_config c = random_config(d, p->kind);

	c.http = 1;
	if (H2_SERVERS >> p->n & 1)
		c.h2_servers = p->n == 9 ? 5 : (1u << WORLD_SERVERS) - 1;
	c.reuse = (enum http_reuse)dice(d, HTTP_REUSE_ALWAYS + 1);
	c.persistence =
		dice_is(d, 4) ? (enum http_persistence)dice(d, HTTP_CLOSE + 1) : HTTP_KEEP_ALIVE;
	c.retry_on =
		dice_is(d, 3) ? 1u << HTTP_RETRY_CONN_FAILURE | dice(d, 1u << HTTP_RETRIES) : 0;
	/* A request on a connection that is being closed has no response unless it is retried. */
	if (p->leaves) {
		c.retry_on |= 1u << HTTP_RETRY_CONN_FAILURE | 1u << HTTP_RETRY_EMPTY_RESPONSE;
		c.retries = MAX(c.retries, 2);
	}
	/* Streams that wait for the server's settings have failed when it leaves before. */
	if (p->kind && c.h2_servers) {
		c.retry_on |= 1u << HTTP_RETRY_CONN_FAILURE;
		c.retries = MAX(c.retries, 5);
	}
	for (size_t i = 0; i < ARRAY_LEN(options); i++)
		c.options |= dice_is(d, 5) ? options[i] : 0;
	http_timeouts(p, &c.to);
	if (dice_is(d, 3))
		rules(p);
	p->book.bound.n_servers = c.n_servers;
	/* No random choice elsewhere, to keep existing worlds unchanged. */
	if (p->n % 5 == 2)
		http_long_configure(&p->book.added, d, c.bufsize, p->kind);
	(void)snprintf(p->lines, sizeof(p->lines), "%s%s%s", p->rules,
		http_persist_configure(&p->book, d), p->book.added.lines);
	c.rules = p->lines[0] ? p->lines : NULL;
	c.tracks = p->n % 4 == 1;
	c.filters = p->n % 3 == 1 ? FILTERS_NEUTRAL : 0;
	c.prepare = http_persist_set_cookies;
	return c;
}

/* There must be enough memory for some requests at once. */
static void
bound_memory(struct plan *p)
{
	struct engine *e = &p->w.engine;
	uint64_t each = e->pools.session.size + e->pools.txn.size + 2ull * e->bufsize;

	p->w.cfg.memory = each * ((p->kind ? 8 : 2) + dice(p->d, 8));
	/* A head that grows takes a larger buffer, or fails. */
	if (p->book.added.any && p->kind)
		p->w.cfg.memory += (uint64_t)p->n * SIDES * e->pools.wide.size;
	if (p->w.px->filters)
		p->w.cfg.memory += (uint64_t)p->n * SIDES * e->pools.wide.size;
	/* Streams that find no memory are refused, not held back. */
	if (p->kind && p->n % 3 == 1)
		p->w.cfg.memory +=
			p->n * (sizeof(struct h2_client) + H2_OUT_MAX + 1024 +
				H2_DEPTH * (each + e->bufsize + 2 * H2_FRAME_MIN_MAX));
	/* A connection to a server is one of a request's, at worst. */
	if (p->kind && p->w.cfg.h2_servers)
		p->w.cfg.memory += p->n * H2_DEPTH *
			(sizeof(struct h2_server) + H2_OUT_MAX + 1024 + 2 * H2_FRAME_MIN_MAX);
	if (p->w.cfg.tls)
		p->w.cfg.memory += p->n * 2 * RANDOM_TLS_BYTES;
	memory_bound(e, p->w.cfg.memory);
}

static void
settle(struct plan *p, int bounded)
{
	struct dice *d = p->d;
	struct world *w = &p->w;

	w->allow_del = w->cfg.mode == INTEREST_UNMERGED;
	w->arg = p;
	w->server_accepted = server_accepted;
	w->ends_are_over = ends_are_over;
	w->session_ended = session_ended;
	for (unsigned int i = 0; i < w->cfg.n_servers; i++) {
		struct server_conf *s = &w->srv[i]->conf;

		s->pool_purge_ms = dice_is(d, 3) ? dice(d, 300) : s->pool_purge_ms;
		s->pool_max = dice_is(d, 4) ? (int)dice(d, 4) : s->pool_max;
		s->max_reuse = dice_is(d, 6) ? (int)dice(d, 4) : s->max_reuse;
		s->strict_maxconn = s->maxconn && (p->n + i) % 2;
	}
	if (bounded)
		bound_memory(p);
	if (dice_is(d, 3))
		own_answers(p);
	p->book.w = w;
	p->book.kind = p->kind;
	for (unsigned int i = 0; i < p->n; i++)
		plan_client(p, &p->client[i]);
}

/* --- at the end --- */

/* True if the request was not sent early enough before the stop: the idle connection may have been
 * closed. */
static int
crosses_stop(const struct plan *p, const struct http_request *q)
{
	return p->book.stopped_ns && !q->n_tries &&
		(!q->said_ns || q->said_ns + p->w.cfg.client_delay >= p->book.stopped_ns);
}

/* Every request was answered, up to one whose response ended the connection. */
static void
check_kind(struct plan *p)
{
	for (unsigned int i = 0; i < p->n; i++) {
		const struct http_client *c = &p->client[i];
		const struct http_request *q = p->book.req + c->first;
		unsigned int n = 0;

		while (n < c->n && !q[n].closes &&
			(q[n].whole || (c->tunnel && q[n].answered) ||
				http_book_may_fail(&q[n]) || (c->h2 && crosses_stop(p, &q[n]))))
			n++;
		if (n < c->n && crosses_stop(p, q + n))
			continue;
		if (n < c->n && !(q[n].whole && q[n].closes))
			world_error(&p->w, "kind request %u has no answer (%s)", q[n].id,
				http_verb_name(q[n].verb));
		if (c->err || (c->tunnel && c->reader.got != c->down))
			world_error(&p->w, "kind client %u: errno %d", i, c->err);
	}
}

static void
check_world(struct plan *p)
{
	struct world *w = &p->w;

	http_book_check(&p->book);
	if (p->kind)
		check_kind(p);
	for (unsigned int i = 0; i < p->n; i++)
		if (!p->client[i].closed)
			world_error(w, "client %u hangs, %u of %u requests said, %u answered", i,
				p->client[i].out, p->client[i].n, p->client[i].in);
	for (unsigned int i = 0; i < p->n_carriers; i++)
		if (!p->carrier[i].closed)
			world_error(w, "a server's connection of HTTP/2 hangs");
	for (unsigned int i = 0; i < p->n_origins; i++)
		if (!p->origin[i].closed || p->origin[i].ends)
			world_error(w, "a server's connection %u hangs in request %u, way %d", i,
				p->origin[i].q ? p->origin[i].q->id : 0,
				p->origin[i].t ? (int)p->origin[i].t->way : -1);
}

static void
measure(struct plan *p, struct http_random_result *r)
{
	struct world *w = &p->w;

	r->base.kind = p->kind;
	r->base.tls = w->cfg.tls != 0;
	r->base.clients = p->n;
	r->base.calls = world_calls(w);
	r->base.buf_waits = w->engine.stat.buf_waits;
	r->base.memory_holds = w->engine.stat.memory_holds;
	r->base.spliced = w->engine.stat.spliced;
	memcpy(r->base.rows, w->rows, sizeof(w->rows));
	memcpy(r->base.session_rows, w->session_rows, sizeof(w->session_rows));
	r->requests = p->book.n;
	r->whole = p->book.whole;
	r->own = p->book.own;
	r->again = p->book.again;
	r->bound = p->book.bound.came;
	r->told = p->book.bound.told;
	r->logged = p->book.bound.logged;
	for (unsigned int i = 0; i < p->n; i++)
		r->multiplexed |= p->client[i].h2 && p->client[i].n > 1 && p->client[i].depth > 1;
	r->stopped = p->book.stopped_ns != 0;
	r->grown = p->book.longest;
	r->reused = (unsigned int)w->px->shard[0].be.reuse;
	for (unsigned int i = 0; i < p->book.n; i++)
		r->base.bytes += p->book.req[i].got;
	if (fake_empty_waits(w->k) > 100 + 100u * p->book.n)
		world_error(w, "%llu waits for %u requests came of nothing",
			(unsigned long long)fake_empty_waits(w->k), p->book.n);
}

/* New clients still connect here: during a stop only earlier ones would. */
static void
stops(struct fake *k, void *arg)
{
	struct plan *p = arg;

	p->book.stopped_ns = MAX(fake_now(k), 1);
	fake_note(k, "# soft stop");
	engine_soft_stop(&p->w.engine);
}

int
http_random_play(struct dice *d, unsigned int max_clients, uint32_t max_bytes, int show,
	struct http_random_result *r)
{
	static struct plan p;
	struct world_config cfg;
	int bad, bounded;

	memset(&p, 0, sizeof(p));
	memset(r, 0, sizeof(*r));
	p.d = d;
	p.max_bytes = max_bytes;
	p.kind = dice_is(d, 2);
	p.leaves = p.kind && dice_is(d, 2);
	p.wild = p.kind ? 0 : 1 + (int)dice(d, 8);
	p.stops = dice_is(d, 4);
	p.n = 1 + dice(d, MIN(max_clients, CLIENTS_MAX));
	cfg = config(&p);
	random_bounds(d, &cfg);
	/* No random choice here, to keep existing worlds unchanged. */
	cfg.announced = p.n % 6 == 0 || p.n == 10;
	cfg.proto = p.n == 7 || p.n == 10 ? MUX_H2 : MUX_ANY;
	bounded = cfg.memory != 0;
	cfg.memory = 0;
	random_tls(p.n, &cfg);
	/* An answer to a key update may meet a client that has closed, which is a reset. */
	if (p.kind)
		cfg.update_every = 0;
	if (world_open(&p.w, &cfg) < 0) {
		snprintf(r->base.why, sizeof(r->base.why), "%s", p.w.why);
		return -1;
	}
	fake_trace_on(p.w.k, show);
	settle(&p, bounded);
	for (unsigned int i = 0; i < p.n; i++)
		fake_after(p.w.k, dice_is(d, 3) ? dice(d, 2000) * FAKE_MS : 0, client_arrives, &p);
	if (p.stops)
		fake_after(p.w.k, dice(d, 2000) * FAKE_MS, stops, &p);
	random_run(&p.w, d, p.kind, p.n);
	check_world(&p);
	measure(&p, r);
	if (show)
		printf("%s", fake_trace(p.w.k));
	bad = world_close(&p.w);
	for (unsigned int i = 0; i < p.n; i++) {
		http_text_free(&p.client[i].text);
		wire_free(p.client[i].wire);
	}
	for (unsigned int i = 0; i < p.n_origins; i++) {
		http_text_free(&p.origin[i].text);
		if (!p.origin[i].carrier)
			wire_free(p.origin[i].wire);
	}
	for (unsigned int i = 0; i < p.n_carriers; i++)
		wire_free(p.carrier[i].wire);
	snprintf(r->base.why, sizeof(r->base.why), "%s", p.w.why);
	return bad;
}
