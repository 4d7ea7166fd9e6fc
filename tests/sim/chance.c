#include "sim/chance.h"

#include <stdio.h>
#include <string.h>

#include "proxy/queue.h"

#define LIMIT (4000 * FAKE_SEC)
#define KIND_MS 3000000 /* a patience that nobody tries */

struct plan {
	struct world w;
	struct dice *d;
	int kind;
	uint32_t max_bytes;
	unsigned int n;
	struct step client[WORLD_AGENTS][AGENT_STEPS];
	struct step origin[WORLD_AGENTS][AGENT_STEPS];
};

static uint32_t
size(struct plan *p)
{
	switch (dice(p->d, 8)) {
	case 0:
		return 1 + dice(p->d, 4);
	case 1:
	case 2:
	case 3:
		return 1 + dice(p->d, MIN(2000u, p->max_bytes));
	case 4:
	case 5:
	case 6:
		return 1 + dice(p->d, MIN(20000u, p->max_bytes));
	default:
		return 1 + dice(p->d, p->max_bytes);
	}
}

/* Pauses of the length of delays, of timeouts, and none. */
static uint32_t
pause_ms(struct plan *p)
{
	static const uint32_t most[] = { 3, 30, 300, 3000 };

	return dice(p->d, most[dice(p->d, ARRAY_LEN(most))]);
}

static void
add(struct step *s, unsigned int *n, enum step_kind kind, uint32_t arg)
{
	s[*n].kind = kind;
	s[*n].n = arg;
	++*n;
}

/* Says what it has to say, with pauses and fits of deafness, and waits for the other's end. */
static void
kind_script(struct plan *p, struct step *s, int first)
{
	unsigned int n = 0;

	for (uint32_t i = dice(p->d, 3) + (unsigned int)first; i > 0; i--) {
		if (dice_is(p->d, 3))
			add(s, &n, STEP_PAUSE, pause_ms(p));
		add(s, &n, STEP_SEND, size(p));
	}
	if (dice_is(p->d, 4)) {
		add(s, &n, STEP_DEAF, 0);
		add(s, &n, STEP_PAUSE, pause_ms(p));
		add(s, &n, STEP_HEAR, 0);
	}
	if (dice_is(p->d, 3))
		add(s, &n, STEP_WAIT_EOF, 0);
	else
		add(s, &n, STEP_SHUT, 0);
}

static void
wild_script(struct plan *p, struct step *s)
{
	unsigned int n = 0;

	for (uint32_t i = dice(p->d, 7); i > 0; i--) {
		static const enum step_kind kinds[] = { STEP_SEND, STEP_SEND, STEP_SEND, STEP_WAIT,
			STEP_PAUSE, STEP_SHUT, STEP_DEAF, STEP_HEAR, STEP_WAIT_EOF, STEP_RESET,
			STEP_CLOSE };
		enum step_kind k = kinds[dice(p->d, ARRAY_LEN(kinds))];
		uint32_t arg = 0;

		if (k == STEP_SEND || k == STEP_WAIT)
			arg = size(p);
		else if (k == STEP_PAUSE)
			arg = pause_ms(p);
		add(s, &n, k, arg);
	}
	if (!dice_is(p->d, 4))
		add(s, &n, STEP_WAIT_EOF, 0);
	add(s, &n, dice_is(p->d, 4) ? STEP_RESET : STEP_CLOSE, 0);
}

/* Two polite ends: one of them has to finish first. */
static void
scripts(struct plan *p, unsigned int i)
{
	memset(p->client[i], 0, sizeof(p->client[i]));
	memset(p->origin[i], 0, sizeof(p->origin[i]));
	if (!p->kind) {
		wild_script(p, p->client[i]);
		wild_script(p, p->origin[i]);
		return;
	}
	/* a client that leaves without a word before there is a server is not served */
	kind_script(p, p->client[i], 1);
	kind_script(p, p->origin[i], 0);
	for (struct step *s = p->client[i]; s->kind != STEP_END; s++)
		if (s->kind == STEP_WAIT_EOF)
			s->kind = STEP_SHUT;
	for (struct step *ends[2] = { p->client[i], p->origin[i] }, **e = ends; e < ends + 2; e++) {
		unsigned int n = 0;

		while ((*e)[n].kind != STEP_END)
			n++;
		add(*e, &n, STEP_WAIT_EOF, 0);
		add(*e, &n, STEP_CLOSE, 0);
	}
}

