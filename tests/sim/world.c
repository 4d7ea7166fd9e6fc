#include "proxy/http2/h2_client.h"
#include "sim/h2_wire.h"
#include "sim/world.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/counter.h"
#include "base/mem.h"
#include "event/poller.h"
#include "net/bind_conf.h"
#include "proxy/backend/balance.h"
#include "proxy/relay/direction.h"
#include "proxy/session/session_admit.h"
#include "proxy/sample/capture.h"
#include "proxy/model/stream_extras.h"
#include "proxy/model/memory.h"
#include "tls/tls_counts.h"
#include "proxy/http1/persist.h"
#include "sim/faults.h"
#include "sim/filters.h"
#include "sim/world_rules.h"
#include "proxy/session/session.h"
#include "proxy/model/persist_state.h"
#include "proxy/config/proxy_life.h"

#define TURNS_MAX 200000
#define BUFSIZE 16384
#define MAX_FD 1024
#define MAX_EVENTS 200
#define MAX_ACCEPT 64
#define PINNED (1 << 20)

/* Calls of stream_log() are redirected here by the linker: see --wrap in build-aux/build.mk. */
void __real_stream_log(struct stream *s);
void __wrap_stream_log(struct stream *s);
/* The same for the end of every request, and of every session after its last event. */
void __real_http_txn_put(struct stream *s);
void __wrap_http_txn_put(struct stream *s);

void
world_error(struct world *w, const char *fmt, ...)
{
	va_list ap;

	if (w->why[0])
		return;
	va_start(ap, fmt);
	vsnprintf(w->why, sizeof(w->why), fmt, ap);
	va_end(ap);
}

/* --- results of sessions --- */

static int
server_index(const struct world *w, const struct server *srv)
{
	for (unsigned int i = 0; i < WORLD_SERVERS; i++)
		if (srv && w->srv[i] == srv)
			return (int)i;
	return -1;
}

static void
note_rows(struct world *w, const struct stream *s)
{
	for (unsigned int i = 0; i < MIN(s->hist_n, STREAM_HISTORY); i++) {
		const uint8_t *h = s->hist[i];

		if (h[0] & HISTORY_OF_SESSION)
			w->session_rows[h[0] & ~HISTORY_OF_SESSION] |= 1u << h[1];
		else
			w->rows[h[0]] |= 1u << h[1];
	}
}

void
__wrap_http_txn_put(struct stream *s)
{
	note_rows(s->engine->owner, s);
	__real_http_txn_put(s);
}

/* Called instead of writing the log line: checks a session, or a request, at its end. */
void
__wrap_stream_log(struct stream *s)
{
	struct world *w = s->engine->owner;
	struct world_end *e;

	__real_stream_log(s);
	if (w->n_ends == WORLD_AGENTS && !w->session_ended) {
		world_error(w, "more sessions ended than there were clients");
		return;
	}
	e = &w->end[w->n_ends++ % WORLD_AGENTS];
	e->client_port = addr_port(&s->sess->peer);
	e->server_port = s->connected_ms ? fake_fd_port(w->k, s->conn[SERVER]->fd) : 0;
	e->term[0] = s->term[0];
	e->term[1] = s->term[1];
	persist_letters(s, e->cookie);
	e->bytes[CLIENT] = s->dir[CLIENT].bytes;
	e->bytes[SERVER] = s->dir[SERVER].bytes;
	e->unread[CLIENT] = fake_fd_unread(w->k, s->conn[CLIENT]->fd);
	e->unread[SERVER] = fake_fd_unread(w->k, s->conn[SERVER]->fd);
	e->retries = s->retries;
	w->ended = fake_now(w->k);
	e->server = server_index(w, s->srv);
	e->session = s;
	fake_note(w->k, "# session ends: %s", e->term);
	if (w->session_ended)
		w->session_ended(w, e);
}

