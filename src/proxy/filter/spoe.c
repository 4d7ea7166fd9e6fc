/* Events of SPOE and the action send-spoe-group: messages out of a stream, variables into it. Rules
 * are made on the main thread, and run on the stream's worker. */
#include "proxy/filter/spoe.h"

#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "cfg/ctx.h"
#include "proxy/filter/spoe_agent.h"
#include "proxy/model/engine.h"
#include "proxy/model/http_txn.h"
#include "proxy/model/proxies.h"
#include "proxy/model/server.h"
#include "rule/action/act.h"
#include "rule/sample/args.h"
#include "spop/spop.h"

/* Longer than the answer of an agent may take: it ends earlier, with an answer or without one. */
#define WAIT_SPARE_MS 1000

/* A rule of mode tcp that has its answer: it runs again whenever data arrives. */
struct spoe_passed {
	struct spoe_passed *next;
	const struct rule *by;
	size_t len;              /* of the data that it has seen */
};

/* --- the part in a stream --- */

static const char *
spoe_event_name(enum spoe_event e)
{
	const struct cfg_enum *w = spoe_event_words;

	while (w->name && w->value != (int)e)
		w++;
	return w->name ? w->name : "";
}

static enum filter_part
spoe_begin(const struct filter_conf *conf unused, struct stream *s unused, int side unused,
	struct http_head *head unused)
{
	return FILTER_ABSENT;
}

static void
drop_actions(struct spoe_state *st)
{
	mem_free(st->actions);
	st->actions = NULL;
	st->n_actions = 0;
}

static void
spoe_fini(struct filter *f)
{
	struct spoe_state *st = (struct spoe_state *)f;

	if (st->ask)
		spoe_ask_forget(st->ask);
	drop_actions(st);
	while (st->passed) {
		struct spoe_passed *p = st->passed;

		st->passed = p->next;
		mem_free(p);
	}
}

const struct filter_kind spoe_kind = {
	.name = "spoe",
	.size = sizeof(struct spoe_state),
	.begin = spoe_begin,
	.fini = spoe_fini,
	.conf_free = spoe_conf_free,
};

static struct spoe_passed *
find_passed(const struct spoe_state *st, const struct rule *r)
{
	struct spoe_passed *p = st->passed;

	while (p && p->by != r)
		p = p->next;
	return p;
}

/* Bytes of the message that a rule of mode tcp is about. */
static size_t
seen_bytes(const struct rule *r, const struct sample_ctx *cx)
{
	return r->place == RULE_TCP_RES_CONTENT ? cx->res_bytes.len : cx->req_bytes.len;
}

/* True if the rule need not run again: an event happens once, a group is sent again with more
 * data, as in HAProxy. */
static int
has_passed(const struct spoe_state *st, const struct rule *r, const struct sample_ctx *cx)
{
	const struct spoe_passed *p = find_passed(st, r);

	return p && (r->num[0] != SPOE_EVENTS || p->len == seen_bytes(r, cx));
}

/* Notes that the event has passed. Without memory the agent is not asked again. */
static void
note_passed(struct spoe_state *st, const struct rule *r, const struct sample_ctx *cx)
{
	struct spoe_passed *p = find_passed(st, r);

	if (!p) {
		p = mem_alloc(sizeof(*p));
		st->is_off |= !p;
		if (!p)
			return;
		p->by = r;
		p->next = st->passed;
		st->passed = p;
	}
	p->len = seen_bytes(r, cx);
}

/* --- messages --- */

static void
put_argument(struct sbuf *b, const struct sample *s)
{
	struct spop_value v = { .type = SPOP_NULL };

	switch (s->type) {
	case SAMPLE_BOOL:
		v.type = SPOP_BOOL;
		v.n = s->u.sint;
		break;
	case SAMPLE_SINT:
		v.type = SPOP_INT64;
		v.n = s->u.sint;
		break;
	case SAMPLE_IPV4:
		v.type = SPOP_IPV4;
		memcpy(v.ip, &s->u.ipv4, sizeof(s->u.ipv4));
		break;
	case SAMPLE_IPV6:
		v.type = SPOP_IPV6;
		memcpy(v.ip, &s->u.ipv6, sizeof(s->u.ipv6));
		break;
	case SAMPLE_STR:
	case SAMPLE_BIN:
		v.type = s->type == SAMPLE_STR ? SPOP_STRING : SPOP_BINARY;
		v.text = s->u.str;
		break;
	case SAMPLE_TYPES:
	case SAMPLE_ANY:
		break;
	}
	spop_put_value(b, &v);
}

