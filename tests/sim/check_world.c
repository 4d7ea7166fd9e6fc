#include "sim/check_world.h"

#include <stdio.h>
#include <string.h>

#include "proxy/check/checker.h"
#include "proxy/model/check.h"
#include "proxy/session/server_change.h"
#include "sim/faults.h"

/* Checks begin at multiples of this. */
#define SLOT (10 * FAKE_MS)

const char *
check_world_status(const struct check_world *c, unsigned int server, char buf[160])
{
	return server_status_text(c->w.srv[server], buf);
}

/* --- the model --- */

static void
apply_verdict(struct check_world_server *s)
{
	s->last->applied = 1;
	check_model_result(&s->model, s->last->passes);
	++*(s->last->passes == MODEL_404 ? &s->n_404
			: s->last->passes ? &s->n_passed : &s->n_failed);
}

/* Results before this moment. */
static void
apply_earlier(struct check_world *c, struct check_world_server *s)
{
	if (s->last && !s->last->applied && s->last->verdict_at < fake_now(c->w.k))
		apply_verdict(s);
}

/* A result of this moment is there, or not yet. */
static int
is_due_now(const struct check_world *c, const struct check_world_server *s)
{
	return s->last && !s->last->applied && s->last->verdict_at == fake_now(c->w.k);
}

static void
compare_status(struct check_world *c, unsigned int i)
{
	struct check_world_server *s = &c->srv[i];
	char buf[160], expected[CHECK_MODEL_TEXT];
	const char *own = check_world_status(c, i, buf);
	struct check_model later = s->model;

	if (strcmp(own, check_model_text(&s->model, expected)) == 0)
		return;
	if (is_due_now(c, s)) {
		check_model_result(&later, s->last->passes);
		if (strcmp(own, check_model_text(&later, expected)) == 0)
			return;
	}
	world_error(&c->w, "server %u is '%s', not '%s', after %u passed and %u failed checks "
		"(rise %u fall %u), %llu ms after the start of check %u (kind %d)", i, own,
		expected, s->n_passed, s->n_failed, s->model.rise, s->model.fall,
		(unsigned long long)(s->last ? (fake_now(c->w.k) - s->last->start) / FAKE_MS : 0),
		s->n_tries, s->last ? (int)s->last->kind : -1);
}

static void
compare_sessions(struct check_world *c)
{
	if (!c->plan.shutdown)
		return;
	list_each(it, &c->w.engine.streams) {
		const struct stream *s = list_entry(it, struct stream, link);

		for (unsigned int i = 0; i < c->w.px->n_servers; i++)
			if (s->srv == c->w.srv[i] && !c->srv[i].model.is_up &&
				!is_due_now(c, &c->srv[i]))
				world_error(&c->w, "a session stays on server %u, which is down",
					i);
	}
}

/* Between two turns. */
static void
compare(struct world *w)
{
	struct check_world *c = w->arg;

	if (!c->plan.judged)
		return;
	for (unsigned int i = 0; i < w->px->n_servers; i++) {
		apply_earlier(c, &c->srv[i]);
		compare_status(c, i);
		c->srv[i].n_shown++;
		if (c->srv[i].model.downs != w->srv[i]->downs && !is_due_now(c, &c->srv[i]))
			world_error(w, "server %u went down %u times, not %u", i, w->srv[i]->downs,
				c->srv[i].model.downs);
	}
	compare_sessions(c);
}

/* --- connections that open --- */

static void
compare_start(struct check_world *c, unsigned int i)
{
	struct check_world_server *s = &c->srv[i];
	uint64_t now = fake_now(c->w.k), ms = check_model_interval(&s->model);
	uint64_t spread = ms * c->plan.spread / 100, from, until;

	if (!s->last)
		return;
	if (!s->last->applied) {
		world_error(&c->w, "a check of server %u begins before the last one is over", i);
		return;
	}
	from = s->last->verdict_at + (ms - spread) * FAKE_MS;
	until = s->last->verdict_at + (ms + spread) * FAKE_MS + SLOT;
	if (now < from || now >= until)
		world_error(&c->w, "server %u, '%s': %llu ms between two checks, the interval is "
			"%llu (inter %u fastinter %u downinter %u)", i,
			check_model_text(&s->model, (char[CHECK_MODEL_TEXT]){ "" }),
			(unsigned long long)((now - s->last->verdict_at) / FAKE_MS),
			(unsigned long long)ms, s->model.inter, s->model.fastinter,
			s->model.downinter);
}

