/* Checks that need the complete configuration. */
#include "proxy/config/proxies_finish.h"

#include <string.h>

#include "base/compiler.h"
#include "base/err.h"
#include "base/mem.h"
#include "cfg/arg_address.h"
#include "cfg/ctx.h"
#include "cfg/diag.h"
#include "cfg/registry.h"
#include "cfg/suggest.h"
#include "proxy/backend/balance.h"
#include "proxy/backend/server_tls.h"
#include "proxy/check/mailers_cfg.h"
#include "proxy/config/check_finish.h"
#include "proxy/config/check_track.h"
#include "proxy/config/http_cfg.h"
#include "proxy/config/peers_cfg.h"
#include "proxy/config/proxy_cfg.h"
#include "proxy/config/proxy_ids.h"
#include "proxy/config/server_proxy_cfg.h"
#include "proxy/config/table_cfg.h"
#include "proxy/filter/bwlim.h"
#include "proxy/filter/cache_cfg.h"
#include "proxy/filter/cache_filter.h"
#include "proxy/filter/compress.h"
#include "proxy/filter/sequence.h"
#include "proxy/filter/spoe.h"
#include "proxy/filter/trailers.h"
#include "proxy/log/log_conf.h"
#include "proxy/model/proxies.h"
#include "proxy/model/proxy.h"
#include "proxy/model/server.h"
#include "proxy/model/stats_conf.h"
#include "proxy/sample/route.h"
#include "proxy/sample/unique_id.h"
#include "rule/match/cond.h"
#include "rule/sample/expr.h"

/*
 * Checks a line when all proxies are known: names in its condition, and whether it can be
 * evaluated. root: the configuration. Errors are reported to d.
 */
static void
route_check(const struct proxy *fe, struct use_backend *u, struct proxies *root,
	struct cfg_diag *d)
{
	unsigned int uses = (u->cond ? rule_cond_uses(u->cond) : 0) |
		(u->fmt ? rule_fmt_uses(u->fmt) : 0);
	struct rule_err why;

	u->all = root;
	u->looks = fe->mode == PROXY_TCP && (uses & SAMPLE_AT_REQ);
	if (u->looks && !(fe->rules.inspect_ms &&
			proxy_has_rules(&fe->rules, RULE_TCP_REQ_CONTENT)))
		cfg_diag_add(d, CFG_WARNING, &u->where,
			"'use_backend' : the condition needs data from the client, which only a "
			"'tcp-request content' rule with a 'tcp-request inspect-delay' waits "
			"for.");
	if ((u->cond && rule_cond_check(u->cond, root, &why) < 0) ||
		(u->fmt && rule_fmt_check(u->fmt, root, &why) < 0))
		cfg_diag_add(d, CFG_ALERT, &u->where, "'use_backend' : %s.", why.text);
}

static struct proxy *
proxy_of(struct list *it)
{
	return list_entry(it, struct proxy, link);
}

/* --- destinations of connections --- */

/* Checks the modes. A session of mode tcp can be upgraded to mode http, but not the other way
 * round. */
static void
check_modes(struct proxy *p, const struct proxy *be, const char *what,
	const struct cfg_where *where, struct cfg_diag *d)
{
	static const char *const names[] = { [PROXY_TCP] = "tcp", [PROXY_HTTP] = "http" };
	const char *kind = be->is_spop ? "spop" : names[be->mode];

	if (p->mode == be->mode && !be->is_spop)
		return;
	if (p->mode == PROXY_TCP && !be->is_spop) {
		p->may_upgrade = 1;
		return;
	}
	cfg_diag_add(d, CFG_ALERT, where,
		"%s %s '%s' (%s:%u) tries to use incompatible %s backend '%s' (%s:%u) %s (see "
		"'mode').",
		names[p->mode], proxy_kind(p), p->name, proxy_file(p), p->where.line,
		kind, be->name, proxy_file(be), be->where.line, what);
}