const char *
world_terms(const struct world *w, char *buf, size_t len)
{
	size_t n = 0;

	buf[0] = '\0';
	for (unsigned int i = 0; i < w->n_ends && n < len; i++)
		n += (size_t)snprintf(buf + n, len - n, "%s%s", i ? " " : "", w->end[i].term);
	return buf;
}

/* --- building --- */

static struct addr
loopback(unsigned int port)
{
	struct addr a = { .len = sizeof(struct sockaddr_in) };

	a.u.in.sin_family = AF_INET;
	a.u.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	a.u.in.sin_port = htons((uint16_t)port);
	return a;
}

struct wire *
world_wire(struct world *w, enum side side)
{
	const struct fake_script *script =
		side == CLIENT ? w->cfg.client_xprt : w->cfg.server_xprt;
	struct fake_wire *wire;

	if (w->cfg.tls & 1u << side)
		return tls_wire_new(&w->tls, side == CLIENT);
	if (w->cfg.h2 && side == CLIENT)
		return h2_wire_new();
	if (w->cfg.h2_servers && side == SERVER && !w->server_accepted)
		return h2_origin_wire_new(w->cfg.h2_server_streams);
	if (!script)
		return NULL;
	wire = fake_wire_new();
	wire->is_client = side == CLIENT;
	wire->is_mute = script->peer_is_mute;
	wire->update_every = w->cfg.update_every;
	return &wire->wire;
}

static void
free_wires(struct world *w)
{
	for (unsigned int i = 0; i < w->n_clients; i++)
		wire_free(w->client[i].wire);
	for (unsigned int i = 0; i < w->n_served; i++)
		wire_free(w->served[i].wire);
}

static void
origin_accepts(struct fake *k, void *arg)
{
	struct world *w = arg;

	for (unsigned int i = 0; i < WORLD_SERVERS; i++) {
		struct fake_sock *s;

		while (w->origin[i] && (s = fake_origin_accept(w->origin[i]))) {
			struct step steps[AGENT_STEPS] = { { STEP_END, 0 } };
			unsigned int nth = w->n_served;

			if (w->server_accepted) {
				w->server_accepted(w, i, s);
				continue;
			}
			if (nth == WORLD_AGENTS) {
				world_error(w, "too many connections to the origins");
				fake_peer_reset(s);
				continue;
			}
			w->n_served++;
			if (w->origin_script)
				w->origin_script(w, nth, steps);
			agent_start(&w->served[nth], k, s, 0x80000000u + nth,
				    w->origin_script ? steps : w->origin_steps, w->origin_react);
			agent_uses_wire(&w->served[nth], world_wire(w, SERVER));
			if (w->origin_starts)
				w->origin_starts(w, &w->served[nth]);
		}
	}
}

static int
add_server(struct world *w, unsigned int i)
{
	const struct world_server *c = &w->cfg.server[i];
	unsigned int port = WORLD_ORIGIN_PORT + i;
	struct addr to = loopback(port);
	char name[16];

	snprintf(name, sizeof(name), "s%u", i + 1);
	w->srv[i] = server_new(w->px, name, &w->px->default_server);
	if (!w->srv[i])
		return -1;
	if (w->cfg.zerocopy)
		to.u.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK + (9 << 24));
	addr_cell_set(&w->srv[i]->addr, &to);
	w->srv[i]->conf.maxconn = c->maxconn;
	if (c->redir && mem_copy_string(&w->srv[i]->conf.redir, c->redir) < 0)
		world_error(w, "no memory");
	if (w->cfg.socks4)
		w->srv[i]->conf.socks4 = to;
	if (w->cfg.server_xprt)
		w->server_makers[0] = &w->cfg.server_xprt->maker;
	if (w->cfg.tls & 1u << SERVER)
		w->server_makers[0] = &w->tls.connects.maker;
	if (w->cfg.h2_servers & 1u << i) {
		w->srv[i]->conf.proto = MUX_H2;
		w->srv[i]->may_speak_h2 = 1;
	}
	if (w->server_makers[0])
		w->srv[i]->xprt = w->server_makers;
	w->srv[i]->id = (int)i + 1;
	list_append(&w->px->servers, &w->srv[i]->link);
	w->px->n_servers++;
	fake_route(w->k, port, c->path, c->one_way);
	if (!c->absent) {
		w->origin[i] = fake_origin(w->k, port, c->backlog ? c->backlog : 128);
		fake_peer_notify(w->origin[i], 0, origin_accepts, w);
	}
	return 0;
}

