/* Probes of monitor-uri: answered here, on the session's worker, and not logged. */
#include "proxy/http1/monitor.h"

#include "http/uri.h"
#include "proxy/model/http_txn.h"
#include "proxy/sample/eval.h"
#include "proxy/sample/route.h"

/* The original target, or its path and query if it names a host too. */
static int
is_asked_for(struct str target, struct str uri)
{
	struct http_uri u;

	if (str_is(target, uri))
		return 1;
	http_uri_split(target, &u);
	return u.scheme.p && u.pathq.p && str_is(u.pathq, uri);
}

unsigned int
monitor_status(struct stream *s)
{
	const struct http_conf *c = &s->sess->fe->http;
	struct eval eval;

	if (!c->monitor_uri || !is_asked_for(s->txn->req.target, str_of(c->monitor_uri)))
		return 0;
	eval_init(&eval, s, ROUTE_SCOPE);
	eval.cx.req_ended = 1;
	list_each(it, &c->monitor_fails) {
		const struct monitor_rule *r = list_entry(it, const struct monitor_rule, link);

		eval.cx.where = &r->where;
		if (rule_cond_eval(r->cond, &eval.cx) == RULE_YES)
			return 503;
	}
	return 200;
}
