/* Names and addresses of servers: show resolvers, and set server addr and fqdn. On the first
 * worker; the others are paused only while a server's port mapping ends. */
#include <stdlib.h>
#include <string.h>

#include "app/admin/admin_int.h"
#include "app/admin/admin_resolve.h"
#include "app/admin/admin_server.h"
#include "dns/nameserver.h"
#include "dns/resolvers.h"
#include "proxy/backend/server_addr.h"
#include "proxy/backend/server_state.h"
#include "proxy/backend/server_report.h"
#include "proxy/resolve/resolve.h"

#define BY "'stats socket command'"
#define CHANGE_MAX 512

/* --- show resolvers --- */

static void
print_nameserver(struct admin_conn *c, const struct dns_nameserver *ns)
{
	const struct dns_nameserver_stat *st = &ns->stat;

	sbuf_addf(&c->out, " nameserver %s:\n", ns->name);
#define DNS_STAT(member, name) \
	sbuf_addf(&c->out, "  %-12s %llu\n", name ":", (unsigned long long)st->member);
#include "dns/stat.tbl.h"
#undef DNS_STAT
}

struct resolvers_walk {
	const struct resolvers *only; /* NULL: all */
	struct list *section;
	struct list *nameserver;      /* NULL: the title comes next */
};

static int
next_resolvers(struct admin_conn *c, void *state)
{
	struct resolvers_walk *w = state;
	struct list *all = &c->admin->process->cfg->proxies.resolvers;
	struct resolvers *res = list_entry(w->section, struct resolvers, link);

	if (w->section == all)
		return 0;
	if (w->only && res != w->only) {
		w->section = w->section->next;
	} else if (!w->nameserver) {
		sbuf_addf(&c->out, "Resolvers section %s\n", res->name);
		w->nameserver = res->nameservers.next;
	} else if (w->nameserver != &res->nameservers) {
		print_nameserver(c, list_entry(w->nameserver, struct dns_nameserver, link));
		w->nameserver = w->nameserver->next;
	} else {
		w->section = w->section->next;
		w->nameserver = NULL;
	}
	return 1;
}

void
admin_cmd_show_resolvers(struct admin_conn *c, int argc, char **argv)
{
	const struct proxies *ps = &c->admin->process->cfg->proxies;
	struct resolvers_walk w = { .section = ps->resolvers.next };

	if (argc > 0)
		w.only = proxies_find_resolvers(ps, argv[0]);
	if (argc > 0 && !w.only) {
		admin_msg(c, ADMIN_ERR, "Can't find that resolvers section");
		return;
	}
	admin_walk(c, next_resolvers, &w, sizeof(w));
}

/* --- set server addr --- */

/* The port of an answer: "80", or "+10" while it is the client's port plus an offset. */
static void
add_port(struct sbuf *b, const struct server *s, const struct addr *a)
{
	if (s->spec.has_offset)
		sbuf_addf(b, "%+d", s->spec.port_offset);
	else
		sbuf_addf(b, "%u", addr_port(a));
}

/* The part of the answer about the port, which is set in *a. 1: it is another one. */
static int
take_port(const struct server *s, const char *text, struct addr *a, struct sbuf *b)
{
	unsigned int port;

	if (*text == '+' || *text == '-') {
		sbuf_adds(b,
			"can't change <port> to port map because it is incompatible with current "
			"health check port configuration (use 'port' statement from the 'server' "
			"directive.");
		return 0;
	}
	if (admin_parse_port(text, &port) < 0) {
		sbuf_addf(b, "problem converting port '%.40s' to an int", text);
		return 0;
	}
	if (!s->spec.has_offset && port == addr_port(a)) {
		sbuf_adds(b, "no need to change the port");
		return 0;
	}
	sbuf_adds(b, "port changed from '");
	add_port(b, s, a);
	sbuf_addf(b, "' to '%u'", port);
	addr_set_port(a, port);
	return 1;
}

static void
apply_addr(struct admin_conn *c, struct server *s, const struct addr *a, int port_is_fixed)
{
	struct engine *e = &c->admin->worker->engine;

	if (port_is_fixed && s->spec.has_offset) {
		admin_stop_workers(c);
		s->spec.has_offset = 0;
		s->spec.port_offset = 0;
		admin_resume_workers(c);
	}
	server_set_addr(e, s, a);
	server_set_admin(e, s, SERVER_MAINT_UNRESOLVED, 0, "");
}

void
admin_set_addr(struct admin_conn *c, struct server *s, int argc, char **argv)
{
	char text[CHANGE_MAX], was[ADDR_TEXT] = "(none)", host[ADDR_TEXT];
	int has_port = argc > 1 && strcmp(argv[1], "port") == 0, moved, port_changed = 0;
	struct addr own, to;
	struct sbuf b;

	(void)addr_cell_get(&s->addr, &own);
	if (addr_parse_ip(argv[0], &to) < 0) {
		admin_msg(c, ADMIN_NOTICE, "Invalid addr '%.200s' by " BY, argv[0]);
		return;
	}
	if (addr_family(&own) == AF_UNIX) {
		admin_msg(c, ADMIN_NOTICE,
			"Update for the current server address family is only supported through "
			"configuration file by " BY);
		return;
	}
	sbuf_init_fixed(&b, text, sizeof(text));
	moved = server_is_unresolved(s) || !addr_is_same_host(&own, &to);
	if (own.len && !server_is_unresolved(s))
		(void)addr_host_text(&own, was);
	if (moved)
		sbuf_addf(&b, "IP changed from '%s' to '%s'", was,
			addr_host_text(&to, host));
	else
		sbuf_adds(&b, "no need to change the addr");
	addr_set_port(&to, own.len ? addr_port(&own) : s->spec.port_lo);
	if (has_port) {
		sbuf_adds(&b, ", ");
		port_changed = take_port(s, argc > 2 ? argv[2] : "", &to, &b);
	}
	if (moved || port_changed)
		apply_addr(c, s, &to, port_changed);
	admin_msg(c, ADMIN_NOTICE, "%s by " BY, text);
}

/* --- set server fqdn --- */

void
admin_set_fqdn(struct admin_conn *c, struct server *s, const char *fqdn)
{
	char was[DNS_NAME_MAX + 1];

	if (!s->dns) {
		admin_msg(c, ADMIN_NOTICE,
			"set server <b>/<s> fqdn failed because no resolution is configured.");
		return;
	}
	if (s->fqdn && strcmp(s->fqdn, fqdn) == 0) {
		admin_msg(c, ADMIN_NOTICE, "no need to change the FDQN by " BY);
		return;
	}
	(void)snprintf(was, sizeof(was), "%s", s->fqdn ? s->fqdn : "(null)");
	if (resolve_server_rename(s, fqdn) < 0)
		admin_msg(c, ADMIN_NOTICE, "could not update %s/%s FQDN by " BY, s->be->name,
			s->name);
	else
		admin_msg(c, ADMIN_NOTICE, "%s/%s changed its FQDN from %s to %s by " BY,
			s->be->name, s->name, was, fqdn);
}