/* NULL: none is near. */
static const char *
nearest_backend(const struct proxies *ps, const char *name)
{
	struct cfg_suggest near;

	cfg_suggest_init(&near, name);
	list_each(it, &ps->all) {
		const struct proxy *p = list_entry(it, const struct proxy, link);

		if (p->caps & PROXY_BE)
			cfg_suggest_offer(&near, p->name);
	}
	return near.best;
}

static struct proxy *
find_target(struct proxies *ps, const struct proxy *p, const char *kw, const char *name,
	const struct cfg_where *where, struct cfg_diag *d)
{
	struct proxy *be = proxies_find(ps, name, PROXY_BE);
	const char *near;

	if (!be && cfg_diag_is_lost(d, name))
		return NULL;
	near = be ? NULL : nearest_backend(ps, name);
	if (!be)
		cfg_diag_add(d, CFG_ALERT, where,
			"Proxy " CFG_DIAG_NAME "'%s'" CFG_DIAG_NAME
			": unable to find required %s: '%s'%s%s%s", p->name, kw, name,
			near ? "; did you mean '" : "", near ? near : "", near ? "'?" : ".");
	else if (be == p)
		cfg_diag_add(d, CFG_ALERT, where, "Proxy '%s': loop detected for %s: '%s'.",
			p->name, kw, name);
	return be;
}

static void
resolve_targets(struct proxies *ps, struct proxy *p, struct cfg_diag *d)
{
	struct proxy *always = NULL, *fallback = p->caps & PROXY_BE ? p : NULL;
	int reached = 1;

	be_switches_check(p, ps, d);
	list_each(it, &p->use_backends) {
		struct use_backend *u = list_entry(it, struct use_backend, link);
		struct proxy *be = u->fmt ? NULL
			: find_target(ps, p, "use_backend", u->name, &u->where, d);

		if (be)
			check_modes(p, be, "in a 'use_backend' rule", &u->where, d);
		route_check(p, u, ps, d);
		p->route_looks |= u->looks;
		p->may_upgrade |= u->fmt && p->mode == PROXY_TCP;
		u->be = be && !be->disabled ? be : NULL;
		if (!reached)
			continue;
		if (!u->cond && !u->fmt)
			always = be;
		else
			p->n_routes++;
		reached = u->cond != NULL;
	}
	if (p->default_be_name) {
		fallback = find_target(
			ps, p, "default_backend", p->default_be_name, &p->default_be_where, d);
		if (fallback)
			check_modes(p, fallback, "as its default backend",
				&p->default_be_where, d);
		if ((p->caps & PROXY_BE) && !list_is_empty(&p->servers))
			cfg_diag_add(d, CFG_WARNING, &p->default_be_where,
				"proxy " CFG_DIAG_NAME "'%s'" CFG_DIAG_NAME
				" : 'default_backend' takes precedence over its servers, which are "
				"never used.",
				p->name);
	}
	p->fallback_be = fallback;
	if (!always)
		always = fallback;
	/* A disabled backend provides no servers. */
	p->default_be = always && !always->disabled ? always : NULL;
}

/* The client's port plus the server line's offset must be a valid port. */
static void
check_offsets(const struct proxy *p, const struct server *s, struct cfg_diag *d)
{
	list_each(it, &p->binds) {
		const struct bind_conf *b = list_entry(it, const struct bind_conf, link);

		list_each(at, &b->listeners) {
			const struct listener *ln = list_entry(at, const struct listener, link);
			int port = (int)addr_port(&ln->addr);

			if (!port ||
				(port + s->spec.port_offset >= 1 &&
					port + s->spec.port_offset <= 65535))
				continue;
			cfg_diag_add(d, CFG_WARNING, &s->where,
				"server '%s/%s' : port %d of %s '%s' maps to port %d, which is out "
				"of range.",
				s->be->name, s->name, port, proxy_kind(p), p->name,
				port + s->spec.port_offset);
			return;
		}
	}
}

