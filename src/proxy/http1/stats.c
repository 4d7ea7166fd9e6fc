/* Requests for the statistics, on the session's worker: who may see them, and who may change
 * something with them. Their contents are generated elsewhere: model/service.h. */
#include "proxy/http1/stats.h"

#include "http/h1_message.h"
#include "http/uri.h"
#include "proxy/model/service.h"
#include "proxy/model/stats_conf.h"
#include "proxy/model/termination.h"
#include "proxy/sample/eval.h"
#include "rule/action/act.h"
#include "rule/action/place.h"
#include "rule/sample/fetch.h"

/* The target, or its path and query if it names a host too. */
static struct str
path_asked_for(const struct http_txn *t)
{
	struct http_uri u;

	http_uri_split(t->req.target, &u);
	return u.pathq.p ? u.pathq : t->req.target;
}

static int
has_uri_prefix(struct str s, struct str prefix)
{
	return s.len >= prefix.len && str_is((struct str){ s.p, prefix.len }, prefix);
}

/* With other methods it is a request like any other, as in HAProxy. */
int
stats_are_asked_for(const struct stream *s, const struct proxy *px)
{
	const struct http_txn *t = s->txn;

	if (!px || !px->stats)
		return 0;
	return (t->req.method == HTTP_GET || t->req.method == HTTP_HEAD ||
		t->req.method == HTTP_POST) &&
		has_uri_prefix(path_asked_for(t), str_of(stats_conf_uri(px->stats)));
}

/* --- permission to see it --- */

int
stats_admit(struct stream *s, const struct proxy *px, struct rule_outcome *v)
{
	const struct stats_conf *c = px->stats;
	struct str name, password;
	struct sample sample;
	struct eval eval;

	s->txn->served_by = s->engine->shared->services ? "<STATS>" : NULL;
	if (list_is_empty(&c->users))
		return 1;
	eval_init(&eval, s, rule_place_scope(RULE_HTTP_REQUEST));
	if (rule_basic_auth(&eval.cx, &sample, &name, &password) &&
		stats_conf_admits(c, name, password))
		return 1;
	act_challenge(stats_conf_realm(c), &eval.cx, v);
	return 0;
}

/* --- permission to change something --- */

static int
evaluate_admin(struct stream *s, const struct proxy *px)
{
	struct eval eval;

	eval_init(&eval, s, rule_place_scope(RULE_HTTP_REQUEST));
	eval.cx.req_ended = 1;
	list_each(it, &px->stats->admin_rules) {
		const struct stats_admin_rule *r =
			list_entry(it, const struct stats_admin_rule, link);

		eval.cx.where = &r->where;
		if (rule_cond_eval(r->cond, &eval.cx) == RULE_YES)
			return 1;
	}
	return 0;
}

static struct str
field_value(const struct http_head *h, struct str name)
{
	int at = http_find(h, name, 0);

	return at < 0 ? (struct str){ NULL, 0 } : h->field[at].value;
}

/* True if the URI, of Origin or Referer, is of this host. "null" is of none. */
static int
is_of_host(struct str uri, struct str host)
{
	struct http_uri u;

	http_uri_split(uri, &u);
	return u.form == HTTP_FORM_ABSOLUTE && host.len && str_is_nocase(u.authority, host);
}

/*
 * A page of another site can have a browser send the form, with the user's password. A browser
 * sends the origin of a form in at least one of these fields. A client without these fields, such
 * as curl, is not a browser.
 */
static int
is_foreign(const struct http_head *h)
{
	struct str site = field_value(h, STR("Sec-Fetch-Site"));
	struct str origin = field_value(h, STR("Origin"));
	struct str referer = field_value(h, STR("Referer"));
	struct str host = field_value(h, STR("Host"));

	if (site.p && !str_is(site, STR("same-origin")) && !str_is(site, STR("none")))
		return 1;
	if (origin.p)
		return !is_of_host(origin, host);
	return referer.p && !is_of_host(referer, host);
}

/* --- the service takes over --- */

static unsigned int
job_flags(struct stream *s, const struct proxy *px)
{
	const struct http_txn *t = s->txn;
	unsigned int flags = 0;

	if (evaluate_admin(s, px))
		flags |= STATS_JOB_ADMIN;
	if (t->req.method != HTTP_POST)
		return flags;
	flags |= STATS_JOB_POST;
	if (is_foreign(&t->req))
		flags |= STATS_JOB_FOREIGN;
	if (!h1_body_is_over(&t->h1[CLIENT]->body))
		flags |= STATS_JOB_CUT;
	return flags;
}

int
stats_serve(struct stream *s, struct proxy *px)
{
	struct http_txn *t = s->txn;
	const struct services *sv = s->engine->shared->services;
	struct arena *a = &s->engine->eval.arena;
	size_t mark = arena_mark(a);
	unsigned int flags = job_flags(s, px);
	struct str none = { NULL, 0 };

	t->job = service_new(s, sv ? sv->stats : NULL, path_asked_for(t),
		flags & STATS_JOB_POST ? eval_received_body(s) : none);
	arena_release(a, mark);
	if (!t->job)
		return -1;
	t->job->conf = px;
	t->job->flags = flags;
	stream_set_term(s, 'L', 'R');
	return 0;
}