static uint64_t
delay(struct plan *p)
{
	return dice_is(p->d, 3) ? (1 + dice(p->d, 60)) * FAKE_MS : 0;
}

static void
timeouts(struct plan *p, struct proxy_timeouts *to)
{
	if (p->kind) {
		to->connect = to->client = to->server = to->queue = KIND_MS;
		return;
	}
	to->connect = 1 + dice(p->d, 3000);
	to->client = 1 + dice(p->d, 5000);
	to->server = 1 + dice(p->d, 5000);
	to->queue = 1 + dice(p->d, 3000);
	to->client_fin = dice_is(p->d, 3) ? 1 + dice(p->d, 1000) : 0;
	to->server_fin = dice_is(p->d, 3) ? 1 + dice(p->d, 1000) : 0;
}

/* Streams in turns and big pieces, and through pipes: of all sizes, also those that are of no use,
 * and too few of them. */
static void
streams(struct dice *d, struct world_config *c)
{
	static const unsigned int options[] = { OPT_SPLICE_AUTO, OPT_SPLICE_REQUEST,
		OPT_SPLICE_RESPONSE, OPT_SPLICE_REQUEST | OPT_SPLICE_RESPONSE };
	static const unsigned int fragments[] = { 10, 536, 1448, 4096 };

	if (dice_is(d, 2))
		c->stream_bufsize = c->bufsize << dice(d, 4);
	if (dice_is(d, 2))
		c->stream_turn = 1 + dice(d, 40000) / 8; /* alone they have eight times that */
	c->splice_after = 1u << dice(d, 17);
	if (dice_is(d, 2))
		return;
	c->options |= options[dice(d, ARRAY_LEN(options))];
	c->maxpipes = 1 + dice(d, 6);
	c->pipe_slots = 1u << dice(d, 6);
	c->fragment = fragments[dice(d, ARRAY_LEN(fragments))];
}

static struct world_config
config(struct plan *p)
{
	struct dice *d = p->d;
	struct world_config c = { 0 };

	c.mode = (enum interest_mode)dice(d, 3);
	c.eager = dice_is(d, 5);
	c.bufsize = 1024u << dice(d, 5);
	c.sndbuf = 2048u << dice(d, 6);
	c.rcvbuf = 2048u << dice(d, 6);
	c.max_events = dice_is(d, 4) ? 1 + (int)dice(d, 4) : 0;
	c.maxconn = dice_is(d, 5) ? 1 + (int)dice(d, 5) : 0;
	c.fd_limit = dice_is(d, 6) ? 8 + (int)dice(d, 20) : 0;
	c.defer = dice_is(d, 6);
	c.client_delay = delay(p);
	c.retries = (int)dice(d, 4);
	c.redispatch = (int)dice(d, 4) - 2;
	c.n_servers = 1 + dice(d, WORLD_SERVERS);
	if (dice_is(d, 3))
		c.options = OPT_SRVTCPKA | OPT_SMART_CONNECT | OPT_SMART_ACCEPT;
	if (!p->kind && dice_is(d, 4))
		c.options |= OPT_NOLINGER;
	streams(d, &c);
	timeouts(p, &c.to);
	for (unsigned int i = 0; i < c.n_servers; i++) {
		struct world_server *s = &c.server[i];

		s->one_way = delay(p);
		s->path = s->one_way ? FAKE_FAR : FAKE_NEAR;
		s->maxconn = dice_is(d, 5) ? 1 + (int)dice(d, 4) : 0;
		s->backlog = p->kind ? 0 : 1 + (int)dice(d, 8);
		if (p->kind)
			continue;
		s->absent = dice_is(d, 6);
		if (dice_is(d, 8))
			s->path = dice_is(d, 2) ? FAKE_REFUSED : FAKE_BLACKHOLE;
	}
	/* descriptors that are short fail connects: that is not kind */
	if (p->kind)
		c.fd_limit = 0;
	return c;
}