static void
check_ports(const struct proxy *p, const struct proxy *be, struct cfg_diag *d)
{
	list_each(it, &be->servers) {
		const struct server *s = list_entry(it, const struct server, link);

		if (s->spec.has_offset)
			check_offsets(p, s, d);
	}
}

/* --- one proxy at a time --- */

static void
check_timeouts(const struct proxy *p, struct cfg_diag *d)
{
	int client = (p->caps & PROXY_FE) && !p->to.client;
	int server = (p->caps & PROXY_BE) && p->n_servers && (!p->to.connect || !p->to.server);

	/* The line that sets them may have had an error. */
	if ((client || server) && !p->errors_read)
		cfg_diag_add(d, CFG_WARNING, &p->where,
			"missing timeouts for " CFG_DIAG_NAME "%s '%s'" CFG_DIAG_NAME ".\n"
			"Without them connections that hang are never closed. Please set these\n"
			"timeouts to more than zero: 'client', 'connect', 'server'.",
			proxy_kind(p), p->name);
}

/* With -dD: each connection that no rule answers fails. */
static void
check_reach(const struct proxy *p, struct cfg_diag *d)
{
	int servers = (p->caps & PROXY_BE) && (p->n_servers || p->dispatch);

	if (p->errors_read || p->stats)
		return;
	if ((p->caps & PROXY_FE) && !servers && !p->default_be_name &&
		list_is_empty(&p->use_backends))
		cfg_diag_add(d, CFG_DIAGMSG, &p->where,
			CFG_DIAG_NAME "%s '%s'" CFG_DIAG_NAME
			" has no backend: unless a rule answers it refuses, with 503 in mode http.",
			proxy_kind(p), p->name);
	else if (p->caps == PROXY_BE && !servers && !p->table)
		cfg_diag_add(d, CFG_DIAGMSG, &p->where,
			"backend " CFG_DIAG_NAME "'%s'" CFG_DIAG_NAME
			" has no server: unless a rule answers it refuses, with 503 in mode http.",
			p->name);
}

/* `proto` fits the mode. */
static void
check_proto(const struct proxy *p, enum mux_proto proto, const char *of, const char *name,
	const struct cfg_where *where, struct cfg_diag *d)
{
	static const char *const names[] = { [MUX_ANY] = "", [MUX_H1] = "h1",
		[MUX_H2] = "h2", [MUX_NONE] = "none" };

	if (proto && (proto != MUX_NONE) != (p->mode == PROXY_HTTP))
		cfg_diag_add(d, CFG_ALERT, where,
			"proxy '%s' : MUX protocol '%s' is not usable for %s'%s'.", p->name,
			names[proto], of, name);
}

/* `ws` is what the server speaks: a request does not choose the protocol of a connection. */
static void
check_websocket_proto(const struct server *s, struct cfg_diag *d)
{
	enum mux_proto ws = s->conf.websocket_proto;

	if (s->be->mode != PROXY_HTTP)
		return;
	if (ws == MUX_H1 && s->may_speak_h2)
		cfg_diag_add(d, CFG_ALERT, &s->where,
			"'ws h1' is not supported for server '%s', which may speak HTTP/2; give "
			"websockets a server line of their own.",
			s->name);
	if (ws == MUX_H2 && !s->may_speak_h2)
		cfg_diag_add(d, CFG_ALERT, &s->where,
			"'ws h2' is not supported for server '%s', which does not speak HTTP/2; "
			"give it 'proto h2' or 'alpn h2'.",
			s->name);
}

static void
check_frontend(struct proxy *p, struct cfg_diag *d)
{
	if (list_is_empty(&p->binds) && !p->errors_read)
		cfg_diag_add(d, CFG_WARNING, &p->where,
			CFG_DIAG_NAME "%s '%s'" CFG_DIAG_NAME
			" has no 'bind' directive. Please declare it as a backend if this "
			"was intended.",
			proxy_kind(p), p->name);
	list_each(it, &p->binds) {
		const struct bind_conf *b = list_entry(it, const struct bind_conf, link);

		check_proto(p, b->proto, "", "bind", &b->where, d);
		if (b->proto == MUX_NONE && p->may_upgrade)
			cfg_diag_add(d, CFG_ALERT, &b->where,
				"proxy '%s' : 'proto none' is not supported in front of a backend "
				"in mode http.",
				p->name);
	}
	if (p->default_be)
		check_ports(p, p->default_be, d);
	list_each(it, &p->use_backends) {
		const struct use_backend *u = list_entry(it, const struct use_backend, link);

		if (u->cond && u->be)
			check_ports(p, u->be, d);
	}
}