/* Its frontend, if that is not the backend. */
static int
build_front(struct world *w)
{
	struct proxy *front = proxy_new("front", PROXY_FE);

	if (!front)
		return -1;
	w->front = front;
	front->to = w->cfg.to;
	front->options = w->cfg.options;
	front->default_be = w->px;
	front->may_upgrade = 1;
	return proxy_make_shards(front, 1);
}

static struct proxy *
frontend_of(const struct world *w)
{
	return w->front ? w->front : w->px;
}

/* More keys than the table has room for; some requests have none. */
#define TRACKS                                                                                   \
	" stick-table type integer size 5 expire 2s store conn_cur,conn_cnt,conn_rate(1s)"       \
	" store http_req_cnt,http_err_cnt,http_fail_cnt,sess_cnt,bytes_in_rate(3s),gpc0\n"       \
	" tcp-request connection track-sc0 rand(3)\n"                                            \
	" tcp-request session track-sc1 rand(9) if { rand(2) eq 0 }\n"
#define TRACKS_HTTP                                                                              \
	" tcp-request content track-sc1 rand(7)\n http-request track-sc2 rand(20)\n"             \
	" http-request sc-inc-gpc0(0) if { sc_conn_cur(2) gt 1 }\n"                              \
	" http-response track-sc2 res.hdr_cnt(x)\n http-response sc-inc-gpc0(2)\n"

static int
read_rules(struct world *w, const struct world_config *c)
{
	static char text[1 << 16];

	(void)snprintf(text, sizeof(text), "%s%s\n%s", c->tracks ? TRACKS : "",
		c->tracks && c->http && !c->upgraded ? TRACKS_HTTP : "", c->rules ? c->rules : "");
	w->rules = world_rules_new(
		frontend_of(w), c->tracks ? text : c->rules, w->why, sizeof(w->why));
	return w->rules ? 0 : -1;
}

static int
build_proxy(struct world *w)
{
	const struct world_config *c = &w->cfg;
	unsigned int n = c->n_servers ? c->n_servers : 1;

	w->px = proxy_new("px", PROXY_FE | PROXY_BE);
	w->bind = bind_conf_new();
	w->ln = mem_alloc(sizeof(*w->ln));
	if (!w->px || !w->bind || !w->ln)
		return -1;
	w->px->to = c->to;
	w->px->retries = c->retries;
	w->px->redispatch_every = c->redispatch;
	w->px->options = c->options | (c->redispatch ? OPT_REDISPATCH : 0);
	/* Worlds enable splicing explicitly. */
	w->px->no_options = OPT_SPLICE_AUTO & ~c->options;
	w->px->maxconn = c->maxconn;
	w->px->mode = c->http ? PROXY_HTTP : PROXY_TCP;
	w->px->http.persistence = c->persistence;
	w->px->http.reuse = c->reuse;
	if (c->retry_on)
		w->px->http.retry_on = c->retry_on;
	w->px->default_be = w->px;
	w->bind->defer_accept = c->defer;
	w->bind->accept_proxy = c->announced;
	w->bind->proto = c->proto;
	if (c->upgraded && build_front(w) < 0)
		return -1;
	list_append(&frontend_of(w)->binds, &w->bind->link);
	listener_init(w->ln, w->bind);
	list_append(&w->bind->listeners, &w->ln->link);
	w->bind->n_listeners = 1;
	for (unsigned int i = 0; i < n; i++)
		if (add_server(w, i) < 0)
			return -1;
	if (c->prepare)
		c->prepare(w->px);
	filters_add(w->px, c->filters);
	if (proxy_make_shards(w->px, 1) < 0)
		return -1;
	if ((c->rules || c->tracks) && read_rules(w, c) < 0)
		return -1;
	return balance_init(w->px);
}