/* A few sessions and fewer buffers, down to none. */
static uint64_t
memory(struct plan *p, unsigned int bufsize)
{
	uint64_t sessions, buffers;

	if (!dice_is(p->d, 4))
		return 0;
	sessions = dice(p->d, 8);
	buffers = dice(p->d, 4);
	return sessions * sizeof(struct session) + buffers * bufsize;
}

/* Sends in place, and a kernel that answers them in one of its ways. */
static void
zerocopy(struct plan *p, struct world_config *c)
{
	struct dice *d = p->d;

	if (!dice_is(d, 3))
		return;
	c->zerocopy = 1 + dice(d, c->bufsize);
	c->pinned = dice_is(d, 3) ? 8192u << dice(d, 4) : 0;
	c->no_fast_path = dice_is(d, 4);
	c->zc.refused = dice_is(d, 12);
	c->zc.copied = dice_is(d, 8);
	c->zc.shuffle = dice_is(d, 3);
	c->zc.limit = dice_is(d, 4) ? 1 + dice(d, 4) : 0;
	c->zc.first = dice_is(d, 3) ? UINT32_MAX - dice(d, 8) : 0;
	c->zc.late = dice_is(d, 3) ? dice(d, 50) * FAKE_MS : 0;
}

static void
client_arrives(struct fake *k, void *arg)
{
	struct plan *p = arg;
	unsigned int i = p->w.n_clients;

	(void)k;
	world_client(&p->w, p->client[i], i % 3 ? 0 : FAKE_MS * (i % 7));
}

static void
origin_script(struct world *w, unsigned int nth, struct step *steps)
{
	struct plan *p = w->arg;

	memcpy(steps, p->origin[nth % p->n], sizeof(p->origin[0]));
}

static struct session *
any_session(struct world *w, struct dice *d)
{
	unsigned int nth = w->engine.n_sessions ? dice(d, w->engine.n_sessions) : 0;

	list_each(it, &w->engine.sessions)
		if (nth-- == 0)
			return list_entry(it, struct session, link);
	return NULL;
}

/* What the admin socket and the process do to sessions and servers while they run. */
static void
meddle(struct world *w)
{
	struct plan *p = w->arg;
	struct server *srv = w->srv[dice(p->d, w->px->n_servers)];
	struct session *s;

	if (!dice_is(p->d, 12))
		return;
	switch (dice(p->d, 5)) {
	case 0:
		s = any_session(w, p->d);
		if (s)
			session_kill(s);
		break;
	case 1:
		server_set_admin(srv, (enum server_admin)dice(p->d, SERVER_DRAIN + 1),
				 loop_now_ms(w->loop));
		queue_serve(&w->engine, w->px);
		break;
	case 2:
		(void)!server_set_weight(srv, (int)dice(p->d, 4));
		queue_serve(&w->engine, w->px);
		break;
	case 3:
		listener_hold(w->ln, LISTENER_HOLD_PROCESS);
		break;
	default:
		listener_resume(w->ln, LISTENER_HOLD_PROCESS);
		break;
	}
}

/* Everything was said and heard. */
static void
judge_kind(struct plan *p)
{
	struct world *w = &p->w;

	for (unsigned int i = 0; i < w->n_ends; i++)
		if (strcmp(w->end[i].term, "--") != 0)
			world_blame(w, "a kind session ended with %s", w->end[i].term);
	if (w->n_ends != w->n_clients)
		world_blame(w, "%u sessions for %u clients", w->n_ends, w->n_clients);
	for (unsigned int i = 0; i < w->n_clients; i++)
		if (!w->client[i].eof || w->client[i].err)
			world_blame(w, "client %u saw no clean end (errno %d)", i,
				    w->client[i].err);
	for (unsigned int i = 0; i < w->n_served; i++)
		if (!w->served[i].eof || w->served[i].err)
			world_blame(w, "origin's connection %u saw no clean end (errno %d)",
				    i, w->served[i].err);
}