/* Writes a message. A value that does not exist is written as NULL. */
static void
put_spoe_message(struct sbuf *b, const struct spoe_message *m, struct sample_ctx *cx)
{
	spop_put_text(b, str_of(m->name));
	sbuf_addc(b, (char)m->n_args);
	for (const struct spoe_arg *a = m->args; a; a = a->next) {
		size_t mark = arena_mark(cx->arena);
		struct sample s;

		spop_put_text(b, str_of(a->name));
		if (rule_expr_eval(a->expr, cx, &s) == 1)
			put_argument(b, &s);
		else
			spop_put_value(b, &(const struct spop_value){ .type = SPOP_NULL });
		arena_release(cx->arena, mark);
	}
}

/* True if the message belongs to what a rule sends: to its event, or to its group. */
static int
sends_message(const struct spoe_message *m, const struct rule *r, struct sample_ctx *cx)
{
	if (r->num[0] == SPOE_EVENTS)
		return 1;
	return (int64_t)m->event == r->num[0] &&
		(!m->cond || rule_cond_eval(m->cond, cx) == RULE_YES);
}

/* The number of messages that were put. */
static unsigned int
put_messages(struct sbuf *b, const struct spoe_name *names, const struct rule *r,
	struct sample_ctx *cx)
{
	unsigned int n = 0;

	for (const struct spoe_name *it = names; it; it = it->next) {
		if (!sends_message(it->message, r, cx))
			continue;
		put_spoe_message(b, it->message, cx);
		n++;
	}
	return n;
}

/* --- answers --- */

static int
is_known(const struct sample_ctx *cx, struct var_name name)
{
	size_t mark = arena_mark(cx->arena);
	struct sample s;
	int found = var_find(cx, name, &s);

	arena_release(cx->arena, mark);
	return found;
}

/* A value as a sample: 1, or 0: it is NULL. */
static int
sample_of_value(const struct spop_value *v, struct sample *s)
{
	*s = (struct sample){ .type = SAMPLE_SINT };
	switch (v->type) {
	case SPOP_NULL:
		return 0;
	case SPOP_BOOL:
		sample_set_bool(s, v->n != 0);
		break;
	case SPOP_INT32:
	case SPOP_UINT32:
	case SPOP_INT64:
	case SPOP_UINT64:
		sample_set_int(s, v->n);
		break;
	case SPOP_IPV4:
		s->type = SAMPLE_IPV4;
		memcpy(&s->u.ipv4, v->ip, sizeof(s->u.ipv4));
		break;
	case SPOP_IPV6:
		s->type = SAMPLE_IPV6;
		memcpy(&s->u.ipv6, v->ip, sizeof(s->u.ipv6));
		break;
	case SPOP_STRING:
	case SPOP_BINARY:
		s->type = v->type == SPOP_STRING ? SAMPLE_STR : SAMPLE_BIN;
		s->u.str = v->text;
		break;
	}
	return 1;
}

/* Variables of the process are not made by agents, unless the configuration trusts them. */
static void
apply_action(const struct spoe_conf *c, const struct sample_ctx *cx, const struct spop_action *a)
{
	static const char *const scopes[SPOP_SCOPES] = { [SPOP_PROC] = "proc", [SPOP_SESS] = "sess",
		[SPOP_TXN] = "txn", [SPOP_REQ] = "req", [SPOP_RES] = "res" };
	struct var_name name;
	const char *why;
	struct sample s;

	if (spoe_var_name(scopes[a->scope], c->prefix, a->name, &name, &why) < 0)
		return;
	if (a->scope == SPOP_PROC && !(c->flags & SPOE_FORCE_SET_VAR) && !is_known(cx, name))
		return;
	if (a->is_unset)
		var_forget(cx, name);
	/* Without memory it is not set. */
	else if (sample_of_value(&a->value, &s))
		(void)!var_store(cx, name, &s);
}