static int
build_listener(struct world *w)
{
	char why[200];

	session_listen(w->ln, frontend_of(w), &w->engine);
	w->ln->addr = loopback(WORLD_PORT);
	w->ln->max_accept = MAX_ACCEPT;
	if (w->cfg.client_xprt)
		w->ln->xprt = &w->cfg.client_xprt->maker;
	if (w->cfg.tls & 1u << CLIENT)
		w->ln->xprt = &w->tls.accepts.maker;
	if (listener_bind(w->ln, &w->sys, 128, why, sizeof(why)) < 0) {
		world_error(w, "%s", why);
		return -1;
	}
	return listener_start(w->ln, w->loop);
}

static void
on_memory(struct engine *e)
{
	struct world *w = e->owner;

	if (e->memory_tight)
		listener_hold(w->ln, LISTENER_HOLD_MEMORY);
	else
		listener_resume(w->ln, LISTENER_HOLD_MEMORY);
}

/* Clears it, but for the texts of agents behind their first byte: they are three megabytes, and
 * agent_start() clears them. */
static void
clear(struct world *w)
{
	const size_t rest = offsetof(struct world, n_clients);

	memset(w, 0, offsetof(struct world, client));
	for (unsigned int i = 0; i < WORLD_AGENTS; i++) {
		memset(&w->client[i], 0, offsetof(struct agent, text) + 1);
		memset(&w->served[i], 0, offsetof(struct agent, text) + 1);
	}
	memset((char *)w + rest, 0, sizeof(*w) - rest);
}

int
world_open(struct world *w, const struct world_config *cfg)
{
	struct loop_config lc = { .poller = &poller_epoll, .mode = cfg->mode, .max_fd = MAX_FD,
				  .max_events = cfg->max_events ? cfg->max_events : MAX_EVENTS,
				  .lazy = !cfg->eager };
	int reason = 0;

	clear(w);
	w->cfg = *cfg;
	w->k = fake_new();
	if (cfg->sndbuf)
		fake_set_buffers(w->k, cfg->sndbuf, cfg->rcvbuf);
	if (cfg->pipe_slots)
		fake_set_pipes(w->k, cfg->pipe_slots, cfg->fragment);
	fake_zerocopy(w->k, &cfg->zc);
	if (cfg->fd_limit)
		fake_set_fd_limit(w->k, cfg->fd_limit);
	fake_route(w->k, WORLD_PORT, cfg->client_delay ? FAKE_FAR : FAKE_NEAR, cfg->client_delay);
	fake_limit(w->k, WORLD_PORT, cfg->client_rate);
	sys_init(&w->sys, &sys_fake, w->k);
	w->loop = loop_new(&w->sys, &lc, &reason);
	if (cfg->tls && tls_sides_open(&w->tls) < 0)
		return -1;
	w->tls.update_every = cfg->update_every;
	w->tls.max_12 = cfg->tls_12;
	if (!w->loop || build_proxy(w) < 0 ||
	    engine_init(&w->engine, &w->sys, w->loop, cfg->bufsize ? cfg->bufsize : BUFSIZE,
	    100000) < 0 ||
	    build_listener(w) < 0) {
		world_error(w, "the world could not be built");
		return -1;
	}
	if (engine_allow_bulk(&w->engine, cfg->splice_after, cfg->bulk_bufsize,
		cfg->bulk_turn) < 0)
		return -1;
	engine_allow_captures(&w->engine, w->px->captures.size);
	engine_allow_tracking(&w->engine, w->rules ? world_rules_tracked(w->rules) : 0);
	if (cfg->maxhdr)
		engine_allow_http(&w->engine, w->engine.limits.maxrewrite, cfg->maxhdr);
	h2_config_default(&w->h2_client);
	w->h2_client.max_total = cfg->h2_total;
	if (cfg->h2_streams)
		w->h2_client.max_streams = cfg->h2_streams;
	w->engine.h2_client_config = &w->h2_client;
	if (cfg->maxpipes)
		engine_allow_splice(&w->engine, cfg->maxpipes, 0);
	w->engine.owner = w;
	w->engine.tls = w->tls.io;
	w->engine.hooks.on_memory = on_memory;
	engine_allow_zerocopy(&w->engine, cfg->zerocopy, cfg->pinned ? cfg->pinned : PINNED,
		!cfg->no_fast_path);
	w->engine.zerocopy.first = cfg->zc.first;
	memory_bound(&w->engine, cfg->memory);
	/* registers the listener, so that this is not counted for a connection */
	if (loop_turn(w->loop, 0) < 0)
		return -1;
	w->calls_before = ledger_total(&w->sys.ledger);
	w->segments_before = fake_segments(w->k);
	w->opened = fake_now(w->k);
	return 0;
}

