/* Addresses that a process connects to. Main thread, at start, when the configuration is
 * complete. */
#include "app/process/connect_targets.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "app/config/config.h"
#include "base/sys.h"
#include "dns/nameserver.h"
#include "dns/resolvers.h"
#include "proxy/model/mailers.h"
#include "proxy/model/ring_conf.h"

struct walk {
	connect_target_fn *fn;
	void *arg;
};

static void
give_target(const struct walk *w, const struct addr *a)
{
	if (a->len)
		w->fn(a, w->arg);
}

static void
give_port(const struct walk *w, unsigned int port)
{
	struct addr a = { .len = sizeof(a.u.in), .u.in.sin_family = AF_INET };

	addr_set_port(&a, port);
	if (port)
		give_target(w, &a);
}

/* Each combination of address and port that a check may use has a port of one of them. */
static void
give_check(const struct walk *w, const struct check_server_conf *c)
{
	give_target(w, &c->addr);
	give_target(w, &c->agent_addr);
	give_port(w, c->port);
	give_port(w, c->agent_port);
}

/* A name that is not resolved yet has its port. */
static void
give_server(const struct walk *w, const struct server *s)
{
	struct addr a;

	(void)addr_cell_get(&s->addr, &a);
	give_target(w, &a);
	give_port(w, s->spec.port_lo);
	give_target(w, &s->conf.socks4);
	give_check(w, &s->conf.check);
}

static void
give_rules(const struct walk *w, const struct check_conf *c)
{
	list_each(it, &c->rules) {
		const struct check_rule *r = list_entry(it, const struct check_rule, link);

		if (r->kind != CHECK_RULE_CONNECT)
			continue;
		give_target(w, &r->u.connect.addr);
		give_port(w, r->u.connect.port);
	}
}

/* Datagrams: their ports are not limited. */
static void
give_logs(const struct walk *w, const struct list *lines)
{
	list_each(it, lines) {
		const struct log_dest *d = &list_entry(it, const struct log_line, link)->dest;
		struct addr a = { .len = d->len };

		if (d->kind != LOG_DEST_SOCKET || d->u.sa.sa_family != AF_UNIX)
			continue;
		memcpy(&a.u.un, &d->u.un, sizeof(d->u.un));
		give_target(w, &a);
	}
}

static void
give_rings(const struct walk *w, const struct list *rings)
{
	list_each(it, rings)
		list_each(st, &list_entry(it, const struct ring_conf, link)->servers)
			give_target(w, &list_entry(st, const struct ring_server, link)->conf.addr);
}

static void
give_mailers(const struct walk *w, const struct list *sections)
{
	list_each(it, sections)
		list_each(st, &list_entry(it, const struct mailers_conf, link)->mailers)
			give_target(w, &list_entry(st, const struct mailer_conf, link)->addr);
}

static void
give_peers(const struct walk *w, const struct list *sections)
{
	list_each(it, sections)
		list_each(st, &list_entry(it, const struct peers_conf, link)->peers)
			give_target(w, &list_entry(st, const struct peer_conf, link)->addr);
}

/* Adds the ports of name servers: an answer that is too long for UDP is asked for over TCP. */
static void
give_nameservers(const struct walk *w, const struct list *sections)
{
	list_each(it, sections)
		list_each(nt, &list_entry(it, const struct resolvers, link)->nameservers)
			give_target(w, &list_entry(nt, const struct dns_nameserver, link)->addr);
}

void
connect_targets_each(const struct config *c, connect_target_fn *fn, void *arg)
{
	const struct walk w = { fn, arg };

	list_each(it, &c->proxies.all) {
		const struct proxy *px = list_entry(it, const struct proxy, link);

		list_each(st, &px->servers)
			give_server(&w, list_entry(st, const struct server, link));
		if (px->dispatch)
			give_server(&w, px->dispatch);
		give_rules(&w, &px->check);
		give_logs(&w, &px->logs);
	}
	give_logs(&w, &c->proxies.log.lines);
	give_rings(&w, &c->proxies.log.rings);
	give_mailers(&w, &c->proxies.mailers);
	give_peers(&w, &c->proxies.peers);
	give_nameservers(&w, &c->proxies.resolvers);
	give_target(&w, &c->tls.ocsp.proxy);
}

/* --- targets outside the configuration --- */

static const char *
unknown_of_server(const struct server *s)
{
	struct addr a;

	(void)addr_cell_get(&s->addr, &a);
	if (addr_family(&a) == AF_UNIX)
		return NULL;
	if (s->spec.has_offset)
		return "a server has the port of its client";
	if (s->fqdn && s->fqdn[0] == '_')
		return "SRV records have the ports of servers";
	return NULL;
}

static const char *
unknown_of_proxy(const struct proxy *px)
{
	const char *why = px->dispatch ? unknown_of_server(px->dispatch) : NULL;

	list_each(it, &px->servers)
		if (!why)
			why = unknown_of_server(list_entry(it, const struct server, link));
	list_each(it, &px->check.rules) {
		const struct check_rule *r = list_entry(it, const struct check_rule, link);

		if (r->kind == CHECK_RULE_CONNECT && r->u.connect.port_expr)
			why = "a check computes its port";
	}
	if (px->state_file != STATE_FILE_NONE)
		why = "a state file may have ports of servers";
	return why;
}

static const char *
unknown_of_global(const struct config *c)
{
	list_each(it, &c->global.admin_binds)
		if (list_entry(it, const struct bind_conf, link)->level == BIND_ADMIN)
			return "a stats socket has the level admin";
	if (c->tls.ocsp.is_wanted && !c->tls.ocsp.off && !c->tls.ocsp.proxy.len)
		return "certificates name OCSP responders";
	return NULL;
}

const char *
connect_targets_unknown(const struct config *c)
{
	const char *why = unknown_of_global(c);

	list_each(it, &c->proxies.all)
		if (!why)
			why = unknown_of_proxy(list_entry(it, const struct proxy, link));
	return why;
}

/* --- one of them --- */

struct search {
	struct sys *sys;
	const struct addr *wanted;
	const char *root;
	int found;
};

static int
is_unix_path(const struct addr *a)
{
	return addr_family(a) == AF_UNIX && a->u.un.sun_path[0];
}

/* Paths count from the root directory that the process will have. */
static int
is_same_socket(const struct search *s, const char *path)
{
	char full[sizeof(s->wanted->u.un.sun_path) + 4096];
	struct stat a, b;

	snprintf(full, sizeof(full), "%s%s%s", s->root ? s->root : "",
		s->root && *path != '/' ? "/" : "", path);
	return sys_stat(s->sys, full, &a) >= 0 &&
		sys_stat(s->sys, s->wanted->u.un.sun_path, &b) >= 0 && a.st_dev == b.st_dev &&
		a.st_ino == b.st_ino;
}

static void
compare_target(const struct addr *a, void *search)
{
	struct search *s = search;

	if (addr_family(a) != AF_UNIX || s->found)
		return;
	s->found = a->len == s->wanted->len && memcmp(&a->u, &s->wanted->u, a->len) == 0;
	if (!s->found && is_unix_path(a) && is_unix_path(s->wanted))
		s->found = is_same_socket(s, a->u.un.sun_path);
}

int
connect_targets_have(const struct config *c, struct sys *sys, const struct addr *unix_addr)
{
	struct search s = { .sys = sys, .wanted = unix_addr, .root = c->global.chroot };

	connect_targets_each(c, compare_target, &s);
	return s.found;
}
