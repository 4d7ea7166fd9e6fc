/* What can only be said of a configuration when all of it is known. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "cfg/diag.h"
#include "proxy/capture_cfg.h"
#include "proxy/monitor.h"
#include "proxy/proxies.h"
#include "proxy/route.h"

/* HAProxy's first one: 1 is its own frontend of the stats sockets. */
#define FIRST_PROXY_ID 2

static const char *
kind(const struct proxy *p)
{
	return (p->caps & PROXY_FE) && (p->caps & PROXY_BE) ? "proxy"
		: p->caps & PROXY_FE                        ? "frontend"
							    : "backend";
}

static struct proxy *
proxy_of(struct list *it)
{
	return list_entry(it, struct proxy, link);
}

/* --- names and ids that must be distinct --- */

/* A proxy and its place among all. */
struct entry {
	struct proxy *p;
	unsigned int at;
};

static int
by_name(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int r = strcmp(x->p->name, y->p->name);

	return r != 0 ? r : x->at < y->at ? -1 : x->at > y->at;
}

static int
by_id(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->p->id != y->p->id)
		return x->p->id < y->p->id ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static const char *
file_of(const struct proxy *p)
{
	return p->where.file ? p->where.file->name : "?";
}

/* A frontend and a backend may share a name; everything else may not. */
static void
check_names(struct entry *sorted, unsigned int n, struct cfg_diag *d)
{
	qsort(sorted, n, sizeof(*sorted), by_name);
	for (unsigned int i = 1; i < n; i++) {
		for (unsigned int k = i; k-- > 0;) {
			const struct proxy *p = sorted[i].p, *other = sorted[k].p;

			if (strcmp(p->name, other->name) != 0)
				break;
			if (!(p->caps & other->caps))
				continue;
			cfg_diag_add(d, CFG_ALERT, &p->where,
				"%s '%s' has the same name as %s '%s' declared at %s:%u.", kind(p),
				p->name, kind(other), other->name, file_of(other),
				other->where.line);
			break;
		}
	}
}

static void
check_ids(struct entry *sorted, unsigned int n, struct cfg_diag *d)
{
	qsort(sorted, n, sizeof(*sorted), by_id);
	for (unsigned int i = 1; i < n; i++) {
		const struct proxy *p = sorted[i].p, *other = sorted[i - 1].p;

		if (p->id && p->id == other->id)
			cfg_diag_add(d, CFG_ALERT, &p->where,
				"%s '%s' reuses the custom id %d of %s '%s' (declared at %s:%u).",
				kind(p), p->name, p->id, kind(other), other->name, file_of(other),
				other->where.line);
	}
}

/*
 * Ids that were not given: the next free number, in file order. Like HAProxy the count goes on
 * over those
 * that were given, so that the same file has the same numbers. `used` is sorted.
 */
struct id_counter {
	const int *used;
	unsigned int n_used, at;
	int next;
};

static int
next_id(struct id_counter *c, int given)
{
	int id = given;

	if (!given) {
		while (c->at < c->n_used && c->used[c->at] <= c->next) {
			if (c->used[c->at] == c->next)
				c->next++;
			c->at++;
		}
		id = c->next;
	}
	if (c->next < INT_MAX)
		c->next++;
	return id;
}

static int
by_number(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return x < y ? -1 : x > y;
}

static void
assign_proxy_ids(struct proxies *ps, int *used)
{
	struct id_counter c = { .used = used, .next = FIRST_PROXY_ID };

	list_each(it, &ps->all) {
		if (proxy_of(it)->id)
			used[c.n_used++] = proxy_of(it)->id;
	}
	qsort(used, c.n_used, sizeof(*used), by_number);
	list_each(it, &ps->all)
		proxy_of(it)->id = next_id(&c, proxy_of(it)->id);
}

static int
assign_server_ids(struct proxy *p)
{
	int *used = mem_alloc(MAX(p->n_servers, 1) * sizeof(int));
	struct id_counter c = { .used = used, .next = 1 };

	if (!used)
		return -ERR_NOMEM;
	list_each(it, &p->servers) {
		const struct server *s = list_entry(it, struct server, link);

		if (s->id)
			used[c.n_used++] = s->id;
	}
	qsort(used, c.n_used, sizeof(*used), by_number);
	list_each(it, &p->servers) {
		struct server *s = list_entry(it, struct server, link);

		s->id = next_id(&c, s->id);
	}
	mem_free(used);
	return 0;
}

/* Returns the number of lines with an id; used may be NULL to count only. */
static unsigned int
bind_ids(struct proxy *p, int *used)
{
	unsigned int n = 0;

	list_each(it, &p->binds) {
		const struct bind_conf *b = list_entry(it, struct bind_conf, link);

		if (!b->id)
			continue;
		if (used)
			used[n] = b->id;
		n++;
	}
	return n;
}

