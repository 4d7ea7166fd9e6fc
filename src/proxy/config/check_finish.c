/* Completes rules of health checks, and reports errors that only the complete configuration shows.
 * Main thread, before the workers start. */
#include "proxy/config/check_finish.h"

#include <string.h>

#include "base/compiler.h"
#include "base/err.h"
#include "base/mem.h"
#include "http/head.h"
#include "proxy/check/protocol.h"
#include "proxy/model/proxies.h"

/* --- names in expressions --- */

static int
check_fmt_names(struct rule_fmt *f, const struct check_rule *r, struct proxies *root,
	struct cfg_diag *d)
{
	struct rule_err why;

	if (!f || rule_fmt_check(f, root, &why) == 0)
		return 0;
	cfg_diag_add(d, CFG_ALERT, &r->where, "%s.", why.text);
	return -1;
}

static int
check_expr_names(struct rule_expr *e, const struct check_rule *r, struct proxies *root,
	struct cfg_diag *d)
{
	struct rule_err why;

	if (!e || rule_expr_check(e, root, &why) == 0)
		return 0;
	cfg_diag_add(d, CFG_ALERT, &r->where, "%s.", why.text);
	return -1;
}

static int
check_rule_names(const struct check_rule *r, struct proxies *root, struct cfg_diag *d)
{
	int bad = 0;

	switch (r->kind) {
	case CHECK_RULE_CONNECT:
		return check_expr_names(r->u.connect.port_expr, r, root, d);
	case CHECK_RULE_SEND:
		bad |= check_fmt_names(r->u.send.data.fmt, r, root, d);
		bad |= check_fmt_names(r->u.send.uri.fmt, r, root, d);
		bad |= check_fmt_names(r->u.send.body.fmt, r, root, d);
		for (unsigned int i = 0; i < r->u.send.n_headers; i++)
			bad |= check_fmt_names(r->u.send.headers[i].value, r, root, d);
		return bad;
	case CHECK_RULE_EXPECT:
		bad |= check_fmt_names(r->u.expect.pattern.text.fmt, r, root, d);
		bad |= check_fmt_names(r->u.expect.value.text.fmt, r, root, d);
		bad |= check_fmt_names(r->u.expect.on_success, r, root, d);
		bad |= check_fmt_names(r->u.expect.on_error, r, root, d);
		bad |= check_expr_names(r->u.expect.status_code, r, root, d);
		return bad;
	case CHECK_RULE_SET_VAR:
	case CHECK_RULE_UNSET_VAR:
		break;
	}
	bad |= check_fmt_names(r->u.var.fmt, r, root, d);
	bad |= check_expr_names(r->u.var.expr, r, root, d);
	return bad;
}

int
check_conf_check_rules(struct check_conf *c, struct proxies *root, struct cfg_diag *d)
{
	int bad = 0;

	list_each(it, &c->rules) {
		const struct check_rule *r = list_entry(it, const struct check_rule, link);

		if (!r->is_borrowed)
			bad |= check_rule_names(r, root, d);
	}
	return bad;
}

/* --- implied rules --- */

static struct check_rule *
rule_of(struct list *it)
{
	return list_entry(it, struct check_rule, link);
}

/* A rule before this place of the list. */
static struct check_rule *
imply_rule(struct check_conf *c, struct list *before, enum check_rule_kind kind)
{
	unsigned int steps = c->steps;
	struct check_rule *r = check_rule_add(c, kind, c->where);

	if (!r)
		return NULL;
	c->steps = steps;
	r->step = 0;
	list_remove(&r->link);
	list_append(before, &r->link);
	return r;
}

/* The first place behind the rules on variables at the beginning. */
static struct list *
skip_vars(struct check_conf *c)
{
	struct list *it = c->rules.next;

	while (it != &c->rules && check_rule_is_on_var(rule_of(it)))
		it = it->next;
	return it;
}