static void
begin_try(struct check_world *c, unsigned int i)
{
	struct check_world_server *s = &c->srv[i];
	struct check_limits limits = c->plan.limits;
	struct check_try *t = &c->try[c->n_tries];
	uint64_t one_way = 0;

	if (s->last && !s->last->applied && s->last->verdict_at <= fake_now(c->w.k))
		apply_verdict(s);
	if (c->plan.judged)
		compare_start(c, i);
	if (c->n_tries == CHECK_WORLD_TRIES) {
		world_error(&c->w, "more than %u checks", CHECK_WORLD_TRIES);
		return;
	}
	c->n_tries++;
	s->n_tries++;
	s->last = t;
	limits.inter = s->model.inter;
	*t = (struct check_try){ .how = c->plan.how, .dice = c->dice, .server = i,
		.port = CHECK_WORLD_PORT + i };
	t->kind = c->plan.choose(c, i, &one_way);
	check_try_begin(t, c->w.k, &limits, one_way);
	fake_note(c->w.k, "# %llu: check %u of server %u, how %d, kind %d, %llu ms away, deadline "
		"%llu, result %d at %llu", (unsigned long long)(t->start / FAKE_MS), s->n_tries, i,
		(int)t->how, (int)t->kind, (unsigned long long)(t->one_way / FAKE_MS),
		(unsigned long long)(t->deadline / FAKE_MS), t->passes,
		(unsigned long long)(t->verdict_at / FAKE_MS));
}

static int
may_have_sessions(const struct check_model *m)
{
	return m->is_up && !m->is_stopping;
}

/* No session is sent to a server that has been down for longer than a turn, nor to one that has
 * answered 404. */
static void
compare_assignment(struct check_world *c, unsigned int i)
{
	char buf[160];
	const char *own = check_world_status(c, i, buf);

	c->n_assigned++;
	apply_earlier(c, &c->srv[i]);
	if (c->plan.judged && !may_have_sessions(&c->srv[i].model) && !is_due_now(c, &c->srv[i]))
		world_error(&c->w, "a session goes to server %u, which is down or stopping", i);
	if (strncmp(own, "DOWN", 4) == 0 || strncmp(own, "NOLB", 4) == 0)
		world_error(&c->w, "a session goes to server %u, which is '%s'", i, own);
}

static void
connection_opens(struct fake *k, unsigned int port, void *arg)
{
	struct check_world *c = arg;

	(void)k;
	if (port >= CHECK_WORLD_PORT && port < CHECK_WORLD_PORT + WORLD_SERVERS)
		begin_try(c, port - CHECK_WORLD_PORT);
	else if (port >= WORLD_ORIGIN_PORT && port < WORLD_ORIGIN_PORT + WORLD_SERVERS)
		compare_assignment(c, port - WORLD_ORIGIN_PORT);
}

static void
check_accepted(struct fake *k, void *arg)
{
	struct check_world *c = arg;

	(void)k;
	for (unsigned int i = 0; i < c->w.px->n_servers; i++) {
		struct fake_sock *s;

		while ((s = fake_origin_accept(c->listener[i])))
			check_try_accepted(c->srv[i].last, s);
	}
}

/* While a server is up there is one for every session. */
static void
session_ended(struct world *w, const struct world_end *e)
{
	struct check_world *c = w->arg;

	if (e->server >= 0)
		return;
	c->n_refused++;
	for (unsigned int i = 0; c->plan.judged && i < w->px->n_servers; i++) {
		apply_earlier(c, &c->srv[i]);
		if (may_have_sessions(&c->srv[i].model) && !is_due_now(c, &c->srv[i]) &&
			e->term[0] == 'S')
			world_error(w, "a session is refused (%s), but server %u is up", e->term,
				i);
	}
}