static void
settle_minconn(struct server *s)
{
	s->conf.maxconn = MAX(s->conf.maxconn, s->conf.minconn);
	s->be->has_minconn |= s->conf.minconn > 0;
}

/* Finds the section `resolvers` of the server, once all sections are known. */
static void
server_cfg_find_resolvers(struct server *s, const struct proxies *ps, struct cfg_diag *d)
{
	const char *section = s->conf.resolve.section;

	if (!section)
		return;
	s->resolvers = proxies_find_resolvers(ps, section);
	if (!s->resolvers && !cfg_diag_is_lost(d, section))
		cfg_diag_add(d, CFG_ALERT, &s->where,
			"proxy '%s', server '%s': unable to find required resolvers '%s'",
			s->be->name, s->name, section);
}

static void
check_family(const struct server *s, const struct addr *a, struct cfg_diag *d)
{
	struct addr to;

	(void)addr_cell_get(&s->addr, &to);
	if (s->conf.socks4.len)
		to = s->conf.socks4;
	if (a->len && to.len && addr_family(&to) != AF_UNIX && addr_family(a) != addr_family(&to))
		cfg_diag_add(d, CFG_WARNING, &s->where,
			"server '%s/%s' : the source and the address are of different families; "
			"connections will fail.",
			s->be->name, s->name);
}

/* Fills in a server's from its backend's when all is known, and warns of what cannot work. */
static void
source_cfg_finish(struct server *s, const struct proxy *be, struct cfg_diag *d)
{
	struct source_conf *src = &s->conf.source;

	if (!src->addr.len && !src->interface[0] && src->as == SOURCE_AS_SELF)
		*src = be->source;
	/* Binding to any address and port has no effect: skipping it saves two calls per
	 * connection. */
	if (addr_is_any(&src->addr) && !src->port_lo)
		src->addr.len = 0;
	check_family(s, src->as == SOURCE_AS_ADDR ? &src->as_addr : &src->addr, d);
	if (src->as == SOURCE_AS_HEADER && be->mode != PROXY_HTTP)
		cfg_diag_add(d, CFG_WARNING, &s->where,
			"backend '%s' : server '%s' cannot use header %s as source IP in non-HTTP "
			"mode.",
			be->name, s->name, src->header);
}

/* sni-auto is an expression too, unless there is another one. 0 or -1 after an error. */
static int
settle_sni_auto(struct server_tls_conf *c, const struct proxy *be, struct cfg_diag *d)
{
	if (!(c->is_on || c->is_off) || !c->sni_auto || c->sni)
		return 0;
	if (be->mode != PROXY_HTTP) {
		cfg_diag_add(d, CFG_WARNING, &c->where,
			"'sni-auto' : ignored, since backend '%s' is not in mode http.", be->name);
		return 0;
	}
	c->sni = mem_strdup("req.hdr(host),host_only");
	if (c->sni)
		return 0;
	cfg_diag_add(d, CFG_ALERT, &c->where, "'sni-auto' : out of memory.");
	return -1;
}