/* Without one, a connect is the first step. */
static int
imply_connect(struct check_conf *c)
{
	struct list *first = skip_vars(c);
	struct check_rule *r;

	if (first != &c->rules && rule_of(first)->kind == CHECK_RULE_CONNECT)
		return 0;
	r = imply_rule(c, c->rules.next, CHECK_RULE_CONNECT);
	if (!r)
		return -ERR_NOMEM;
	r->u.connect.defaults = 1;
	return 0;
}

static int
imply_status(struct check_conf *c)
{
	struct check_rule *r = imply_rule(c, &c->rules, CHECK_RULE_EXPECT);
	struct check_expect *e;

	if (!r)
		return -ERR_NOMEM;
	e = &r->u.expect;
	e->is_http = e->has_match = 1;
	e->match = CHECK_MATCH_STATUS;
	e->ranges = mem_alloc(sizeof(*e->ranges));
	if (!e->ranges)
		return -ERR_NOMEM;
	e->ranges[0] = (struct check_range){ 200, 399 };
	e->n_ranges = 1;
	return 0;
}

static struct list *
find_kind(struct check_conf *c, struct list *it, enum check_rule_kind kind)
{
	while (it != &c->rules && rule_of(it)->kind != kind)
		it = it->next;
	return it;
}

/* A request behind the first connect; its line is that of option httpchk. */
static int
imply_send(struct check_conf *c)
{
	struct list *connect = find_kind(c, c->rules.next, CHECK_RULE_CONNECT);
	struct list *next = connect->next;
	struct check_rule *r;

	while (next != &c->rules && check_rule_is_on_var(rule_of(next)))
		next = next->next;
	if (next == &c->rules || rule_of(next)->kind != CHECK_RULE_SEND) {
		r = imply_rule(c, next, CHECK_RULE_SEND);
		if (!r)
			return -ERR_NOMEM;
		r->u.send.is_http = 1;
	} else {
		r = rule_of(next);
	}
	r->u.send.request = &c->request;
	return 0;
}

/* Responses to HEAD have no body. */
static void
note_methods(struct check_conf *c)
{
	enum http_method method = HTTP_OTHER;

	list_each(it, &c->rules) {
		struct check_rule *r = rule_of(it);
		const struct check_send *s = &r->u.send;

		if (r->kind == CHECK_RULE_EXPECT)
			r->u.expect.request_method = method;
		if (r->kind != CHECK_RULE_SEND)
			continue;
		method = HTTP_OPTIONS;
		if (s->method)
			method = http_method_of(str_of(s->method));
		else if (s->request && s->request->method)
			method = http_method_of(str_of(s->request->method));
	}
}

static int
complete_http(struct check_conf *c)
{
	int rc = imply_connect(c);

	if (rc == 0)
		rc = imply_send(c);
	if (rc == 0 && check_conf_last_rule(c)->kind != CHECK_RULE_EXPECT)
		rc = imply_status(c);
	if (rc == 0)
		note_methods(c);
	return rc;
}

static int
complete_rules(struct check_conf *c)
{
	static const enum check_family families[] = { [CHECK_TCP] = CHECK_FAMILY_TCP,
		[CHECK_HTTP] = CHECK_FAMILY_HTTP };
	enum check_family family =
		c->method < ARRAY_LEN(families) ? families[c->method] : CHECK_FAMILY_NONE;

	if (c->family != family || c->order.missing)
		check_conf_drop_rules(c);
	if (c->method == CHECK_HTTP)
		return complete_http(c);
	if (c->method == CHECK_EXTERNAL)
		return 0;
	if (family == CHECK_FAMILY_NONE && c->method != CHECK_CONNECT)
		return check_protocol_rules(c);
	return imply_connect(c);
}

/* --- external checks ------------------------------------------------------------------------- */

/*
 * Checks the requirements of external checks: the permission of the section global, and a
 * command. Main thread, when the configuration is complete.
 */

static void
warn_needless(const struct proxy *p, const char *keyword, const char *text, struct cfg_diag *d)
{
	if (text)
		cfg_diag_add(d, CFG_WARNING, &p->where,
			"'%s' will be ignored for %s '%s' (requires 'option external-check').",
			keyword, proxy_kind(p), p->name);
}