static void
set_spoe_var(const struct spoe_conf *c, enum spoe_var_use use, const struct sample_ctx *cx,
	uint64_t n)
{
	struct sample s = { .type = SAMPLE_SINT, .u.sint = (int64_t)n };

	if (c->var[use].is_set)
		(void)!var_store(cx, c->var[use].var, &s);
}

static void
log_spoe(const struct spoe_conf *c, const struct rule *r, const struct spoe_state *st,
	uint64_t errors, uint64_t all)
{
	const struct stream *s = st->s;

	if (!(c->flags & SPOE_LOGS) || (!st->error && (c->flags & SPOE_DONTLOG_NORMAL)))
		return;
	log_msg(s->engine->log, st->error ? LOG_LEVEL_WARNING : LOG_LEVEL_NOTICE,
		"SPOE: [%s] <%s:%s> sid=%llu st=%u %llu %llu/%llu", c->agent,
		r->num[0] == SPOE_EVENTS ? "GROUP" : "EVENT",
		r->num[0] == SPOE_EVENTS ? r->text[1].p : spoe_event_name((int)r->num[0]),
		(unsigned long long)s->id, st->error,
		(unsigned long long)(stream_now_ms(s) - st->began_ms), (unsigned long long)errors,
		(unsigned long long)all);
}

/* The answer of an agent, or an error: sets variables, and is counted. */
static void
take_spoe_answer(struct spoe_conf *c, const struct rule *r, struct spoe_state *st,
	const struct sample_ctx *cx)
{
	const uint8_t *p = (const uint8_t *)st->actions;
	struct spop_in in = { p, p + st->n_actions };
	uint64_t took = stream_now_ms(st->s) - st->began_ms, errors, all;
	struct spop_action a;

	while (st->n_actions && spop_next_action(&in, &a) > 0)
		apply_action(c, cx, &a);
	drop_actions(st);
	st->total_ms += took;
	if (st->error) {
		set_spoe_var(c, SPOE_VAR_ERROR, cx, st->error);
		st->is_off = !(c->flags & SPOE_CONTINUE_ON_ERROR);
	}
	set_spoe_var(c, SPOE_VAR_PROCESS, cx, took);
	set_spoe_var(c, SPOE_VAR_TOTAL, cx, st->total_ms);
	spoe_count(c->run[st->s->engine->index], st->error != 0, &errors, &all);
	log_spoe(c, r, st, errors, all);
	st->is_done = 0;
	st->by = NULL;
}

/* --- rules --- */

/* Encodes and asks. 1: there is an answer already, or an error; 0: it is awaited; -1: there is
 * nothing to send. */
static int
ask_agent(struct spoe_run *run, const struct spoe_name *names, const struct rule *r,
	struct spoe_state *st, struct sample_ctx *cx)
{
	struct sbuf b;
	unsigned int n;
	size_t at;

	sbuf_init(&b, SPOP_LENGTH + (size_t)spoe_max_frame(run));
	at = spop_begin_frame(&b, SPOP_NOTIFY, st->id, st->n_frames + 1);
	n = put_messages(&b, names, r, cx);
	spop_end_frame(&b, at);
	if (n) {
		st->n_frames++;
		st->error = 0;
		st->by = r;
		st->began_ms = stream_now_ms(st->s);
	}
	if (n && b.failed)
		st->error = SPOE_TOO_LONG;
	else if (n && spoe_ask_new(run, st, &b) < 0)
		st->error = SPOE_NO_RESOURCE;
	sbuf_fini(&b);
	return !n ? -1 : st->error || st->is_done;
}