struct agent *
world_client(struct world *w, const struct step *steps, uint64_t react_ns)
{
	struct agent *a = &w->client[w->n_clients];

	assert(w->n_clients < WORLD_AGENTS);
	agent_start(a, w->k, fake_client(w->k, WORLD_PORT), w->n_clients + 1, steps, react_ns);
	agent_uses_wire(a, world_wire(w, CLIENT));
	w->n_clients++;
	return a;
}

struct fake_sock *
world_connect(struct world *w)
{
	return fake_client(w->k, WORLD_PORT);
}

uint64_t
world_calls(const struct world *w)
{
	return ledger_total(&w->sys.ledger) - w->calls_before;
}

/* --- running --- */

static int
has_timeouts(const struct world *w)
{
	return w->cfg.to.client && w->cfg.to.server && w->cfg.to.connect && w->cfg.to.queue;
}

/* Connections with servers are made when their sessions are admitted already. */
static uint64_t
tls_memory(const struct world *w)
{
	return w->tls.io ? tls_io_memory(w->tls.io) : 0;
}

/* Neither are bodies and output of HTTP/2 refused: the windows bound them. */
static uint64_t
h2_memory(const struct world *w)
{
	uint64_t n = w->engine.h2 ? *w->engine.h2_bytes : 0;

	for (int i = 0; w->engine.h2 && i < ENGINE_H2_POOLS; i++)
		n += ((uint64_t)w->engine.h2_pools[i]->live + w->engine.h2_pools[i]->kept) *
			w->engine.h2_pools[i]->size;
	return n;
}

static int
carries_streams(const struct stream *s)
{
	return s->state == STREAM_NEW && s->sess->state == SESSION_MULTIPLEX &&
		s->sess->h2->carrier.n_streams;
}

