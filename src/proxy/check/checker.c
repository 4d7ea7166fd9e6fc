/* The checker: a check and its run for each server that has some. On the first worker; servers that
 * are added and removed at run time bring theirs and take them along. */
#include "proxy/check/checker.h"

#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "proxy/backend/server_state.h"
#include "proxy/check/check_h2.h"
#include "proxy/check/check_result.h"
#include "proxy/check/check_run.h"
#include "proxy/model/proxies.h"

/* Buffers kept for incomplete answers. */
#define BUFS_KEPT 4
/* Fields of a response, or tune.http.maxhdr if that is more. */
#define FIELDS_AT_LEAST 128u

struct entry {
	struct list link;            /* checker.entries */
	struct check check;
	struct check_run run;
	struct check_conf agent;     /* the rules of an agent check */
};

struct checker {
	struct check_shared shared;
	unsigned int n;
	struct list entries;         /* struct entry */
};

/* Servers with checks may be added. */
int
checker_needs_helper(const struct proxies *ps)
{
	list_each(it, &ps->all) {
		const struct proxy *be = list_entry(it, const struct proxy, link);

		if ((be->caps & PROXY_BE) && !be->disabled &&
			be->check.method == CHECK_EXTERNAL)
			return 1;
	}
	return 0;
}

/* An agent has a bound of one for either direction (manual 5.2, agent-check). */
static void
init_check(struct entry *e, struct server *s, int is_agent)
{
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
}

/* Connects, sends the text of agent-send at that time, and waits for a line. */
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

static void
free_entry(struct checker *k, struct entry *e)
{
	if (e->check.run)
		check_run_close(&e->run);
	if (e->check.is_agent)
		check_conf_fini(&e->agent);
	*(e->check.is_agent ? &e->check.srv->agent : &e->check.srv->check) = NULL;
	list_remove(&e->link);
	k->n--;
	mem_free(e);
}

/* NULL without memory. */
static struct entry *
add_check(struct checker *k, struct server *s, int is_agent)
{
	struct entry *e = mem_zalloc(sizeof(*e));

	if (!e)
		return NULL;
	init_check(e, s, is_agent);
	*(is_agent ? &s->agent : &s->check) = &e->check;
	list_append(&k->entries, &e->link);
	k->n++;
	if (!is_agent || make_agent_rules(e) == 0)
		return e;
	free_entry(k, e);
	return NULL;
}

static int
add_checks(struct checker *k, struct server *s)
{
	struct entry *e;

	if (s->conf.check.check) {
		e = add_check(k, s, 0);
		if (!e)
			return -ERR_NOMEM;
		if (e->check.health < e->check.rise)
			server_begin_stopped(k->shared.engine, s);
	}
	return s->conf.check.agent && !add_check(k, s, 1) ? -ERR_NOMEM : 0;
}

static int
add_all(struct checker *k, struct proxies *ps)
{
	list_each(it, &ps->all) {
		struct proxy *be = list_entry(it, struct proxy, link);

		if (be->disabled)
			continue;
		list_each(st, &be->servers) {
			if (add_checks(k, list_entry(st, struct server, link)) < 0)
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

	list_each(it, &k->entries) {
		const struct entry *e = list_entry(it, const struct entry, link);

		shortest = MIN(shortest, check_result_interval(&e->check));
	}
	return max_ms ? MIN(shortest, max_ms) : shortest;
}

static int
plan_check(struct checker *k, struct entry *e, uint64_t at_ms)
{
	const struct check_conf *conf = e->check.is_agent ? &e->agent : &e->check.srv->be->check;

	if (check_run_open(&e->run, &e->check, &k->shared, conf, at_ms) < 0)
		return -ERR_NOMEM;
	e->check.run = &e->run;
	return 0;
}

static int
plan_all(struct checker *k, unsigned int over_ms)
{
	uint64_t now = loop_now_ms(k->shared.engine->loop);
	unsigned int i = 0;

	list_each(it, &k->entries) {
		if (plan_check(k, list_entry(it, struct entry, link),
			    now + (uint64_t)over_ms * i++ / k->n) < 0)
			return -ERR_NOMEM;
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
	struct checker *k = mem_zalloc(sizeof(*k));

	if (!k)
		return -ERR_NOMEM;
	k->shared.engine = e;
	k->shared.spread = conf->spread;
	k->shared.never_local = conf->never_local;
	k->shared.node = conf->node;
	list_init(&k->entries);
	pool_init(&k->shared.bufs, "check", e->bufsize, BUFS_KEPT);
	k->shared.scratch = mem_alloc(e->bufsize);
	k->shared.max_fields = MAX(e->limits.maxhdr, FIELDS_AT_LEAST);
	k->shared.field = mem_alloc(k->shared.max_fields * sizeof(*k->shared.field));
	if (!k->shared.scratch || !k->shared.field || open_external(k, ps, conf) < 0 ||
		add_all(k, ps) < 0 || plan_all(k, spread_of(k, conf->max_spread_ms)) < 0) {
		checker_free(&k);
		return -ERR_NOMEM;
	}
	e->hooks.on_alarm = check_run_on_alarm;
	*out = k;
	return 0;
}

int
checker_add(struct checker *k, struct server *s)
{
	uint64_t now = loop_now_ms(k->shared.engine->loop);
	struct list *last = k->entries.prev;

	if (add_checks(k, s) < 0) {
		checker_remove(k, s);
		return -ERR_NOMEM;
	}
	for (struct list *it = last->next; it != &k->entries; it = it->next) {
		struct entry *e = list_entry(it, struct entry, link);

		e->check.enabled = 0;
		if (plan_check(k, e, now + check_result_interval(&e->check)) < 0) {
			checker_remove(k, s);
			return -ERR_NOMEM;
		}
	}
	return 0;
}

void
checker_remove(struct checker *k, struct server *s)
{
	list_each_safe(it, &k->entries) {
		struct entry *e = list_entry(it, struct entry, link);

		if (e->check.srv == s)
			free_entry(k, e);
	}
}

void
checker_free(struct checker **kp)
{
	struct checker *k = *kp;

	if (!k)
		return;
	*kp = NULL;
	k->shared.engine->hooks.on_alarm = NULL;
	list_each_safe(it, &k->entries) {
		free_entry(k, list_entry(it, struct entry, link));
	}
	external_free(&k->shared.external);
	check_h2_fini(&k->shared);
	pool_fini(&k->shared.bufs);
	mem_free(k->shared.scratch);
	mem_free(k->shared.field);
	mem_free(k);
}