static struct spoe_state *
state_of(struct stream *s, struct spoe_conf *c)
{
	struct spoe_state *st = (struct spoe_state *)filter_get(s, CLIENT, &c->conf);

	if (st && !st->s) {
		st->s = s;
		st->id = engine_next_id(s->engine);
	}
	return st;
}

/* The answer is there. */
static enum rule_result
pass_spoe_rule(struct spoe_conf *c, const struct rule *r, struct spoe_state *st,
	const struct sample_ctx *cx)
{
	struct stream *s = st->s;

	take_spoe_answer(c, r, st, cx);
	stream_forget_answer(s);
	if (s->txn)
		s->txn->wait_until_ms = 0;
	else
		note_passed(st, r, cx);
	return RULE_CONT;
}

/* Sends these messages and waits. Without memory, or too many errors, the stream continues. */
static enum rule_result
run_spoe(struct spoe_conf *c, const struct spoe_name *names, const struct rule *r,
	struct sample_ctx *cx, struct rule_outcome *out)
{
	struct stream *s = out->proxy;
	struct spoe_run *run = spoe_run_get(s->engine, c);
	struct spoe_state *st = run ? state_of(s, c) : NULL;

	/* A response of a cache waits for no agent. */
	if (!cx->req && stream_is_served_by_cache(s))
		return RULE_CONT;
	if (!st || st->is_off || has_passed(st, r, cx))
		return RULE_CONT;
	/* In mode tcp more data has come while a rule behind this one waits. */
	if (st->by && st->by != r)
		return find_passed(st, r) ? RULE_CONT : RULE_YIELD;
	if (!st->by) {
		int now = spoe_has_failed_often(run) ? -1 : ask_agent(run, names, r, st, cx);

		if (now < 0)
			return RULE_CONT;
		st->is_done |= now > 0;
	}
	if (st->is_done)
		return pass_spoe_rule(c, r, st, cx);
	out->awaits_answer = 1;
	out->wait_ms = (unsigned int)MIN(
		(uint64_t)c->processing_ms + WAIT_SPARE_MS, CFG_TIME_MAX_MS);
	if (!c->processing_ms)
		out->wait_ms = (unsigned int)CFG_TIME_MAX_MS;
	return RULE_YIELD;
}

static enum rule_result
run_event(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out)
{
	struct spoe_conf *c = r->ref;

	return run_spoe(c, c->listed_messages, r, cx, out);
}

/* The action of a rule that stands for an event. Its number is the event. */
static const struct rule_action event_action = { .name = "filter spoe", .run = run_event };

/* --- send-spoe-group --- */

struct spoe_rule {
	struct proxy *px;
	unsigned int at;         /* SAMPLE_AT_x of the rule */
	struct spoe_conf *c;
	const struct spoe_group *group;
};

static void
free_spoe_rule(struct rule *r)
{
	mem_free(r->ref);
}

static int
parse_send_group(struct rule *r, const struct rule_vocab *v unused, struct cfg_ctx *ctx, int arg,
	unsigned int at)
{
	struct spoe_rule *x = mem_zalloc(sizeof(*x));

	r->ref = x;
	if (!x)
		return cfg_nomem(ctx);
	x->px = ctx->obj;
	x->at = at;
	r->num[0] = SPOE_EVENTS;
	if (act_need(r, ctx, arg, 2) < 0 || act_text(ctx, arg, &r->text[0]) < 0 ||
		act_text(ctx, arg + 1, &r->text[1]) < 0)
		return -1;
	return arg + 2;
}

static struct spoe_conf *
find_spoe(const struct proxy *p, const char *engine)
{
	return (struct spoe_conf *)filter_conf_find(p->filters, &spoe_kind, engine);
}

/* Checks the messages of a group where its rule stands. */
static int
check_spoe_group(const struct spoe_rule *x, void *root, struct rule_err *why)
{
	for (const struct spoe_name *n = x->group->messages; n; n = n->next)
		for (struct spoe_arg *a = n->message ? n->message->args : NULL; a; a = a->next) {
			if (rule_expr_check(a->expr, root, why) < 0)
				return -1;
			if (!rule_expr_fits(a->expr, x->at))
				return rule_fail(why, 0, -1, "argument '%.60s' of message '%.60s' "
					"is not available here", a->name, n->text);
		}
	return 0;
}