/* Invariants between two turns. */
static void
check_sessions(struct world *w)
{
	uint64_t piped = 0;

	list_each(it, &w->engine.streams) {
		struct stream *s = list_entry(it, struct stream, link);

		note_rows(w, s);
		for (int h = 0; h < SIDES; h++) {
			if (!s->dir[h].pipe)
				continue;
			piped += s->dir[h].pipe->bytes;
			if (!s->dir[h].pipe->bytes)
				world_error(w, "session %llu rests with an empty pipe",
					(unsigned long long)s->id);
		}
		if (!stream_state_is_resting(s->state) &&
			!(s->state == STREAM_NEW && session_state_is_resting(s->sess->state)))
			world_error(w, "session %llu rests in %s", (unsigned long long)s->id,
				    stream_state_name(s->state));
		/* While a connection carries streams their deadlines apply. */
		if (has_timeouts(w) && !s->timer.pos && !carries_streams(s))
			world_error(w, "session %llu has no deadline in %s (directions %s, %s)",
				    (unsigned long long)s->id, stream_state_name(s->state),
				    direction_state_name(s->dir[CLIENT].state),
				    direction_state_name(s->dir[SERVER].state));
	}
	if (piped != w->engine.pipes.bytes)
		world_error(w, "%llu bytes in pipes count as %llu", (unsigned long long)piped,
			(unsigned long long)w->engine.pipes.bytes);
	/* One session may be accepted before the end of the last one is noticed. */
	if (w->cfg.memory &&
		memory_used(&w->engine) > w->cfg.memory + tls_memory(w) + h2_memory(w) +
			2 * w->engine.pools.session.size +
			(w->cfg.announced ? 2 * w->engine.pools.addr_override.size : 0))
		world_error(w, "%llu bytes are used, the bound is %llu; %u sessions, %u "
			"transactions, %u buffers, %u idle connections",
			(unsigned long long)memory_used(&w->engine),
			(unsigned long long)w->cfg.memory, w->engine.pools.session.live,
			w->engine.pools.txn.live, w->engine.pools.buf.live,
			w->engine.idle.pool.live);
	if (w->engine.zerocopy.pinned > w->engine.zerocopy.max)
		world_error(w, "%llu bytes are pinned, the bound is %llu",
			    (unsigned long long)w->engine.zerocopy.pinned,
			    (unsigned long long)w->engine.zerocopy.max);
	if (w->engine.stat.fsm_bugs)
		world_error(w, "an event came that the table does not know");
	if (w->cfg.maxconn && gate_taken(&w->px->fe_gate) > (unsigned int)w->cfg.maxconn)
		world_error(w, "%u sessions, maxconn is %d", gate_taken(&w->px->fe_gate),
			    w->cfg.maxconn);
	for (unsigned int i = 0; i < w->px->n_servers; i++)
		if (w->cfg.server[i].maxconn &&
		    w->srv[i]->cur > (unsigned int)w->cfg.server[i].maxconn)
			world_error(w, "%u connections to server %u, its maxconn is %d",
				    w->srv[i]->cur, i, w->cfg.server[i].maxconn);
	for (unsigned int i = 0; i < w->px->n_servers; i++)
		if (w->srv[i]->conf.strict_maxconn &&
			w->srv[i]->conns > (unsigned int)w->srv[i]->conf.maxconn)
			world_error(w, "%u connections to server %u with strict-maxconn %d",
				w->srv[i]->conns, i, w->srv[i]->conf.maxconn);
}

static int
everyone_is_done(const struct world *w)
{
	if (w->engine.n_sessions ||
		(w->ends_are_over && (w->engine.idle.pool.live || !w->ends_are_over(w))))
		return 0;
	for (unsigned int i = 0; i < w->n_clients; i++)
		if (!w->client[i].over)
			return 0;
	for (unsigned int i = 0; i < w->n_served; i++)
		if (!w->served[i].over)
			return 0;
	return 1;
}

void
world_run(struct world *w, uint64_t max_ns)
{
	uint64_t until = fake_now(w->k) + max_ns;
	unsigned int turns = 0;
	int r;

	while (fake_now(w->k) < until && !w->why[0]) {
		if (++turns > TURNS_MAX) {
			world_error(w, "no end after %d turns", TURNS_MAX);
			return;
		}
		w->turns++;
		faults_apply(w->mem_faults);
		r = loop_turn(w->loop, (int)((until - fake_now(w->k)) / FAKE_MS) + 1);
		faults_apply(0);
		if (r < 0)
			world_error(w, "loop_turn: %d", r);
		check_sessions(w);
		if (w->meddle)
			w->meddle(w);
		fake_run_due(w->k);
		if (everyone_is_done(w) || fake_abuse(w->k, FAKE_BUSY))
			return;
	}
}

/* --- judging --- */

