/* The lists of rules of a proxy, its own behind those of its defaults section. Main thread
 * while the configuration is read; only read after that. */
#include "proxy/model/rules.h"

#include <string.h>

#include "cfg/diag.h"
#include "event/profile.h"
#include "proxy/model/engine.h"
#include "proxy/model/proxies.h"
#include "proxy/model/stream.h"

/* Its keyword, such as "http-request". */
static const char *
list_name(unsigned int list)
{
	if (list == RULES_STATS)
		return "stats http-request";
	if (list == RULES_RES_EVENTS)
		list = RULE_HTTP_RESPONSE;
	if (list == RULES_TCP_EVENTS)
		list = RULE_TCP_RES_CONTENT;
	return list == RULES_REDIRECT ? "redirect" : rule_place_name((enum rule_place)list);
}

static int
needs_http(unsigned int list)
{
	return list >= RULE_HTTP_REQUEST && list != RULES_TCP_EVENTS;
}

void
proxy_rules_init(struct proxy_rules *r)
{
	memset(r, 0, sizeof(*r));
	for (unsigned int i = 0; i < RULES_LISTS; i++)
		list_init(&r->own[i]);
}

void
proxy_rules_fini(struct proxy_rules *r)
{
	for (unsigned int i = 0; i < RULES_LISTS; i++)
		rules_free(&r->own[i]);
}

void
proxy_rules_inherit(struct proxy_rules *r, const struct proxy_rules *defaults)
{
	r->before = defaults;
	r->has = defaults->has;
	r->inspect_ms = defaults->inspect_ms;
	r->inspect_response_ms = defaults->inspect_response_ms;
}

static enum rule_result
run_inherited(const struct proxy_rules *r, unsigned int list, struct rules_at *at,
	struct sample_ctx *cx, struct rule_outcome *out)
{
	enum rule_result result;

	if (!at->own && r->before) {
		result = rules_run(&r->before->own[list], &at->next, cx, out);
		if (result != RULE_CONT)
			return result;
	}
	at->own = 1;
	return rules_run(&r->own[list], &at->next, cx, out);
}

enum rule_result
proxy_rules_run(const struct proxy_rules *r, unsigned int list, struct rules_at *at,
	struct sample_ctx *cx, struct rule_outcome *out)
{
	const struct stream *s = out->proxy;
	struct profile *p = loop_timers(s->engine->loop)->profile;
	uint64_t began = profile_begin(p);
	enum rule_result result = run_inherited(r, list, at, cx, out);

	profile_end(p, (profile_fn *)proxy_rules_run, began, began);
	return result;
}
PROFILE_NAME(proxy_rules_run, rules)

/* --- the configuration is complete --- */

/* Warns at each rule of the list. */
static void
warn_each_rule(const struct list *rules, const char *kind, const char *name, struct cfg_diag *d)
{
	list_each(it, rules)
		cfg_diag_add(d, CFG_WARNING, &list_entry(it, const struct rule, link)->where,
			"'%s' rules ignored for proxy " CFG_DIAG_NAME "'%s'" CFG_DIAG_NAME
			": they need 'mode http'.",
			kind, name);
}

/* HTTP rules have no effect in mode tcp. */
static void
check_mode(const struct proxy *p, struct cfg_diag *d)
{
	for (unsigned int i = 0; i < RULES_LISTS; i++) {
		if (!needs_http(i))
			continue;
		if (p->rules.before)
			warn_each_rule(&p->rules.before->own[i], list_name(i), p->name, d);
		warn_each_rule(&p->rules.own[i], list_name(i), p->name, d);
	}
}

static int
check_lists(struct proxy_rules *r, struct proxies *root, struct cfg_diag *d)
{
	int result = 0;

	for (unsigned int i = 0; i < RULES_LISTS; i++)
		if (rules_check(&r->own[i], root, d) < 0)
			result = -1;
	return result;
}

int
proxy_rules_check(struct proxy *p, struct proxies *root, struct cfg_diag *d)
{
	if (p->mode != PROXY_HTTP && !p->disabled)
		check_mode(p, d);
	return check_lists(&p->rules, root, d);
}

/* Rules of a defaults section have different meanings in frontends and in backends. */
static int
check_users(const struct proxy *defaults, const struct proxies *ps, struct cfg_diag *d)
{
	unsigned int caps = 0;

	list_each(it, &ps->all) {
		const struct proxy *p = list_entry(it, const struct proxy, link);

		if (p->rules.before != &defaults->rules)
			continue;
		caps |= p->caps;
		if (caps != (PROXY_FE | PROXY_BE))
			continue;
		cfg_diag_add(d, CFG_ALERT, &p->where,
			"defaults section '%s' has rules: it cannot be used by frontends and by "
			"backends, nor by a 'listen' section.",
			defaults->name);
		return -1;
	}
	return 0;
}

int
proxies_check_default_rules(struct proxies *ps, struct cfg_diag *d)
{
	int result = 0;

	list_each(it, &ps->defaults) {
		struct proxy *p = list_entry(it, struct proxy, link);

		if (!p->rules.has)
			continue;
		if (check_users(p, ps, d) < 0 || check_lists(&p->rules, ps, d) < 0)
			result = -1;
	}
	return result;
}