static int
check_send_group(struct rule *r, void *root, struct rule_err *why)
{
	struct spoe_rule *x = r->ref;

	x->c = find_spoe(x->px, r->text[0].p);
	if (!x->c)
		return rule_fail(why, 0, -1, "there is no 'filter spoe' with the engine '%.60s' in "
			"this section", r->text[0].p);
	list_each(it, &x->c->groups) {
		const struct spoe_group *g = list_entry(it, const struct spoe_group, link);

		if (g->is_listed && strcmp(g->name, r->text[1].p) == 0)
			x->group = g;
	}
	if (!x->group)
		return rule_fail(why, 0, -1, "the agent of engine '%.60s' has no group '%.60s'",
			r->text[0].p, r->text[1].p);
	return check_spoe_group(x, root, why);
}

static enum rule_result
run_send_group(const struct rule *r, struct sample_ctx *cx, struct rule_outcome *out)
{
	const struct spoe_rule *x = r->ref;

	return run_spoe(x->c, x->group->messages, r, cx, out);
}

const struct rule_action spoe_actions[] = {
	{ .name = "send-spoe-group",
		.places = RULE_IN(HTTP_REQUEST) | RULE_IN(HTTP_RESPONSE) |
			RULE_IN(TCP_REQ_CONTENT) | RULE_IN(TCP_RES_CONTENT),
		.parse = parse_send_group,
		.run = run_send_group,
		.free = free_spoe_rule,
		.check = check_send_group,
		.syntax = "<engine> <group>",
		.doc = "Sends the messages of a group to the agent of that filter spoe, and waits "
		       "for its answer: see SPOE in this manual." },
	{ .name = NULL },
};

/* --- the configuration is complete --- */

static const struct {
	unsigned int list;       /* of the rules that the event comes before */
	unsigned int caps;       /* PROXY_x that a proxy needs for it */
	int needs_http;
	const char *instead;     /* where it does not fit */
} events[SPOE_EVENTS] = {
	[SPOE_CLIENT_SESSION] = { RULE_TCP_REQ_CONTENT, PROXY_FE, 0, "a frontend" },
	[SPOE_FE_TCP_REQUEST] = { RULE_TCP_REQ_CONTENT, PROXY_FE, 0, "a frontend" },
	[SPOE_BE_TCP_REQUEST] = { RULE_TCP_REQ_CONTENT, PROXY_BE, 0, "the backend" },
	[SPOE_FE_HTTP_REQUEST] = { RULE_HTTP_REQUEST, PROXY_FE, 1, "a frontend" },
	[SPOE_BE_HTTP_REQUEST] = { RULE_HTTP_REQUEST, PROXY_BE, 1, "the backend" },
	[SPOE_SERVER_SESSION] = { RULE_TCP_RES_CONTENT, 0, 0, "" },
	[SPOE_TCP_RESPONSE] = { RULE_TCP_RES_CONTENT, 0, 0, "" },
	[SPOE_HTTP_RESPONSE] = { RULE_HTTP_RESPONSE, 0, 1, "" },
};

static unsigned int
scope_of_event(const struct proxy *p, enum spoe_event e)
{
	enum rule_place place = e == SPOE_CLIENT_SESSION ? RULE_TCP_SESSION
							 : (enum rule_place)events[e].list;

	return rule_place_scope(place) | (p->caps & PROXY_FE ? 0 : SAMPLE_AT_BACK);
}

/* The list that it comes first in: those of responses in a frontend have lists of their own,
 * since they are before the backend's rules. */
static unsigned int
list_of_event(const struct proxy *p, enum spoe_event e)
{
	if (!(p->caps & PROXY_FE))
		return events[e].list;
	return events[e].list == RULE_TCP_RES_CONTENT ? RULES_TCP_EVENTS
		: e == SPOE_HTTP_RESPONSE		? RULES_RES_EVENTS
							: events[e].list;
}