static void
measure(struct plan *p, struct chance_result *r)
{
	struct world *w = &p->w;

	r->kind = p->kind;
	r->clients = p->n;
	r->calls = world_calls(w);
	r->waits = fake_waits(w->k);
	r->empty_waits = fake_empty_waits(w->k);
	r->buf_waits = w->engine.buf_waits;
	r->zerocopied = w->engine.zerocopy.bytes;
	r->memory_holds = w->engine.memory_holds;
	r->spliced = w->engine.spliced;
	r->stream_waits = w->engine.streams.waits;
	memcpy(r->rows, w->rows, sizeof(r->rows));
	for (unsigned int i = 0; i < w->n_clients; i++)
		r->bytes += w->client[i].got;
	for (unsigned int i = 0; i < w->n_served; i++)
		r->bytes += w->served[i].got;
	/* waits come of something: bytes that were moved since the last one, however few, and
	 * beside them steps, retries, looks at what lingers */
	if (r->empty_waits > 100 + 100u * p->n)
		world_blame(w, "%llu of %llu waits for %u clients came of nothing",
			(unsigned long long)r->empty_waits, (unsigned long long)r->waits,
			p->n);
}

static void
run(struct plan *p)
{
	struct dice *d = p->d;
	struct world *w = &p->w;

	if (!p->kind && dice_is(d, 3)) {
		/* one by one: the order of two throws in one call is the compiler's choice */
		unsigned int nth = dice(d, 40 * p->n), how = dice(d, 4);

		fake_torture(w->k, fake_calls(w->k) + 1 + nth, how);
	}
	if (!p->kind && dice_is(d, 3))
		fake_cut_splice(w->k, 1 + dice(d, 20));
	if (!p->kind && dice_is(d, 5))
		w->meddle = meddle;
	if (!p->kind && dice_is(d, 6)) {
		world_run(w, dice(d, 3000) * FAKE_MS);
		engine_kill_all(&w->engine);
	}
	world_run(w, LIMIT / 4);
	/* whoever waits for the listener is let in */
	w->meddle = NULL;
	listener_resume(w->ln, LISTENER_HOLD_PROCESS);
	world_run(w, LIMIT);
	w->lax = fake_failed_call(w->k) == SYS_CALL_setsockopt;
	fake_fail(w->k, FAKE_ANY_CALL, 0, 0);
}

int
chance_play(struct dice *d, unsigned int max_clients, uint32_t max_bytes, int show,
	    struct chance_result *r)
{
	static struct plan p;
	struct world_config cfg;
	int bad;

	memset(&p, 0, sizeof(p));
	memset(r, 0, sizeof(*r));
	p.d = d;
	p.max_bytes = max_bytes;
	p.kind = dice_is(d, 2);
	p.n = 1 + dice(d, max_clients);
	cfg = config(&p);
	for (unsigned int i = 0; i < p.n; i++)
		scripts(&p, i);
	cfg.memory = memory(&p, cfg.bufsize);
	zerocopy(&p, &cfg);
	if (world_open(&p.w, &cfg) < 0) {
		snprintf(r->why, sizeof(r->why), "%s", p.w.why);
		return -1;
	}
	fake_trace_on(p.w.k, show);
	p.w.allow_del = cfg.mode == INTEREST_UNMERGED;
	p.w.arg = &p;
	p.w.origin_script = origin_script;
	for (unsigned int i = 0; i < p.n; i++)
		fake_after(p.w.k, dice_is(d, 3) ? dice(d, 2000) * FAKE_MS : 0, client_arrives, &p);
	run(&p);
	if (p.kind)
		judge_kind(&p);
	measure(&p, r);
	if (show)
		printf("%s", fake_trace(p.w.k));
	bad = world_close(&p.w);
	snprintf(r->why, sizeof(r->why), "%s", p.w.why);
	return bad;
}