/* In mode http the name is noted before the request's head is written. */
static void
server_tls_cfg_finish(struct server *s, const struct proxies *ps, struct cfg_diag *d)
{
	int r = settle_sni_auto(&s->conf.tls, s->be, d);
	const char *text = s->conf.tls.sni;
	void *root = (void *)(uintptr_t)ps;
	struct rule_err why = { 0 };
	unsigned int at = SAMPLE_AT_CONN;
	size_t used;

	server_tls_settle(s);
	if (r < 0 || !(s->conf.tls.is_on || s->conf.tls.is_off) || !text)
		return;
	if (s->be->mode == PROXY_HTTP)
		at |= SAMPLE_AT_REQ | SAMPLE_AT_TXN;
	if (rule_expr_parse(&ps->vocab, text, strlen(text), at, 0, &s->sni, &used, &why) < 0 ||
		rule_expr_check(s->sni, root, &why) < 0)
		cfg_diag_add(d, CFG_ALERT, &s->conf.tls.where,
			"'sni' : %s; rules can put what it needs into a variable.", why.text);
	else
		server_tls_settle(s);
}

static void
check_redir(const struct server *s, struct cfg_diag *d)
{
	if (s->conf.redir && s->be->mode != PROXY_HTTP)
		cfg_diag_add(d, CFG_ALERT, &s->where,
			"server '%s' of proxy '%s' : 'redir' redirects HTTP requests: it needs "
			"'mode http'.", s->name, s->be->name);
}

void
proxies_finish_server(struct server *s, const struct proxies *ps, struct cfg_diag *d)
{
	source_cfg_finish(s, s->be, d);
	server_proxy_cfg_finish(s, ps, d);
	server_tls_cfg_finish(s, ps, d);
	check_proto(s->be, s->conf.proto, "server ", s->name, &s->where, d);
	check_websocket_proto(s, d);
	check_redir(s, d);
	settle_minconn(s);
	server_cfg_find_resolvers(s, ps, d);
}

static void
fill_servers(struct proxy *p, const struct proxies *ps, struct cfg_diag *d)
{
	list_each(it, &p->servers) {
		proxies_finish_server(list_entry(it, struct server, link), ps, d);
	}
}

/* Replaces an algorithm that hashes requests in mode tcp, with a warning, as HAProxy does. */
static void
settle_balance(struct proxy *p, struct cfg_diag *d)
{
	const struct cfg_where *where = p->balance_by.where.file ? &p->balance_by.where : &p->where;

	if (!(p->caps & PROXY_BE) || p->mode == PROXY_HTTP || !balance_needs_http(p->balance))
		return;
	cfg_diag_add(d, CFG_WARNING, where,
		"'balance %s' is not possible for " CFG_DIAG_NAME "%s '%s'" CFG_DIAG_NAME
		" (needs 'mode http'). Falling back to round robin.",
		balance_name(p->balance), proxy_kind(p), p->name);
	p->balance = BALANCE_ROUNDROBIN;
}

/* --- dispatch -------------------------------------------------------------------------------- */

/*
 * The target of connections that nothing binds to a server: a server of its own that is in no
 * list. Main thread, while the configuration is read.
 */

/* The name in logs. */
#define DISPATCH_NAME "<NOSRV>"

static struct server *
make_dispatch(struct proxy *p, const struct addr_spec *spec)
{
	struct server_conf defaults;
	struct server *s;

	/* Options of default-server are those of server lines. */
	server_conf_init(&defaults);
	defaults.pool_purge_ms = 0;
	s = server_new(p, DISPATCH_NAME, &defaults);
	server_conf_fini(&defaults);
	if (!s)
		return NULL;
	s->is_dispatch = 1;
	s->spec = *spec;
	s->spec.name = NULL;
	addr_cell_set(&s->addr, &spec->addr);
	return s;
}

static int
parse_dispatch(struct cfg_ctx *ctx)
{
	struct proxy *p = ctx->obj;
	struct addr_spec spec;
	const char *why = "", *text;
	char buf[CFG_ADDRESS_MAX];

	text = cfg_arg_address(ctx, 0, buf);
	if (!text)
		return -1;
	if (addr_parse(text, ADDR_WANT_PORT | ADDR_ALLOW_UNIX | ADDR_ALLOW_NAME, &spec, &why) < 0)
		return cfg_error(ctx, 0, "'dispatch' : '%.200s' : %s", text, why);
	if (addr_is_any(&spec.addr))
		return cfg_error(ctx, 0, "'dispatch' : '%.200s' is not an address to connect to.",
			text);
	server_free(&p->dispatch);
	p->dispatch = make_dispatch(p, &spec);
	if (!p->dispatch)
		return cfg_nomem(ctx);
	p->dispatch->where = cfg_arg_where(ctx, 0);
	return 0;
}