/* Puts an event before the rules of its list. */
static int
put_event(struct proxy *p, struct spoe_conf *c, enum spoe_event e, struct cfg_diag *d)
{
	unsigned int list = list_of_event(p, e);
	struct rule *r = mem_zalloc(sizeof(*r));

	if (!r) {
		cfg_diag_add(d, CFG_ALERT, &c->where, "'filter spoe' : out of memory.");
		return -1;
	}
	list_init(&r->link);
	r->action = &event_action;
	r->place = (enum rule_place)events[e].list;
	r->where = c->where;
	r->ref = c;
	r->num[0] = e;
	list_append(p->rules.own[list].next, &r->link);
	p->rules.has |= 1u << list;
	if (p->rules.before && proxy_has_rules(p->rules.before, list))
		cfg_diag_add(d, CFG_WARNING, &c->where,
			"'filter spoe' : the rules '%s' of the defaults section run before the "
			"event '%s'.", rule_place_name(r->place), spoe_event_name(e));
	return 0;
}

/* Checks a message that is sent on its event. */
static int
check_message(const struct proxy *p, struct spoe_message *m, struct proxies *ps,
	struct cfg_diag *d)
{
	unsigned int at = scope_of_event(p, m->event);
	struct rule_err why;

	for (struct spoe_arg *a = m->args; a; a = a->next) {
		if (rule_expr_check(a->expr, ps, &why) < 0) {
			cfg_diag_add(d, CFG_ALERT, &a->where, "'args' : %s.", why.text);
			return -1;
		}
		if (rule_expr_fits(a->expr, at))
			continue;
		cfg_diag_add(d, CFG_ALERT, &a->where,
			"'args' : '%s' is not available in event '%s'.", a->name,
			spoe_event_name(m->event));
		return -1;
	}
	if (rule_acls_check(&m->acls, ps, d) < 0)
		return -1;
	if (m->cond && rule_cond_check(m->cond, ps, &why) < 0) {
		cfg_diag_add(d, CFG_ALERT, &m->where, "'event' : %s.", why.text);
		return -1;
	}
	if (m->cond && (rule_cond_needs(m->cond) & ~at))
		cfg_diag_add(d, CFG_WARNING, &m->where,
			"'event' : the condition needs what is not available in '%s'.",
			spoe_event_name(m->event));
	return 0;
}

/* True if the event happens in p. An error is one that needs another section; HAProxy has events of
 * backends in filters of frontends, too. */
static int
check_event(const struct proxy *p, const struct spoe_message *m, struct cfg_diag *d)
{
	enum spoe_event e = m->event;

	if (events[e].needs_http && p->mode != PROXY_HTTP) {
		cfg_diag_add(d, CFG_ALERT, &m->where,
			"event '%s' needs a section in mode http; '%s' is not.", spoe_event_name(e),
			p->name);
		return -1;
	}
	if (events[e].caps == PROXY_BE && p->caps == (PROXY_FE | PROXY_BE)) {
		cfg_diag_add(d, CFG_WARNING, &m->where,
			"event '%s' is skipped in a listen section.", spoe_event_name(e));
		return 0;
	}
	if (!events[e].caps || (p->caps & events[e].caps))
		return 1;
	cfg_diag_add(d, CFG_ALERT, &m->where,
		"event '%s' is not supported in '%s': use a 'filter spoe' in %s.",
		spoe_event_name(e), p->name, events[e].instead);
	return -1;
}

/* The events that the agent's messages have, one bit each, or -1. */
static int
find_events(struct proxy *p, const struct spoe_conf *c, struct proxies *ps, struct cfg_diag *d)
{
	int bits = 0, rc;

	for (const struct spoe_name *n = c->listed_messages; n; n = n->next) {
		if (!n->message || n->message->event == SPOE_EVENTS)
			continue;
		rc = check_event(p, n->message, d);
		if (rc < 0 || check_message(p, n->message, ps, d) < 0)
			return -1;
		bits |= rc << n->message->event;
	}
	return bits;
}