static void
check_bind_ids(const struct proxy *p, struct cfg_diag *d)
{
	list_each(it, &p->binds) {
		const struct bind_conf *b = list_entry(it, const struct bind_conf, link);

		for (const struct list *at = p->binds.next; b->id && at != it; at = at->next) {
			const struct bind_conf *o = list_entry(at, const struct bind_conf, link);

			if (o->id != b->id)
				continue;
			cfg_diag_add(d, CFG_ALERT, &b->where,
				"'bind' : 'id' : custom id %d already used at %s:%u", b->id,
				o->where.file ? o->where.file->name : "?", o->where.line);
			break;
		}
	}
}

static int
assign_listener_ids(struct proxy *p)
{
	unsigned int n = bind_ids(p, NULL);
	int *used = mem_alloc(MAX(n, 1) * sizeof(int));
	struct id_counter c = { .used = used, .n_used = n, .next = 1 };

	if (!used)
		return -ERR_NOMEM;
	bind_ids(p, used);
	qsort(used, n, sizeof(*used), by_number);
	list_each(it, &p->binds) {
		struct bind_conf *b = list_entry(it, struct bind_conf, link);

		list_each(at, &b->listeners) {
			struct listener *ln = list_entry(at, struct listener, link);

			ln->id = next_id(&c, b->id);
		}
	}
	mem_free(used);
	return 0;
}

static int
check_distinct(struct proxies *ps, struct cfg_diag *d)
{
	unsigned int n = 0;
	struct entry *sorted = mem_alloc(MAX(ps->n, 1) * sizeof(*sorted));
	int *used = mem_alloc(MAX(ps->n, 1) * sizeof(int));
	struct proxy **backends = mem_alloc(MAX(ps->n, 1) * sizeof(struct proxy *));

	if (sorted && used && backends) {
		list_each(it, &ps->all) {
			sorted[n].p = proxy_of(it);
			sorted[n].at = n;
			n++;
		}
		check_names(sorted, n, d);
		mem_free(ps->by_name);
		ps->by_name = backends;
		ps->n_by_name = 0;
		for (unsigned int i = 0; i < n; i++)
			if (sorted[i].p->caps & PROXY_BE)
				backends[ps->n_by_name++] = sorted[i].p;
		check_ids(sorted, n, d);
		assign_proxy_ids(ps, used);
	}
	mem_free(sorted);
	mem_free(used);
	if (ps->by_name != backends)
		mem_free(backends);
	return ps->by_name ? 0 : -ERR_NOMEM;
}

/* --- where connections go --- */

/* Mode tcp in front of mode http would have to change over with bytes at hand. */
static void
check_modes(const struct proxy *p, const struct proxy *be, const char *what, struct cfg_diag *d)
{
	static const char *const names[] = { [PROXY_TCP] = "tcp", [PROXY_HTTP] = "http" };

	if (p->mode == be->mode)
		return;
	cfg_diag_add(d, CFG_ALERT, NULL,
		"%s %s '%s' (%s:%u) tries to use incompatible %s backend '%s' (%s:%u) %s (see "
		"'mode')%s.",
		names[p->mode], kind(p), p->name, file_of(p), p->where.line, names[be->mode],
		be->name, file_of(be), be->where.line, what,
		p->mode == PROXY_TCP ? "; HTTP behind a tcp frontend is not supported" : "");
}

static struct proxy *
find_target(struct proxies *ps, const struct proxy *p, const char *kw, const char *name,
	const struct cfg_where *where, struct cfg_diag *d)
{
	struct proxy *be = proxies_find(ps, name, PROXY_BE);

	if (!be)
		cfg_diag_add(d, CFG_ALERT, where, "Proxy '%s': unable to find required %s: '%s'.",
			p->name, kw, name);
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

	list_each(it, &p->use_backends) {
		struct use_backend *u = list_entry(it, struct use_backend, link);
		struct proxy *be = u->fmt ? NULL
			: find_target(ps, p, "use_backend", u->name, &u->where, d);

		if (be)
			check_modes(p, be, "in a 'use_backend' rule", d);
		route_check(p, u, ps, d);
		p->route_looks |= u->looks;
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
			check_modes(p, fallback, "as its default backend", d);
	}
	p->fallback_be = fallback;
	if (!always)
		always = fallback;
	/* Nobody gets a server from a backend that is switched off. */
	p->default_be = always && !always->disabled ? always : NULL;
}