/* A wildcard address with the client's port: the destination of the client. */
static int
make_transparent(struct proxy *p)
{
	struct addr_spec spec = { .fd = -1, .has_offset = 1 };
	const char *why = "";
	int r = addr_parse("0.0.0.0", ADDR_ALLOW_OFFSET, &spec, &why);

	assert(r == 0);
	(void)r;
	p->dispatch = make_dispatch(p, &spec);
	return p->dispatch ? 0 : -ERR_NOMEM;
}

/* Makes p->dispatch, or frees it where `balance` is set, once all sections are known. 0 or
 * -ERR_NOMEM. */
static int
dispatch_cfg_finish(struct proxy *p, const struct proxies *ps, struct cfg_diag *d)
{
	int transparent = (p->options & OPT_TRANSPARENT) != 0;

	if (!(p->caps & PROXY_BE))
		return 0;
	if (p->has_balance && p->dispatch) {
		cfg_diag_add(d, CFG_WARNING, &p->dispatch->where,
			"dispatch address of %s '%s' will be ignored in balance mode.",
			proxy_kind(p), p->name);
		server_free(&p->dispatch);
	} else if (p->has_balance && transparent) {
		cfg_diag_add(d, CFG_ALERT, &p->where,
			"%s '%s' cannot use both transparent and balance mode.", proxy_kind(p),
			p->name);
	} else if (transparent && !p->dispatch && make_transparent(p) < 0) {
		return -ERR_NOMEM;
	}
	if (p->dispatch)
		proxies_finish_server(p->dispatch, ps, d);
	return 0;
}

static const struct cfg_kw kws[] = {
	{ .name = "dispatch",
		.dflt = "none",
		.sections = CFG_BACKEND | CFG_LISTEN,
		.min = 1,
		.max = 1,
		.parse = parse_dispatch,
		.syntax = "<address>:<port>",
		.doc = "The address of connections that no cookie, persistence or rule binds to "
		       "a server. It has no checks and no statistics, and is used without "
		       "'balance' only: prefer a server line." },
	{ .name = "option transparent",
		.sections = CFG_BE,
		.flags = CFG_KW_NO,
		.parse = proxy_cfg_option,
		.arg = OPT_TRANSPARENT,
		.doc = "Connections that no cookie, persistence or rule binds to a server go to "
			"the address that the client has connected to, before the kernel "
			"redirected it (NAT, or 'bind ... transparent'). Cannot be combined "
			"with 'balance'." },
	{ .name = "transparent",
		.sections = CFG_BE,
		.parse = proxy_cfg_option,
		.arg = OPT_TRANSPARENT,
		.doc = "An old form of option transparent." },
	{ 0 },
};

const struct cfg_module dispatch_cfg_module = { .name = "dispatch", .kws = kws };

static void
finish_proxy(struct proxy *p, const struct proxies *ps, struct cfg_diag *d)
{
	int r = proxy_assign_ids(p, d);

	name_index_fini(&p->server_names);
	if (!p->to.queue)
		p->to.queue = p->to.connect;
	if (!p->to.tarpit)
		p->to.tarpit = p->to.connect;
	http_conf_check(p, d);
	forward_conf_check(p, d);
	fill_servers(p, ps, d);
	settle_balance(p, d);
	if (r == 0)
		r = dispatch_cfg_finish(p, ps, d);
	if (r == 0)
		r = balance_init(p);
	if (r < 0)
		cfg_diag_add(d, CFG_ALERT, &p->where, "%s '%s': %s", proxy_kind(p), p->name,
			r == -ERR_FULL ? "too many servers; the limit is 4095."
				       : err_text(r));
	if (p->disabled)
		return;
	if (p->caps & PROXY_FE)
		check_frontend(p, d);
	check_timeouts(p, d);
	check_reach(p, d);
}

