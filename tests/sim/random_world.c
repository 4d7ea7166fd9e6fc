#include "sim/random_world.h"

#include <stdio.h>
#include <string.h>

#include "net/outbound.h"
#include "sim/filters.h"

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

/* Sends its data with pauses and periods without reading, and waits for the other end's EOF. */
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
		add(s, &n, STEP_STALL, 0);
		add(s, &n, STEP_PAUSE, pause_ms(p));
		add(s, &n, STEP_READ, 0);
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
			STEP_PAUSE, STEP_SHUT, STEP_STALL, STEP_READ, STEP_WAIT_EOF, STEP_RESET,
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

/* Two ends that both wait for EOF: one of them has to close first. */
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
	/* a client that closes without data before there is a server is not served */
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

/* Every third end sends FIN without the closing message of its TLS. */
static void
cut_some(struct plan *p)
{
	for (unsigned int i = 0; i < p->n; i += 3)
		for (unsigned int at = 0; at < AGENT_STEPS; at++) {
			if (p->client[i][at].kind == STEP_SHUT)
				p->client[i][at].kind = STEP_CUT;
			if (p->origin[i][at].kind == STEP_SHUT)
				p->origin[i][at].kind = STEP_CUT;
		}
}

static void
client_arrives(struct fake *k, void *arg)
{
	struct plan *p = arg;
	unsigned int i = p->w.n_clients, stop;
	const char *header;
	struct agent *a;

	(void)k;
	a = world_client(&p->w, p->client[i], i % 3 ? 0 : FAKE_MS * (i % 7));
	if (!p->w.cfg.announced)
		return;
	header = random_header(p->d, p->kind);
	stop = dice(p->d, 40);
	agent_sends_first(a, header, stop, dice_is(p->d, 3) ? pause_ms(p) : 0);
}

static void
origin_script(struct world *w, unsigned int nth, struct step *steps)
{
	struct plan *p = w->arg;

	memcpy(steps, p->origin[nth % p->n], sizeof(p->origin[0]));
}

/* Before its script it is a proxy, perhaps one that refuses, leaves within its reply or is
 * silent. */
static void
origin_starts(struct world *w, struct agent *a)
{
	static const char *const replies[] = { "?Z------", "?Z======", "?[------", "?Z-", "" };
	static const struct step leaves[] = { { STEP_CLOSE, 0 }, { STEP_RESET, 0 } };
	struct plan *p = w->arg;
	const char *reply = replies[dice(p->d, p->kind ? 2 : ARRAY_LEN(replies))];

	if (!w->cfg.socks4)
		return;
	agent_takes_first(a, SOCKS4_REQUEST_LEN);
	agent_sends_first(a, reply, dice(p->d, 8), dice_is(p->d, 3) ? pause_ms(p) : 0);
	if (strlen(reply) == SOCKS4_REPLY_LEN)
		return;
	a->step[0] = (struct step){ STEP_WAIT_EOF, 0 };
	if (dice_is(p->d, 2))
		a->step[0] = leaves[dice(p->d, 2)];
	a->step[1] = (struct step){ STEP_CLOSE, 0 };
}

/* Everything was sent and received. */
static void
check_kind(struct plan *p)
{
	struct world *w = &p->w;

	for (unsigned int i = 0; i < w->n_ends; i++)
		if (strcmp(w->end[i].term, "--") != 0)
			world_error(w, "a kind session ended with %s", w->end[i].term);
	if (w->n_ends != w->n_clients)
		world_error(w, "%u sessions for %u clients", w->n_ends, w->n_clients);
	for (unsigned int i = 0; i < w->n_clients; i++)
		if (!w->client[i].eof || w->client[i].err)
			world_error(w, "client %u saw no clean end (errno %d)", i,
				    w->client[i].err);
	for (unsigned int i = 0; i < w->n_served; i++)
		if (!w->served[i].eof || w->served[i].err)
			world_error(w, "origin's connection %u saw no clean end (errno %d)",
				    i, w->served[i].err);
}

static void
measure(struct plan *p, struct random_world_result *r)
{
	struct world *w = &p->w;

	r->kind = p->kind;
	r->tls = w->cfg.tls != 0;
	r->clients = p->n;
	r->calls = world_calls(w);
	r->waits = fake_waits(w->k);
	r->empty_waits = fake_empty_waits(w->k);
	r->buf_waits = w->engine.stat.buf_waits;
	r->zerocopied = w->engine.zerocopy.bytes;
	r->memory_holds = w->engine.stat.memory_holds;
	r->spliced = w->engine.stat.spliced;
	r->bulk_waits = w->engine.bulk.waits;
	memcpy(r->rows, w->rows, sizeof(r->rows));
	memcpy(r->session_rows, w->session_rows, sizeof(r->session_rows));
	for (unsigned int i = 0; i < w->n_clients; i++)
		r->bytes += w->client[i].got;
	for (unsigned int i = 0; i < w->n_served; i++)
		r->bytes += w->served[i].got;
	/* each wait must have a result: bytes moved since the last one, however few, or steps,
	 * retries, checks of lingering sessions, the end of a filter's delay */
	if (r->empty_waits > 100 + 100u * p->n && !w->px->filters)
		world_error(w, "%llu of %llu waits for %u clients came of nothing",
			(unsigned long long)r->empty_waits, (unsigned long long)r->waits,
			p->n);
}

int
random_world_play(struct dice *d, unsigned int max_clients, uint32_t max_bytes, int show,
	    struct random_world_result *r)
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
	cfg = random_config(d, p.kind);
	cfg.rules = random_rules(d, p.kind);
	cfg.tracks = p.n % 3 == 1;
	cfg.filters = p.n % 4 == 2 ? FILTERS_NEUTRAL : 0;
	for (unsigned int i = 0; i < p.n; i++)
		scripts(&p, i);
	random_bounds(d, &cfg);
	cfg.announced = dice_is(d, 6);
	cfg.socks4 = dice_is(d, 6);
	random_tls(p.n, &cfg);
	/* A direction with filters peeks at nothing. */
	if (cfg.filters && cfg.memory)
		cfg.memory += p.n * SIDES * WIDE_BUFS * cfg.bufsize;
	if (cfg.tls && !p.kind)
		cut_some(&p);
	if (world_open(&p.w, &cfg) < 0) {
		snprintf(r->why, sizeof(r->why), "%s", p.w.why);
		return -1;
	}
	fake_trace_on(p.w.k, show);
	p.w.allow_del = cfg.mode == INTEREST_UNMERGED;
	p.w.arg = &p;
	p.w.origin_script = origin_script;
	p.w.origin_starts = origin_starts;
	for (unsigned int i = 0; i < p.n; i++)
		fake_after(p.w.k, dice_is(d, 3) ? dice(d, 2000) * FAKE_MS : 0, client_arrives, &p);
	random_run(&p.w, d, p.kind, p.n);
	if (p.kind)
		check_kind(&p);
	measure(&p, r);
	if (show)
		printf("%s", fake_trace(p.w.k));
	bad = world_close(&p.w);
	snprintf(r->why, sizeof(r->why), "%s", p.w.why);
	return bad;
}