static const struct agent *
served_by(const struct world *w, unsigned int port)
{
	for (unsigned int i = 0; i < w->n_served; i++)
		if (fake_peer_remote_port(w->served[i].s) == port)
			return &w->served[i];
	return NULL;
}

static const struct agent *
client_of(const struct world *w, unsigned int port)
{
	for (unsigned int i = 0; i < w->n_clients; i++)
		if (fake_peer_port(w->client[i].s) == port)
			return &w->client[i];
	return NULL;
}

/*
 * True if an incomplete stream may look complete: only where a timeout ended the session, as in
 * HAProxy, and no received data was held back, unless waits return too few events.
 */
static int
may_look_ended(const struct world *w, const struct world_end *e, enum side from)
{
	int late = e->term[0] == 'c' || e->term[0] == 's';

	return w->non_strict || (late && (!e->unread[from] || w->cfg.max_events));
}

/* Checks the data from `from` that `to` has read. */
static void
check_stream(struct world *w, const struct agent *from, const struct agent *to, const char *way,
	     const struct world_end *e, enum side side)
{
	const char *term = e->term;
	unsigned int n = (unsigned int)MIN(to->got, (uint64_t)4);
	uint32_t mask = n < 4 ? (1u << 8 * n) - 1 : ~0u;

	if (to->wrong || ((to->heard ^ from->id) & mask))
		world_error(w, "%s: wrong bytes (stream %x heard as %x, %s)", way, from->id,
		    to->heard, term);
	if (to->got > from->sent)
		world_error(w, "%s: %llu bytes came of %llu sent", way, (unsigned long long)to->got,
			    (unsigned long long)from->sent);
	if (to->eof && (!from->fin || to->got != from->sent) && !may_look_ended(w, e, side))
		world_error(w, "%s: a clean end after %llu of %llu bytes (%s), sender %s (%s)", way,
			    (unsigned long long)to->got, (unsigned long long)from->sent, term,
			    from->fin ? "sent FIN" : "did not end", from->closed ? "closed" :
			    "open");
}

static void
check_pairs(struct world *w)
{
	/* Input and output differ. */
	if (w->cfg.http || w->cfg.texts)
		return;
	for (unsigned int i = 0; i < w->n_ends; i++) {
		const struct world_end *e = &w->end[i];
		const struct agent *c = client_of(w, e->client_port), *o;

		if (!c) {
			world_error(w, "a session for client port %u", e->client_port);
			continue;
		}
		o = e->server_port ? served_by(w, e->server_port) : NULL;
		if (o) {
			check_stream(w, c, o, "client to server", e, CLIENT);
			check_stream(w, o, c, "server to client", e, SERVER);
		} else if (c->got) {
			world_error(w, "bytes from no server");
		}
	}
}

static void
check_leftovers(struct world *w)
{
	static const enum fake_abuse never[] = { FAKE_BAD_FD, FAKE_RECV_ZERO, FAKE_BUSY,
	    FAKE_BLOCKED,
		FAKE_UNKNOWN, FAKE_CORK_STALL };

	for (size_t i = 0; i < ARRAY_LEN(never); i++)
		if (fake_abuse(w->k, never[i]))
			world_error(w, "%s", fake_abuse_name(never[i]));
	if (!w->allow_del && fake_abuse(w->k, FAKE_DEL_BEFORE_CLOSE))
		world_error(w, "%s", fake_abuse_name(FAKE_DEL_BEFORE_CLOSE));
	if (w->engine.n_sessions)
		world_error(w, "%u sessions are left, the first in %s", w->engine.n_sessions,
			    stream_state_name(list_first(&w->engine.streams, struct stream,
			    link)->state));
	for (unsigned int i = 0; i < w->n_clients; i++)
		if (!w->client[i].over)
			world_error(w, "client %u hangs in step %u (%s)", i, w->client[i].at,
				    step_name(w->client[i].step[w->client[i].at].kind));
	for (unsigned int i = 0; i < w->n_served; i++)
		if (!w->served[i].over)
			world_error(w, "origin's connection %u hangs in step %u (%s)", i,
			    w->served[i].at,
				    step_name(w->served[i].step[w->served[i].at].kind));
}