/* --- all proxies --- */

/* Resolves names in the `monitor fail` lines of fe when all proxies are known. Errors are reported
 * to d. */
static void
monitor_check(const struct proxy *fe, struct proxies *root, struct cfg_diag *d)
{
	struct rule_err why;

	list_each(it, &fe->http.monitor_fails) {
		const struct monitor_rule *r = list_entry(it, const struct monitor_rule, link);

		if (rule_cond_check(r->cond, root, &why) < 0)
			cfg_diag_add(d, CFG_ALERT, &r->where, "'monitor fail' : %s.", why.text);
	}
}

static void
cut_cookies(struct proxy *p, unsigned int most, struct cfg_diag *d)
{
	struct capture_slot *slot = p->captures.slot[CAPTURE_COOKIE];

	if (!p->captures.n[CAPTURE_COOKIE] || slot->max <= most)
		return;
	cfg_diag_add(d, CFG_WARNING, &slot->where,
		"truncating capture length to %u bytes for frontend " CFG_DIAG_NAME "'%s'"
		CFG_DIAG_NAME ", as 'tune.http.cookielen' "
		"allows no more.",
		most, p->name);
	if (!most)
		capture_forget(&p->captures, CAPTURE_COOKIE);
	for (unsigned int i = 0; i < p->captures.n[CAPTURE_COOKIE]; i++)
		slot[i].max = most;
}

/* Called when the configuration is complete: assigns the offsets of all captures and reports
 * errors. No slot may be added after it. */
static void
capture_cfg_finish(struct proxies *ps, struct cfg_diag *d)
{
	list_each(it, &ps->all) {
		struct proxy *p = list_entry(it, struct proxy, link);

		if (p->mode != PROXY_HTTP && p->captures.n[CAPTURE_COOKIE]) {
			cfg_diag_add(d, CFG_WARNING, &p->captures.slot[CAPTURE_COOKIE]->where,
				"'capture cookie' ignored for frontend " CFG_DIAG_NAME "'%s'"
				CFG_DIAG_NAME ": it needs 'mode http'.",
				p->name);
			capture_forget(&p->captures, CAPTURE_COOKIE);
		}
		cut_cookies(p, ps->cookie_max, d);
		capture_conf_finish(&p->captures);
		ps->capture_size = MAX(ps->capture_size, p->captures.size);
	}
}

static int
check_admin_rules(const struct stats_conf *c, struct proxies *root, struct cfg_diag *d)
{
	struct rule_err why;
	int result = 0;

	list_each(it, &c->admin_rules) {
		const struct stats_admin_rule *r =
			list_entry(it, const struct stats_admin_rule, link);

		if (!r->cond || rule_cond_check(r->cond, root, &why) == 0)
			continue;
		cfg_diag_add(d, CFG_ALERT, &r->where, "'stats admin' : %s.", why.text);
		result = -1;
	}
	return result;
}

/* A section that only has the settings of its defaults section is not warned about. */
static int
stats_cfg_finish(struct proxy *p, struct proxies *root, struct cfg_diag *d)
{
	if (!p->stats || p->disabled)
		return 0;
	if (proxy_has_rules(&p->rules, RULES_STATS) &&
		(p->stats->realm || !list_is_empty(&p->stats->users))) {
		cfg_diag_add(d, CFG_ALERT, &p->where,
			"proxy '%s': 'stats auth' and 'stats realm' cannot be used together with "
			"'stats http-request'.",
			p->name);
		return -1;
	}
	if (p->mode != PROXY_HTTP && p->has_own_stats)
		cfg_diag_add(d, CFG_WARNING, &p->where,
			"'stats' statement ignored for proxy " CFG_DIAG_NAME "'%s'" CFG_DIAG_NAME
			" as it requires HTTP mode.",
			p->name);
	return check_admin_rules(p->stats, root, d);
}