/* Reports what a backend's external checks lack, and what has no effect without them. 0 or -1. */
static int
check_external_finish(const struct proxy *p, const struct proxies *root, struct cfg_diag *d)
{
	const struct check_conf *c = &p->check;
	int bad = 0;

	if (c->method != CHECK_EXTERNAL) {
		warn_needless(p, "external-check command", c->command, d);
		warn_needless(p, "external-check path", c->path, d);
		return 0;
	}
	if (!root->external_checks) {
		cfg_diag_add(d, CFG_ALERT, &c->where,
			"Proxy '%s' : 'option external-check' unable to find required "
			"'global.external-check'.",
			p->name);
		bad = -1;
	}
	if (!c->command) {
		cfg_diag_add(d, CFG_ALERT, &c->where,
			"Proxy '%s' : 'option external-check' unable to find required "
			"'external-check command'.",
			p->name);
		bad = -1;
	} else if (c->command[0] != '/' && !c->path) {
		cfg_diag_add(d, CFG_ALERT, &c->where,
			"Proxy '%s': 'external-check command' does not have a leading '/' and "
			"'external-check path' is not set.",
			p->name);
		bad = -1;
	}
	return bad;
}

/* --- contradictions --- */

static void
warn_ignored(const struct proxy *p, struct cfg_diag *d)
{
	const struct check_conf *c = &p->check;

	if (c->own_rules && c->family == CHECK_FAMILY_HTTP && c->method != CHECK_HTTP)
		cfg_diag_add(d, CFG_WARNING, &p->where,
			CFG_DIAG_NAME "%s '%s'" CFG_DIAG_NAME
			" uses http-check rules without 'option httpchk', so the rules are "
			"ignored.",
			proxy_kind(p), p->name);
	if (c->own_rules && c->family == CHECK_FAMILY_TCP && c->method != CHECK_TCP)
		cfg_diag_add(d, CFG_WARNING, &p->where,
			CFG_DIAG_NAME "%s '%s'" CFG_DIAG_NAME
			" uses tcp-check rules without 'option tcp-check', so the rules are "
			"ignored.",
			proxy_kind(p), p->name);
	if (c->method == CHECK_HTTP || c->method == CHECK_CONNECT)
		return;
	if (c->disable_on_404)
		cfg_diag_add(d, CFG_WARNING, &p->where,
			"'disable-on-404' will be ignored for " CFG_DIAG_NAME "%s '%s'"
			CFG_DIAG_NAME " (requires 'option httpchk').",
			proxy_kind(p), p->name);
	if (c->send_state)
		cfg_diag_add(d, CFG_WARNING, &p->where,
			"'send-state' will be ignored for " CFG_DIAG_NAME "%s '%s'" CFG_DIAG_NAME
			" (requires 'option httpchk').",
			proxy_kind(p), p->name);
}

/* True if every connect has a port. */
static int
rules_have_ports(const struct check_conf *c)
{
	int any = 0;

	list_each(it, &c->rules) {
		const struct check_rule *r = rule_of(it);

		if (r->kind != CHECK_RULE_CONNECT)
			continue;
		if (!r->u.connect.port && !addr_port(&r->u.connect.addr) &&
			addr_family(&r->u.connect.addr) != AF_UNIX)
			return 0;
		any = 1;
	}
	return any;
}

static int
has_check_port(const struct server *s)
{
	const struct check_server_conf *c = &s->conf.check;
	struct addr own;

	(void)addr_cell_get(&s->addr, &own);
	if (c->port || addr_port(&c->addr) || addr_family(&c->addr) == AF_UNIX)
		return 1;
	/* The port comes with the address, perhaps with an SRV record. */
	if (!own.len)
		return 1;
	if (!c->addr.len && (addr_family(&own) == AF_UNIX || addr_is_any(&own)))
		return 1;
	return addr_port(&own) != 0;
}

