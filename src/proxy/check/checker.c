/* The checker: a check and its run for each server that has some. On the first worker; made once,
 * when the configuration is complete. */
#include "proxy/check/checker.h"

#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "proxy/backend/server_state.h"
#include "proxy/check/check_result.h"
#include "proxy/check/check_run.h"
#include "proxy/model/proxies.h"

/* Buffers kept for incomplete answers. */
#define BUFS_KEPT 4

struct entry {
	struct check check;
	struct check_run run;
	struct check_conf agent;     /* the rules of an agent check */
};

struct checker {
	struct check_shared shared;
	unsigned int n;
	struct entry entry[];
};

static unsigned int
count_checks(const struct proxies *ps)
{
	unsigned int n = 0;

	list_each(it, &ps->all) {
		const struct proxy *be = list_entry(it, const struct proxy, link);

		list_each(st, &be->servers) {
			const struct server *s = list_entry(st, const struct server, link);

			if (!be->disabled)
				n += !!s->conf.check.check + !!s->conf.check.agent;
		}
	}
	return n;
}

static int
has_external_check(const struct proxy *be)
{
	if (be->disabled || be->check.method != CHECK_EXTERNAL)
		return 0;
	list_each(it, &be->servers)
		if (list_entry(it, const struct server, link)->conf.check.check)
			return 1;
	return 0;
}

int
checker_needs_helper(const struct proxies *ps)
{
	list_each(it, &ps->all)
		if (has_external_check(list_entry(it, const struct proxy, link)))
			return 1;
	return 0;
}

/* An agent has a bound of one for either direction (manual 5.2, agent-check). */
static struct entry *
add_check(struct checker *k, struct server *s, int is_agent)
{
	struct entry *e = &k->entry[k->n++];

	e->check = (struct check){
		.srv = s,
		.is_agent = (uint8_t)is_agent,
		.enabled = 1,
		.rise = is_agent ? 1 : s->conf.check.rise,
		.fall = is_agent ? 1 : s->conf.check.fall,
		.init_state = is_agent ? CHECK_INIT_UP : s->conf.check.init_state,
		.status = CHECK_INI,
	};
	e->check.health = check_initial_health(&e->check);
	*(is_agent ? &s->agent : &s->check) = &e->check;
	return e;
}

/* Connects, sends what agent-send says at that time, and waits for a line. */
static int
make_agent_rules(struct entry *e)
{
	struct check_conf *c = &e->agent;
	struct cfg_where where = e->check.srv->where;
	struct check_rule *connect;

	check_conf_init(c);
	c->method = CHECK_AGENT;
	connect = check_rule_add(c, CHECK_RULE_CONNECT, where);
	if (!connect || !check_rule_add(c, CHECK_RULE_SEND, where) ||
		!check_rule_add(c, CHECK_RULE_EXPECT, where))
		return -ERR_NOMEM;
	connect->step = 0;
	return 0;
}

static int
add_checks(struct checker *k, struct proxies *ps)
{
	list_each(it, &ps->all) {
		struct proxy *be = list_entry(it, struct proxy, link);

		list_each(st, &be->servers) {
			struct server *s = list_entry(st, struct server, link);

			if (be->disabled)
				continue;
			if (s->conf.check.check &&
				add_check(k, s, 0)->check.health < s->check->rise)
				server_begin_stopped(k->shared.engine, s);
			if (s->conf.check.agent && make_agent_rules(add_check(k, s, 1)) < 0)
				return -ERR_NOMEM;
		}
	}
	return 0;
}

/* The first checks are spread evenly over the shortest interval, or max-spread-checks. */
static unsigned int
spread_of(const struct checker *k, unsigned int max_ms)
{
	unsigned int shortest = UINT32_MAX;

	for (unsigned int i = 0; i < k->n; i++)
		shortest = MIN(shortest, check_result_interval(&k->entry[i].check));
	return max_ms ? MIN(shortest, max_ms) : shortest;
}

static int
plan_checks(struct checker *k, unsigned int over_ms)
{
	uint64_t now = loop_now_ms(k->shared.engine->loop);

	for (unsigned int i = 0; i < k->n; i++) {
		struct entry *e = &k->entry[i];
		const struct check_conf *conf =
			e->check.is_agent ? &e->agent : &e->check.srv->be->check;

		if (check_run_open(&e->run, &e->check, &k->shared, conf,
			    now + (uint64_t)over_ms * i / k->n) < 0)
			return -ERR_NOMEM;
		e->check.run = &e->run;
	}
	return 0;
}

static int
open_external(struct checker *k, const struct proxies *ps, const struct checker_config *conf)
{
	if (!checker_needs_helper(ps))
		return 0;
	k->shared.external = external_new(k->shared.engine, conf->helper);
	return k->shared.external ? 0 : -ERR_NOMEM;
}

int
checker_new(struct engine *e, struct proxies *ps, const struct checker_config *conf,
	struct checker **out)
{
	unsigned int n = count_checks(ps);
	struct checker *k;

	if (!n)
		return 0;
	k = mem_zalloc(sizeof(*k) + n * sizeof(k->entry[0]));
	if (!k)
		return -ERR_NOMEM;
	k->shared.engine = e;
	k->shared.spread = conf->spread;
	k->shared.node = conf->node;
	pool_init(&k->shared.bufs, "check", e->bufsize, BUFS_KEPT);
	k->shared.scratch = mem_alloc(e->bufsize);
	if (!k->shared.scratch || open_external(k, ps, conf) < 0 || add_checks(k, ps) < 0 ||
		plan_checks(k, spread_of(k, conf->max_spread_ms)) < 0) {
		checker_free(&k);
		return -ERR_NOMEM;
	}
	e->on_alarm = check_run_on_alarm;
	*out = k;
	return 0;
}

void
checker_free(struct checker **kp)
{
	struct checker *k = *kp;

	if (!k)
		return;
	*kp = NULL;
	k->shared.engine->on_alarm = NULL;
	for (unsigned int i = 0; i < k->n; i++) {
		struct entry *e = &k->entry[i];

		if (e->check.run)
			check_run_close(&e->run);
		if (e->check.is_agent)
			check_conf_fini(&e->agent);
		*(e->check.is_agent ? &e->check.srv->agent : &e->check.srv->check) = NULL;
	}
	external_free(&k->shared.external);
	pool_fini(&k->shared.bufs);
	mem_free(k->shared.scratch);
	mem_free(k);
}