/* 0, or -1 after errors. */
static int
finish_filters(struct proxy *p, struct proxies *ps, struct cfg_diag *d)
{
	int r = bwlim_finish(p, ps, d);

	if (trailers_finish(p) < 0) {
		cfg_diag_add(d, CFG_ALERT, NULL, "%s", err_text(-ERR_NOMEM));
		r = -1;
	}
	compress_finish(p, d);
	r |= filter_sequences_finish(p, d);
	return r | cache_filters_finish(p, ps, d) | spoe_finish(p, ps, d);
}

/* Resolves the names in ACLs: 1 after an error. Those of disabled proxies may be unknown, as in
 * HAProxy; a section may be enabled that uses those of disabled defaults. */
static int
check_acls(struct proxies *ps, struct cfg_diag *d)
{
	int failed = 0;

	list_each(it, &ps->defaults)
		failed |= rule_acls_check(&proxy_of(it)->acls, ps, d) < 0;
	list_each(it, &ps->all)
		if (!proxy_of(it)->disabled)
			failed |= rule_acls_check(&proxy_of(it)->acls, ps, d) < 0;
	return failed;
}

int
proxies_finish(struct proxies *ps, struct cfg_diag *d)
{
	unsigned int before = d->count[CFG_ALERT];
	int failed;

	proxies_unpublish_disabled(ps);
	if (proxies_check_distinct(ps, d) < 0)
		cfg_diag_add(d, CFG_ALERT, NULL, "%s", err_text(-ERR_NOMEM));
	failed = check_acls(ps, d);
	list_each(it, &ps->all) {
		struct proxy *p = proxy_of(it);

		if (!(p->caps & PROXY_FE) || p->disabled)
			continue;
		resolve_targets(ps, p, d);
		monitor_check(p, ps, d);
	}
	if (log_global_finish(&ps->log, d) < 0 || proxies_check_default_rules(ps, d) < 0)
		failed = 1;
	/* Texts that are compiled now mean the table and servers of their section. */
	list_each(it, &ps->all) {
		ps->vocab.section = proxy_of(it)->name;
		if (!proxy_of(it)->disabled)
			failed |= unique_id_conf_finish(proxy_of(it), ps, d) < 0;
	}
	ps->vocab.section = NULL;
	capture_cfg_finish(ps, d);
	if (table_cfg_finish(ps, d) < 0 || cache_sections_finish(ps, d) < 0)
		failed = 1;
	list_each(it, &ps->defaults) {
		failed |= check_conf_check_rules(&proxy_of(it)->check, ps, d) < 0;
	}
	if (check_track_resolve(ps, d) < 0 || mailers_cfg_finish(ps, d) < 0)
		failed = 1;
	list_each(it, &ps->all) {
		ps->vocab.section = proxy_of(it)->name;
		finish_proxy(proxy_of(it), ps, d);
		if (proxy_of(it)->disabled)
			continue; /* names in it may be unknown, as in HAProxy */
		balance_check(proxy_of(it), ps, d);
		failed |= persist_conf_finish(proxy_of(it), ps, d) < 0;
		failed |= check_conf_finish(proxy_of(it), ps, d) < 0;
		failed |= finish_filters(proxy_of(it), ps, d) < 0;
		failed |= proxy_errors_resolve(&proxy_of(it)->errors, ps, d) < 0;
		failed |= proxy_rules_check(proxy_of(it), ps, d) < 0;
		failed |= stats_cfg_finish(proxy_of(it), ps, d) < 0;
		failed |= proxy_log_finish(proxy_of(it), &ps->log, ps, d) < 0;
	}
	ps->vocab.section = NULL;
	list_each(it, &ps->all) {
		failed |= proxy_log_finish_inner(proxy_of(it), ps, d) < 0;
	}
	if (pattern_files_finish(&ps->files) < 0)
		cfg_diag_add(d, CFG_ALERT, NULL, "%s", err_text(-ERR_NOMEM));
	return failed || d->count[CFG_ALERT] > before ? -1 : 0;
}