static int
time_is_up(const struct world *w)
{
	const struct check_world *c = w->arg;

	return fake_now(w->k) >= c->until;
}

/* --- building --- */

static const char *
rules_of(const struct check_plan *p)
{
	switch (p->how) {
	case TRY_TCP:
		return "option tcp-check\ntcp-check send PING\\r\\n\ntcp-check expect string "
		       "+PONG\n";
	case TRY_HTTP:
	case TRY_HTTP2:
		return p->takes_404 ? "option httpchk GET /health\nhttp-check disable-on-404\n"
				    : "option httpchk GET /health\n";
	case TRY_CONNECT:
	case TRY_HOWS:
		break;
	}
	return "";
}

static void
set_server(struct check_world *c, unsigned int i)
{
	static const enum check_init_state states[] = { [MODEL_UP] = CHECK_INIT_UP,
		[MODEL_FULLY_UP] = CHECK_INIT_FULLY_UP, [MODEL_DOWN] = CHECK_INIT_DOWN,
		[MODEL_FULLY_DOWN] = CHECK_INIT_FULLY_DOWN };
	struct check_server_conf *conf = &c->w.srv[i]->conf.check;
	struct check_model *m = &c->srv[i].model;

	*m = c->plan.server[i];
	m->takes_404 = c->plan.takes_404;
	check_model_begin(m, c->plan.begin[i]);
	conf->check = 1;
	conf->rise = (int)m->rise;
	conf->fall = (int)m->fall;
	conf->inter_ms = m->inter;
	conf->fastinter_ms = m->fastinter;
	conf->downinter_ms = m->downinter;
	conf->init_state = states[c->plan.begin[i]];
	conf->port = CHECK_WORLD_PORT + i;
	conf->proto = c->plan.how == TRY_HTTP2 ? CHECK_PROTO_H2 : CHECK_PROTO_DEFAULT;
	conf->shutdown_on_down = c->plan.shutdown;
	c->listener[i] = fake_origin(c->w.k, CHECK_WORLD_PORT + i, 128);
	fake_peer_notify(c->listener[i], 0, check_accepted, c);
}

static int
open_checker(struct check_world *c)
{
	struct checker_config conf = { .spread = c->plan.spread, .node = "n" };
	struct proxies ps = { .n = 1 };
	int r;

	list_init(&ps.all);
	list_append(&ps.all, &c->w.px->link);
	faults_apply(c->w.mem_faults);
	r = checker_new(&c->w.engine, &ps, &conf, &c->checker);
	faults_apply(0);
	list_remove(&c->w.px->link);
	return r;
}

int
check_world_open(struct check_world *c, const struct world_config *cfg,
	const struct check_plan *plan, struct dice *d)
{
	struct world_config with = *cfg;

	memset(c, 0, offsetof(struct check_world, try));
	with.rules = rules_of(plan);
	with.to.check = plan->limits.check;
	with.to.connect = plan->limits.connect;
	if (world_open(&c->w, &with) < 0)
		return -1;
	c->plan = *plan;
	c->dice = d;
	c->w.arg = c;
	c->w.meddle = compare;
	c->w.session_ended = session_ended;
	c->w.ends_are_over = time_is_up;
	c->w.engine.hooks.on_server_change = server_change_apply;
	for (unsigned int i = 0; i < c->w.px->n_servers; i++)
		set_server(c, i);
	fake_on_connect(c->w.k, connection_opens, c);
	c->began = fake_now(c->w.k);
	return 0;
}

void
check_world_run(struct check_world *c, uint64_t ns)
{
	c->until = fake_now(c->w.k) + ns;
	if (!c->checker)
		(void)!open_checker(c);
	/* Sessions that have begun come to their end. */
	world_run(&c->w, ns + 10 * FAKE_SEC);
}

int
check_world_close(struct check_world *c)
{
	if (c->checker)
		checker_free(&c->checker);
	if (c->w.loop)
		(void)!loop_turn(c->w.loop, 0);
	return world_close(&c->w);
}