static int
check_proto_of(const struct server *s, struct cfg_diag *d)
{
	enum check_proto proto = s->conf.check.proto;

	if (proto == CHECK_PROTO_DEFAULT ||
		(proto != CHECK_PROTO_NONE) == (s->be->check.method == CHECK_HTTP))
		return 0;
	cfg_diag_add(d, CFG_ALERT, &s->where,
		"%s '%s': server '%s' uses an incompatible protocol for the selected check type "
		"(see 'check-proto').",
		proxy_kind(s->be), s->be->name, s->name);
	return -1;
}

/* Drops `observe` with a warning where it has no effect: without checks there is no health to
 * adjust. */
static void
settle_observe(struct server *s, struct cfg_diag *d)
{
	struct check_server_conf *c = &s->conf.check;

	if (c->observe == CHECK_OBSERVE_LAYER7 && s->be->mode != PROXY_HTTP) {
		cfg_diag_add(d, CFG_WARNING, &s->where,
			"'server " CFG_DIAG_NAME "%s/%s" CFG_DIAG_NAME
			"' : 'observe layer7' requires 'mode http', so it is ignored.",
			s->be->name, s->name);
		c->observe = CHECK_OBSERVE_NONE;
	}
	if (!c->check)
		c->observe = CHECK_OBSERVE_NONE;
}

static int
check_options(const struct server *s, struct cfg_diag *d)
{
	const struct check_server_conf *c = &s->conf.check;
	int bad = 0;

	if (c->check && !has_check_port(s) && !rules_have_ports(&s->be->check)) {
		cfg_diag_add(d, CFG_ALERT, &s->where,
			"%s '%s': server '%s' has neither service port nor check port%s.",
			proxy_kind(s->be), s->be->name, s->name,
			s->be->check.own_rules
				? ", and a rule 'connect' has no port either"
				: "");
		bad = -1;
	}
	if (c->check)
		bad |= check_proto_of(s, d);
	if (c->agent && !c->agent_port) {
		cfg_diag_add(d, CFG_ALERT, &s->where,
			"'server %s/%s' : server %s does not have agent port, which 'agent-check' "
			"needs.",
			s->be->name, s->name, s->name);
		bad = -1;
	}
	return bad;
}

/* Notes whether checks use TLS. A server that is added at run time cannot have such checks, whose
 * files are read at the start. */
static int
settle_ssl_checks(struct server *s, struct cfg_diag *d)
{
	struct server_tls_conf *tls = &s->conf.tls;

	tls->has_ssl_check = s->conf.check.check && check_conf_has_ssl(&s->be->check);
	if (!s->is_dynamic || !tls->has_ssl_check)
		return 0;
	cfg_diag_add(d, CFG_ALERT, &s->where,
		"%s '%s': its checks use TLS ('connect ssl'), which a server that is added at run "
		"time cannot have.",
		proxy_kind(s->be), s->be->name);
	return -1;
}

int
check_server_finish(struct server *s, struct cfg_diag *d)
{
	if (settle_ssl_checks(s, d) < 0)
		return -1;
	settle_observe(s, d);
	return check_options(s, d);
}

/* Reports rules that follow each other in the wrong order, if they are used. 0 or -1. */
static int
report_order(const struct check_conf *c, struct cfg_diag *d)
{
	const struct check_order_error *o = &c->order;

	if (!o->missing || c->method != CHECK_HTTP)
		return 0;
	cfg_diag_add(d, CFG_ALERT, &o->where,
		"'%s' : unable to add the rule at step %u (missing %s rule).", o->keyword, o->step,
		o->missing);
	return -1;
}

int
check_conf_finish(struct proxy *p, struct proxies *root, struct cfg_diag *d)
{
	int bad = check_conf_check_rules(&p->check, root, d);

	if (!(p->caps & PROXY_BE))
		return bad;
	warn_ignored(p, d);
	bad |= report_order(&p->check, d) | check_external_finish(p, root, d);
	if (complete_rules(&p->check) < 0) {
		cfg_diag_add(d, CFG_ALERT, &p->where, "%s", err_text(-ERR_NOMEM));
		return -1;
	}
	list_each(it, &p->servers) {
		bad |= check_server_finish(list_entry(it, struct server, link), d);
	}
	return bad;
}