/* Nothing is tracked any more. */
static void
check_table(struct world *w, struct table *t)
{
	struct table_caller by = { .sys = &w->sys, .now_ms = loop_now_ms(w->loop) };
	struct table_walk walk = { 0 };
	unsigned int most = UINT_MAX;
	struct table_entry *e;
	uint64_t cur;

	while ((e = table_walk(t, &walk, &most, &by))) {
		if (table_refs(e) || table_read(t, e, TABLE_CONN_CUR, 0, &by, &cur) < 0 || cur)
			world_error(w, "an entry has %u references", table_refs(e));
		table_unref(e);
	}
}

static void
check_baseline(struct world *w)
{
	const struct gate *fe = &w->px->fe_gate, *process = &w->engine.shared->gate;
	unsigned int cur = 0;

	if (frontend_of(w)->table)
		check_table(w, frontend_of(w)->table);
	/* Buffers pinned now could not be given up, for good. */
	if (memory_live(&w->engine) != w->engine.zerocopy.pinned || w->engine.zerocopy.states.live)
		world_error(w, "memory: %llu bytes are out, %llu of them pinned; %u sessions",
			    (unsigned long long)memory_live(&w->engine),
			    (unsigned long long)w->engine.zerocopy.pinned,
			    w->engine.pools.session.live);
	for (unsigned int i = 0; i < WORLD_SERVERS && w->srv[i]; i++)
		cur += w->srv[i]->cur + w->srv[i]->queued;
	if (cur || fe->n || w->px->be_cur || w->px->queued || w->ln->conns)
		world_error(w, "counts: %u slots, %u frontend, %u backend, %u queued, %u listener",
			    cur, gate_taken(fe), w->px->be_cur, w->px->queued, w->ln->conns);
	if (process->n || process->held || fe->held)
		world_error(w, "gates: %u in the process, held %llx, %llx", gate_taken(process),
			    (unsigned long long)process->held, (unsigned long long)fe->held);
	if (loop_fds(w->loop) != 1)
		world_error(w, "%u fds are left in the loop", loop_fds(w->loop));
	if (!list_is_empty(&w->engine.bulk.waiting))
		world_error(w, "a session waits for a big buffer");
	if (w->engine.pipes.used)
		world_error(w, "%u pipes are in use", w->engine.pipes.used);
	if (fake_fds(w->k) != 2 + 2 * w->engine.pipes.n_idle)
		world_error(w, "%u fds are open, not 2 and %u pipes", fake_fds(w->k),
			w->engine.pipes.n_idle);
}

int
world_close(struct world *w)
{
	if (w->loop && w->ln && w->ln->state != LISTENER_NEW) {
		check_leftovers(w);
		/* After an error clients may still be in the backlog. */
		for (int i = 0; w->engine.n_sessions && i < 1000; i++) {
			engine_kill_all(&w->engine);
			(void)!loop_turn(w->loop, 0);
		}
		check_pairs(w);
		check_baseline(w);
	}
	if (w->ln)
		listener_close(w->ln, &w->sys);
	if (w->loop && w->engine.loop)
		engine_fini(&w->engine);
	for (unsigned int i = 0; i < WORLD_SERVERS && w->srv[i]; i++)
		if (w->srv[i]->conns || w->srv[i]->places_wanted)
			world_error(w, "server %u keeps %u places", i, w->srv[i]->conns);
	proxy_free(&w->front);
	proxy_free(&w->px);
	world_rules_free(&w->rules);
	loop_free(&w->loop);
	if (fake_fds(w->k))
		world_error(w, "fd %d was not closed", fake_any_fd(w->k));
	fake_free(&w->k);
	free_wires(w);
	tls_sides_close(&w->tls);
	return w->why[0] ? -1 : 0;
}