/* Refuses servers with options that connections to agents do not have. */
static int
check_agent_servers(const struct spoe_conf *c, struct cfg_diag *d)
{
	int rc = 0;

	list_each(it, &c->be->servers) {
		const struct server *s = list_entry(it, const struct server, link);
		const char *what = s->conf.proxy_header ? "send-proxy"
			: s->conf.socks4.len		? "socks4"
			: s->conf.tls.sni		? "sni"
			: s->spec.has_offset		? "a port that depends on the client"
							: NULL;

		if (!what)
			continue;
		cfg_diag_add(d, CFG_ALERT, &s->where,
			"server '%s/%s' : %s is not supported for an agent of 'filter spoe'.",
			c->be->name, s->name, what);
		rc = -1;
	}
	return rc;
}

/* Resolves an engine. 0, or -1 after an error. */
static int
finish_spoe(struct proxy *p, struct spoe_conf *c, struct proxies *ps, struct cfg_diag *d)
{
	int rc = 0;

	if (!c->be_name || !c->conf.name)
		return 0; /* reported */
	c->be = proxies_find(ps, c->be_name, PROXY_BE);
	if (!c->be || c->be->mode != PROXY_TCP) {
		cfg_diag_add(d, CFG_ALERT, &c->be_where, c->be
				? "'use-backend' : backend '%.100s' must be in mode tcp or spop."
				: "'use-backend' : unable to find backend '%.100s'.", c->be_name);
		return -1;
	}
	if (check_agent_servers(c, d) < 0)
		rc = -1;
	c->events = find_events(p, c, ps, d);
	return c->events < 0 ? -1 : rc;
}

/* True if an event is one of responses. */
static int
is_response_event(enum spoe_event e)
{
	return events[e].list == RULE_TCP_RES_CONTENT || events[e].list == RULE_HTTP_RESPONSE;
}

/* Puts the events of one direction before the rules, those of the last filter first: each comes
 * before what is there. 0, or -1 after an error. */
static int
put_events_from(struct filter_conf *f, struct proxy *p, int side, struct cfg_diag *d)
{
	struct spoe_conf *c = (struct spoe_conf *)f;
	int rc;

	if (!f)
		return 0;
	rc = put_events_from(filter_conf_after(p, side, f), p, side, d);
	if (f->kind != &spoe_kind)
		return rc;
	for (int e = SPOE_EVENTS; rc == 0 && e-- > 0;)
		if (c->events >> e & 1 && is_response_event((enum spoe_event)e) == (side == SERVER))
			rc = put_event(p, c, (enum spoe_event)e, d);
	return rc;
}

int
spoe_finish(struct proxy *p, struct proxies *ps, struct cfg_diag *d)
{
	int rc = 0;

	for (struct filter_conf *f = p->filters; f; f = f->next)
		if (f->kind == &spoe_kind)
			rc |= finish_spoe(p, (struct spoe_conf *)f, ps, d);
	for (int side = 0; rc == 0 && side < SIDES; side++)
		rc = put_events_from(filter_conf_first(p, side), p, side, d);
	return rc;
}

/* --- bounds --- */

static int
check_max_frame(const struct spoe_conf *c, size_t bufsize, struct cfg_diag *d)
{
	size_t most = bufsize - SPOP_LENGTH;

	if (c->max_frame <= most)
		return 0;
	cfg_diag_add(d, CFG_ALERT, &c->max_frame_where,
		"'max-frame-size' has to be at most %zu, since 'tune.bufsize' is %zu.", most,
		bufsize);
	return -1;
}

int
proxies_fit_frames(const struct proxies *ps, size_t bufsize, struct cfg_diag *d)
{
	int rc = 0;

	list_each(it, &ps->all) {
		const struct filter_conf *f = list_entry(it, struct proxy, link)->filters;

		for (; f; f = f->next)
			if (f->kind == &spoe_kind)
				rc |= check_max_frame((const struct spoe_conf *)f, bufsize, d);
	}
	return rc;
}
