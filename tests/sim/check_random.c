#include "sim/check_world.h"

#include <stdio.h>
#include <string.h>


#define CLIENTS_MAX 40
#define TRIES 40 /* about, of the slowest server */

static struct check_world c;

/* --- actions of servers --- */

/* A series of equal results: one less than what changes the state, as many, or one more. */
static void
begin_series(struct check_world_server *s, struct dice *d)
{
	unsigned int bound;

	s->passes = !s->passes;
	bound = s->passes ? s->model.rise : s->model.fall;
	s->left = bound - 1 + dice(d, 3);
	if (dice_is(d, 4))
		s->left = 1;
	if (s->left == 0)
		s->left = 1 + dice(d, 2);
}

static enum check_try_kind
choose(struct check_world *w, unsigned int server, uint64_t *one_way)
{
	struct check_world_server *s = &w->srv[server];
	struct dice *d = w->dice;
	unsigned int kinds = w->plan.how == TRY_CONNECT ? TRY_SILENT : TRY_KINDS;

	if (s->left == 0)
		begin_series(s, d);
	s->left--;
	if (dice_is(d, 4))
		*one_way = (1 + dice(d, 12)) * FAKE_MS;
	/* Between others, as when a server is taken out of the farm by hand. */
	if (w->plan.takes_404 && dice_is(d, 3))
		return TRY_404;
	if (s->passes)
		return (enum check_try_kind)dice(d, TRY_PASSES);
	return (enum check_try_kind)(TRY_PASSES + dice(d, kinds - TRY_PASSES));
}

/* --- the world --- */

/* Bounds and intervals of one server, in units that all servers of the world share. */
static struct check_model
random_server(struct dice *d, unsigned int unit)
{
	struct check_model m = { .rise = 1 + dice(d, 5), .fall = 1 + dice(d, 5) };

	m.inter = unit * (1 + dice(d, 4));
	if (!dice_is(d, 3))
		m.fastinter = unit * (1 + dice(d, 4));
	if (dice_is(d, 2))
		m.downinter = unit * (1 + dice(d, 4));
	return m;
}

/* At least the time to connect, so that the manual and HAProxy, which never shortens it, agree. */
static void
random_limits(struct dice *d, struct check_plan *p, unsigned int unit)
{
	p->limits.connect = unit + dice(d, 2 * unit);
	if (dice_is(d, 3))
		p->limits.check = p->limits.connect + dice(d, unit);
}

static unsigned int
random_plan(struct dice *d, struct check_plan *p, struct world_config *cfg)
{
	static const unsigned int units[] = { 10, 25, 50, 200, 333, 1000 };
	unsigned int unit = units[dice(d, sizeof(units) / sizeof(units[0]))];

	p->how = (enum check_how)dice(d, TRY_HOWS);
	p->judged = 1;
	p->choose = choose;
	p->shutdown = dice_is(d, 3);
	p->takes_404 = p->how >= TRY_HTTP && dice_is(d, 2);
	p->spread = dice_is(d, 4) ? 1 + dice(d, 50) : 0;
	random_limits(d, p, unit);
	cfg->mode = (enum interest_mode)dice(d, 3);
	cfg->eager = dice_is(d, 5);
	cfg->max_events = dice_is(d, 5) ? 1 + (int)dice(d, 4) : 0;
	cfg->bufsize = 1024u << dice(d, 3);
	cfg->n_servers = 1 + dice(d, WORLD_SERVERS);
	cfg->to.client = cfg->to.server = cfg->to.queue = 3000000;
	for (unsigned int i = 0; i < cfg->n_servers; i++) {
		p->server[i] = random_server(d, unit);
		p->begin[i] = dice_is(d, 2) ? (enum check_model_begin)dice(d, 4) : MODEL_UP;
		cfg->server[i].maxconn = dice_is(d, 6) ? 1 + (int)dice(d, 3) : 0;
	}
	return unit;
}

static const struct step client_steps[] = { { STEP_SEND, 20 }, { STEP_WAIT, 20 },
	{ STEP_PAUSE, 70 }, { STEP_SEND, 20 }, { STEP_SHUT, 0 }, { STEP_WAIT_EOF, 0 },
	{ STEP_CLOSE, 0 } };
static const struct step origin_steps[] = { { STEP_WAIT, 20 }, { STEP_SEND, 20 },
	{ STEP_WAIT_EOF, 0 }, { STEP_CLOSE, 0 } };

static void
client_arrives(struct fake *k, void *arg)
{
	(void)k;
	(void)arg;
	(void)world_client(&c.w, client_steps, 0);
}

static void
measure(struct check_random_result *r)
{
	r->checks = c.n_tries;
	r->assigned = c.n_assigned;
	r->refused = c.n_refused;
	for (unsigned int i = 0; i < c.w.px->n_servers; i++) {
		r->passed += c.srv[i].n_passed;
		r->failed += c.srv[i].n_failed;
		r->gone += c.srv[i].n_404;
		r->downs += c.srv[i].model.downs;
		r->shown += c.srv[i].n_shown;
	}
}

int
check_random_play(struct dice *d, int show, struct check_random_result *r)
{
	struct check_plan plan = { 0 };
	struct world_config cfg = { 0 };
	unsigned int unit = random_plan(d, &plan, &cfg), n = dice(d, CLIENTS_MAX);
	uint64_t length = (uint64_t)unit * 4 * TRIES * FAKE_MS;
	int bad;

	memset(r, 0, sizeof(*r));
	if (check_world_open(&c, &cfg, &plan, d) == 0) {
		fake_trace_on(c.w.k, show);
		c.w.origin_steps = origin_steps;
		for (unsigned int i = 0; i < n; i++)
			fake_after(c.w.k, (uint64_t)dice(d, (uint32_t)(length / FAKE_MS)) * FAKE_MS,
				client_arrives, NULL);
		check_world_run(&c, length);
		measure(r);
		if (show)
			printf("%s", fake_trace(c.w.k));
	}
	bad = check_world_close(&c);
	snprintf(r->why, sizeof(r->why), "%s", c.w.why);
	return bad;
}