/* The port a client came to, moved by what a server line says, must still be one. */
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
				"server '%s/%s' : clients of %s '%s' that come to port %d would go "
				"to port %d, which does not exist.",
				s->be->name, s->name, kind(p), p->name, port,
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

	if (client || server)
		cfg_diag_add(d, CFG_WARNING, NULL,
			"missing timeouts for %s '%s'.\n"
			"Connections that hang would stay for ever, and pile up. Please set these\n"
			"timeouts to more than zero: 'client', 'connect', 'server'.",
			kind(p), p->name);
}

static void
check_frontend(struct proxy *p, struct cfg_diag *d)
{
	if (list_is_empty(&p->binds))
		cfg_diag_add(d, CFG_WARNING, &p->where,
			"%s '%s' has no 'bind' directive. Please declare it as a backend if this "
			"was intended.",
			kind(p), p->name);
	if (p->default_be)
		check_ports(p, p->default_be, d);
	list_each(it, &p->use_backends) {
		const struct use_backend *u = list_entry(it, const struct use_backend, link);

		if (u->cond && u->be)
			check_ports(p, u->be, d);
	}
}

static void
fill_source(struct server *s, const struct source_conf *backend, struct cfg_diag *d)
{
	struct source_conf *src = &s->conf.source;

	if (!src->addr.len && !src->interface[0])
		*src = *backend;
	/* Binding to any address and any port changes nothing: two calls per connection less. */
	if (addr_is_any(&src->addr) && !src->port_lo)
		src->addr.len = 0;
	if (src->addr.len && addr_family(&s->addr) != AF_UNIX &&
		addr_family(&src->addr) != addr_family(&s->addr))
		cfg_diag_add(d, CFG_WARNING, &s->where,
			"server '%s/%s' : its source is of another family than its address: no "
			"connection can be made.",
			s->be->name, s->name);
}

static void
fill_servers(struct proxy *p, struct cfg_diag *d)
{
	list_each(it, &p->servers) {
		fill_source(list_entry(it, struct server, link), &p->source, d);
	}
}

static void
finish_proxy(struct proxy *p, struct cfg_diag *d)
{
	int r = assign_listener_ids(p);

	check_bind_ids(p, d);
	if (!p->to.queue)
		p->to.queue = p->to.connect;
	if (!p->to.tarpit)
		p->to.tarpit = p->to.connect;
	http_conf_check(p, d);
	forward_conf_check(p, d);
	fill_servers(p, d);
	if (r == 0)
		r = assign_server_ids(p);
	if (r == 0)
		r = balance_init(p);
	if (r < 0)
		cfg_diag_add(d, CFG_ALERT, &p->where, "%s '%s': %s", kind(p), p->name,
			r == -ERR_FULL ? "more servers than a backend can have (4095)"
				       : err_text(r));
	if (p->disabled)
		return;
	if (p->caps & PROXY_FE)
		check_frontend(p, d);
	check_timeouts(p, d);
}

/* What its expressions name is known now. */
static void
check_log_format(const struct proxy *p, struct proxies *ps, struct cfg_diag *d)
{
	struct rule_err why;

	if (p->log.format && rule_fmt_check(p->log.format, ps, &why) < 0)
		cfg_diag_add(d, CFG_ALERT, &p->log.format_where, "'log-format' : %s.", why.text);
}

int
proxies_finish(struct proxies *ps, struct cfg_diag *d)
{
	unsigned int before = d->count[CFG_ALERT];
	int failed = 0;

	if (check_distinct(ps, d) < 0)
		cfg_diag_add(d, CFG_ALERT, NULL, "%s", err_text(-ERR_NOMEM));
	list_each(it, &ps->all) {
		struct proxy *p = proxy_of(it);

		if (!(p->caps & PROXY_FE) || p->disabled)
			continue;
		resolve_targets(ps, p, d);
		monitor_check(p, ps, d);
	}
	log_global_finish(&ps->log);
	if (proxies_check_default_rules(ps, d) < 0)
		failed = 1;
	list_each(it, &ps->all) {
		if (unique_id_conf_finish(proxy_of(it), ps, d) < 0)
			failed = 1;
	}
	capture_cfg_finish(ps, d);
	list_each(it, &ps->all) {
		finish_proxy(proxy_of(it), d);
		balance_check(proxy_of(it), ps, d);
		if (persist_conf_finish(proxy_of(it), ps, d) < 0)
			failed = 1;
		if (proxy_errors_resolve(&proxy_of(it)->errors, ps, d) < 0)
			failed = 1;
		if (proxy_rules_check(proxy_of(it), ps, d) < 0)
			failed = 1;
		if (proxy_log_finish(proxy_of(it), &ps->log, ps, d) < 0)
			failed = 1;
		check_log_format(proxy_of(it), ps, d);
	}
	pattern_files_finish(&ps->files);
	return failed || d->count[CFG_ALERT] > before ? -1 : 0;
}
